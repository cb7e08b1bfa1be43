"""Carrying out a change set on the files, all of it or nothing, whatever is killed or fails.

A single write has a record of its own (see `record`). Anything else is a transaction, and its order is what makes it
whole. First the journal, outside the vault, with every text as it is and as it will be; then room for what the texts
will grow by is taken, so that a full disk is found out before anything has changed; then the acts (a rename, a new
note, a deletion); then each text is put in place; when all are on the disk, the journal goes. Killed before the first
act, the next server forgets the journal; killed after it, it writes what is left (`recovery`). What another program has
written into a note since stays, and after a move the links in it are looked for again.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from obsidian_mcp.backends.files import atomic, read, record, recording, trash, write
from obsidian_mcp.backends.files.held import HeldFolder
from obsidian_mcp.backends.files.in_place import Torn
from obsidian_mcp.backends.files.journal import Act, Journal, Text, digest, stored_text
from obsidian_mcp.backends.files.os_errors import translate_os_errors
from obsidian_mcp.backends.files.recovery import Recovery, clear
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.call import OnThread, on_this_thread
from obsidian_mcp.errors import (
    CHANGED,
    UNTOUCHED,
    Conflict,
    Failure,
    FileFailed,
)
from obsidian_mcp.vault.changes import Change, ChangeSet, Rename, Restore, Trash, Write
from obsidian_mcp.vault.path import VaultPath

WRITERS = 8
FEW = 4
MOST_IN_A_ROW = 16  # files of one folder, before another thread may take some
BLOCK = 4096  # by which most file systems give out room


class _Unfinished(FileFailed):
    """Neither done nor undone: the journal has to be followed."""


@dataclass(frozen=True, slots=True)
class _Swap:
    """A file's other bytes. `now` is where it lies before the acts, `path` where it lies after them."""

    now: str
    path: str
    before: bytes
    after: bytes


def commit(root: VaultRoot, recovery: Recovery, changes: ChangeSet, use_local_trash: Callable[[], bool]) -> ChangeSet:
    """Carry it out; the changes as they were done. Raises a Failure that says how the vault was left."""
    if changes.is_transaction:
        return _transaction(root, recovery, changes, use_local_trash)
    (change,) = changes.changes
    if isinstance(change, Write) and change.before is not None and change.after is not None:
        record.replace(root, recovery.state, VaultPath(change.path), change.before, change.after)
        return changes
    done, _ = _act(root, change, use_local_trash)
    _require_written(root, _made([change]))
    return changes if done == change else replace(changes, changes=(done,))


def _transaction(
    root: VaultRoot, recovery: Recovery, changes: ChangeSet, use_local_trash: Callable[[], bool]
) -> ChangeSet:
    state = recovery.state
    record.recover(root, state)  # raises, and says why: a note may not hold its own text
    if state.has_journal:
        recovery.recover()  # and so does this: nothing may be moved before that move is over
    acts = [change for change in changes.changes if not _is_swap(change)]
    swaps = sorted(_swaps(changes.changes), key=lambda swap: swap.path)
    state.write_journal(_journal(root, changes.doing, acts, swaps).stored())
    done: dict[Change, Change] = {}
    backs: list[_Back] = []
    try:
        try:
            with _reserved(root, swaps):
                for change in acts:
                    done[change], back = _act(root, change, use_local_trash)
                    backs.append((change.path, back))
            _put_in_place(root, swaps, backs)
            _settle(root, swaps)
        except Torn:
            raise
        except Failure as failure:
            _take_back(failure, backs)
            raise failure.leaving(UNTOUCHED) from None
    except Torn:
        raise  # the journal stays, to be followed
    except _Unfinished as unfinished:
        _finish(recovery, unfinished)
        return replace(changes, changes=tuple(done.get(change, change) for change in changes.changes))
    except Failure:
        clear(state)  # all is as it was; after anything else the journal stays too
        raise
    try:
        _require_written(root, [*((swap.path, swap.after) for swap in swaps), *_made(acts)])
    except Failure as failure:
        if isinstance(failure, Conflict) and any(isinstance(act, Rename) for act in acts):
            _finish(recovery, failure)  # an editor has saved over a link: what it saved is kept, and so is the link
        else:
            clear(state)
            raise
    clear(state)
    return replace(changes, changes=tuple(done.get(change, change) for change in changes.changes))


def _finish(recovery: Recovery, unfinished: Failure) -> None:
    """What can't go back goes on: an editor has saved a note of ours in between, whose links are looked for again."""
    try:
        with OnThread(None):
            recovery.recover()
    except FileFailed:
        raise unfinished from None  # the journal stays, to be followed


_Back = tuple[str, Callable[[], None]]  # whose change it takes back, and how


def _is_swap(change: Change) -> bool:
    return isinstance(change, Write) and change.before is not None and change.after is not None


