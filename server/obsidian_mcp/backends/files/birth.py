"""When a file was made, where the system knows: never its ctime, which every chmod and every rename moves."""

from __future__ import annotations

import functools
import os
import struct
import sys
from collections.abc import Callable

_AT_FDCWD, _BIRTH_TIME = -100, 0x800  # STATX_BTIME
_SIZE, _MASK_AT, _BIRTH_AT = 256, 0, 80  # of struct statx, which is the same on every architecture

Statx = Callable[[int, bytes, int, int, "object"], int]


def birth_time(file: str, found: os.stat_result, platform: str = sys.platform) -> float | None:
    """In seconds since 1970; None where the system, or this file system, does not keep it."""
    born: float | None = getattr(found, "st_birthtime", None)  # macOS, BSD; Windows from Python 3.12 on
    if born is not None:
        return born
    if platform == "win32":
        return found.st_ctime  # which there is the time when the file was made
    return _by_statx(file) if platform == "linux" else None


def _by_statx(file: str) -> float | None:
    """Python has no name for this call."""
    statx = _statx()
    if statx is None:
        return None
    import ctypes

    buffer = ctypes.create_string_buffer(_SIZE)
    if statx(_AT_FDCWD, os.fsencode(file), 0, _BIRTH_TIME, buffer):
        return None
    return parsed(buffer.raw)


def parsed(statx: bytes) -> float | None:
    """The birth time in a `struct statx`, if it is filled in."""
    (mask,) = struct.unpack_from("=I", statx, _MASK_AT)
    seconds, nanoseconds = struct.unpack_from("=qI", statx, _BIRTH_AT)
    return seconds + nanoseconds / 1e9 if mask & _BIRTH_TIME else None


@functools.cache
def _statx() -> Statx | None:
    """None where the C library is older than the call."""
    import ctypes  # not before a file is described: it is slow to load

    function = getattr(ctypes.CDLL(None), "statx", None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p)
    return function
