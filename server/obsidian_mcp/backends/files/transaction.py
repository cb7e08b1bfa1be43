"""A move as one act: the file and every link to it, or nothing.

The order is what makes it so. First the journal, with every text as it will be;
then the texts, in files beside the notes, so that a full disk is found out
before anything has changed; then the rename; then each text is put in place,
which needs no room; then the journal goes. Killed before the rename, the next
server forgets the journal; killed after it, it writes what is left. A note that
somebody else has changed since is left as they made it.

A new note that shares its name with another is made in the same way: links to
the other become explicit, and the note takes the place of the rename.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from obsidian_mcp import logs
from obsidian_mcp.backends.files.write import Folder
from obsidian_mcp.errors import Conflict, Failure, FileFailed, NoteNotFound
from obsidian_mcp.state import State
from obsidian_mcp.vault.path import VaultPath

WRITERS = 8
FEW = 4
MOST_IN_A_ROW = 16  # of one folder, before another thread may take some


class _Unfinished(FileFailed):
    """Neither done nor undone: the journal has to be followed."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One file's bytes, from and to. `path` is where it lies once the move is done, `now` where it lies before."""

    now: str
    path: str
    before: bytes
    after: bytes


def relocate(folder: Folder, state: State, old: VaultPath, new: VaultPath, rewrites: Sequence[Rewrite]) -> None:
    made: list[str] = []

    def move() -> None:
        made.extend(folder.rename(old, new))

    def take_back() -> None:
        folder.rename(new, old)
        folder.remove_folders(made)

    _act(folder, state, _entry(old.value, new.value, folder.inode(old), rewrites), rewrites, move, take_back)


def create(folder: Folder, state: State, new: VaultPath, data: bytes, rewrites: Sequence[Rewrite]) -> None:
    def make() -> None:
        folder.write_new(new, data)

    _act(folder, state, _entry(None, new.value, None, rewrites), rewrites, make, lambda: folder.remove(new))


def _act(
    folder: Folder,
    state: State,
    entry: Mapping[str, Any],
    rewrites: Sequence[Rewrite],
    begin: Callable[[], None],
    take_back: Callable[[], None],
) -> None:
    if state.has_journal:
        recover(folder, state)  # raises, and says why: nothing may be moved before that move is over
    state.write_journal(entry)
    prepared: dict[str, str] = {}
    try:
        _prepare(folder, rewrites, prepared)
        begin()
        _put_in_place(folder, rewrites, prepared, take_back)
    except _Unfinished:
        raise  # the journal stays, to be followed
    except Failure:
        _clear(state)  # all is as it was; after anything else the journal stays too
        raise
    finally:
        for made in prepared.values():
            folder.discard(made)
    _clear(state)


def _clear(state: State) -> None:
    """A journal that stays is followed by the next call, which finds nothing left to do."""
    try:
        state.clear_journal()
    except FileFailed as failure:
        logs.log("warning", "the journal of a move that is over could not be removed", why=failure.message)


def _put_in_place(
    folder: Folder, rewrites: Sequence[Rewrite], prepared: Mapping[str, str], take_back: Callable[[], None]
) -> None:
    """On a failure everything is put back. Where that fails too the note stays at its new path, for the journal."""
    done: list[Rewrite] = []
    try:
        with contextlib.closing(folder.holder()) as made, contextlib.closing(folder.holder()) as goals:
            for one in sorted(rewrites, key=lambda one: one.path):
                folder.put_in_place(one.path, prepared[one.path], one.before, (made, goals))
                done.append(one)
    except Failure as failure:
        left = []
        for one in reversed(done):
            try:
                folder.replace_inside(one.path, one.after, one.before)
            except Failure:
                left.append(one.path)
        if not left:
            try:
                take_back()
            except Failure:
                left.append("the note itself")
        if left:
            raise _Unfinished(
                f"The move failed ({failure.message}) and could not be taken back for {', '.join(left)}. "
                "It will be finished when the disk allows; every call tries."
            ) from None
        raise