def _swaps(changes: Sequence[Change]) -> list[_Swap]:
    """Acts come first and texts after them, so a path is followed through the renames on both sides of its write."""
    lay: dict[str, str] = {}  # where a file lay before the renames so far, and below: will lie after those to come
    lies: dict[str, str] = {}
    now = []
    for change in changes:
        now.append(lay.get(change.path, change.path))
        if isinstance(change, Rename):
            lay[change.target] = lay.pop(change.path, change.path)
    found = []
    for change, begin in zip(reversed(changes), reversed(now), strict=True):
        if isinstance(change, Rename):
            lies[change.path] = lies.pop(change.target, change.target)
        elif isinstance(change, Write) and change.before is not None and change.after is not None:
            found.append(_Swap(begin, lies.get(change.path, change.path), change.before, change.after))
    return found[::-1]


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
        Text(swap.now, swap.path, digest(swap.before), stored_text(swap.after), stored_text(swap.before))
        for swap in swaps
    ]
    return Journal(doing, tuple(entries), tuple(texts))


def _reserved(root: VaultRoot, swaps: Sequence[_Swap]) -> contextlib.AbstractContextManager[None]:
    """Room for all that the texts grow by: what they overwrite takes none, unless the file system copies on write."""
    blocks = (-(-len(swap.after) // BLOCK) + -len(swap.before) // BLOCK for swap in swaps)
    return write.reserved(root, swaps[0].now if swaps else "", BLOCK * sum(max(0, more) for more in blocks))


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
            write.remove(root, path, change.before, even_if_open=False)
            return change, lambda: write.write_new(root, path, change.before or b"")
        write.write_new(root, path, change.after)
        return change, lambda: write.remove(root, path)
    if isinstance(change, Restore):
        trash.restore(root, path, change.before, change.to, change.mode)
        return change, lambda: write.remove(root, path, change.before)
    done = _delete(root, change, use_local_trash)
    return done, lambda: trash.restore(root, path, done.before, done.to)


def _delete(root: VaultRoot, change: Trash, use_local_trash: Callable[[], bool]) -> Trash:
    path = VaultPath(change.path)
    before = change.before if change.before is not None else recording.kept(root, path)
    if change.permanent:
        write.remove(root, path, before)  # what is in the history is what is removed
        return replace(change, before=before)
    if not use_local_trash() and trash.to_system_trash(root, path):
        return replace(change, before=before)
    return replace(change, before=before, to=trash.to_local_trash(root, path))


def _put_in_place(root: VaultRoot, swaps: Sequence[_Swap], backs: list[_Back]) -> None:
    with contextlib.closing(HeldFolder(root.prefix)) as folder:
        for swap in swaps:
            write.put_in_place(swap.path, swap.before, swap.after, folder)
            backs.append((swap.path, functools.partial(write.finish, root, swap.path, swap.after, swap.before)))


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
            with OnThread(None):  # whatever is left of the call's limit
                back()
        except Failure:
            raise _Unfinished(
                f"The change failed ({failure.fact}) and could not be taken back for {path}.",
                "It will be finished when the disk allows; every call tries.",
                CHANGED,
            ) from None


def _settle(root: VaultRoot, swaps: Sequence[_Swap]) -> None:
    """Every text to the disk. Side by side, a folder per thread: most of the time goes into waiting.

    Raises the first failure when all have ended.
    """

    def attempt(group: Sequence[_Swap]) -> None:
        with contextlib.closing(HeldFolder(root.prefix)) as folder:
            for one in group:
                write.settle(one.path, folder)

    groups: dict[str, list[_Swap]] = {}
    for one in swaps:
        groups.setdefault(one.path.rpartition("/")[0], []).append(one)
    parts = [group[at : at + MOST_IN_A_ROW] for group in groups.values() for at in range(0, len(group), MOST_IN_A_ROW)]
    _side_by_side([functools.partial(attempt, part) for part in parts], 1 if len(swaps) < FEW else WRITERS)


def _side_by_side(works: Sequence[Callable[[], None]], threads: int) -> None:
    """Each of them, on this thread and as many others as the system allows. Raises the first failure at the end."""
    left, failures, call = collections.deque(works), list[Exception](), on_this_thread()

    def work() -> None:
        while True:
            try:
                one = left.popleft()
            except IndexError:
                return
            try:
                with OnThread(call):
                    one()
            except Exception as failure:  # noqa: BLE001  # raised below
                failures.append(failure)

    others: list[threading.Thread] = []
    with contextlib.suppress(RuntimeError, MemoryError):  # a limit on threads: those that there are do it all
        for _ in range(min(threads, len(works)) - 1):
            other = threading.Thread(target=work)
            other.start()
            others.append(other)
    work()
    for other in others:
        other.join()
    if failures:
        raise failures[0]
