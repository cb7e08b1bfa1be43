"""What is said where a name means no note, too many, or something else than a note: it contains the repair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from obsidian_mcp.errors import AmbiguousName, Hint, InvalidArguments, NoSuchName, NoteNotFound
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.reference import Reading

MOST_CANDIDATES = 20
MOST_IN_FOLDER = 10
CREATE_IT = Hint(
    "Give the name of one that exists, or make it with obsidian_create_note.",
    "Give the name of one that exists, or make it: obsidian-mcp call create_note name=...",
    needs="obsidian_create_note",
    without="Give the name of one that exists.",
)


def refused(problem: str, hint: str = "") -> InvalidArguments:
    return InvalidArguments(problem, hint, invalid=[{"name": "name", "problem": problem.removesuffix(".")}])


def section(reading: Reading, path: VaultPath) -> InvalidArguments:
    return InvalidArguments(
        f"The name means the section {reading.section!r} of {path}, and this tool acts on a whole note.",
        f"Give {path} if the whole note is meant.",
    )


def ambiguous(text: str, found: list[VaultPath]) -> AmbiguousName:
    matches = [path.value for path in found]
    shown = ", ".join(matches[:MOST_CANDIDATES]) + (" …" if len(matches) > MOST_CANDIDATES else "")
    return AmbiguousName(
        f"{len(matches)} notes are called {text!r}: {shown}.",
        "Give one of these paths as the name.",
        candidates=matches[:MOST_CANDIDATES],
    )


def missing(reading: Reading, paths: list[str]) -> NoteNotFound:
    nearest = reading.names[0].nearest(paths)
    inside = _inside(reading.text.removesuffix(".md"), paths)
    fact = f"There is no note {reading.text!r} in the vault."
    if inside:
        return NoteNotFound(
            f"{fact} A folder has that name; its first notes are {', '.join(inside)}.",
            "Name a note in it.",
            nearest=nearest,
            notes=inside,
        )
    near = f"The nearest are {', '.join(nearest)}." if nearest else "The vault is empty."
    failure = NoSuchName(f"{fact} {near}", CREATE_IT, nearest=nearest)
    failure.asked = reading.text
    return failure


def by_alias(failure: NoSuchName, aliases: Iterable[tuple[str, Sequence[str]]]) -> NoteNotFound:
    """With the notes that have the name as an alias, if there are some."""
    wanted = fold(failure.asked.rpartition("/")[2].removesuffix(".md")).strip()
    found = sorted(path for path, names in aliases if any(fold(name).strip() == wanted for name in names))
    if not found:
        return failure
    shown = ", ".join(found[:MOST_CANDIDATES]) + (" …" if len(found) > MOST_CANDIDATES else "")
    return NoteNotFound(
        f"There is no note {failure.asked!r} in the vault. Notes with that alias: {shown}.",
        "Give that path as the name." if len(found) == 1 else "Give one of these paths as the name.",
        candidates=found[:MOST_CANDIDATES],
    )


def folder_named(folder: str, paths: list[str]) -> NoteNotFound | InvalidArguments:
    """What ends with a slash is never a note; the notes in it may be what is wanted."""
    inside = _inside(folder, paths)
    if not inside:
        return refused(f"name must not end with /: it names a folder, and there is no folder {folder!r} with files.")
    return NoteNotFound(
        f"{folder!r} is a folder; its first notes are {', '.join(inside)}.", "Name a note in it.", notes=inside
    )


def _inside(folder: str, paths: list[str]) -> list[str]:
    """The first files in a folder: notes before others, and its own before those of folders in it."""
    prefix = f"{fold(folder)}/"
    found = [path for path in paths if fold(path).startswith(prefix)]
    return sorted(found, key=lambda path: (fold(path[-3:]) != ".md", path.count("/"), path))[:MOST_IN_FOLDER]
