"""The vault's folder itself: the only place where its files are changed.

Every path is followed to where it really leads before anything is done, and
what leads out of the vault, or into a hidden folder, is refused.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from obsidian_mcp.backends import disk
from obsidian_mcp.backends.looking import Looking, explained
from obsidian_mcp.errors import AlreadyExists, Failure, PermissionDenied
from obsidian_mcp.vault.path import LONGEST_NAME, VaultPath


class Folder(Looking):
    """The same folder, with what changes it."""

    def require_room(self, path: VaultPath) -> None:
        """Raise if no file can be made there: a folder has the name, or a file is where a folder should be."""
        self.real(path)
        segments = path.value.split("/")
        for end in range(1, len(segments)):
            parent = "/".join(segments[:end])
            if os.path.lexists(self._root / parent) and not (self._root / parent).is_dir():
                raise AlreadyExists(
                    f"{parent} is a file, so {path} cannot be made below it. Nothing was changed.", path=parent
                )
        if os.path.isdir(self._root / path.value):
            raise AlreadyExists(f"{path} is a folder. Nothing was changed. Choose another name.", path=path.value)

    def make_folder_for(self, path: VaultPath) -> list[str]:
        """Make what is missing of the folders above; those that were made, outermost first."""
        self.real(path)
        segments = path.value.split("/")[:-1]
        folders = ["/".join(segments[: end + 1]) for end in range(len(segments))]
        missing = [folder for folder in folders if not (self._root / folder).is_dir()]
        with explained(path):
            for folder in missing:
                (self._root / folder).mkdir(exist_ok=True)
        return missing

    def write_new(self, path: VaultPath, data: bytes) -> None:
        """Make a file that must not be there yet."""
        real = self.real(path)
        self.require_room(path)
        made = self.make_folder_for(path)
        try:
            self._link_new(path, real, data)
        except Failure:
            self.remove_folders(made)
            raise

    def _link_new(self, path: VaultPath, real: Path, data: bytes) -> None:
        with explained(path), disk.temporary(str(real), data) as temporary:
            try:
                os.link(temporary, real)
            except OSError:
                if os.path.lexists(real):
                    raise AlreadyExists(
                        f"{path} has just been made by someone else. Nothing was changed.", path=path.value
                    ) from None
                os.replace(temporary, real)  # a file system without hard links

    def replace(self, path: VaultPath, before: bytes, after: bytes) -> None:
        """Swap a file's bytes in one step, if they still are what they were."""
        with explained(path):
            disk.swap(path.value, str(self.real(path)), before, after)

    def prepare(self, path: str, data: bytes) -> str:
        """The first half of a replacement, for a file that a listing has named: a temporary file beside it."""
        with explained(path):
            return disk.prepare(self._prefix + path, data)

    def put_in_place(self, path: str, made: str, before: bytes) -> None:
        """The second half, if the file still is what it was."""
        with explained(path):
            disk.put_in_place(path, made, self._prefix + path, before)

    def replace_inside(self, path: str, before: bytes, after: bytes) -> None:
        """Both halves at once."""
        with explained(path):
            self.require_own(path.rpartition("/")[0])
            disk.swap(path, self._prefix + path, before, after)

    def rename(self, path: VaultPath, target: VaultPath) -> list[str]:
        """Give a file another path; the folders that were made for it. Nothing may be at the target."""
        self.require_room(target)
        made = self.make_folder_for(target)
        with explained(path):
            source, goal = self._root / path.value, self._root / target.value
            self.real(path)
            self.real(target)
            try:
                if os.path.lexists(goal) and not os.path.samefile(source, goal):
                    raise AlreadyExists(
                        f"{target} has just been made by someone else. Nothing was changed.", path=target.value
                    )
                os.rename(source, goal)
            except (OSError, Failure):
                self.remove_folders(made)
                raise
        return made

    def remove(self, path: VaultPath) -> None:
        with explained(path):
            self.real(path)
            os.unlink(self._root / path.value)

    def remove_folders(self, folders: Sequence[str]) -> None:
        """Take back folders that were made; one that somebody uses stays."""
        for folder in reversed(folders):
            with contextlib.suppress(OSError):
                os.rmdir(self._root / folder)

    def to_local_trash(self, path: VaultPath) -> None:
        """Into `.trash` at the vault's root; a name already there gets a number."""
        with explained(path):
            self.real(path)
            trash = self._root / ".trash"
            if os.path.islink(trash):
                raise PermissionDenied(
                    f".trash is a symbolic link, so {path} is left where it is. "
                    "Use permanent, or put a folder in its place."
                )
            trash.mkdir(exist_ok=True)
            goal, number = trash / path.filename, 1
            while os.path.lexists(goal):
                number += 1
                ending = f" {number}{'.' if path.extension else ''}{path.extension}"
                room = LONGEST_NAME - len(ending.encode())
                goal = trash / (path.stem.encode()[:room].decode("utf-8", "ignore") + ending)
            os.rename(self._root / path.value, goal)

    def to_system_trash(self, path: VaultPath) -> bool:
        """Into the trash of the system; False where it has none for this place."""
        import send2trash

        self.real(path)
        try:
            send2trash.send2trash(str(self._root / path.value))
        except OSError:
            return False
        return not os.path.lexists(self._root / path.value)

    def sweep(self, folder: str) -> None:
        """Remove what a writer of ours that was killed has left in a folder. Only while nobody else writes."""
        for left in (self._root / folder).glob(f"{disk.TEMPORARY}*.tmp"):
            with contextlib.suppress(OSError):
                left.unlink()
