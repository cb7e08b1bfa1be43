"""Carrying out a change set on the files, all of it or nothing, whatever is killed or fails.

A single write is one atomic replacement and needs nothing more. Anything else is a transaction, and its order is what
makes it whole. First the journal, outside the vault, with every text as it will be; then the texts, in files beside
the notes, so that a full disk is found out before anything has changed; then the acts (a rename, a new note, a
deletion); then each text is put in place, which needs no room; then the journal goes. Killed before the first act, the
next server forgets the journal; killed after it, it writes what is left. A note that another program has changed since
is left as it is.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from obsidian_mcp import logs
from obsidian_mcp.backends.files import atomic, read, trash, write
from obsidian_mcp.backends.files.held import HeldFolder
from obsidian_mcp.backends.files.os_errors import translate_os_errors
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.errors import (
    CHANGED,
    UNTOUCHED,
    Conflict,
    Failure,
    FileFailed,
    NoteNotFound,
    PermissionDenied,
    TooLarge,
)
from obsidian_mcp.state import State
from obsidian_mcp.vault.changes import Change, ChangeSet, Rename, Restore, Trash, Write
from obsidian_mcp.vault.path import VaultPath

VERSION = 1
WRITERS = 8
FEW = 4
MOST_IN_A_ROW = 16  # files of one folder, before another thread may take some


class _Unfinished(FileFailed):
    """Neither done nor undone: the journal has to be followed."""


@dataclass(frozen=True, slots=True)
class Act:
    """A step that moves, makes or removes a file, and how a later server sees that it was done.

    `inode` is the file's before a rename; `path` or `target` is where a file must be, or must be no more.
    """

    kind: str
    path: str
    target: str = ""
    inode: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """One file's new text. `path` is where it lies once the acts are done, `now` where it lies before."""

    now: str
    path: str
    before: str  # the SHA-256 of the text it replaces
    after: str


def _plain(part: Act | Text) -> dict[str, Any]:
    """Not `asdict`, which copies every text."""
    return {name: getattr(part, name) for name in part.__slots__}


@dataclass(frozen=True, slots=True)
class Journal:
    """What a transaction means to do, as it is kept on disk."""

    doing: str
    acts: tuple[Act, ...]
    texts: tuple[Text, ...]

    def stored(self) -> dict[str, Any]:
        acts, texts = ([_plain(part) for part in parts] for parts in (self.acts, self.texts))
        return {"version": VERSION, "doing": self.doing, "acts": acts, "texts": texts}

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Journal:
        """Raises ValueError, KeyError or TypeError for what is not a journal, and FileFailed for another version's."""
        if stored["version"] != VERSION:
            raise FileFailed(f"Its journal is of another version ({stored['version']!r}) than {VERSION}.")
        acts = tuple(Act(**act) for act in stored["acts"])
        texts = tuple(Text(**text) for text in stored["texts"])
        for act in acts:
            VaultPath(act.path)
            if act.kind == "rename":
                VaultPath(act.target)
        for text in texts:
            if not all(isinstance(value, str) for value in _plain(text).values()):
                raise TypeError("a text is not one")
        return cls(str(stored["doing"]), acts, texts)


@dataclass(frozen=True, slots=True)
class _Swap:
    """A file's other bytes. `now` is where it lies before the acts, `path` where it lies after them."""

    now: str
    path: str
    before: bytes
    after: bytes


def commit(root: VaultRoot, state: State, changes: ChangeSet, use_local_trash: Callable[[], bool]) -> ChangeSet:
    """Carry it out; the changes as they were done. Raises a Failure that says how the vault was left."""
    if changes.is_transaction:
        return _transaction(root, state, changes, use_local_trash)
    (change,) = changes.changes
    if isinstance(change, Write) and change.before is not None and change.after is not None:
        write.replace(root, VaultPath(change.path), change.before, change.after)
        return changes
    done, _ = _act(root, change, use_local_trash)
    _require_written(root, _made([change]))
    return replace(changes, changes=(done,))


