"""After a kill: what a transaction had begun is finished, and what it had not is forgotten."""

from __future__ import annotations

import contextlib

from obsidian_mcp import logs
from obsidian_mcp.backends.files import read, write
from obsidian_mcp.backends.files.journal import Act, Journal, Text, digest
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.errors import Conflict, Failure, FileFailed, NoteNotFound
from obsidian_mcp.state import State
from obsidian_mcp.vault.path import VaultPath


def recover(root: VaultRoot, state: State) -> None:
    """Finish or forget what a server that was killed had begun.

    The journal is kept where the vault is empty, for then its disk may not be mounted. It is also kept, and
    FileFailed raised, where a link can't be rewritten now: the disk is full, or fails, or a note may not be written.
    """
    if not root.has_files():
        return
    try:
        stored = state.read_journal()
        if stored is not None:
            logs.log("warning", "an interrupted change was put right", how=_recover(root, Journal.parse(stored)))
    except (ValueError, KeyError, TypeError, AttributeError):
        logs.log("error", "a journal that means nothing was dropped")
    except Failure as failure:
        logs.log("error", "an interrupted change could not be put right", why=failure.message)
        raise FileFailed(
            f"An earlier change was interrupted and can't be finished: {failure.fact}", "Put that right first."
        ) from None
    clear(state)


def _recover(root: VaultRoot, journal: Journal) -> str:
    began = any(_was_done(root, act) for act in journal.acts) or _has_begun(root, journal)
    swept: set[str] = set()
    unfinished: Failure | None = None
    for text in journal.texts:
        try:
            for path in (text.now, text.path):
                parent = path.rpartition("/")[0]
                if parent not in swept:
                    root.require_own(parent)
                    write.sweep(root, path)
                    swept.add(parent)
        except Failure as failure:
            logs.log("error", "a link could not be rewritten", path=text.path, why=failure.message)
            continue
        try:
            if began and read.is_file_itself(root, text.path):  # else it is gone, or another program's link
                _finish(root, text)
        except (NoteNotFound, Conflict) as failure:
            logs.log("error", "a link could not be rewritten", path=text.path, why=failure.message)
        except Failure as failure:
            unfinished = unfinished or failure
    if unfinished is not None:
        raise unfinished
    return "finished" if began else "forgotten"


def _has_begun(root: VaultRoot, journal: Journal) -> bool:
    """Of a journal of nothing but texts: whether one of them is in place."""
    if journal.acts:
        return False
    for text in journal.texts:
        with contextlib.suppress(Failure):
            if digest(read.listed(root, text.path)) == digest(text.after.encode("utf-8", "surrogateescape")):
                return True
    return False


def _was_done(root: VaultRoot, act: Act) -> bool:
    """Whether a rename's file is at its new path: the same file, or one where the old path holds none any more.

    Another program may have made a new one at the old path since; and the file at the
    new one is no longer the same once its own links have been rewritten.
    """
    if act.kind == "rename":
        inode = read.inode(root, VaultPath(act.target))
        return inode is not None and (inode == act.inode or not read.spelled_exactly(root, VaultPath(act.path)))
    return read.spelled_exactly(root, VaultPath(act.path)) == (act.kind == "make")


def _finish(root: VaultRoot, text: Text) -> None:
    current = read.listed(root, text.path)
    if digest(current) == text.before:
        write.replace_inside(root, text.path, current, text.after.encode("utf-8", "surrogateescape"))


def clear(state: State) -> None:
    """A journal that stays is followed by the next call, which finds nothing left to do."""
    try:
        state.clear_journal()
    except FileFailed as failure:
        logs.log("warning", "the journal of a change that is over could not be removed", why=failure.message)
