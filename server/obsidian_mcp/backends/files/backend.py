"""Finds the vault's folder for a call, puts right what a killed server left, and hands out the vault."""

from __future__ import annotations

import contextlib
import os
import threading

from obsidian_mcp import registry
from obsidian_mcp.backends.files import transaction as moving
from obsidian_mcp.backends.files.read import Looking
from obsidian_mcp.backends.files.vault import EmbeddedVault
from obsidian_mcp.backends.files.write import Folder
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import FileFailed, VaultNotFound
from obsidian_mcp.index.names import Index
from obsidian_mcp.settings import Settings, at_home, looks_like_path
from obsidian_mcp.state import State
from obsidian_mcp.vault.active import Active


class EmbeddedBackend:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[str, tuple[int, int]], tuple[Folder, Index, State]]] = {}

    def open(self, wanted: str, call: CallContext) -> EmbeddedVault:
        folder, index, state = self._parts(wanted, self._root(wanted))
        with contextlib.suppress(FileFailed):  # logged; a read does without, and a move tries again
            if state.has_journal:
                with state.locked_if_free() as alone:  # if not, another server is about that very move
                    if alone:
                        moving.recover(folder, state)
        return EmbeddedVault(folder, index, state, call)

    def health(self, wanted: tuple[str, ...]) -> str:
        try:
            for name in wanted:
                self._root(name)
        except VaultNotFound:
            return "error"
        return "ok"

    def active(self, wanted: str, call: CallContext) -> Active | None:
        """As far as the app has left it on disk."""
        found = Looking(self._root(wanted)).workspace().active
        return Active(found) if found else None

    def _root(self, wanted: str) -> str:
        if looks_like_path(wanted):  # then no list has to be asked which folder is meant
            path = at_home(wanted, self._settings.environ)
            if os.path.isdir(path):
                return path
        vaults = registry.registered(self._settings.environ)
        found = registry.find_one(wanted, vaults, self._settings.environ)
        root = found.path if found else at_home(wanted, self._settings.environ)
        if found and not os.path.isdir(root):
            raise VaultNotFound(
                f"The vault {found.name} is registered, but its folder {root} is not there. "
                "Mount its disk, or name another vault with --vault."
            )
        if not os.path.isdir(root):
            what = "a file, not a folder" if os.path.isfile(root) else "neither a folder nor a name that Obsidian knows"
            raise VaultNotFound(
                f"There is no vault {wanted!r}: it is {what}. "
                f"Known vaults: {registry.described(vaults)}. Name a folder or one of these with --vault. "
                "`obsidian-mcp doctor` checks it."
            )
        return root

    def _parts(self, wanted: str, root: str) -> tuple[Folder, Index, State]:
        """Kept for as long as the folder is the same one, whatever links lead to it."""
        try:
            found = os.stat(root)
            key = (found.st_dev, found.st_ino)
            with self._lock:
                kept = self._known.get(wanted)
                if kept is None or kept[0] != (root, key):
                    real = os.path.realpath(root)
                    folder = Folder(real)
                    kept = ((root, key), (folder, Index(folder), State(real, self._settings.environ)))
                    self._known[wanted] = kept
                return kept[1]
        except OSError as error:
            raise VaultNotFound(
                f"The vault's folder {root} cannot be used ({error.strerror}). Mount its disk, or name another vault."
            ) from None