def _prepare(folder: Folder, rewrites: Sequence[Rewrite], prepared: dict[str, str]) -> None:
    """Side by side, a folder a thread: most of the time goes into waiting for the disk.

    Raises the first failure when all have ended.
    """

    def attempt(group: Sequence[Rewrite]) -> Failure | None:
        try:
            with contextlib.closing(folder.holder()) as holder:
                for one in group:
                    prepared[one.path] = folder.prepare(one.now, one.after, holder)
        except Failure as failure:
            return failure
        return None

    groups: dict[str, list[Rewrite]] = {}
    for one in rewrites:
        groups.setdefault(one.now.rpartition("/")[0], []).append(one)
    parts = [group[at : at + MOST_IN_A_ROW] for group in groups.values() for at in range(0, len(group), MOST_IN_A_ROW)]
    if len(rewrites) < FEW:
        failures = [attempt(part) for part in parts]
    else:
        with ThreadPoolExecutor(WRITERS) as pool:
            failures = list(pool.map(attempt, parts))
    for failure in failures:
        if failure is not None:
            raise failure


def recover(folder: Folder, state: State) -> None:
    """Finish or forget what a server that was killed had begun.

    The journal is kept where the vault is empty, for then its disk may not be mounted. It is also kept, and
    FileFailed raised, where a link can't be mended now: the disk is full, or fails, or a note may not be written.
    """
    if not folder.has_files():
        return
    try:
        entry = state.read_journal()
        if entry is not None:
            logs.log("warning", "an interrupted move was put right", how=_recover(folder, entry))
    except (ValueError, KeyError, TypeError, AttributeError):
        logs.log("error", "a journal that means nothing was dropped")
    except Failure as failure:
        logs.log("error", "an interrupted move could not be put right", why=failure.message)
        raise FileFailed(
            f"An earlier move was interrupted and can't be finished: {failure.message} Put that right first."
        ) from None
    _clear(state)


def _recover(folder: Folder, entry: Mapping[str, Any]) -> str:
    began = _began(folder, entry)
    swept: set[str] = set()
    unfinished: Failure | None = None
    for rewrite in entry["rewrites"]:
        try:
            for path in (rewrite["now"], rewrite["path"]):
                parent = path.rpartition("/")[0]
                if parent not in swept:
                    folder.require_own(parent)
                    folder.sweep(path)
                    swept.add(parent)
        except Failure as failure:
            logs.log("error", "a link could not be mended", path=rewrite["path"], why=failure.message)
            continue
        try:
            if began and folder.is_file_itself(rewrite["path"]):  # else it is gone, or somebody's link
                _finish(folder, rewrite)
        except (NoteNotFound, Conflict) as failure:
            logs.log("error", "a link could not be mended", path=rewrite["path"], why=failure.message)
        except Failure as failure:
            unfinished = unfinished or failure
    if unfinished is not None:
        raise unfinished
    return "finished" if began else "forgotten"


def _began(folder: Folder, entry: Mapping[str, Any]) -> bool:
    """Whether the file is at its new path: the same file, or one where the old path holds none any more.

    Somebody may have made another at the old path since; and the file at the
    new one is no longer the same once its own links have been mended.
    """
    inode = folder.inode(VaultPath(entry["new"]))
    if inode is None or entry["old"] is None:
        return inode is not None
    return inode == entry["inode"] or not folder.spelled_exactly(VaultPath(entry["old"]))


def _finish(folder: Folder, rewrite: Mapping[str, Any]) -> None:
    current = folder.read_inside(rewrite["path"])
    if _hash(current) == rewrite["before"]:
        folder.replace_inside(rewrite["path"], current, rewrite["after"].encode("utf-8", "surrogateescape"))


def _entry(old: str | None, new: str, inode: int | None, rewrites: Sequence[Rewrite]) -> dict[str, Any]:
    return {
        "old": old,
        "new": new,
        "inode": inode,
        "rewrites": [
            {
                "now": one.now,
                "path": one.path,
                "before": _hash(one.before),
                "after": one.after.decode("utf-8", "surrogateescape"),
            }
            for one in rewrites
        ],
    }


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
