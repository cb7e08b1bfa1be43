"""Which files mention which names in links, remembered between calls.

Nothing is read before it is needed. A file whose stamp has not changed holds the links it held; one so young that
another change could share its time is read again.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterable, Iterator

from obsidian_mcp.call import CallContext
from obsidian_mcp.index.names import Names, is_settled
from obsidian_mcp.vault.index import Disk
from obsidian_mcp.vault.links.link_names import mark, names_in

WITH_LINKS = (".md", ".canvas", ".base")
BETWEEN_CHECKS = 32  # files
FEW_KEYS = 8


class Mentions:
    def __init__(self, disk: Disk, names: Names) -> None:
        self._disk = disk
        self._names = names
        self._stamps: dict[str, int] = {}
        self._mentioned: dict[str, str] = {}
        self._young: set[str] = set()

    def mentioning(self, keys: Iterable[str], others: Iterable[str], call: CallContext) -> Iterator[tuple[str, bytes]]:
        """The files with a link that could mean one of these, and those others, with their bytes, in path order.

        Those that have not changed since the last time are read only if they are among them.
        """
        is_wanted = _search_for(frozenset(keys))
        found: dict[str, bytes | None] = dict.fromkeys(others)
        with self._names.held(call):
            unread = self._forget_changed(call)
            self._names.require_all("links in its notes could not be kept")
            for path, mentioned in self._mentioned.items():
                if is_wanted(mentioned):
                    found[path] = None
            found.update(self._read(unread, is_wanted, call))
        for path, data in sorted(found.items()):
            yield path, self._disk.read(path) if data is None else data

    def _forget_changed(self, call: CallContext) -> list[str]:
        """Keep what is still true of the files there are; the others, which must be read."""
        unread: list[str] = []
        stamps: dict[str, int] = {}
        mentioned: dict[str, str] = {}
        for number, path in enumerate(self._names.current(call).paths()):
            if not path.endswith(WITH_LINKS) and not path.lower().endswith(WITH_LINKS):
                continue
            if not number % BETWEEN_CHECKS:
                call.check(f"looking at {path}")
            known = self._stamps.get(path)
            if known is None or path in self._young or known != self._disk.stamp(path):
                unread.append(path)
            else:
                stamps[path], mentioned[path] = known, self._mentioned[path]
        self._stamps, self._mentioned = stamps, mentioned  # not before: a call that is stopped costs no memory
        self._young.clear()
        return unread

    def _read(self, paths: list[str], is_wanted: Callable[[str], bool], call: CallContext) -> dict[str, bytes]:
        """Read these files, keep what they mention, and return those that mention what is wanted.

        On one thread: the work is mostly the interpreter's own, and more threads would only wait for the GIL.
        """
        found: dict[str, bytes] = {}
        now = time.time_ns()
        stamps, kept, until_check = self._stamps, self._mentioned, BETWEEN_CHECKS
        with without_collector():
            for path, stamp, changed, data in self._disk.read_stamped(paths):
                until_check -= 1
                if not until_check:
                    until_check = BETWEEN_CHECKS
                    call.check(f"reading {path}")
                mentioned = names_in(path, data)
                stamps[path] = stamp
                kept[path] = mentioned
                if not is_settled(changed, now):
                    self._young.add(path)
                if is_wanted(mentioned):
                    found[path] = data
        return found


def _search_for(keys: frozenset[str]) -> Callable[[str], bool]:
    """Whether a file mentions one of these. Of many, the names that it mentions are looked up among them."""
    if len(keys) > FEW_KEYS and not any("\n" in key for key in keys):
        return lambda mentioned: not keys.isdisjoint(mentioned.split("\n"))
    marks = [mark(key) for key in keys]
    return lambda mentioned: any(key in mentioned for key in marks)


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Reading a whole vault makes many objects and no cycles of them: to look for cycles takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
