"""Changing the text of one note, making one, deleting one. An edit is a pure function from bytes to bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AlreadyExists, Hint, InvalidArguments
from obsidian_mcp.operations.moving import captures
from obsidian_mcp.vault import syntax, text
from obsidian_mcp.vault.changes import ChangeSet, Trash, Write
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import Vault

Edit = Callable[[bytes], bytes]
OVERWRITE = Hint(
    "Set overwrite to replace it, or append to it.",
    "Give overwrite=true to replace it, or call append_note.",
    needs="obsidian_append_note",
    without="Set overwrite to replace it.",
)

REPLACE_IN_IT = Hint(
    "Replace a text in it with obsidian_edit_note so that it stays valid, or write the whole file with overwrite.",
    "Replace a text in it with edit_note so that it stays valid, or call create_note with overwrite=true.",
    needs="obsidian_edit_note",
    without="Write the whole file with overwrite.",
)


@dataclass(frozen=True, slots=True)
class NewNote:
    """What a note is made with that is not there yet, and what tells which links it would capture."""

    content: str
    index: Index | None
    call: CallContext


def edit(
    path: VaultPath, change: Edit, if_match: str | None, vault: Vault, doing: str, new: NewNote | None = None
) -> bytes:
    """Change a note's text, or that of one that is made; its bytes afterwards."""
    return (
        _written(vault.commit(doing, lambda: _planned(path, change, if_match, vault, doing, new)).changes).after or b""
    )


def preview(
    path: VaultPath, change: Edit, if_match: str | None, vault: Vault, doing: str, new: NewNote | None
) -> Write:
    """What an edit would write. Nothing is done."""
    return _written(_planned(path, change, if_match, vault, doing, new))


def _planned(
    path: VaultPath, change: Edit, if_match: str | None, vault: Vault, doing: str, new: NewNote | None
) -> ChangeSet:
    if new is not None and not vault.spellings(path):
        after = change(new.content.encode())
        return ChangeSet(doing, (Write(path.value, None, after), *captures(path, vault, new.index, new.call)))
    before = vault.current(path)
    text.decoded(path, before)
    if if_match is not None:
        text.require_match(path, text.etag(before), if_match)
    after = change(before)
    if path.extension.lower() in syntax.SYNTAX:
        _require_syntax(path, before, after)
    return ChangeSet(doing, (Write(path.value, before, after),))


def _require_syntax(path: VaultPath, before: bytes, after: bytes) -> None:
    """Raise if the file could be read as what it is, and no longer can."""
    if syntax.problem(path.extension, before.decode()):
        return
    problem = syntax.problem(path.extension, after.decode())
    if problem:
        kind = syntax.SYNTAX[path.extension.lower()]
        raise InvalidArguments(
            f"{path} is {kind}, and would no longer be with this text. {problem}",
            REPLACE_IN_IT,
            path=path.value,
        )


def create(
    path: VaultPath,
    content: str,
    vault: Vault,
    index: Index | None,
    call: CallContext,
    *,
    overwrite: bool,
    if_match: str | None,
) -> Write:
    """Make a note with exactly this text, or replace the text of the one that is there."""
    doing, after = f"creating {path}", content.encode()

    def plan() -> ChangeSet:
        there = vault.spellings(path)
        if not there:
            return ChangeSet(doing, (Write(path.value, None, after), *captures(path, vault, index, call)))
        before = vault.current(there[0])
        if not overwrite:
            raise AlreadyExists(f"{path} exists already.", OVERWRITE, path=path.value)
        text.require_match(path, text.etag(before), if_match)
        return ChangeSet(doing, (Write(there[0].value, before, after, whole=True),))

    return _written(vault.commit(doing, plan).changes)


def delete(path: VaultPath, vault: Vault, *, permanent: bool, if_match: str | None) -> Trash:
    """Move a file to the trash, or remove it for good."""
    doing = f"deleting {path}"

    def plan() -> ChangeSet:
        if if_match is not None:
            text.require_match(path, vault.etag(path), if_match)
        return ChangeSet(doing, (Trash(path.value, permanent),))

    (done,) = vault.commit(doing, plan).changes.changes
    assert isinstance(done, Trash)
    return done


def _written(done: ChangeSet) -> Write:
    """The first change, which is the note's own."""
    first = done.changes[0]
    assert isinstance(first, Write)
    return first