def _transaction(root: VaultRoot, state: State, changes: ChangeSet, use_local_trash: Callable[[], bool]) -> ChangeSet:
    if state.has_journal:
        recover(root, state)  # raises, and says why: nothing may be moved before that move is over
    acts = [change for change in changes.changes if not _is_swap(change)]
    swaps = _swaps(changes.changes)
    state.write_journal(_journal(root, changes.doing, acts, swaps).stored())
    prepared: dict[str, str] = {}
    done: dict[Change, Change] = {}
    backs: list[_Back] = []
    try:
        _prepare(root, swaps, prepared)
        try:
            for change in acts:
                done[change], back = _act(root, change, use_local_trash)
                backs.append((change.path, back))
            _put_in_place(root, swaps, prepared, backs)
        except Failure as failure:
            _take_back(failure, backs)
            raise failure.leaving(UNTOUCHED) from None
    except _Unfinished:
        raise  # the journal stays, to be followed
    except Failure:
        _clear(state)  # all is as it was; after anything else the journal stays too
        raise
    finally:
        for made in prepared.values():
            write.discard(root, made)
    _clear(state)
    _require_written(root, [*((swap.path, swap.after) for swap in swaps), *_made(acts)])
    return replace(changes, changes=tuple(done.get(change, change) for change in changes.changes))


_Back = tuple[str, Callable[[], None]]  # whose change it takes back, and how


def _is_swap(change: Change) -> bool:
    return isinstance(change, Write) and change.before is not None and change.after is not None


def _swaps(changes: Sequence[Change]) -> list[_Swap]:
    """Acts come first and texts after them, so a path is followed through the renames on both sides of its write."""
    found = []
    for number, change in enumerate(changes):
        if not isinstance(change, Write) or change.before is None or change.after is None:
            continue
        now = path = change.path
        for earlier in reversed(changes[:number]):
            if isinstance(earlier, Rename) and earlier.target == now:
                now = earlier.path
        for later in changes[number + 1 :]:
            if isinstance(later, Rename) and later.path == path:
                path = later.target
        found.append(_Swap(now, path, change.before, change.after))
    return found


def _made(changes: Sequence[Change]) -> list[tuple[str, bytes]]:
    """The files that were made, and what they should hold."""
    return [
        (change.path, change.after)
        for change in changes
        if isinstance(change, Write) and change.before is None and change.after is not None
    ]


def _journal(root: VaultRoot, doing: str, acts: Sequence[Change], swaps: Sequence[_Swap]) -> Journal:
    entries = []
    for act in acts:
        if isinstance(act, Rename):
            entries.append(Act("rename", act.path, act.target, read.inode(root, VaultPath(act.path))))
        else:
            removes = isinstance(act, Trash) or (isinstance(act, Write) and act.after is None)
            entries.append(Act("remove" if removes else "make", act.path))
    texts = [
        Text(swap.now, swap.path, _hash(swap.before), swap.after.decode("utf-8", "surrogateescape")) for swap in swaps
    ]
    return Journal(doing, tuple(entries), tuple(texts))


def _act(root: VaultRoot, change: Change, use_local_trash: Callable[[], bool]) -> tuple[Change, Callable[[], None]]:
    """Move, make or remove a file. The change as it was done, and what takes it back."""
    path = VaultPath(change.path)
    if isinstance(change, Rename):
        target = VaultPath(change.target)
        made = write.rename(root, path, target)

        def move_back() -> None:
            write.rename(root, target, path)
            write.remove_folders(root, made)

        return change, move_back
    if isinstance(change, Write):
        if change.after is None:
            write.remove(root, path, change.before)
            return change, lambda: write.write_new(root, path, change.before or b"")
        write.write_new(root, path, change.after)
        return change, lambda: write.remove(root, path)
    if isinstance(change, Restore):
        trash.restore(root, path, change.before, change.to)
        return change, lambda: write.remove(root, path, change.before)
    done = _delete(root, change, use_local_trash)
    return done, lambda: trash.restore(root, path, done.before, done.to)


