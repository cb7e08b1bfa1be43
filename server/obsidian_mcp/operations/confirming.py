"""What a person is asked before something is done that is hard to take back."""

from __future__ import annotations

import hashlib
from dataclasses import fields

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Question
from obsidian_mcp.vault import text
from obsidian_mcp.vault.changes import ChangeSet
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import Vault

MOST_UNASKED = 20  # notes


def deletion(
    path: VaultPath, links: int | None, if_match: str | None, vault: Vault, call: CallContext, undoable: bool
) -> str | None:
    """Ask whether it may be deleted for good; the etag that it must still have then."""
    about = vault.stat(path)
    if about.etag is not None:
        text.require_match(path, about.etag, if_match)
    linked = "" if links is None else f" {_count(links, 'note links', 'notes link')} to it."
    message = f"Delete {path} for good, not to the trash? It has {about.size:,} bytes.{linked} {_undo(undoable)}"
    question = Question(
        message, "Delete it for good", about.etag or "", "To move it to the trash, leave permanent out."
    )
    call.confirm(question)
    return about.etag or if_match


def many(changes: ChangeSet, call: CallContext, undoable: bool) -> None:
    """Ask whether so many notes may be changed."""
    count = len({change.path for change in changes.changes})
    if count > MOST_UNASKED:
        message = f"Change {count:,} notes at once: {changes.doing}? {_undo(undoable)}"
        otherwise = "Show the person what it would change, with dry_run."
        call.confirm(Question(message, f"Change {count:,} notes", digest(changes), otherwise))


def digest(changes: ChangeSet) -> str:
    """Of what would be done, to the byte."""
    found = hashlib.sha256()
    for change in changes.changes:
        said = [type(change).__name__, *(getattr(change, field.name) for field in fields(change))]
        found.update(repr(said).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}" if number else f"No {one}"


def _undo(undoable: bool) -> str:
    return "It can still be undone from the history." if undoable else "It can't be undone."
