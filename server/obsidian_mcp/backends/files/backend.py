"""Vaults answered from their files."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable

from obsidian_mcp import long_paths
from obsidian_mcp.backends.files import read, record
from obsidian_mcp.backends.files.recovery import Recovery
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.scan import Scan
from obsidian_mcp.backends.files.vault import FilesVault
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import FileFailed, VaultNotFound
from obsidian_mcp.registry import Address, Located
from obsidian_mcp.settings import Settings
from obsidian_mcp.state import State
from obsidian_mcp.vault.active import Active
from obsidian_mcp.vault.history import NOBODY, By, HistoryIn
from obsidian_mcp.vault.index import Disk, Index
from obsidian_mcp.vault.port import Found


class _Kept:
    """What is remembered of a folder between calls, for as long as it is the same one."""

    def __init__(self, key: tuple[str, int, int], index: Callable[[Disk], Index], settings: Settings) -> None:
        real = long_paths.real(key[0])
        self.key = key
        self.root = VaultRoot(real)
        self.index = index(Scan(self.root))
        self.state = State(real, settings.environ)
        self.recovery = Recovery(self.root, self.state, self.index)
        self.swept: set[str] = set()


class FilesBackend:
    """`locate` says where a vault lies, `index` makes one for a folder, `history` opens one, if it is kept."""

    name = "embedded"

    def __init__(
        self,
        settings: Settings,
        locate: Callable[[str], Located],
        index: Callable[[Disk], Index],
        history: HistoryIn | None = None,
    ) -> None:
        self._settings = settings
        self._locate = locate
        self._make_index = index
        self._history = history
        self._lock = threading.Lock()
        self._known: dict[str, _Kept] = {}

    def open(self, wanted: str, call: CallContext, by: By = NOBODY) -> Found:
        place = self._locate(wanted)
        folder = place.require_folder()
        kept = self._keep(wanted, folder)
        with contextlib.suppress(FileFailed):  # logged; a read does without, and the next write tries again
            record.put_right(kept.root, kept.state)
        with contextlib.suppress(FileFailed):  # logged; a read does without, and a transaction tries again
            if kept.state.has_journal:
                with kept.state.locked_if_free() as alone:  # if not, another server is about that very change
                    if alone:
                        kept.recovery.recover()
        address = Address(place, folder)
        history = None if self._history is None else self._history(kept.state.history_file, by)
        vault = FilesVault(kept.root, kept.recovery, kept.swept, call, address, history)
        return Found(vault, kept.index, str(kept.root.path), history=history)

    def health(self, wanted: tuple[str, ...]) -> str:
        try:
            for name in wanted:
                self._folder(name)
        except VaultNotFound:
            return "error"
        return "ok"

    def active(self, wanted: str, call: CallContext) -> Active | None:
        """As far as the app has left it on disk."""
        found = read.workspace(VaultRoot(self._folder(wanted))).active
        return Active(found) if found else None

    def _folder(self, wanted: str) -> str:
        """Raises VaultNotFound if there is none."""
        return self._locate(wanted).require_folder()

    def _keep(self, wanted: str, folder: str) -> _Kept:
        """Kept for as long as the folder is the same one, whatever links lead to it."""
        try:
            found = os.stat(folder)
            key = (folder, found.st_dev, found.st_ino)
            with self._lock:
                kept = self._known.get(wanted)
                if kept is None or kept.key != key:
                    kept = self._known[wanted] = _Kept(key, self._make_index, self._settings)
                return kept
        except OSError as error:
            raise VaultNotFound(
                f"The vault's folder {folder} cannot be used ({error.strerror}).",
                "Mount its disk, or name another vault.",
            ) from None
