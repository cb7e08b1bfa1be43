"""A place outside the vault for one write that is under way."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from obsidian_mcp.errors import FileFailed

_VARIABLE = {"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_STATE_HOME")
# What else can be done where the place for state can't be written: on macOS no variable names another.
OR_ELSEWHERE = f", or set {_VARIABLE} to a folder that is" if _VARIABLE else ""
MOST_KEPT = 64 * 1024  # bytes of disk, for the next record
_BINARY = getattr(os, "O_BINARY", 0)


def flush(fd: int, new: bool = False) -> None:
    """To the disk: what is written after this does not get there first. Of a new file, all that the system knows."""
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):  # a network drive
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # fsync there leaves it in the drive's own cache
            return
    (os.fdatasync if hasattr(os, "fdatasync") and not new else os.fsync)(fd)


class Slot:
    """The record of one write under way, in a file that stays and is zeroed when the write is over.

    To overwrite the blocks that a file has costs a disk a fraction of what a new file costs, and a write waits for it.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._used = 0

    @property
    def is_set(self) -> bool:
        try:
            return self._bytes(1) not in (b"", b"\0")
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise unusable(self._file.parent, error) from None

    def read(self) -> bytes:
        try:
            self._used = os.stat(self._file).st_size  # it may be another server's
            return self._bytes(self._used)
        except OSError as error:
            raise unusable(self._file.parent, error) from None

    def _bytes(self, most: int) -> bytes:
        fd = os.open(self._file, os.O_RDONLY | _BINARY)
        try:
            return os.read(fd, most)
        finally:
            os.close(fd)

    def write(self, record: bytes, *, flushed: bool) -> None:
        """A part of it alone is no record: it ends with what its beginning says."""
        self._used = len(record)
        self._overwrite(record, flushed)

    def clear(self) -> None:
        """Not flushed: a record that comes back after a loss of power finds its write done."""
        try:
            used = self._used or os.stat(self._file).st_size
        except FileNotFoundError:
            return
        except OSError as error:
            raise unusable(self._file.parent, error) from None
        self._overwrite(bytes(min(used, MOST_KEPT)), False, used > MOST_KEPT)
        self._used = 0

    def keep(self) -> str:
        """Under another name, which is told, for a person to look at; the last one only."""
        kept = self._file.with_suffix(".kept")
        try:
            os.replace(self._file, kept)
        except OSError as error:
            raise unusable(self._file.parent, error) from None
        return str(kept)

    def _overwrite(self, data: bytes, flushed: bool, cut: bool = False) -> None:
        try:
            fd = os.open(self._file, os.O_RDWR | os.O_CREAT | _BINARY, 0o600)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(fd, rest) :]
                if cut:
                    os.ftruncate(fd, len(data))
                if flushed:
                    flush(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise unusable(self._file.parent, error) from None


def unusable(folder: Path, error: OSError) -> FileFailed:
    return FileFailed(
        f"The folder {folder} for locks cannot be used ({error.strerror}).",
        f"Make it writable{OR_ELSEWHERE}.",
    )
