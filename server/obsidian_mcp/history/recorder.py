"""A vault's ledger, as one call sees it: the two ports of `vault/history.py`.

Where the history can't be kept, nothing may be changed either: a person who relies on it must hear of it before, and
not after. Once a change is made, nothing that fails here makes it unmade: it stays pending, and the next one settles
it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from obsidian_mcp import logs
from obsidian_mcp.errors import FileFailed
from obsidian_mcp.history.file import Busy, Unusable
from obsidian_mcp.history.ledger import MOST_SHOWN, Ledger
from obsidian_mcp.vault.changes import ChangeSet
from obsidian_mcp.vault.history import By, Entry, Intent, KeptChanges, NoSuchEntry, Unreadable, summary


class CallHistory:
    """One per call."""

    def __init__(self, ledger: Ledger, by: By, clock: Callable[[], float] = time.time) -> None:
        self._ledger = ledger
        self._clock = clock
        self.by = by
        self.last: str | None = None

    # For what makes a change

    def begin(self, changes: ChangeSet) -> str:
        said = summary(changes)
        intent = Intent(
            self._clock(), self.by.tool, self.by.client, said, changes, changes.undoes, session=self.by.session
        )
        with _usable():
            return self._ledger.begin(intent)

    def finish(self, id: str, changes: ChangeSet | None = None) -> None:
        self.settled(id, changes)
        self.last = id

    def settled(self, id: str, changes: ChangeSet | None = None) -> None:
        with _unsaid(id):
            self._ledger.finish(id, changes)

    def abandon(self, id: str) -> None:
        with _unsaid(id):
            self._ledger.abandon(id)

    def pending(self) -> list[tuple[str, KeptChanges]]:
        with _usable():
            found = []
            for entry in self._ledger.pending():
                try:
                    found.append((entry.id, self._ledger.get(entry.id)[1]))
                except Unreadable:  # too large to be kept: what became of it can't be told, and it can't be undone
                    found.append((entry.id, KeptChanges(entry.summary, ())))
                except NoSuchEntry:  # purged meanwhile
                    continue
            return found

    # For what tells of it

    def entries(
        self, since: float | None = None, note: str | None = None, client: str | None = None, limit: int = MOST_SHOWN
    ) -> list[Entry]:
        with _usable():
            return self._ledger.entries(since, note, client, limit)

    def entry(self, id: str) -> Entry:
        with _usable():
            return self._ledger.entry(id)

    def get(self, id: str) -> tuple[Entry, KeptChanges]:
        with _usable():
            return self._ledger.get(id)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many entries there are, and their bytes on disk."""
        with _usable():
            return self._ledger.count, self._ledger.size

    def purge(self) -> int:
        with _usable():
            count = self._ledger.count
            self._ledger.purge()
            return count

    def latest(self) -> Entry | None:
        with _usable():
            return self._ledger.latest(self.by.client, self.by.session)


@contextmanager
def _usable() -> Iterator[None]:
    try:
        yield
    except Busy:
        raise FileFailed("Another server was writing the vault's history for too long.", "Try again.") from None
    except Unusable as problem:
        raise FileFailed(
            f"The vault's history cannot be used ({problem}).",
            "Put that right, or start the server with --history off.",
        ) from None


@contextmanager
def _unsaid(id: str) -> Iterator[None]:
    try:
        yield
    except (Busy, Unusable) as problem:
        logs.log("warning", "how a change ended is not in the history yet", change=id, why=str(problem) or "busy")
