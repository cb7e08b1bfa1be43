"""A change on the files with its entry in the history: there is one if and only if the other was made.

The entry is begun before the first act and finished after the last. A server that is killed in between leaves it
pending. The next one first finishes or forgets the change itself (`record`, `recovery`), and then looks at the files:
they say what became of it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from obsidian_mcp.backends.files import read, trash, write
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.errors import READ, UNTOUCHED, Failure, FileFailed, NoteNotFound, PermissionDenied, TooLarge
from obsidian_mcp.state import State
from obsidian_mcp.vault.changes import Change, ChangeSet, Committed, NotAsBefore, Rename, Trash, Write
from obsidian_mcp.vault.history import Difference, KeptChanges, Recorder, happened
from obsidian_mcp.vault.path import VaultPath, is_path


def recorded(
    recorder: Recorder | None,
    changes: ChangeSet,
    act: Callable[[ChangeSet], ChangeSet],
    beside: tuple[Write, ...] = (),
) -> Committed:
    """Carry it out, on record. Only while no other server writes. What changes nothing is no change.

    `beside` is recorded with it and not done.
    """
    if recorder is None or changes.changes_nothing:
        return Committed(act(changes))
    id = recorder.begin(replace(changes, changes=(*changes.changes, *beside)) if beside else changes)
    try:
        done = act(changes)
    except Failure as failure:
        if failure.vault in (READ, UNTOUCHED):
            recorder.abandon(id)
        raise  # else it may have been done, or will be: what the files hold then decides
    recorder.finish(id, None if done is changes else replace(done, changes=(*done.changes, *beside)))
    return Committed(done, id)


def prepared(root: VaultRoot, changes: ChangeSet) -> ChangeSet:
    """With what has to be known before it is done: the folders that will be made, and what will be deleted."""
    found = tuple(
        replace(change, before=kept(root, VaultPath(change.path)), mode=_mode(root, change.path))
        if isinstance(change, Trash) and change.before is None
        else change
        for change in changes.changes
    )
    return replace(changes, changes=found, made=tuple(_missing_folders(root, changes.changes)))


def witnesses(root: VaultRoot, changes: ChangeSet) -> tuple[Write, ...]:
    """What the files hold that are only moved: an undo must see whether somebody has written into one since."""
    written = {change.path for change in changes.changes if isinstance(change, Write)}
    found: list[Write] = []
    for change in changes.changes:
        if isinstance(change, Rename) and change.target not in written and change.path not in written:
            text = kept(root, VaultPath(change.path))
            found += [Write(change.target, text, text, whole=True)] if text is not None else []
    return tuple(found)


def _mode(root: VaultRoot, path: str) -> int | None:
    try:
        return stat.S_IMODE(os.stat(root.place(path)).st_mode)
    except OSError:
        return None


def kept(root: VaultRoot, path: VaultPath) -> bytes | None:
    """What a deletion could be taken back with. A film is deleted but not kept, and so is what can't be read."""
    try:
        return read.note(root, path)
    except (TooLarge, PermissionDenied, FileFailed):
        return None


def _missing_folders(root: VaultRoot, changes: Iterable[Change]) -> list[str]:
    """Outermost first."""
    missing: dict[str, None] = {}
    for change in changes:
        for folder in _folders_of(change):
            if folder not in missing and not os.path.lexists(root.place(folder)):
                missing[folder] = None
    return list(missing)


def _folders_of(change: Change) -> list[str]:
    if isinstance(change, Trash):
        return [] if change.permanent else [".trash"]
    if isinstance(change, Write) and change.before is not None:
        return []
    segments = (change.target if isinstance(change, Rename) else change.path).split("/")[:-1]
    return ["/".join(segments[: end + 1]) for end in range(len(segments))]


def settle(recorder: Recorder, root: VaultRoot) -> None:
    """Say what became of every change that is pending. Only while no other server writes, and after recovery.

    Not where the vault is empty, for then its disk may not be mounted.
    """
    pending = recorder.pending()
    if pending and root.has_files():
        for id, changes in pending:
            if settle_one(recorder, id, changes, lambda path: held(root, path)):
                recorder.settled(id, _as_done(root, changes))
                _tidy(root, changes, changes.unmade)
            else:
                _tidy(root, changes, changes.made)


def _tidy(root: VaultRoot, changes: KeptChanges, folders: Sequence[str]) -> None:
    """Clear away what a change that was killed has left, and folders that have nothing in them now."""
    for change in changes.changes:
        with contextlib.suppress(Failure):
            write.sweep(root, change.path)
    write.remove_folders(root, folders)


def settle_one(recorder: Recorder, id: str, changes: KeptChanges, read: Callable[[str], bytes | None]) -> bool:
    """Whether it was made; if not, there is no entry any more."""
    if happened(changes, read):
        return True
    recorder.abandon(id)
    return False


def held(root: VaultRoot, path: str) -> bytes | None:
    """What a file holds; nothing of one that is too large or can't be read; None where there is none."""
    if not read.is_file_itself(root, path):
        return None
    try:
        return read.note(root, VaultPath(path)) if is_path(path) else read.listed(root, path)
    except NoteNotFound:
        return None
    except (TooLarge, PermissionDenied, FileFailed):
        return b""


def _as_done(root: VaultRoot, kept: KeptChanges) -> ChangeSet | None:
    """With the places in the vault's own trash, which nobody was told, and what the app has rewritten by itself."""
    changes: list[Change] = []
    for change in kept.changes:
        if isinstance(change, Trash) and not change.permanent and change.before is not None:
            changes.append(replace(change, to=trash.found(root, VaultPath(change.path), change.before)))
        elif isinstance(change, Write) and change.before is not None and change.before == change.after:
            now = held(root, change.path)
            changes += [replace(change, after=now)] if now not in (None, change.before) else []
        elif isinstance(change, Difference):
            with contextlib.suppress(NotAsBefore):  # somebody's by now, and what it held was not kept whole
                changes.append(change.write(held(root, change.path) or b""))
                continue
            if not change.is_witness:
                return None  # as it was meant
        else:
            changes.append(change)
    return ChangeSet(kept.doing, tuple(changes), kept.made, kept.unmade)


def settle_if_free(recorder: Recorder | None, root: VaultRoot | None, state: State) -> None:
    """The same for a call that only wants to know, unless another server is at work."""
    if recorder is not None and root is not None:
        with contextlib.suppress(FileFailed), state.locked_if_free() as free:
            if free:
                settle(recorder, root)
