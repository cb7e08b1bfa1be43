"""A vault's folder as a whole: the names in it, and its files one after another. Nothing here changes anything."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping

from obsidian_mcp.backends.files import atomic, cloud, held, read
from obsidian_mcp.backends.files.held import HeldFolder
from obsidian_mcp.backends.files.os_errors import is_absent, why
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.windows import HERE, is_own_folder
from obsidian_mcp.errors import Failure, FileFailed, PermissionDenied, TooLarge
from obsidian_mcp.vault.index import Closed, File, Gone, Listing, Stamps, Survey

_SCANS_FD = os.scandir in os.supports_fd
_NO_FOLLOW = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Names that no path of ours can hold: backslashes, control characters, bytes that are not UTF-8.
_UNUSABLE = re.compile("[\\\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def path_of_inode(root: VaultRoot, inode: int) -> str | None:
    """The file of the vault that has this number, wherever it lies. A folder that can't be listed is passed over."""
    todo = [""]
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(root.place(folder)) as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.name.startswith(".") or _UNUSABLE.search(entry.name):
                        continue
                    if is_own_folder(entry):
                        todo.append(path)
                    elif entry.inode() == inode and entry.is_file(follow_symlinks=False):
                        return path
        except OSError:
            continue
    return None


class Scan:
    """What the index asks of the disk. A path here is one that a listing has named."""

    def __init__(self, root: VaultRoot) -> None:
        self._root = root
        self._prefix = root.prefix
        self._place = root.place

    def listing(self, folder: str) -> Listing:
        """One folder's files and folders, without hidden ones. Links to folders are not followed."""
        try:
            return self._listing(folder)
        except OSError as error:
            raise self.unlisted(folder, error) from None

    def _listing(self, folder: str) -> Listing:
        where = self._place(folder)
        changed = os.stat(where).st_mtime_ns
        files, folders = [], []
        with os.scandir(where) as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    if (stood_for := cloud.real_name(name)) != name:
                        files.append(stood_for)
                    continue
                try:
                    if entry.is_file():
                        files.append(name)
                    elif is_own_folder(entry):
                        folders.append(name)
                except OSError:
                    if not entry.is_symlink():  # a link that leads round in a circle, or nowhere, is not a file
                        raise
        if _UNUSABLE.search("/".join((*files, *folders))):
            files = [name for name in files if not _UNUSABLE.search(name)]
            folders = [name for name in folders if not _UNUSABLE.search(name)]
        return Listing(changed, tuple(files), tuple(folders))

    def changed(self, folder: str) -> int:
        """When a folder's entries last changed."""
        try:
            return os.stat(self._place(folder)).st_mtime_ns
        except OSError as error:
            raise self.unlisted(folder, error) from None

    def unlisted(self, folder: str, error: OSError) -> Gone | Closed:
        """What an error says of a folder that was to be listed."""
        if is_absent(error) and error.errno != errno.ENAMETOOLONG:  # which says: below too many others
            return Gone(folder)
        is_permission = isinstance(error, PermissionError)
        return Closed(why(error), is_permission, not (is_permission and self._is_others(folder)))

    def _is_others(self, folder: str) -> bool:
        """Whether it belongs to another user, like the `lost+found` of a disk: what it holds was never ours."""
        try:
            return hasattr(os, "geteuid") and os.lstat(self._place(folder)).st_uid != os.geteuid()
        except OSError:
            return False

    def stamp(self, path: str) -> int | None:
        """What tells one state of a file from another without reading it; None for a link, or for nothing."""
        try:
            return atomic.stamp(os.lstat(self._place(path)))
        except OSError:
            return None

    def read(self, path: str) -> bytes:
        return read.listed(self._root, path)

    def read_stamped(self, paths: Iterable[str]) -> Iterator[tuple[str, int, int, bytes]]:
        """Path, stamp, time of the last change and bytes of each file that is there and is not a link.

        A whole vault goes through here: hence one loop, and nothing in it that could be outside.
        """
        flags, regular = os.O_RDONLY | held.BINARY | held.NO_LINK, stat.S_IFREG
        fstat, read_bytes, close = os.fstat, os.read, os.close
        with contextlib.closing(HeldFolder(self._prefix)) as folder:
            for path in paths:
                try:
                    fd = folder.open(path, flags)
                except OSError as error:
                    if is_absent(error):
                        cloud.require_here(self._root, path)
                        continue
                    raise _unread(path, error) from None
                try:
                    found = fstat(fd)
                    if found.st_mode & 0o170000 != regular:
                        continue
                    if found.st_size > read.MOST_TEXT:
                        raise TooLarge(
                            f"{path} has {found.st_size} bytes, more than the {read.MOST_TEXT} that can be read as "
                            "text, so its links could not be kept.",
                            "Give it another extension first.",
                            path=path,
                        )
                    data = read_bytes(fd, atomic.CHUNK)
                    if len(data) == atomic.CHUNK:
                        data += atomic.rest(fd)
                except OSError as error:
                    raise _unread(path, error) from None
                finally:
                    close(fd)
                yield path, atomic.stamp_of(found), found.st_mtime_ns, data

    def survey(self) -> Survey:
        """Every file and folder that is not hidden."""
        found = Survey([], [], [])
        todo = [""]
        while todo:
            folder = todo.pop()
            try:
                listing = self._listing(folder)
            except OSError as error:
                self._add_closed(folder, error, found.closed)
                continue
            prefix = f"{folder}/" if folder else ""
            inner = [prefix + name for name in listing.folders]
            found.files.extend(filter(None, (self._file(prefix + name) for name in listing.files)))
            found.folders.extend(inner)
            todo += inner
        return found

    def _file(self, path: str) -> File | None:
        try:
            found = os.stat(self._place(path))
        except OSError:
            return None  # gone by now
        return File(path, atomic.stamp_of(found), found.st_mtime_ns, found.st_size, _touched(found))

    def _add_closed(self, folder: str, error: OSError, closed: list[tuple[str, Closed]]) -> None:
        problem = self.unlisted(folder, error)
        if isinstance(problem, Closed) and problem.is_ours:
            closed.append((folder, problem))

    def changed_files(
        self, endings: tuple[str, ...], known: Stamps, closed: list[tuple[str, Closed]]
    ) -> tuple[list[File], int]:
        """Before each search: a folder is opened once, the system is asked once about each file, and nothing is made of
        a file that is as it was.
        """
        changed: list[File] = []
        same, todo = 0, [""]
        while todo:
            folder = todo.pop()
            try:
                inner, unchanged = self._compared(folder, endings, known.get(folder, {}), changed)
            except OSError as error:
                self._add_closed(folder, error, closed)
                continue
            same += unchanged
            todo += inner
        return changed, same

    def _compared(
        self, folder: str, endings: tuple[str, ...], known: Mapping[str, int | None], changed: list[File]
    ) -> tuple[list[str], int]:
        """One folder: the folders in it, and how many of its files are as they were. One loop, for its speed."""
        where, prefix, same = self._place(folder), f"{folder}/" if folder else "", 0
        folders: list[str] = []
        fd = os.open(where, os.O_RDONLY | _NO_FOLLOW) if _SCANS_FD else None
        known_stamp = known.get
        try:
            with os.scandir(where if fd is None else fd) as entries:
                for entry in entries:
                    name = entry.name
                    if name.endswith(endings) or name.lower().endswith(endings):
                        try:
                            # On Windows a listing has no inodes, and the times of files that are open are old in it.
                            found = os.lstat(os.path.join(where, name)) if HERE else entry.stat(follow_symlinks=False)
                        except OSError:
                            continue  # gone by now
                        changed_ns = 0 if HERE else found.st_ctime_ns  # as `atomic.stamp_of`
                        stamp = hash((found.st_mtime_ns, changed_ns, found.st_size, found.st_ino))
                        if known_stamp(name) == stamp:
                            same += 1
                            continue
                        if found.st_mode & 0o170000 == stat.S_IFREG:
                            if name[0] != "." and not _UNUSABLE.search(name):
                                size, touched = found.st_size, _touched(found)
                                changed.append(File(prefix + name, stamp, found.st_mtime_ns, size, touched))
                            continue
                    if name[0] != "." and is_own_folder(entry) and not _UNUSABLE.search(name):
                        folders.append(prefix + name)
        finally:
            if fd is not None:
                os.close(fd)
        return folders, same

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | str | None]]:
        """One loop, as `read_stamped`: a whole vault goes through here."""
        flags, fstat, read_bytes, close = os.O_RDONLY | held.BINARY | held.NO_LINK, os.fstat, os.read, os.close
        with contextlib.closing(HeldFolder(self._prefix)) as folder:
            for path in paths:
                try:
                    fd = folder.open(path, flags)
                except OSError as error:
                    yield path, None if is_absent(error) or error.errno == errno.ELOOP else why(error)
                    continue
                try:
                    data = read_bytes(fd, atomic.CHUNK)
                    if len(data) == atomic.CHUNK:
                        size = fstat(fd).st_size
                        data = b"" if size > read.MOST_TEXT else data + atomic.rest(fd)
                        if size > read.MOST_TEXT:
                            yield path, f"it has {size} bytes"
                            continue
                except OSError as error:
                    yield path, why(error)
                    continue
                finally:
                    close(fd)
                yield path, data


def _touched(found: os.stat_result) -> int:
    """A time can be put back; that is a change too, and has a time of its own where the system keeps one."""
    return max(found.st_mtime_ns, found.st_ctime_ns)


def _unread(path: str, error: OSError) -> Failure:
    """Its links must be known before anything is moved."""
    kind = PermissionDenied if isinstance(error, PermissionError) else FileFailed
    return kind(
        f"{path} could not be read ({why(error)}), so its links could not be kept.",
        "Make it readable first.",
        path=path,
    )
