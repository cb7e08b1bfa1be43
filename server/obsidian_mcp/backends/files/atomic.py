"""Bytes on disk: read whole, replaced atomically, and no temporary file left over.

A replacement is for files that are made, and for where a file can't be written in place (see `in_place`): its birth
time is new, and it is not the file that other hard links lead to.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator

from obsidian_mcp.backends.files import windows
from obsidian_mcp.backends.files.held import BINARY, NO_LINK, HeldPath, require_regular
from obsidian_mcp.errors import CHANGED, Conflict, FileFailed, PermissionDenied
from obsidian_mcp.patience import Patience
from obsidian_mcp.slot import flush

CHUNK, MOST_AT_ONCE = 64 * 1024, 64 * 1024 * 1024
TEMPORARY = ".obsidian-mcp-"


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
    """The stamp of what is known to be a regular file. On Windows the ctime is when it was made, and tells nothing."""
    changed = 0 if windows.HERE else found.st_ctime_ns
    return hash((found.st_mtime_ns, changed, found.st_size, found.st_ino))


def read_path(file: str) -> bytes:
    """A file of the settings, through whatever links lead to it."""
    if windows.HERE:
        return read_file(Patience().run(lambda: windows.open_file(file, os.O_RDONLY)), None)
    return read_file(os.open(file, os.O_RDONLY | BINARY | getattr(os, "O_NONBLOCK", 0)), None)


def read(at: HeldPath, most: int | None = None) -> bytes:
    """Raises Longer if it has more than so many bytes."""
    return read_file(at.open(os.O_RDONLY | NO_LINK), most)


def read_file(fd: int, most: int | None) -> bytes:
    """The whole of a regular file, which is closed then."""
    try:
        size = require_regular(fd)
        if most is not None and size > most:
            raise Longer(size)
        if size > CHUNK:
            return rest(fd)
        data = os.read(fd, CHUNK)
        return data if len(data) < CHUNK else data + rest(fd)  # of a regular file, less than asked for is the end
    finally:
        os.close(fd)


def rest(fd: int) -> bytes:
    """From where it stands to the end. In one piece: to join many is several times slower."""
    size = min(max(CHUNK, os.fstat(fd).st_size), MOST_AT_ONCE)
    parts = []
    while part := os.read(fd, size):
        parts.append(part)
        size = CHUNK
    return b"".join(parts)


def holds(fd: int, data: bytes) -> bool:
    """Whether this is what stands from here to the end. Nothing is kept of it."""
    at = 0
    while part := os.read(fd, CHUNK):
        if not data.startswith(part, at):
            return False
        at += len(part)
    return at == len(data)


def swap(path: str, at: HeldPath, before: bytes, after: bytes) -> None:
    """Give a file other bytes in one step, if it still has those it had."""
    with temporary(at, after) as made:
        put_in_place(path, made, at, before)
    require_written(path, at, after)


def put_in_place(path: str, made: HeldPath, at: HeldPath, before: bytes) -> None:
    """The second half of a swap. Needs no room on the disk."""
    require_writable(path, at)
    _copy_attributes(at, made)
    if read(at) != before:
        raise changed_meanwhile(path)
    made.replace(at)
    _unfinished.discard(made.text)


def require_writable(path: str, at: HeldPath) -> None:
    found = at.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise PermissionDenied(f"{path} is no longer a file of its own, so it is left alone.", path=path)
    if not found.st_mode & 0o222 or not at.may_be_written:
        raise PermissionDenied(f"{path} is read-only.", "Make it writable first.", path=path)


def changed_meanwhile(path: str) -> Conflict:
    return Conflict(f"{path} was changed by another program meanwhile.", "Read it again.", path=path)


def _copy_attributes(source: HeldPath, made: HeldPath) -> None:
    """Owner, extended attributes and mode, as far as the system lets them be set."""
    with contextlib.ExitStack() as closing:
        old = source.open(os.O_RDONLY | NO_LINK)
        closing.callback(os.close, old)
        new = made.open(os.O_WRONLY | NO_LINK)
        closing.callback(os.close, new)
        found, own = os.fstat(old), os.fstat(new)
        if hasattr(os, "fchown") and (found.st_uid, found.st_gid) != (own.st_uid, own.st_gid):
            with contextlib.suppress(OSError):
                os.fchown(new, found.st_uid, found.st_gid)
        if hasattr(os, "listxattr"):
            with contextlib.suppress(OSError):
                for name in os.listxattr(old):
                    os.setxattr(new, name, os.getxattr(old, name))
    if found.st_mode != own.st_mode:
        made.set_mode(stat.S_IMODE(found.st_mode))  # last: a change of owner can take bits away


def require_written(path: str, at: HeldPath, after: bytes) -> None:
    """Read back what was put in place. A failure here does not undo it."""
    try:
        is_written = _is(at, after)
    except OSError as error:
        raise FileFailed(
            f"{path} was written, but could not be read back: {error.strerror}.", vault=CHANGED, path=path
        ) from None
    if not is_written:
        raise Conflict(
            f"{path} was written, but now holds another text: it was changed at the same moment.",
            "Read it before changing it again.",
            CHANGED,
            path=path,
        )


def is_open_nowhere(at: HeldPath) -> bool:
    """Whether no program has the file open, as far as the system tells: Linux gives a lease only then."""
    if sys.platform != "linux":
        return True
    import fcntl

    fd = at.open(os.O_RDONLY | NO_LINK)  # a file that may not be written can be removed all the same
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except BlockingIOError:
        return False
    except OSError:  # another's file, or a file system without leases
        return True
    finally:
        os.close(fd)
    return True


def temporary_name() -> str:
    return f"{TEMPORARY}{secrets.token_hex(8)}.tmp"


def _is(at: HeldPath, data: bytes) -> bool:
    fd = at.open(os.O_RDONLY | NO_LINK)
    try:
        require_regular(fd)
        return holds(fd, data)
    finally:
        os.close(fd)


_unfinished: set[str] = set()


def discard_unfinished() -> None:
    """When the process has to end at once: leave no temporary file in a vault."""
    for name in list(_unfinished):
        with contextlib.suppress(OSError):
            os.unlink(name)


@contextlib.contextmanager
def temporary(beside: HeldPath, data: bytes) -> Iterator[HeldPath]:
    """A hidden file with the data, on disk, in the folder where it will be needed; gone afterwards."""
    made = prepare(beside, data)
    try:
        yield made
    finally:
        discard(made)


def prepare(beside: HeldPath, data: bytes) -> HeldPath:
    """The first half of a swap: all that can fail for want of room."""
    made = beside.sibling(temporary_name())
    _unfinished.add(made.text)
    try:
        # Not tempfile: it makes files that only this user may read, and a note should be as the umask says.
        fd = made.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            flush(fd, new=True)
        finally:
            os.close(fd)
    except BaseException:
        discard(made)
        raise
    return made


def reserve(beside: HeldPath, size: int) -> HeldPath:
    """A hidden file that takes up so much room; removed, it leaves that room to what is written then."""
    made = beside.sibling(temporary_name())
    _unfinished.add(made.text)
    try:
        fd = made.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _take_room(fd, size)
        finally:
            os.close(fd)
    except BaseException:
        discard(made)
        raise
    return made


def _take_room(fd: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(fd, 0, size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise
        else:
            return
    rest = memoryview(bytes(size))
    while rest:
        rest = rest[os.write(fd, rest) :]


def discard(made: HeldPath) -> None:
    """Remove a temporary file that was not put in place."""
    if made.text in _unfinished:
        with contextlib.suppress(OSError):
            made.unlink()
        _unfinished.discard(made.text)