def _delete(root: VaultRoot, change: Trash, use_local_trash: Callable[[], bool]) -> Trash:
    path = VaultPath(change.path)
    try:
        before = change.before if change.before is not None else read.note(root, path)
    except (TooLarge, PermissionDenied, FileFailed):
        before = None  # a film is deleted but not kept in memory, and so is what can't be read
    if change.permanent:
        write.remove(root, path)
        return replace(change, before=before)
    if not use_local_trash() and trash.to_system_trash(root, path):
        return replace(change, before=before)
    return replace(change, before=before, to=trash.to_local_trash(root, path))


def _put_in_place(root: VaultRoot, swaps: Sequence[_Swap], prepared: Mapping[str, str], backs: list[_Back]) -> None:
    def back(swap: _Swap) -> None:
        write.replace_inside(root, swap.path, swap.after, swap.before)

    with contextlib.closing(HeldFolder(root.prefix)) as made, contextlib.closing(HeldFolder(root.prefix)) as goals:
        for swap in sorted(swaps, key=lambda swap: swap.path):
            write.put_in_place(swap.path, prepared[swap.path], swap.before, (made, goals))
            backs.append((swap.path, functools.partial(back, swap)))


def _require_written(root: VaultRoot, written: Sequence[tuple[str, bytes]]) -> None:
    """Read every text back. What fails here does not undo the change."""
    with contextlib.closing(HeldFolder(root.prefix)) as folder:
        for path, text in sorted(written):
            try:
                with translate_os_errors(path):
                    atomic.require_written(path, folder.at(path), text)
            except Failure as failure:
                raise failure.leaving(CHANGED) from None


def _take_back(failure: Failure, backs: Sequence[_Back]) -> None:
    """Undo what was done, last first. Where that fails the rest stays done, for the journal."""
    for path, back in reversed(backs):
        try:
            back()
        except Failure:
            raise _Unfinished(
                f"The change failed ({failure.fact}) and could not be taken back for {path}.",
                "It will be finished when the disk allows; every call tries.",
                CHANGED,
            ) from None


def _prepare(root: VaultRoot, swaps: Sequence[_Swap], prepared: dict[str, str]) -> None:
    """Side by side, a folder per thread: most of the time goes into waiting for fsync.

    Raises the first failure when all have ended.
    """

    def attempt(group: Sequence[_Swap]) -> Failure | None:
        try:
            with contextlib.closing(HeldFolder(root.prefix)) as folder:
                for one in group:
                    prepared[one.path] = write.prepare(root, one.now, one.after, folder)
        except Failure as failure:
            return failure
        return None

    groups: dict[str, list[_Swap]] = {}
    for one in swaps:
        groups.setdefault(one.now.rpartition("/")[0], []).append(one)
    parts = [group[at : at + MOST_IN_A_ROW] for group in groups.values() for at in range(0, len(group), MOST_IN_A_ROW)]
    if len(swaps) < FEW:
        failures = [attempt(part) for part in parts]
    else:
        with ThreadPoolExecutor(WRITERS) as pool:
            failures = list(pool.map(attempt, parts))
    for failure in failures:
        if failure is not None:
            raise failure


def _clear(state: State) -> None:
    """A journal that stays is followed by the next call, which finds nothing left to do."""
    try:
        state.clear_journal()
    except FileFailed as failure:
        logs.log("warning", "the journal of a change that is over could not be removed", why=failure.message)


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
    _clear(state)


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
            if _hash(read.listed(root, text.path)) == _hash(text.after.encode("utf-8", "surrogateescape")):
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
    if _hash(current) == text.before:
        write.replace_inside(root, text.path, current, text.after.encode("utf-8", "surrogateescape"))


def _hash(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()
