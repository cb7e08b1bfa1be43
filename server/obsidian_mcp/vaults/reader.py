"""A vault's folder, for those that show it or examine it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from obsidian_mcp.backends.files.root import VaultRoot
    from obsidian_mcp.vault.active import Workspace
    from obsidian_mcp.vault.census import Census
    from obsidian_mcp.vault.config import VaultConfig
    from obsidian_mcp.vault.path import VaultPath


class FolderReader:
    """A vault's folder, read without the app: for those that show it or examine it."""

    def __init__(self, folder: str) -> None:
        from obsidian_mcp.backends.files.root import VaultRoot

        self._root: VaultRoot = VaultRoot(folder)

    @property
    def is_there(self) -> bool:
        return self._root.is_there

    def access(self) -> tuple[bool, bool]:
        """Whether the folder may be read, and written."""
        from obsidian_mcp.backends.files import read

        return read.access(self._root)

    def census(self, seconds: float) -> Census:
        """What it holds, counted for so long at most."""
        from obsidian_mcp.backends.files import census

        return census.count(self._root, seconds)

    def settings(self) -> VaultConfig:
        from obsidian_mcp.backends.files import read

        return read.settings(self._root)

    def workspace(self) -> Workspace:
        from obsidian_mcp.backends.files import read

        return read.workspace(self._root)

    def read(self, path: VaultPath) -> bytes:
        from obsidian_mcp.backends.files import read

        return read.note(self._root, path)

    def has(self, path: VaultPath) -> bool:
        from obsidian_mcp.backends.files import read

        return bool(read.spellings(self._root, path))
