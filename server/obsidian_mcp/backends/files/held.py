"""A path in the vault whose folder is held open by a descriptor (dir_fd), against TOCTOU races.

A folder on the way can be swapped for a symbolic link between a check and a
write. So folders are opened one by one from the vault's own, none of them
through a link, and the file is named relative to the last. Where the system
has no such calls (Windows) the path is used as it is.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import stat
from collections.abc import Callable, Iterator, Sequence

from obsidian_mcp.backends.files import windows
from obsidian_mcp.backends.files.os_errors import NotRegular, is_missing
from obsidian_mcp.patience import Patience

HOLDS = {os.open, os.stat, os.unlink, os.mkdir, os.rename, os.link, os.rmdir, os.access} <= os.supports_dir_fd
NO_LINK = getattr(os, "O_NOFOLLOW", windows.NO_FOLLOW if windows.HERE else 0) | getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)
_NO_SUCH_CALL = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}  # of the system, or of this file system
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


class HeldPath:
    """A name in a folder that is held. `text` is its path, for people and for the end of the process.

    `patience` is for systems on which a file that is open can be closed to others.
    """

    __slots__ = ("_fd", "_name", "_patience", "text")

    def __init__(self, fd: int | None, name: str, text: str, patience: Patience | None = None) -> None:
        self._fd = fd
        self._name = name
        self._patience = patience or Patience()
        self.text = text

    def sibling(self, name: str) -> HeldPath:
        text = os.path.join(os.path.dirname(self.text), name)
        return HeldPath(self._fd, name if self._fd is not None else text, text, self._patience)

    def afresh(self) -> HeldPath:
        """With a patience of its own."""
        return HeldPath(self._fd, self._name, self.text)

    def sibling_names(self) -> list[str]:
        """What its folder holds."""
        return os.listdir(os.path.dirname(self.text) if self._fd is None else self._fd)

    def open(self, flags: int, mode: int = 0o666) -> int:
        if windows.HERE:
            return self._patience.run(lambda: windows.open_file(self._name, flags))
        return os.open(self._name, flags | BINARY, mode, dir_fd=self._fd)

    def open_regular(self) -> int:
        """A regular file, for reading. Anything else, such as a pipe, could wait for ever."""
        fd = self.open(os.O_RDONLY | NO_LINK)
        try:
            require_regular(fd)
        except OSError:
            os.close(fd)
            raise
        return fd

    def lstat(self) -> os.stat_result:
        return os.stat(self._name, dir_fd=self._fd, follow_symlinks=False)

    @property
    def exists(self) -> bool:
        try:
            self.lstat()
        except OSError as error:
            if is_missing(error):
                return False
            raise
        return True

    @property
    def may_be_written(self) -> bool:
        return os.access(self._name, os.W_OK, dir_fd=self._fd)

    def set_mode(self, mode: int) -> None:
        os.chmod(self._name, mode, dir_fd=self._fd)

    def replace(self, target: HeldPath) -> None:
        """Take the target's place."""
        self._patience.run(lambda: os.replace(self._name, target._name, src_dir_fd=self._fd, dst_dir_fd=target._fd))

    def rename(self, target: HeldPath) -> None:
        self._patience.run(lambda: os.rename(self._name, target._name, src_dir_fd=self._fd, dst_dir_fd=target._fd))

    def link(self, target: HeldPath) -> None:
        """Give it a second name, which must be free."""
        if self._fd is None:
            self._patience.run(lambda: os.link(self._name, target._name))
        else:
            os.link(self._name, target._name, src_dir_fd=self._fd, dst_dir_fd=target._fd, follow_symlinks=False)

    def move(self, target: HeldPath) -> bool:
        """Take a name that must be free; whether it was, even if another program makes one at this moment."""
        if self._fd is not None and target._fd is not None:
            try:
                return rename_new(self._fd, self._name, target._fd, target._name)
            except OSError as error:
                if error.errno not in _NO_SUCH_CALL:
                    raise
        if target.exists:
            return False
        try:
            self.rename(target)
        except FileExistsError:  # made at this moment: on Windows no rename replaces anything
            return False
        return True

    def unlink(self) -> None:
        self._patience.run(lambda: os.unlink(self._name, dir_fd=self._fd))

    def remove_folder(self) -> None:
        os.rmdir(self._name, dir_fd=self._fd)


