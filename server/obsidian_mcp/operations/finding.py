"""From what a caller calls a note to the one path it means."""

from __future__ import annotations

from obsidian_mcp.errors import AmbiguousName, Hint, NoteNotFound
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath, in_folder, is_path
from obsidian_mcp.vault.port import Vault

MOST_CANDIDATES = 20
CREATE_IT = Hint(
    "Give the name of one that exists, or make it with obsidian_create_note.",
    "Give the name of one that exists, or make it: obsidian-mcp call create_note name=...",
)


def existing(name: Name, vault: Vault) -> VaultPath:
    """The note that is meant. Never one of several, and never the one open in the app."""
    if not name.is_bare:
        there = vault.spellings(name.path)
        if len(there) == 1:
            return there[0]
    matches = sorted(path for path in vault.matching(name) if is_path(path))
    if len(matches) == 1:
        return VaultPath(matches[0])
    if matches:
        raise _ambiguous(name, matches)
    raise _missing(name, vault.paths())


def new(name: Name, vault: Vault, *, replacing: bool = False) -> VaultPath:
    """Where a note of that name is to be made, in the spelling that is there if it exists already.

    What is to be replaced must be the only note of that name.
    """
    path = in_folder(vault.settings().new_note_folder, name.path.filename) if name.is_bare else name.path
    there = vault.spellings(path)
    if len(there) > 1:
        raise _ambiguous(name, [other.value for other in there])
    if there and replacing and name.is_bare:
        return existing(name, vault)
    return there[0] if there else placed(path, vault)


def nothing_to_compare(name: Name, path: VaultPath, vault: Vault) -> NoteNotFound:
    """An etag was given for a note that is not there; perhaps another of its name was meant."""
    others = sorted(vault.matching(name)) if name.is_bare else []
    hint = (
        f"Give one of these paths as the name: {', '.join(others)}." if others else "Leave it out to create the note."
    )
    return NoteNotFound(f"There is no note {path} that if_match could be compared with.", hint)


def placed(path: VaultPath, vault: Vault) -> VaultPath:
    """A new path, in folders as they are spelled on disk."""
    return in_folder(vault.spelled_folder(path.folder), path.filename)


def _called(name: Name) -> str:
    return name.path.stem if name.is_bare else name.path.value


def _ambiguous(name: Name, matches: list[str]) -> AmbiguousName:
    shown = ", ".join(matches[:MOST_CANDIDATES]) + (" …" if len(matches) > MOST_CANDIDATES else "")
    return AmbiguousName(
        f"{len(matches)} notes are called {_called(name)!r}: {shown}.",
        "Give one of these paths as the name.",
        candidates=matches[:MOST_CANDIDATES],
    )


def _missing(name: Name, paths: list[str]) -> NoteNotFound:
    nearest = name.nearest(paths)
    inside = f"{fold(name.path.value.removesuffix('.md'))}/"
    if any(fold(path).startswith(inside) for path in paths):
        near = "A folder has that name; name a note in it."
    else:
        near = f"The nearest are {', '.join(nearest)}." if nearest else "The vault is empty."
    return NoteNotFound(f"There is no note {_called(name)!r} in the vault. {near}", CREATE_IT, nearest=nearest)
