"""Bytes on disk: read whole, swapped in one step, and nothing left behind. Beneath `files`, which knows vaults."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator

from obsidian_mcp.errors import Conflict, PermissionDenied

CHUNK = 64 * 1024
TEMPORARY = ".obsidian-mcp-"
BINARY = getattr(os, "O_BINARY", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Longer(Exception):
    """The file has more bytes than are wanted; how many is told."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def stamp(found: os.stat_result) -> int | None:
    """One number, because there may be very many of them."""
    if not stat.S_ISREG(found.st_mode):
        return None
    return stamp_of(found)


def stamp_of(found: os.stat_result) -> int:
    """The same for what is known to be a regular file."""
    return hash((found.st_mtime_ns, found.st_size, found.st_ino))


def open_regular(file: str) -> int:
    """A regular file, opened for reading. Anything else, such as a pipe, could wait for ever."""
    fd = os.open(file, os.O_RDONLY | BINARY | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return fd


def read(file: str, most: int | None = None) -> bytes:
    """In small chunks: one large buffer is several times slower. Raises Longer if it has more than so many bytes."""
    fd = open_regular(file)
    try:
        if most is not None and (size := os.fstat(fd).st_size) > most:
            raise Longer(size)
        data = os.read(fd, CHUNK)
        if len(data) < CHUNK:
            return data  # of a regular file, less than asked for is the end
        parts = [data]
        while part := os.read(fd, CHUNK):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def swap(path: str, real: str, before: bytes, after: bytes) -> None:
    """Give a file other bytes in one step, if it still has those it had."""
    with temporary(real, after) as made:
        put_in_place(path, made, real, before)


def put_in_place(path: str, made: str, real: str, before: bytes) -> None:
    """The second half of a swap. Needs no room on the disk."""
    found = os.lstat(real)
    if not stat.S_ISREG(found.st_mode):
        raise PermissionDenied(f"{path} is no longer a file of its own, so it is left alone.", path=path)
    mode = stat.S_IMODE(found.st_mode)
    if not mode & 0o222 or not os.access(real, os.W_OK):
        raise PermissionDenied(f"{path} is read-only. Nothing was changed. Make it writable first.", path=path)
    if mode != stat.S_IMODE(os.stat(made).st_mode):
        os.chmod(made, mode)
    if read(real) != before:
        raise Conflict(f"{path} was changed by someone else meanwhile. Nothing was changed. Read it again.", path=path)
    os.replace(made, real)
    _unfinished.discard(made)


_unfinished: set[str] = set()


def discard_unfinished() -> None:
    """When the process has to end at once: leave no temporary file in a vault."""
    for name in list(_unfinished):
        with contextlib.suppress(OSError):
            os.unlink(name)


@contextlib.contextmanager
def temporary(beside: str, data: bytes) -> Iterator[str]:
    """A hidden file with the data, on disk, in the folder where it will be needed; gone afterwards."""
    name = prepare(beside, data)
    try:
        yield name
    finally:
        discard(name)


def prepare(beside: str, data: bytes) -> str:
    """The first half of a swap: all that can fail for want of room."""
    name = f"{os.path.dirname(beside)}{os.sep}{TEMPORARY}{secrets.token_hex(8)}.tmp"
    _unfinished.add(name)
    try:
        # Not tempfile: it makes files that nobody else may read, and a note should be as the umask says.
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o666)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            os.fsync(fd)
        finally:
            os.close(fd)
    except BaseException:
        discard(name)
        raise
    return name


def discard(name: str) -> None:
    """Remove a temporary file that was not put in place."""
    if name in _unfinished:
        with contextlib.suppress(OSError):
            os.unlink(name)
        _unfinished.discard(name)
