"""Which files a vault has, remembered between calls and brought up to date by what has changed on disk.

A folder whose time has not changed holds the names it held. A time so young that another change could share it is not
trusted. How young that is depends on the steps in which the file system keeps time, and the times themselves tell: one
with a fraction of a second in it comes from a system that keeps fractions (ext4, APFS, NTFS: some milliseconds at the
most); one without may come from any (FAT: two seconds; HFS+, ext3, some network drives: one).
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import FileFailed, PermissionDenied
from obsidian_mcp.registry import with_doctor
from obsidian_mcp.vault.index import Closed, Disk, Gone, Listing
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.names import Name

SECOND = 1_000_000_000
FINE, COARSE = SECOND // 20, 2 * SECOND + SECOND // 20  # ns; a bit more than the longest step, for the clock's own


def is_settled(changed: int, now: int) -> bool:
    """Whether what changes from now on gets another time than this; one that lies ahead won't come again either."""
    return abs(now - changed) >= (FINE if changed % SECOND else COARSE)


class Names:
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._lock = threading.RLock()
        self._listings: dict[str, tuple[Listing, int]] = {}
        self._resolver = Resolver(())
        self._closed: list[tuple[str, Closed]] = []

    def snapshot(self, call: CallContext) -> Resolver:
        """The files there are now, to be kept."""
        with self.held(call):
            found = self.current(call).copy()
            self.require_all("links to its notes could not be kept")
            return found

    def paths(self, call: CallContext) -> list[str]:
        with self.held(call):
            return self.current(call).paths()

    def matching(self, name: Name, call: CallContext) -> list[str]:
        with self.held(call):
            found = name.matches(self.current(call).named(name.path.filename))
            if not found:
                self.require_all("it cannot be told whether the note is there")
            return found

    def namesakes(self, path: str, call: CallContext) -> list[str]:
        """The other files that links of the same name could mean."""
        with self.held(call):
            found = [other for other in self.current(call).namesakes(path) if other != path]
            self.require_all("links to a note of that name could not be kept", but_forbidden=True)
            return found

    @contextlib.contextmanager
    def held(self, call: CallContext) -> Iterator[None]:
        """Alone with the index: another call may be reading a whole vault."""
        call.acquire(self._lock, "looking at the vault's files")
        try:
            yield
        finally:
            self._lock.release()

    def current(self, call: CallContext) -> Resolver:
        """The files there are now, to be looked at while the lock is held."""
        self._refresh(call)
        return self._resolver

    def require_all(self, otherwise: str, but_forbidden: bool = False) -> None:
        """Raise if some folder could not be listed; `but_forbidden` passes over those that may not be."""
        for folder, closed in self._closed:
            if closed.is_permission and but_forbidden:
                continue
            kind = PermissionDenied if closed.is_permission else FileFailed
            raise kind(
                f"The folder {folder or 'of the vault'} could not be listed ({closed.why}), so {otherwise}.",
                with_doctor(
                    "Make it readable, move it out of the vault, or begin its name with a dot.",
                    "lists all such folders",
                ),
                path=folder,
            )

    def _refresh(self, call: CallContext) -> None:
        """Bring every folder up to date, whatever their depth."""
        todo = [""]
        self._closed.clear()
        while todo:
            folder = todo.pop()
            call.check(f"looking into {folder or 'the vault'}")
            known = self._listings.get(folder)
            try:
                changed = self._disk.changed(folder)
                if known is None or known[0].changed != changed or not is_settled(changed, known[1]):
                    looked = time.time_ns()  # before it is listed: what comes while it is may not be in the list
                    self._adopt(folder, known[0] if known else None, self._disk.listing(folder), looked)
            except Gone:
                self._forget(folder)
                continue
            except Closed as closed:
                if closed.is_ours:
                    self._closed.append((folder, closed))
                self._forget(folder)
                continue
            prefix = f"{folder}/" if folder else ""
            todo += [prefix + inner for inner in self._listings[folder][0].folders]

    def _adopt(self, folder: str, before: Listing | None, now: Listing, looked: int) -> None:
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
        self._listings[folder] = (now, looked)

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
