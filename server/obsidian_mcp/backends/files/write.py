"""The vault's folder itself: the only place where its files are changed.

Every path is followed to where it really leads before anything is done, and
what leads out of the vault, or into a hidden folder, is refused.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from obsidian_mcp.backends.files import atomic as disk
from obsidian_mcp.backends.files.held import HeldFolder, HeldPath, held
from obsidian_mcp.backends.files.os_errors import translate_os_errors
from obsidian_mcp.backends.files.read import Looking
from obsidian_mcp.errors import AlreadyExists, Failure, PermissionDenied
from obsidian_mcp.vault.path import LONGEST_NAME, VaultPath


class Folder(Looking):
    """The same folder, with what changes it."""

    def require_room(self, path: VaultPath) -> None:
        """Raise if no file can be made there: a folder has the name, or a file is where a folder should be."""
        self.real(path)
        with translate_os_errors(path), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(self._prefix + path.value)  # a path may be too long though its names are not
        segments = path.value.split("/")
        for end in range(1, len(segments)):
            parent = "/".join(segments[:end])
            if os.path.lexists(self._root / parent) and not os.path.isdir(self._root / parent):
                raise AlreadyExists(
                    f"{parent} is a file, so {path} cannot be made below it. Nothing was changed.", path=parent
                )
        if os.path.isdir(self._root / path.value):
            raise AlreadyExists(f"{path} is a folder. Nothing was changed. Choose another name.", path=path.value)

    def make_folder_for(self, path: VaultPath) -> list[str]:
        """Make what is missing of the folders above; those that were made, outermost first."""
        segments = path.value.split("/")[:-1]
        folders = ["/".join(segments[: end + 1]) for end in range(len(segments))]
        missing = [folder for folder in folders if not os.path.isdir(self._root / folder)]
        with translate_os_errors(path):
            for folder in missing:
                with held(self._prefix, self._inside(VaultPath(folder))) as at:
                    at.make_folder()
        return missing

    def write_new(self, path: VaultPath, data: bytes) -> None:
        """Make a file that must not be there yet."""
        self.require_room(path)
        made = self.make_folder_for(path)
        try:
            with translate_os_errors(path), held(self._prefix, self._inside(path)) as at:
                self._link_new(path, at, data)
        except Failure:
            self.remove_folders(made)
            raise

    def _link_new(self, path: VaultPath, at: HeldPath, data: bytes) -> None:
        with disk.temporary(at, data) as temporary:
            try:
                temporary.link(at)
            except OSError:
                if at.exists:
                    raise AlreadyExists(
                        f"{path} has just been made by someone else. Nothing was changed.", path=path.value
                    ) from None
                temporary.replace(at)  # a file system without hard links

    def replace(self, path: VaultPath, before: bytes, after: bytes) -> None:
        """Swap a file's bytes in one step, if they still are what they were."""
        with translate_os_errors(path), held(self._prefix, self._inside(path)) as at:
            disk.swap(path.value, at, before, after)

    def holder(self) -> HeldFolder:
        """For many files, folder by folder. To be closed."""
        return HeldFolder(self._prefix)

    def prepare(self, path: str, data: bytes, holder: HeldFolder) -> str:
        """The first half of a replacement, for a file that a listing has named: a temporary file beside it."""
        with translate_os_errors(path):
            made = disk.prepare(holder.at(path), data).text
        return made[len(self._prefix) :].replace(os.sep, "/")

    def put_in_place(self, path: str, made: str, before: bytes, holders: tuple[HeldFolder, HeldFolder]) -> None:
        """The second half, if the file still is what it was. One holder is for what was made, one for the goal."""
        with translate_os_errors(path):
            disk.put_in_place(path, holders[0].at(made), holders[1].at(path), before)

    def discard(self, made: str) -> None:
        """What was prepared and not put in place."""
        with contextlib.suppress(OSError), held(self._prefix, made) as temporary:
            disk.discard(temporary)

    def replace_inside(self, path: str, before: bytes, after: bytes) -> None:
        """Both halves at once."""
        with translate_os_errors(path), held(self._prefix, path) as at:
            disk.swap(path, at, before, after)

    def rename(self, path: VaultPath, target: VaultPath) -> list[str]:
        """Give a file another path; the folders that were made for it. Nothing may be at the target."""
        self.require_room(target)
        made = self.make_folder_for(target)
        try:
            with translate_os_errors(path):
                spots = self._spot(path), self._spot(target)
                with held(self._prefix, spots[0]) as source, held(self._prefix, spots[1]) as goal:
                    if goal.exists and os.path.samestat(source.lstat(), goal.lstat()):
                        source.rename(goal)  # another spelling of the same name
                    elif not source.move(goal):
                        raise AlreadyExists(
                            f"{target} has just been made by someone else. Nothing was changed.", path=target.value
                        )
        except Failure:
            self.remove_folders(made)
            raise
        return made

    def remove(self, path: VaultPath) -> None:
        self.real(path)
        with translate_os_errors(path), held(self._prefix, self._spot(path)) as at:
            at.unlink()

    def remove_folders(self, folders: Sequence[str]) -> None:
        """Take back folders that were made; one that somebody uses stays."""
        for folder in reversed(folders):
            with contextlib.suppress(OSError), held(self._prefix, folder) as at:
                at.remove_folder()

    def to_local_trash(self, path: VaultPath) -> None:
        """Into `.trash` at the vault's root; a name already there gets a number."""
        with translate_os_errors(path):
            self.real(path)
            trash = self._root / ".trash"
            if os.path.islink(trash):
                raise PermissionDenied(
                    f".trash is a symbolic link, so {path} is left where it is. "
                    "Use permanent, or put a folder in its place."
                )
            trash.mkdir(exist_ok=True)
            with held(self._prefix, self._spot(path)) as at, held(self._prefix, f".trash/{path.filename}") as first:
                goal, number = first, 1
                while not at.move(goal):
                    number += 1
                    ending = f" {number}{'.' if path.extension else ''}{path.extension}"
                    room = LONGEST_NAME - len(ending.encode())
                    goal = first.beside(path.stem.encode()[:room].decode("utf-8", "ignore") + ending)

    def to_system_trash(self, path: VaultPath) -> bool:
        """Into the trash of the system; False where it has none for this place."""
        import send2trash

        self.real(path)
        try:
            send2trash.send2trash(str(self._root / path.value))
        except OSError:
            return False
        return not os.path.lexists(self._root / path.value)

    def sweep_beside(self, path: VaultPath) -> None:
        self.sweep(self._spot(path))

    def sweep(self, path: str) -> None:
        """Remove what a writer of ours that was killed has left beside a path. Only while nobody else writes."""
        with contextlib.suppress(OSError), held(self._prefix, path) as at:
            for name in at.names_beside():
                if name.startswith(disk.TEMPORARY) and name.endswith(".tmp"):
                    with contextlib.suppress(OSError):
                        at.beside(name).unlink()
