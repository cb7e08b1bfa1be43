"""What a vault holds, remembered between calls and refreshed by what has changed on disk.

Nothing is read before it is needed. A folder whose time has not changed holds
the names it held; a file whose stamp has not changed holds the links it held.
A time so young that another change could share it is not trusted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from obsidian_mcp.backends.files import Folder, Listing, Stamp
from obsidian_mcp.errors import Failure
from obsidian_mcp.vault.linkkeys import key_of_path, keys_in
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.resolving import Resolver

SETTLED = 50_000_000  # ns; file systems keep time in steps of some milliseconds
WITH_LINKS = (".md", ".canvas")


class Index:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._listings: dict[str, tuple[Listing, int]] = {}
        self._resolver = Resolver(())
        self._keys: dict[str, tuple[Stamp, frozenset[str]]] = {}
        self._swept: set[str] = set()

    def snapshot(self) -> Resolver:
        """The files there are now, to be kept."""
        with self._lock:
            return self._current().copy()

    def paths(self) -> list[str]:
        with self._lock:
            return self._current().paths()

    def matching(self, name: Name) -> list[str]:
        with self._lock:
            return name.matches(self._current().named(name.path.filename))

    def namesakes(self, path: VaultPath) -> list[str]:
        """The other files that links of the same name could mean."""
        with self._lock:
            return [other for other in self._current().namesakes(path.value) if other != path.value]

    def sweep_once(self, folder: str) -> None:
        """Before the first write to a folder: clear away what a killed server left there."""
        if folder not in self._swept:
            self._swept.add(folder)
            self._folder.sweep(folder)

    def _current(self) -> Resolver:
        self._refresh("")
        return self._resolver

    def mentioning(self, keys: Iterable[str]) -> list[str]:
        """The files with a link that could mean one of these; those that have not changed are not read again."""
        wanted = frozenset(keys)
        with self._lock:
            known = [path for path in self.paths() if path.lower().endswith(WITH_LINKS)]
            current: dict[str, tuple[Stamp, frozenset[str]]] = {}
            for path in known:
                entry = self._links_of(path)
                if entry is not None:
                    current[path] = entry
            self._keys = current
            return [path for path, (_, found) in current.items() if not wanted.isdisjoint(found)]

    def _links_of(self, path: str) -> tuple[Stamp, frozenset[str]] | None:
        stamp = self._folder.stamp(path)
        if stamp is None:
            return None
        known = self._keys.get(path)
        if known is not None and known[0] == stamp and stamp[0] < time.time_ns() - SETTLED:
            return known
        try:
            data = self._folder.read_inside(path)
        except Failure:
            return None  # it vanished, or may not be read: then it cannot be rewritten either
        return stamp, keys_in(path, data)

    def _refresh(self, folder: str) -> None:
        """Bring one folder, and those below it, up to date."""
        known = self._listings.get(folder)
        changed = self._folder.changed(folder)
        if changed is None:
            self._forget(folder)
            return
        if known is None or known[0].changed != changed or known[1] - changed < SETTLED:
            try:
                listing = self._folder.scan(folder)
            except OSError:
                self._forget(folder)
                return
            self._adopt(folder, known[0] if known else None, listing)
        for inner in self._listings[folder][0].folders:
            self._refresh(f"{folder}/{inner}" if folder else inner)

    def _adopt(self, folder: str, before: Listing | None, now: Listing) -> None:
        prefix = f"{folder}/" if folder else ""
        old = before.files if before else frozenset()
        for name in old - now.files:
            self._resolver.remove(prefix + name)
        for name in now.files - old:
            self._resolver.add(prefix + name)
        for gone in set(before.folders if before else ()) - set(now.folders):
            self._forget(prefix + gone)
        self._listings[folder] = (now, time.time_ns())

    def _forget(self, folder: str) -> None:
        known = self._listings.pop(folder, None)
        if known is None:
            return
        prefix = f"{folder}/" if folder else ""
        for name in known[0].files:
            self._resolver.remove(prefix + name)
        for inner in known[0].folders:
            self._forget(prefix + inner)


def keys_of(*paths: VaultPath) -> set[str]:
    return {key_of_path(path.value) for path in paths}
