"""Hosts' files on the disk: the one place that touches them.

Beside a file that was changed lies one more, until the last entry of ours goes: the file as it was (`BACKUP`), or,
where there was none, the folders that were made for it (`MADE`). These tell `uninstall` what there was before.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from obsidian_mcp.hosts.difference import unified

BACKUP, MADE = ".obsidian-mcp.bak", ".obsidian-mcp.made"


class HostProblem(Exception):
    """A host that can't be configured; one line says why and what to do."""


@dataclass(frozen=True, slots=True)
class Traces:
    """What an earlier change has left beside a file: the file as it was, and the folders that were made for it."""

    backup: bytes | None
    made: tuple[str, ...] | None  # None where the file was there before

    @property
    def original(self) -> bytes | None:
        """The file before any change of ours; empty where there was none, None where that is not known."""
        return self.backup if self.backup is not None else b"" if self.made is not None else None


@dataclass(frozen=True, slots=True)
class Change:
    """What a file holds, and what it should; None where there is no file.

    `kept` is what a backup should hold, where there is one to be written. With `last`, nothing of ours is left.
    """

    file: str
    before: bytes | None
    after: bytes | None
    own: frozenset[str] = frozenset()  # words that are ours wherever they stand
    kept: bytes | None = None
    last: bool = False

    @property
    def needed(self) -> bool:
        return self.before != self.after or bool(self.leftovers)

    def difference(self) -> list[str]:
        """By lines, and nothing of what stands around."""
        old, new = (None if data is None else data.decode("utf-8") for data in (self.before, self.after))
        return unified(self.file, old, new, self.own)

    @property
    def leftovers(self) -> list[str]:
        """The files of ours beside it that go."""
        names = [os.path.realpath(self.file) + ending for ending in (BACKUP, MADE)] if self.last else []
        return [name for name in names if os.path.lexists(name)]


def traces(file: str) -> Traces:
    beside = os.path.realpath(file)
    record = read(beside + MADE)
    return Traces(read(beside + BACKUP), None if record is None else _folders_in(record))


def _folders_in(record: bytes) -> tuple[str, ...]:
    try:
        found = json.loads(record)
    except ValueError:
        return ()
    return tuple(folder for folder in found if isinstance(folder, str)) if isinstance(found, list) else ()


def carry_out(change: Change) -> str | None:
    """Write it, and return where the file as it was is kept."""
    file = os.path.realpath(change.file)  # a link into a dotfiles repository stays one
    done = _Undo()
    try:
        _require_writable(change, file)
        if change.after is None:
            _require_same(change, file)
            os.unlink(file)
        elif change.before != change.after:
            _replace(change, file, done)
    except OSError as error:
        done.undo()
        raise HostProblem(f"{change.file} could not be written: {error.strerror}. It is as it was.") from None
    except HostProblem:
        done.undo()
        raise
    if change.last:
        _leave_nothing(change, file)
    return file + BACKUP if os.path.lexists(file + BACKUP) else None


def _replace(change: Change, file: str, done: _Undo) -> None:
    folders = done.folders(os.path.dirname(file))
    like = os.stat(file) if change.before is not None else None
    beside: list[tuple[str, str]] = []
    if change.before is None:
        made = dict.fromkeys((*folders, *(traces(file).made or ())))
        beside.append((done.written(json.dumps([*made]).encode(), f"{file}{MADE}", None), file + MADE))
    if change.kept is not None:
        beside.append((done.written(change.kept, f"{file}{BACKUP}", like), file + BACKUP))
    fresh = done.written(change.after or b"", file, like)
    _require_same(change, file)
    for temporary, name in beside:
        if not os.path.lexists(name):
            done.files.append(name)
        os.replace(temporary, name)
    os.replace(fresh, file)


class _Undo:
    """What was made on the way, so that a failure leaves nothing."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self._folders: list[str] = []

    def folders(self, wanted: str) -> list[str]:
        """Make a folder with those above it; the ones that were not there, innermost first."""
        missing, folder = [], wanted
        while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
            missing.append(folder)
            folder = os.path.dirname(folder)
        self._folders = missing
        os.makedirs(wanted, exist_ok=True)
        return missing

    def written(self, data: bytes, name: str, like: os.stat_result | None) -> str:
        """A new file that is to take that name."""
        fresh = _new_name(f"{name}.new")
        self.files.append(fresh)
        _write(fresh, data, like)
        return fresh

    def undo(self) -> None:
        for name in self.files:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
        _remove_empty(self._folders)


def _leave_nothing(change: Change, file: str) -> None:
    made = traces(file).made or ()
    for name in change.leftovers:
        with contextlib.suppress(OSError):
            os.unlink(name)
    if change.after is None:
        _remove_empty(made)


def _remove_empty(folders: Sequence[str]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):  # another program may have put something there
            os.rmdir(folder)


def _require_writable(change: Change, file: str) -> None:
    if change.before is None:
        return
    if not (os.access(file, os.W_OK) and os.stat(file).st_mode & 0o222):
        raise HostProblem(f"{change.file} is read-only, so it was left as it is. Make it writable first.")


def _require_same(change: Change, file: str) -> None:
    if read(file) != change.before:
        raise HostProblem(f"{change.file} was changed by someone else meanwhile. Nothing was written. Try again.")


def read(file: str) -> bytes | None:
    try:
        fd = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise HostProblem(f"{file} could not be read: {error.strerror}.") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise HostProblem(f"{file} could not be read: it is not a regular file.")
    with os.fdopen(fd, "rb") as opened:
        return opened.read()


def _new_name(wanted: str) -> str:
    number, name = 1, wanted
    while os.path.lexists(name):
        number += 1
        name = f"{wanted}{number}"
    return name


def _write(file: str, data: bytes, like: os.stat_result | None) -> None:
    """A new file, never readable by more people than the one it stands for."""
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(fd, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(fd)
    if like is None:
        return
    mode, made = stat.S_IMODE(like.st_mode), os.stat(file)
    if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.chown(file, like.st_uid, like.st_gid)
        except PermissionError:
            mode &= 0o700  # another group must not read what this one may
    os.chmod(file, mode)
