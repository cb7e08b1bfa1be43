"""A vault's folder, and where the paths in it really lead.

Every path is followed to its end before anything is done with it, and what leads out of the vault, or into a hidden
folder, is refused.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from obsidian_mcp import long_paths
from obsidian_mcp.backends.files import windows
from obsidian_mcp.backends.files.os_errors import is_missing
from obsidian_mcp.errors import PermissionDenied
from obsidian_mcp.vault.path import BadPath, VaultPath, check


class VaultRoot:
    def __init__(self, root: str) -> None:
        self.path = Path(long_paths.real(root))
        # Joining text is many times faster than joining paths. On Windows it is of the extended form: see `place`.
        self.prefix = f"{long_paths.extended(str(self.path))}{os.sep}"

    def place(self, path: str) -> str:
        """Where a path from the vault's root lies on the disk."""
        return self.prefix + path if os.sep == "/" else self.prefix + path.replace("/", os.sep)

    @property
    def is_there(self) -> bool:
        return os.path.isdir(self.prefix)

    def is_at(self, place: str) -> bool:
        """Whether that is this folder."""
        return Path(long_paths.real(place)) == self.path

    def has_files(self) -> bool:
        """Whether there is any file that is not hidden."""
        todo = [""]
        while todo:
            folder = todo.pop()
            with contextlib.suppress(OSError), os.scandir(self.place(folder)) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    if not entry.is_dir():
                        return True
                    if windows.is_own_folder(entry):
                        todo.append(f"{folder}/{entry.name}" if folder else entry.name)
        return False

    def real(self, path: VaultPath) -> str:
        """Where the path really leads, if that is inside the vault."""
        return self.seen(path)[0]

    def seen(self, path: VaultPath) -> tuple[str, os.stat_result | None]:
        """Where the path really leads, and what is there, as far as it was looked at on the way.

        Most paths hold no link, and are looked at no further than the vault's own folders.
        """
        windows.require_name(path)
        at = self.prefix[:-1]
        for segment in path.value.split("/"):
            at = f"{at}{os.sep}{segment}"
            try:
                found = os.lstat(at)
            except OSError as error:
                if not is_missing(error):
                    break
                return self.place(path.value), None  # nothing there that could lead elsewhere
            if windows.leads_elsewhere(found) or windows.may_be_short(segment):
                break
        else:
            return at, found
        return self._followed(path), None

    def inside(self, path: VaultPath) -> str:
        """Where it really leads, as a path from the vault's root."""
        return self.real(path)[len(self.prefix) :].replace(os.sep, "/")

    def spot(self, path: VaultPath) -> str:
        """The path with no link on the way; the file itself may be one."""
        folder = path.folder
        return f"{self.inside(VaultPath(folder))}/{path.filename}" if folder else path.filename

    def canonical(self, path: VaultPath) -> VaultPath:
        """The path without links to folders on the way. A link to a file is refused: it cannot be moved itself."""
        inside = self.inside(path)
        if os.path.islink(self.place(path.value)):
            raise PermissionDenied(f"{path} is a symbolic link.", f"Move {inside}, which it leads to.", path=path.value)
        return VaultPath(inside)

    def require_own(self, folder: str) -> None:
        """Raise if a folder that a listing has named has become a link since, or lies below one."""
        where = self.place(folder).rstrip(os.sep)
        if os.path.realpath(where) != where:
            raise PermissionDenied(f"{folder} has become a symbolic link, so it is left alone.", path=folder)

    def _followed(self, path: VaultPath) -> str:
        real = os.path.realpath(self.place(path.value))
        if not real.startswith(self.prefix):
            raise PermissionDenied(
                f"{path} leads out of the vault through a symbolic link, so it is left alone.",
                "Use a note inside the vault.",
                path=path.value,
            )
        try:
            check(real[len(self.prefix) :].replace(os.sep, "/"))
        except BadPath:
            raise PermissionDenied(
                f"{path} leads into a hidden folder, through a link or a short name, so it is left alone.",
                path=path.value,
            ) from None
        return real
