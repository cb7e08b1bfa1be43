"""One vault as an IDE shows it: its folder, the note in front of the person, what is open."""

from __future__ import annotations

import os
from pathlib import Path

from obsidian_mcp import long_paths
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import InvalidParams, NoteNotFound
from obsidian_mcp.vault import text
from obsidian_mcp.vault.active import Active, Workspace
from obsidian_mcp.vault.history import NOBODY
from obsidian_mcp.vault.path import BadPath, VaultPath
from obsidian_mcp.vault.port import Backend
from obsidian_mcp.vaults.reader import FolderReader


class IdeWorkspace:
    """`folder` is the vault's as it was named, `wanted` what the backend calls it."""

    def __init__(self, folder: str, wanted: str, backend: Backend) -> None:
        self.root = long_paths.real(folder)
        self._folders = tuple(dict.fromkeys((self.root, os.path.abspath(folder))))
        self._wanted = wanted
        self._backend = backend
        self._folder = FolderReader(folder)

    @property
    def name(self) -> str:
        return os.path.basename(self.root)

    def active(self, call: CallContext) -> Active | None:
        """By the app. Raises a Failure where it does not say."""
        return self._backend.active(self._wanted, call)

    def last_saved(self) -> Active | None:
        """By what the app last wrote to disk: the note, and nothing selected."""
        found = self._folder.workspace().active
        return Active(found) if found else None

    def opened(self) -> Workspace:
        """What the app has open, by what it last wrote to disk."""
        return self._folder.workspace()

    def show(self, path: VaultPath, call: CallContext) -> None:
        self._backend.open(self._wanted, call, NOBODY).vault.show(path, new_tab=False)

    def read(self, path: VaultPath) -> str:
        return text.decoded(path, self._folder.read(path))

    def file(self, path: VaultPath) -> str:
        return os.path.join(self.root, *path.value.split("/"))

    def uri(self, path: VaultPath) -> str:
        return Path(self.file(path)).as_uri()

    def path(self, named: str) -> VaultPath:
        """A path from the vault's root, with or without a leading /, or an absolute one inside the vault."""
        inside = named.replace(os.sep, "/") if os.path.isabs(named) else named
        for folder in self._folders:
            prefix = folder.replace(os.sep, "/") + "/"
            if f"{inside}/".startswith(prefix):
                inside = inside[len(prefix) :]
                break
        try:
            return VaultPath(inside.removeprefix("/"))
        except BadPath as problem:
            raise InvalidParams(f"The path {problem}.") from None

    def existing(self, named: str) -> VaultPath:
        path = self.path(named)
        if not self._folder.has(path):
            raise NoteNotFound(f"There is no file {path} in the vault {self.name}.", path=path.value)
        return path
