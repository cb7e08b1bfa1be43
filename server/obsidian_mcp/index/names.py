"""What a vault holds, remembered between calls and refreshed by what has changed on disk.

Nothing is read before it is needed. A folder whose time has not changed holds
the names it held; a file whose stamp has not changed holds the links it held.
A time so young that another change could share it is not trusted.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import threading
import time
from collections.abc import Iterable, Iterator

from obsidian_mcp.backends.files.os_errors import is_absent
from obsidian_mcp.backends.files.scan import Listing
from obsidian_mcp.backends.files.write import Folder
from obsidian_mcp.errors import FileFailed, PermissionDenied
from obsidian_mcp.vault.links.link_names import key_of_path, keys_in, mark
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath

SETTLED = 50_000_000  # ns; file systems keep time in steps of some milliseconds
WITH_LINKS = (".md", ".canvas")


class Index:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._listings: dict[str, tuple[Listing, int]] = {}
        self._resolver = Resolver(())
        self._stamps: dict[str, int] = {}
        self._keys: dict[str, str] = {}
        self._young: set[str] = set()
        self._swept: set[str] = set()
        self._closed: list[tuple[str, OSError]] = []

    def snapshot(self) -> Resolver:
        """The files there are now, to be kept."""
        with self._lock:
            found = self._current().copy()
            self._require_all("links to its notes could not be kept")
            return found

    def paths(self) -> list[str]:
        with self._lock:
            return self._current().paths()

    def matching(self, name: Name) -> list[str]:
        with self._lock:
            found = name.matches(self._current().named(name.path.filename))
            if not found:
                self._require_all("it cannot be told whether the note is there")
            return found

    def namesakes(self, path: VaultPath) -> list[str]:
        """The other files that links of the same name could mean."""
        with self._lock:
            found = [other for other in self._current().namesakes(path.value) if other != path.value]
            self._require_all("links to a note of that name could not be kept", but_closed=True)
            return found

    def sweep_once(self, path: VaultPath) -> None:
        """Before the first write to a folder: clear away what a killed server left there."""
        if path.folder not in self._swept:
            self._swept.add(path.folder)
            self._folder.sweep_beside(path)

    def _current(self) -> Resolver:
        self._refresh()
        return self._resolver

    def mentioning(self, keys: Iterable[str]) -> dict[str, bytes | None]:
        """The files with a link that could mean one of these, with their bytes where they had to be read.

        Those that have not changed since the last time are not read again.
        """
        wanted = [mark(key) for key in keys]
        found: dict[str, bytes | None] = {}
        with self._lock:
            unread = self._forget_changed()
            self._require_all("links in its notes could not be kept")
            for path, mentioned in self._keys.items():
                if any(key in mentioned for key in wanted):
                    found[path] = None
            found.update(self._read(unread, wanted))
        return found

    def _require_all(self, otherwise: str, but_closed: bool = False) -> None:
        """Raise if some folder could not be listed. `but_closed`: those that may not be listed are no matter."""
        for folder, error in self._closed:
            is_closed = isinstance(error, PermissionError)
            if is_closed and but_closed:
                continue
            kind = PermissionDenied if is_closed else FileFailed
            raise kind(
                f"The folder {folder or 'of the vault'} could not be listed ({error.strerror}), so {otherwise}. "
                "Nothing was changed. Make it readable first.",
                path=folder,
            )

    def _forget_changed(self) -> list[str]:
        """Keep what is still true of the files there are; the others, which must be read."""
        stamps, keys, unread = self._stamps, self._keys, []
        self._stamps, self._keys = {}, {}
        for path in self._current().paths():
            if not path.endswith(WITH_LINKS) and not path.lower().endswith(WITH_LINKS):
                continue
            known = stamps.get(path)
            if known is None or path in self._young or known != self._folder.stamp(path):
                unread.append(path)
            else:
                self._stamps[path], self._keys[path] = known, keys[path]
        self._young.clear()
        return unread

    def _read(self, paths: list[str], wanted: list[str]) -> dict[str, bytes]:
        """Read these files, keep what they mention, and return those that mention what is wanted.

        On one thread: the work is mostly the interpreter's own, and more threads only wait for each other.
        """
        found: dict[str, bytes] = {}
        young = time.time_ns() - SETTLED
        stamps, keys = self._stamps, self._keys
        with _undisturbed():
            for path, stamp, changed, data in self._folder.read_stamped(paths):
                mentioned = keys_in(path, data)
                stamps[path] = stamp
                keys[path] = mentioned
                if changed > young:
                    self._young.add(path)
                for key in wanted:
                    if key in mentioned:
                        found[path] = data
        return found

    def _refresh(self) -> None:
        """Bring every folder up to date, whatever their depth."""
        todo = [""]
        self._closed.clear()
        while todo:
            folder = todo.pop()
            known = self._listings.get(folder)
            try:
                changed = self._folder.changed(folder)
                if known is None or known[0].changed != changed or known[1] - changed < SETTLED:
                    self._adopt(folder, known[0] if known else None, self._folder.scan(folder))
            except OSError as error:
                gone = is_absent(error) and error.errno != errno.ENAMETOOLONG  # which says: below too many others
                if not gone and not (isinstance(error, PermissionError) and self._folder.is_others(folder)):
                    self._closed.append((folder, error))
                self._forget(folder)
                continue
            prefix = f"{folder}/" if folder else ""
            todo += [prefix + inner for inner in self._listings[folder][0].folders]

    def _adopt(self, folder: str, before: Listing | None, now: Listing) -> None:
        prefix = f"{folder}/" if folder else ""
        if before is None:
            self._resolver.add_all(prefix, now.files)
        elif before.files != now.files:
            old, new = set(before.files), set(now.files)
            for name in old - new:
                self._resolver.remove(prefix + name)
            self._resolver.add_all(prefix, new - old)
        for gone in set(before.folders if before else ()) - set(now.folders):
            self._forget(prefix + gone)
        self._listings[folder] = (now, time.time_ns())

    def _forget(self, folder: str) -> None:
        todo = [folder]
        while todo:
            folder = todo.pop()
            known = self._listings.pop(folder, None)
            if known is None:
                continue
            prefix = f"{folder}/" if folder else ""
            for name in known[0].files:
                self._resolver.remove(prefix + name)
            todo += [prefix + inner for inner in known[0].folders]


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Reading a whole vault makes many objects and no rings of them: to look for rings takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def keys_of(*paths: VaultPath) -> set[str]:
    return {key_of_path(path.value) for path in paths}
