"""A file's bytes changed in place, so that it stays the file that it was.

What a file is beside its bytes belongs to its inode: owner, mode, extended attributes, hard links, and the birth time,
which nothing can set on Linux. A replacement has its own. So the bytes are written into the file itself.

That is not one step: a kill in the middle leaves a mixture of two texts. Both are therefore on record outside the vault
before (`record` for one write, `journal` for a change set), and what a kill can leave is told from what another program
has written. The order is that of what can fail: first what is new at the end, which needs room and touches nothing that
is there; then what goes over the old, which needs none; then the rest is cut off. What is only added goes through
O_APPEND: it cannot overwrite what another program adds at the same moment.
"""

from __future__ import annotations

import errno
import os

from obsidian_mcp.backends.files import atomic
from obsidian_mcp.backends.files.held import NO_LINK, HeldPath, require_regular
from obsidian_mcp.errors import CHANGED, FileFailed
from obsidian_mcp.slot import flush

BLOCK = 512  # what a disk writes as a whole, or not at all
MANY = 128  # blocks that are compared at once in a long file
_REFUSED = {errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.ENOSYS}  # by a mount that can only write whole files

_TO_FLUSH = os.O_RDWR if os.name == "nt" else os.O_RDONLY  # only Windows asks for the right to write


class Torn(FileFailed):
    """Neither text is there: the record has to be followed."""


def difference(before: bytes, after: bytes) -> int:
    """From where on they may differ: what has to be written, and nothing before it."""
    if after.startswith(before) or before.startswith(after):
        return min(len(before), len(after))
    most = min(len(before), len(after))
    start = _first_difference(before, after, range(0, most, MANY * BLOCK))
    return _first_difference(before, after, range(start, most, BLOCK))


def _first_difference(before: bytes, after: bytes, places: range) -> int:
    step = places.step
    return next(at for at in places if before[at : at + step] != after[at : at + step])


def same_end(before: bytes, after: bytes, start: int) -> int:
    """From which block on two texts are the same again, if they are equally long: nothing from there on is written."""
    end = len(before)
    if end != len(after):
        return end
    for step in (MANY * BLOCK, BLOCK):
        while end - step > start and before[end - step : end] == after[end - step : end]:
            end -= step
    return min(len(before), -(-end // BLOCK) * BLOCK)


def is_mixture(found: bytes, before: bytes, after: bytes) -> bool:
    """Whether a write from one to the other that stopped anywhere can have left this.

    After a kill there is one place at most up to which it is new; after a loss of power each block for itself is old,
    new, or empty, and the length may be either's.
    """
    old, new = before + after[len(before) :], after + before[len(after) :]  # equally long: nothing is cut off yet
    if not min(len(before), len(after)) <= len(found) <= len(new):
        return False
    stopped = False
    for at in range(0, len(found), BLOCK):
        part = found[at : at + BLOCK]
        end = at + len(part)
        if part in (old[at:end], new[at:end]) or not part.strip(b"\0"):
            continue
        same = next(here for here, byte in enumerate(part) if byte != new[at + here])
        if stopped or part[same:] != old[at + same : end]:
            return False
        stopped = True
    return True


def rewrite(path: str, at: HeldPath, before: bytes, after: bytes, *, flushed: bool) -> None:
    """Give a file other bytes, if it still has those it had. Where that fails, it has them again, or Torn is raised."""
    atomic.require_writable(path, at)
    fd = _open(at, os.O_APPEND if after.startswith(before) else 0)
    if fd is None:
        atomic.swap(path, at, before, after)
        return
    try:
        if not atomic.holds(fd, before):
            raise atomic.changed_meanwhile(path)
        try:
            _overwrite(fd, before, after)
            if flushed:
                flush(fd)
        except OSError as error:
            _put_back(path, fd, before, after, error)
            raise
    finally:
        os.close(fd)


def finish(path: str, at: HeldPath, before: bytes, after: bytes) -> None:
    """Bring a file from whatever a rewrite left to the bytes it should have, and to the disk.

    Raises Conflict if another program has written it.
    """
    if atomic.read(at) == after:
        settle(at)
        return
    atomic.require_writable(path, at)
    fd = _open(at)
    if fd is None:
        atomic.swap(path, at, before, after)
        return
    try:
        found = atomic.rest(fd)
        if not is_mixture(found, before, after):
            raise atomic.changed_meanwhile(path)
        _overwrite(fd, found, after)
        flush(fd)
    finally:
        os.close(fd)


def settle(at: HeldPath) -> None:
    """What was rewritten, to the disk."""
    fd = at.open(_TO_FLUSH | NO_LINK)
    try:
        flush(fd)
    finally:
        os.close(fd)


def _open(at: HeldPath, more: int = 0) -> int | None:
    """For reading and writing; None where this file system can't do both."""
    try:
        fd = at.open(os.O_RDWR | NO_LINK | more)
    except OSError as error:
        if error.errno in _REFUSED:
            return None
        raise
    try:
        require_regular(fd)
    except OSError:
        os.close(fd)
        raise
    return fd


def _overwrite(fd: int, before: bytes, after: bytes) -> None:
    start, new = difference(before, after), memoryview(after)
    end = same_end(before, after, start)
    _write_at(fd, len(before), new[len(before) :])
    _write_at(fd, start, new[start:end])
    if len(after) < len(before) or after == before:  # which is a write too, and the time of the last one
        os.ftruncate(fd, len(after))


def _write_at(fd: int, at: int, rest: memoryview) -> None:
    """Not pwrite, which Windows has not."""
    if rest:
        os.lseek(fd, at, os.SEEK_SET)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _put_back(path: str, fd: int, before: bytes, after: bytes, error: OSError) -> None:
    try:
        os.lseek(fd, 0, os.SEEK_SET)
        found = atomic.rest(fd)
        if is_mixture(found, before, after):
            _overwrite(fd, found, before)
            flush(fd)
    except OSError:
        raise Torn(
            f"{path} was written in part ({error.strerror}), and its old text could not be put back.",
            "Both texts are kept outside the vault. It will be finished when the disk allows; every call tries.",
            CHANGED,
            path=path,
        ) from None