class HeldFolder:
    """Paths in one folder after another; a folder is opened once for as long as it stays the same.

    What it gives is good until it is asked for a path in another folder.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._folder: str | None = None
        self._fd: int | None = None
        self._patience = Patience()

    def at(self, path: str) -> HeldPath:
        text = os.path.join(self._root, *path.split("/"))
        if not HOLDS:
            return HeldPath(None, text, text, self._patience)
        name = self._go(path)
        return HeldPath(self._fd, name, text)

    def open(self, path: str, flags: int) -> int:
        """Open a path at once: a whole vault is read through here."""
        if HOLDS:
            name = self._go(path)
            return os.open(name, flags, dir_fd=self._fd)
        where = os.path.join(self._root, *path.split("/"))
        return self._patience.run(lambda: windows.open_file(where, flags) if windows.HERE else os.open(where, flags))

    def _go(self, path: str) -> str:
        """Hold its folder; the name there."""
        folder, _, name = path.rpartition("/")
        if folder != self._folder:
            self.close()
            self._fd = open_folder(self._root, folder)
            self._folder = folder
        return name

    def close(self) -> None:
        self._folder = None
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def rename_new(source: int, name: str, target: int, new_name: str) -> bool:
    """A rename that never replaces anything, as the system does it in one step; whether the name was free."""
    function, flag = _renamer()
    if not function(source, os.fsencode(name), target, os.fsencode(new_name), flag):
        return True
    import ctypes

    number = ctypes.get_errno()
    if number == errno.EEXIST:
        return False
    raise OSError(number, os.strerror(number))


@functools.cache
def _renamer() -> tuple[Callable[[int, bytes, int, bytes, int], int], int]:
    """Python has no name for it. Raises ENOSYS where the system has none either."""
    import ctypes  # not before the first move: it is slow to load

    library = ctypes.CDLL(None, use_errno=True)
    for called, flag in (("renameat2", 1), ("renameatx_np", 4)):  # Linux: RENAME_NOREPLACE, macOS: RENAME_EXCL
        function = getattr(library, called, None)
        if function is not None:
            function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
            return function, flag
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def require_regular(fd: int) -> int:
    """Its size."""
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        raise NotRegular
    return found.st_size


@contextlib.contextmanager
def hold(root: str, path: str) -> Iterator[HeldPath]:
    """A path from the root, without links on the way. Raises what the system raises."""
    with contextlib.closing(HeldFolder(root)) as holder:
        yield holder.at(path)


def make_folders(root: str, folder: str, names: Sequence[str]) -> None:
    """Make folders, each in the one before it, below one that is there; none of them is reached through a link."""
    if not HOLDS:
        at = os.path.join(root, *folder.split("/"))
        for name in names:
            at = os.path.join(at, name)
            with contextlib.suppress(FileExistsError):
                os.mkdir(at)
        return
    fd = open_folder(root, folder)
    try:
        for name in names:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=fd)
            inner = os.open(name, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = inner
    finally:
        os.close(fd)


def open_file(root: str, path: str, flags: int) -> int:
    """A file of the vault, reached through no link; only where folders can be held."""
    folder, _, name = path.rpartition("/")
    fd = open_folder(root, folder)
    try:
        return os.open(name, flags | BINARY, dir_fd=fd)
    finally:
        os.close(fd)


def open_folder(root: str, folder: str) -> int:
    """A folder of the vault, reached through no link."""
    fd = os.open(root, _FOLDER)
    for segment in folder.split("/") if folder else ():
        try:
            inner = os.open(segment, _FOLDER, dir_fd=fd)
        except NotADirectoryError:
            if stat.S_ISLNK(os.stat(segment, dir_fd=fd, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, "a folder on the way has become a symbolic link") from None
            raise
        finally:
            os.close(fd)
        fd = inner
    return fd
