"""A vault's folder as a whole: the names in it, and its files one after another. Nothing here changes anything."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from obsidian_mcp.backends.files import atomic as disk
from obsidian_mcp.backends.files import held as holding
from obsidian_mcp.backends.files.held import HeldFolder, held
from obsidian_mcp.backends.files.os_errors import is_absent, translate_os_errors
from obsidian_mcp.errors import Failure, FileFailed, PermissionDenied, TooLarge

MOST_TEXT = 64 * 1024 * 1024
# Names that no path of ours can hold: backslashes, control characters, bytes that are not UTF-8.
_UNUSABLE = re.compile("[\\\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Listing:
    """What one folder holds, and when that last changed."""

    changed: int
    files: tuple[str, ...]
    folders: tuple[str, ...]


class Scanning:
    """What is said here of one path is said of one that a listing has named."""

    def __init__(self, root: str) -> None:
        self._root = Path(os.path.realpath(root))
        self._prefix = f"{self._root}{os.sep}"  # joining text is many times faster than joining paths

    def has_files(self) -> bool:
        """Whether there is any file that is not hidden."""
        for _, folders, names in os.walk(self._root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            if any(not name.startswith(".") for name in names):
                return True
        return False

    def scan(self, folder: str) -> Listing:
        """One folder's files and folders, without hidden ones. Links to folders are not followed.

        Raises what the system raises.
        """
        where = f"{self._prefix}{folder}"
        changed = os.stat(where).st_mtime_ns
        files, folders = [], []
        with os.scandir(where) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                try:
                    if entry.is_file():
                        files.append(name)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(name)
                except OSError:
                    if not entry.is_symlink():  # one that leads round in a circle, or to no possible place, is no file
                        raise
        if _UNUSABLE.search("/".join((*files, *folders))):
            files = [name for name in files if not _UNUSABLE.search(name)]
            folders = [name for name in folders if not _UNUSABLE.search(name)]
        return Listing(changed, tuple(files), tuple(folders))

    def is_others(self, folder: str) -> bool:
        """Whether it belongs to another user, like the `lost+found` of a disk: what it holds was never ours."""
        try:
            return hasattr(os, "geteuid") and os.lstat(f"{self._prefix}{folder}").st_uid != os.geteuid()
        except OSError:
            return False

    def changed(self, folder: str) -> int:
        """When a folder's entries last changed. Raises what the system raises."""
        return os.stat(f"{self._prefix}{folder}").st_mtime_ns

    def require_own(self, folder: str) -> None:
        """Raise if a folder that a listing has named has become a link since, or lies below one."""
        where = (self._prefix + folder).rstrip(os.sep)
        if os.path.realpath(where) != where:
            raise PermissionDenied(f"{folder} has become a symbolic link, so it is left alone.", path=folder)

    def stamp(self, path: str) -> int | None:
        """What tells one state of a file from another without reading it; None for a link, or for nothing."""
        try:
            return disk.stamp(os.lstat(f"{self._prefix}{path}"))
        except OSError:
            return None

    def is_file_itself(self, path: str) -> bool:
        """Whether a file is there, and not a link to one."""
        try:
            return stat.S_ISREG(os.lstat(f"{self._prefix}{path}").st_mode)
        except OSError as error:
            if is_absent(error):
                return False
            with translate_os_errors(path):
                raise

    def read_inside(self, path: str) -> bytes:
        """The bytes of a regular file that a listing has named."""
        with translate_os_errors(path), held(self._prefix, path) as at:
            return disk.read(at)

    def read_stamped(self, paths: Iterable[str]) -> Iterator[tuple[str, int, int, bytes]]:
        """Files that a listing has named: path, stamp, when it changed, bytes. None that has vanished or is a link.

        A whole vault goes through here: hence one loop, and nothing in it that could be outside.
        """
        flags, regular = os.O_RDONLY | holding.BINARY | holding.NO_LINK, stat.S_IFREG
        fstat, read, close = os.fstat, os.read, os.close
        with contextlib.closing(HeldFolder(self._prefix)) as holder:
            for path in paths:
                try:
                    fd = holder.open(path, flags)
                except OSError as error:
                    if is_absent(error):
                        continue
                    raise _unread(path, error) from None
                try:
                    found = fstat(fd)
                    if found.st_mode & 0o170000 != regular:
                        continue
                    if found.st_size > MOST_TEXT:
                        raise TooLarge(
                            f"{path} has {found.st_size} bytes, more than the {MOST_TEXT} that can be read as text, "
                            "so its links could not be kept. Nothing was changed. Give it another extension first.",
                            path=path,
                        )
                    data = read(fd, disk.CHUNK)
                    if len(data) == disk.CHUNK:
                        data += disk.rest(fd)
                except OSError as error:
                    raise _unread(path, error) from None
                finally:
                    close(fd)
                yield path, disk.stamp_of(found), found.st_mtime_ns, data


def _unread(path: str, error: OSError) -> Failure:
    """Its links must be known before anything is moved."""
    kind = PermissionDenied if isinstance(error, PermissionError) else FileFailed
    return kind(
        f"{path} could not be read ({error.strerror}), so its links could not be kept. "
        "Nothing was changed. Make it readable first.",
        path=path,
    )
