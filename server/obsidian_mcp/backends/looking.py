"""The vault's folder as it is found: nothing here changes anything.

Every path is followed to where it really leads before anything is done, and
what leads out of the vault, or into a hidden folder, is refused.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from obsidian_mcp.backends import disk, holding
from obsidian_mcp.backends.holding import Holder, held
from obsidian_mcp.errors import Failure, FileFailed, NoteNotFound, PermissionDenied, TooLarge
from obsidian_mcp.vault import text
from obsidian_mcp.vault.active import Workspace, from_workspace
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.path import BadPath, VaultPath, check

MOST_TEXT = 64 * 1024 * 1024
# Names that no path of ours can hold: backslashes, control characters, bytes that are not UTF-8.
_UNUSABLE = re.compile("[\\\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.ENXIO}
IGNORES_CASE = sys.platform in ("darwin", "win32")


@dataclass(frozen=True, slots=True)
class Listing:
    """What one folder holds, and when that last changed."""

    changed: int
    files: tuple[str, ...]
    folders: tuple[str, ...]


class Looking:
    """A vault's folder on this machine, as it is found."""

    def __init__(self, root: str) -> None:
        self._root = Path(os.path.realpath(root))
        self._prefix = f"{self._root}{os.sep}"  # joining text is many times faster than joining paths

    @property
    def is_there(self) -> bool:
        return os.path.isdir(self._root)

    @property
    def access(self) -> tuple[bool, bool]:
        """Whether the folder may be read, and written."""
        return os.access(self._root, os.R_OK | os.X_OK), os.access(self._root, os.W_OK)

    @property
    def is_obsidians(self) -> bool:
        """Whether Obsidian has ever had it open."""
        return os.path.isdir(f"{self._prefix}.obsidian")

    def settings(self) -> dict[str, object]:
        """The vault's `.obsidian/app.json`; empty where there is none, or one that means nothing."""
        found = self._configured("app.json")
        return found if isinstance(found, dict) else {}

    def workspace(self) -> Workspace:
        """What the app last wrote down of its windows, as far as the files are still there."""
        try:
            found = from_workspace(self._configured("workspace.json"))
        except Failure:  # the app writes it again and again
            return Workspace(None, ())
        there = tuple(path for path in found.opened if os.path.isfile(self._prefix + path.value))
        return Workspace(found.active if found.active in there else None, there)

    def _configured(self, name: str) -> object:
        """From `.obsidian`. It or the file may well be a link: people share their settings between vaults."""
        file = f"{self._prefix}.obsidian{os.sep}{name}"
        try:
            return json.loads(disk.read_path(file))
        except (ValueError, RecursionError):
            return None
        except OSError as error:
            if is_absent(error):
                return None
            with explained(f".obsidian/{name}"):  # to act as if there were none would be to act against it
                raise

    def real(self, path: VaultPath) -> Path:
        """Where the path really leads, if that is inside the vault."""
        return Path(self.real_text(path))

    def real_text(self, path: VaultPath) -> str:
        """The same as text. Most paths hold no link, and are looked at no further than the vault's own folders."""
        at = self._prefix[:-1]
        for segment in path.value.split("/"):
            at = f"{at}{os.sep}{segment}"
            try:
                found = os.lstat(at)
            except (FileNotFoundError, NotADirectoryError):
                return self._prefix + path.value.replace("/", os.sep)  # nothing there that could lead elsewhere
            except OSError:
                break
            if stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", False):
                break
        else:
            return at
        return str(self._followed(path))

    def _inside(self, path: VaultPath) -> str:
        """The same as a path from the vault's root."""
        return self.real_text(path)[len(self._prefix) :].replace(os.sep, "/")

    def _spot(self, path: VaultPath) -> str:
        """The path with no link on the way; the file itself may be one."""
        folder = path.folder
        return f"{self._inside(VaultPath(folder))}/{path.filename}" if folder else path.filename

    def _followed(self, path: VaultPath) -> Path:
        real = Path(os.path.realpath(self._root / path.value))
        if not real.is_relative_to(self._root) or real == self._root:
            raise PermissionDenied(
                f"{path} leads out of the vault through a symbolic link, so it is left alone. "
                "Use a note inside the vault.",
                path=path.value,
            )
        try:
            check(real.relative_to(self._root).as_posix())
        except BadPath:
            raise PermissionDenied(
                f"{path} leads into a hidden folder through a symbolic link, so it is left alone.", path=path.value
            ) from None
        return real

    def canonical(self, path: VaultPath) -> VaultPath:
        """The same place without links to folders on the way; a link to a file cannot be moved itself."""
        real = self.real(path)
        if os.path.islink(self._root / path.value):
            there = real.relative_to(self._root).as_posix()
            raise PermissionDenied(f"{path} is a symbolic link. Move {there}, which it leads to.", path=path.value)
        return VaultPath(real.relative_to(self._root).as_posix())

    def require_own(self, folder: str) -> None:
        """Raise if a folder that a listing has named has become a link since, or lies below one."""
        where = (self._prefix + folder).rstrip(os.sep)
        if os.path.realpath(where) != where:
            raise PermissionDenied(f"{folder} has become a symbolic link, so it is left alone.", path=folder)

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        """The files that the path can mean: exactly it, or else those that differ in case or Unicode form."""
        self.real_text(path)
        if not IGNORES_CASE and self._is_file(path.value):
            return [path]
        found = [""]
        for segment in path.value.split("/"):
            found = [child for folder in found for child in self._children(folder, segment)]
        return [VaultPath(child) for child in sorted(found) if self._is_file(child)]

    def spelled_folder(self, folder: str) -> str:
        """A folder's path, with what exists of it as it is spelled on disk."""
        spelled = ""
        for segment in folder.split("/") if folder else []:
            there = self._children(spelled, segment)
            spelled = there[0] if len(there) == 1 else f"{spelled}/{segment}" if spelled else segment
        return spelled

    def spelled_exactly(self, path: VaultPath) -> bool:
        """Whether a file is there under exactly that name, also where the system ignores case."""
        return path.filename in self._names(path.folder) and self._is_file(path.value)

    def _is_file(self, path: str) -> bool:
        try:
            return stat.S_ISREG(os.stat(self._prefix + path).st_mode)
        except PermissionError as error:
            raise PermissionDenied(
                f"The system does not allow access to {path} ({error.strerror}). Check the permissions of its folder.",
                path=path,
            ) from None
        except OSError as error:
            if is_absent(error):
                return False
            with explained(path):
                raise

    def _names(self, folder: str) -> list[str]:
        """What a folder holds; nothing where there is none, or where that may not be known."""
        try:
            return os.listdir(self._root / folder)
        except PermissionError:
            return []
        except OSError as error:
            if is_absent(error):
                return []
            with explained(folder):
                raise

    def _children(self, folder: str, name: str) -> list[str]:
        names = self._names(folder)
        wanted = fold(name)
        exact = [name] if name in names else [other for other in names if fold(other) == wanted]
        return [f"{folder}/{other}" if folder else other for other in exact]

    def has_files(self) -> bool:
        """Whether there is any file that is not hidden."""
        for _, folders, names in os.walk(self._root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            if any(not name.startswith(".") for name in names):
                return True
        return False

    def inode(self, path: VaultPath) -> int | None:
        """The file's number, which a rename keeps."""
        if not self.spelled_exactly(path):
            return None
        with explained(path):
            return os.lstat(self._root / path.value).st_ino

    def times(self, path: VaultPath) -> tuple[float, float]:
        """When the file was made, as far as the system knows, and when it was last changed."""
        with explained(path):
            found = os.stat(self.real(path))
        return getattr(found, "st_birthtime", found.st_ctime), found.st_mtime

    def read(self, path: VaultPath) -> bytes:
        """The bytes of a note. Attachments can be larger than memory: see `digest`."""
        with explained(path):
            try:
                with held(self._prefix, self._inside(path)) as at:
                    return disk.read(at, MOST_TEXT)
            except disk.Longer as longer:
                raise TooLarge(
                    f"{path} has {longer.size} bytes, more than the {MOST_TEXT} that can be read or written as text "
                    "here. It can be moved, renamed, deleted and described.",
                    path=path.value,
                ) from None

    def digest(self, path: VaultPath) -> tuple[str, int]:
        """The etag and size of a file of any size."""
        with explained(path):
            with held(self._prefix, self._inside(path)) as at:
                fd = at.open_regular()
            try:
                digest, size = text.Digest(), 0
                while part := os.read(fd, disk.CHUNK):
                    digest.update(part)
                    size += len(part)
                return digest.etag(), size
            finally:
                os.close(fd)

    def read_inside(self, path: str) -> bytes:
        """The bytes of a regular file that a listing has named."""
        with explained(path), held(self._prefix, path) as at:
            return disk.read(at)

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

    def changed(self, folder: str) -> int:
        """When a folder's entries last changed. Raises what the system raises."""
        return os.stat(f"{self._prefix}{folder}").st_mtime_ns

    def stamp(self, path: str) -> int | None:
        """What tells one state of a file from another without reading it; None for a link, or for nothing."""
        try:
            return disk.stamp(os.lstat(f"{self._prefix}{path}"))
        except OSError:
            return None

    def read_stamped(self, paths: Iterable[str]) -> Iterator[tuple[str, int, int, bytes]]:
        """Files that a listing has named: path, stamp, when it changed, bytes. None that has vanished or is a link.

        A whole vault goes through here: hence one loop, and nothing in it that could be outside.
        """
        flags, regular = os.O_RDONLY | holding.BINARY | holding.NO_LINK, stat.S_IFREG
        fstat, read, close = os.fstat, os.read, os.close
        with contextlib.closing(Holder(self._prefix)) as holder:
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


def is_absent(error: OSError) -> bool:
    """Whether it says that there is no such file, or none that is not a link; anything else is a failure."""
    return error.errno in _ABSENT


def _unread(path: str, error: OSError) -> Failure:
    """Its links must be known before anything is moved."""
    kind = PermissionDenied if isinstance(error, PermissionError) else FileFailed
    return kind(
        f"{path} could not be read ({error.strerror}), so its links could not be kept. "
        "Nothing was changed. Make it readable first.",
        path=path,
    )


@contextlib.contextmanager
def explained(path: VaultPath | str) -> Iterator[None]:
    """The system's errors in words of ours."""
    named = str(path)
    try:
        yield
    except Failure:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise NoteNotFound(f"There is no file {path} on disk.", path=named) from None
    except PermissionError as error:
        raise PermissionDenied(
            f"The system does not allow access to {path} ({error.strerror}). "
            "Check the permissions of the note and its folder.",
            path=named,
        ) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PermissionDenied(
                f"{path} cannot be reached without a symbolic link any more, so it is left alone.", path=named
            ) from None
        raise FileFailed(
            f"The file {path} could not be used: {error.strerror}. Nothing was changed.", path=named
        ) from None
