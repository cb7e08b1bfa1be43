"""Folders and properties: what a vault has, counted."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from obsidian_mcp.errors import InvalidArguments, NoteNotFound
from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.index import File
from obsidian_mcp.vault.path import BadPath, check
from obsidian_mcp.vault.query.matching import as_text
from obsidian_mcp.vault.words import folded as _folded

folded = functools.lru_cache(maxsize=10_000)(_folded)  # the same few, again and again
Counted = tuple[str, str, int]  # a value, its type, in how many notes
TAGS = "tags"


def existing_folder(wanted: str, folders: Iterable[str], paths: Iterable[str]) -> str:
    """The folder that is meant, as it is spelled; empty for the root."""
    text = wanted.strip().replace("\\", "/").strip("/")
    if text in ("", "."):
        return ""
    try:
        check(text)
    except BadPath as problem:
        raise InvalidArguments(f"folder {problem}.") from None
    known = list(folders)
    if text in known:
        return text
    key = folded(text)
    for match in (
        [folder for folder in known if folded(folder) == key],
        [folder for folder in known if folded(folder).endswith(f"/{key}")],
    ):
        if len(match) == 1:
            return match[0]
    if any(folded(path) in (key, f"{key}.md") for path in paths):
        raise InvalidArguments(f"{text} is a note or file, and not a folder.", "Give the folder that it is in.")
    raise NoteNotFound(f"There is no folder {text}.", _suggestion(key, known), path=text)


def _suggestion(key: str, folders: Sequence[str]) -> str:
    last = key.rpartition("/")[2]
    alike = sorted(folder for folder in folders if last in folded(folder) or folded(folder).rpartition("/")[2] in key)
    if not alike:
        alike = sorted(folder for folder in folders if "/" not in folder)
    return f"There are: {', '.join(alike[:10])}." if alike else "The vault has no folders; leave it out."


def within(folder: str, depth: int) -> Callable[[str], bool]:
    """Whether a path lies in the folder, no deeper than so many levels."""
    prefix = f"{folder}/" if folder else ""
    return lambda path: path.startswith(prefix) and path.count("/", len(prefix)) < depth


def notes_below(folders: Iterable[str], paths: Iterable[str]) -> dict[str, int]:
    """How many notes each of these folders has, in it and below."""
    counts = dict.fromkeys(folders, 0)
    for path in paths:
        if path[-3:].lower() == ".md":
            at = path.rfind("/")
            while at > 0:
                if (folder := path[:at]) in counts:
                    counts[folder] += 1
                at = path.rfind("/", 0, at)
    return counts


def ordered(files: Iterable[File], sort: str) -> list[File]:
    if sort == "modified":
        return sorted(files, key=lambda file: (-file.modified, file.path))
    return sorted(files, key=lambda file: (folded(file.path), file.path))


def property_names(notes: Iterable[Mapping[str, Any]], tagged: int, types: Mapping[str, str]) -> list[Counted]:
    """The properties of the notes, the commonest first; `tagged` notes have a tag, wherever it stands."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    known = {folded(name): {name: kind} for name, kind in types.items()}
    kinds: dict[str, dict[str, int]] = {}
    for properties in notes:
        for name, value in properties.items():
            key = folded(name)
            names.setdefault(key, name)
            counts[key] = counts.get(key, 0) + 1
            kind = frontmatter.kind(name, value, known.get(key, {}))
            of = kinds.setdefault(key, {})
            of[kind] = of.get(kind, 0) + (value is not None)
    if tagged:
        names.setdefault(TAGS, TAGS)
        counts[TAGS] = tagged
        kinds.setdefault(TAGS, {TAGS: 1})
    found = [(names[key], max(kinds[key], key=lambda kind: kinds[key][kind]), count) for key, count in counts.items()]
    return sorted(found, key=lambda item: (-item[2], folded(item[0])))


def property_values(wanted: str, notes: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> list[Counted]:
    """The values of one property, the commonest first. A list has several; each counts once for a note."""
    key = folded(wanted)
    shown: dict[str, tuple[str, str]] = {}
    counts: dict[str, int] = {}
    for properties in notes:
        here = {
            folded(as_text(item)): (as_text(item), frontmatter.kind(name, _single(item), types))
            for name, value in properties.items()
            if folded(name) == key
            for item in (value if isinstance(value, list) else [value])
        }
        for text, known in here.items():
            shown.setdefault(text, known)
            counts[text] = counts.get(text, 0) + 1
    found = [(*shown[text], count) for text, count in counts.items()]
    return sorted(found, key=lambda item: (-item[2], item[0]))


def _single(item: Any) -> Any:
    return item if not isinstance(item, dict) else str(item)


def tag_values(notes: Iterable[Sequence[str]]) -> list[Counted]:
    """Every tag, without #."""
    shown: dict[str, str] = {}
    counts: dict[str, int] = {}
    for tags, notes_with_them in Counter(map(tuple, notes)).items():  # many notes have the same
        for key, tag in {folded(tag): tag for tag in reversed(tags)}.items():
            shown.setdefault(key, tag)
            counts[key] = counts.get(key, 0) + notes_with_them
    found = [(shown[key], TAGS, count) for key, count in counts.items()]
    return sorted(found, key=lambda item: (-item[2], folded(item[0])))
