"""From what a caller calls a note to the one path it means."""

from __future__ import annotations

from obsidian_mcp.errors import InvalidArguments, NoteNotFound
from obsidian_mcp.operations import unfound
from obsidian_mcp.vault import kinds
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import BadPath, VaultPath, check_new, in_folder, is_path
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.reference import Reading, Reference


def existing(reference: Reference, vault: Vault, *, whole: bool = False) -> VaultPath:
    """The file that is meant. Never one of several, and never the one open in the app.

    Where the whole note is to be changed, the name of a section in it is refused.
    """
    reference = _in_this_vault(reference, vault, new=False)
    for reading in reference.readings:
        matches = _matches(reading, vault)
        if len(matches) > 1:
            raise unfound.ambiguous(reading.text, matches)
        if matches and whole and reading.section:
            raise unfound.section(reading, matches[0])
        if matches:
            return matches[0]
    if reference.folder:
        raise unfound.folder_named(reference.folder, vault.paths())
    raise unfound.missing(reference.readings[-1], vault.paths())


def new(reference: Reference, vault: Vault, *, replacing: bool = False) -> VaultPath:
    """Where a note of that name is to be made, in the spelling that is there if it exists already.

    What is to be replaced must be the only note of that name.
    """
    reading = _in_this_vault(reference, vault, new=True).readings[0]
    (name,), (given,) = reading.names, reading.exact
    if not name.is_bare and vault.has(given):
        return given
    path = in_folder(vault.settings().new_note_folder, name.path.filename) if name.is_bare else name.path
    there = vault.spellings(path)
    if there and replacing and name.is_bare:
        there = _answering(name, vault) or there
    if len(there) > 1:
        raise unfound.ambiguous(reading.text, there)
    if there:
        return there[0]
    _require_new(reading.text, name.path)
    return placed(path, vault)


def nothing_to_compare(reference: Reference, path: VaultPath, vault: Vault) -> NoteNotFound:
    """An etag was given for a note that is not there; perhaps another of its name was meant."""
    names = [name for reading in reference.readings for name in reading.names if name.is_bare]
    others = sorted({other for name in names for other in vault.matching(name)})
    hint = (
        f"Give one of these paths as the name: {', '.join(others)}." if others else "Leave it out to create the note."
    )
    return NoteNotFound(f"There is no note {path} that if_match could be compared with.", hint)


def placed(path: VaultPath, vault: Vault) -> VaultPath:
    """A new path, in folders as they are spelled on disk."""
    return in_folder(vault.spelled_folder(path.folder), path.filename)


def _in_this_vault(reference: Reference, vault: Vault, *, new: bool) -> Reference:
    """An address names its vault, or a place on the disk. Raises unless that is this vault, and a place in it."""
    if reference.vault and not vault.is_called(reference.vault):
        raise InvalidArguments(
            f"The link leads to the vault {reference.vault!r}, which is not the one that was asked.",
            "Name that vault in the argument vault if it is served, or give the note's own name.",
        )
    if not reference.absolute:
        return reference
    inside = vault.within(reference.absolute)
    if inside is None:
        raise InvalidArguments("The link leads to a path that is not in this vault.", "Give the note's own name.")
    try:
        return Reference.at(inside, new=new)
    except BadPath as problem:
        raise InvalidArguments(f"name {problem}.") from None


def _matches(reading: Reading, vault: Vault) -> list[VaultPath]:
    for path in reading.exact:
        if vault.has(path):
            return [path]
    for name in reading.names:
        found = _answering(name, vault)
        if found:
            return found
    return []


def _answering(name: Name, vault: Vault) -> list[VaultPath]:
    if not name.is_bare:
        there = vault.spellings(name.path)
        if len(there) == 1:
            return there
    return [VaultPath(path) for path in sorted(vault.matching(name)) if is_path(path)]


def _require_new(text: str, path: VaultPath) -> None:
    """Raise unless a file of that name may be made, as it was given and as it will be."""
    try:
        check_new(text)
        check_new(path.value)
    except BadPath as problem:
        raise unfound.refused(f"name {problem}.") from None
    if not kinds.can_be_made(text):
        raise unfound.refused(
            f"name ends with .{kinds.extension(text)}: notes and plain text are made here, and not such files.",
            f"If a note is meant, give {text}.md.",
        )
