"""The vault's folder as it is found: nothing here changes anything.

Every path is followed to where it really leads before anything is done, and
what leads out of the vault, or into a hidden folder, is refused.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

from obsidian_mcp.backends.files import atomic as disk
from obsidian_mcp.backends.files.held import held
from obsidian_mcp.backends.files.os_errors import is_absent, translate_os_errors
from obsidian_mcp.backends.files.scan import MOST_TEXT, Scanning
from obsidian_mcp.errors import Failure, PermissionDenied, TooLarge
from obsidian_mcp.vault import text
from obsidian_mcp.vault.active import Workspace, from_workspace
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.path import BadPath, VaultPath, check

IGNORES_CASE = sys.platform in ("darwin", "win32")


class Looking(Scanning):
    """A vault's folder on this machine, as it is found."""

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
            with translate_os_errors(f".obsidian/{name}"):  # to act as if there were none would be to act against it
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
        with translate_os_errors(path):
            try:
                names = os.listdir(self._root / path.folder)
            except (FileNotFoundError, NotADirectoryError):
                return False
        return path.filename in names and self._is_file(path.value)

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
            with translate_os_errors(path):
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
            with translate_os_errors(folder):
                raise

    def _children(self, folder: str, name: str) -> list[str]:
        names = self._names(folder)
        wanted = fold(name)
        exact = [name] if name in names else [other for other in names if fold(other) == wanted]
        return [f"{folder}/{other}" if folder else other for other in exact]

    def inode(self, path: VaultPath) -> int | None:
        """The file's number, which a rename keeps."""
        if not self.spelled_exactly(path):
            return None
        with translate_os_errors(path):
            return os.lstat(self._root / path.value).st_ino

    def times(self, path: VaultPath) -> tuple[float, float]:
        """When the file was made, as far as the system knows, and when it was last changed."""
        with translate_os_errors(path):
            found = os.stat(self.real(path))
        return getattr(found, "st_birthtime", found.st_ctime), found.st_mtime

    def read(self, path: VaultPath) -> bytes:
        """The bytes of a note. Attachments can be larger than memory: see `digest`."""
        with translate_os_errors(path):
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
        with translate_os_errors(path):
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
