"""What the CLI's answers about the vault mean. Pure: text in, a value out; None for a shape that is not known.

An empty result is a sentence, under `format=json` too. Counts come as text from
some commands and as numbers from others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, NoReturn

from obsidian_mcp.backends.obsidian import replies
from obsidian_mcp.vault.path import has_known_extension, is_path

Match = tuple[int, str]  # the line, from 1, and its text

_BETWEEN = ", "
_BAD_QUERY = ("Operator ", "Failed to parse", "Missing required parameter: query")


@dataclass(frozen=True, slots=True)
class Dangling:
    """A link that leads nowhere. The notes that have it are one text, in which a comma may be part of a name."""

    link: str
    sources: str


def matches(reply: str) -> list[tuple[str, list[Match]]] | None:
    """By path. A note of which only the name fits has no lines; a line is named once, however often it fits."""
    rows = _rows(reply, ("No matches found.",), file=_text, matches=_lines)
    return None if rows is None else sorted((path, lines) for path, lines in rows)


def query_problem(reply: str) -> str | None:
    """What the app has against a query, in its words."""
    problem = reply.strip().partition("\n")[0].strip().removeprefix("Error: ")
    return problem if reply.startswith("Error: ") and problem.startswith(_BAD_QUERY) else None


def tags(reply: str) -> list[tuple[str, int]] | None:
    """With their `#`, and how often each occurs: not in how many notes, and those below it count too."""
    rows = _rows(reply, ("No tags found.",), tag=_text, count=_number)
    return None if rows is None else [(tag, count) for tag, count in rows]


def properties(reply: str) -> list[tuple[str, str, int]] | None:
    rows = _rows(reply, ("No properties found.",), name=_text, type=_text, count=_number)
    return None if rows is None else [(name, kind, count) for name, kind, count in rows]


def backlinks(reply: str) -> list[str] | None:
    rows = _rows(reply, ("No backlinks found.",), file=_text)
    return None if rows is None else sorted(path for (path,) in rows)


def base_rows(reply: str) -> list[dict[str, str]] | None:
    """Every value is a text; the path is the app's own, the other names are in its language."""
    try:
        rows = json.loads(reply)
    except (ValueError, RecursionError):
        return None
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("path"), str) for row in rows
    ):
        return None
    return [{key: value if isinstance(value, str) else json.dumps(value) for key, value in row.items()} for row in rows]


def orphans(reply: str) -> list[str] | None:
    """Files of every kind."""
    return _listing(reply, ("No orphan files found.", "No orphans found."))


def doubtful(lines: Collection[str]) -> set[str]:
    """Those that could be a sentence as well as a file's path."""
    return {line for line in lines if not (has_known_extension(line) and is_path(line)) or replies.failure(line)}


def unresolved(reply: str) -> list[Dangling] | None:
    rows = _rows(reply, ("No unresolved links found.",), link=_text, sources=_text)
    return None if rows is None else [Dangling(link, sources) for link, sources in rows]


def named_files(text: str, files: Collection[str], most: int) -> list[str] | None:
    """The names in `a.md, b, c.md`: of files that there are, else whatever ends as a file's name does.

    `most` is the number of parts that a name can have.
    """
    parts = text.split(_BETWEEN)
    return _cut(parts, files, most) or _cut_by_ending(parts)


def most_parts(files: Collection[str]) -> int:
    return 1 + max((name.count(_BETWEEN) for name in files), default=0)


def _cut(parts: list[str], files: Collection[str], most: int) -> list[str] | None:
    """The parts put together to names of files, short ones first; None if that cannot be done with all of them.

    `begins[end]` is where the last name in the first `end` parts begins.
    """
    begins = {0: 0}
    for end in range(1, len(parts) + 1):
        for begin in range(end - 1, max(0, end - most) - 1, -1):
            if begin in begins and _BETWEEN.join(parts[begin:end]) in files:
                begins[end] = begin
                break
    names: list[str] = []
    end = len(parts)
    while end and end in begins:
        names.append(_BETWEEN.join(parts[begins[end] : end]))
        end = begins[end]
    return None if end else names[::-1]


def _cut_by_ending(parts: list[str]) -> list[str] | None:
    names: list[str] = []
    name: list[str] = []
    for part in parts:
        name.append(part)
        if has_known_extension(part):
            names.append(_BETWEEN.join(name))
            name = []
    return None if name else names


def _listing(reply: str, nothing: tuple[str, ...]) -> list[str] | None:
    """A line each. Nothing at all is not one of the known ways to say that there is nothing."""
    return [] if reply.strip() in nothing else replies.listed(reply) or None


def _rows(reply: str, nothing: tuple[str, ...], **fields: Callable[[Any], Any]) -> list[tuple[Any, ...]] | None:
    """The fields of each object of an array; None unless every one is there and is what it should be."""
    if reply.strip() in nothing:
        return []
    found = _json(reply)
    if not isinstance(found, list):
        return None
    try:
        return [tuple(read(row[name]) for name, read in fields.items()) for row in found]
    except (KeyError, TypeError, ValueError):
        return None


def _json(reply: str) -> Any:
    try:
        return json.loads(reply, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _number(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value)
    if type(value) is not int or value < 0:
        raise ValueError("not a count")
    return value


def _ordinal(value: Any) -> int:
    """From 1."""
    if not (number := _number(value)):
        raise ValueError("counted from 0")
    return number


def _lines(found: Any) -> list[Match]:
    if not isinstance(found, list):
        raise TypeError("not a list")
    return sorted({(_ordinal(each["line"]), _text(each["text"])) for each in found})
