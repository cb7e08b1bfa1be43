"""Whether calls would work now: what a look at the vaults tells, and what the last calls have told.

A look asks less than a call does: it must not start the app. So a call that failed for want of the vault counts for
more, until one on the same vault has been answered.
"""

from __future__ import annotations

import time
from _thread import allocate_lock

from obsidian_mcp.errors import (
    CliDisabled,
    CliFailed,
    Failure,
    FileFailed,
    ObsidianNotRunning,
    TimedOut,
    VaultNotFound,
    WithoutApp,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

GOOD_FOR = 5.0  # seconds that a look may be reused
UNUSABLE = (CliDisabled, CliFailed, FileFailed, ObsidianNotRunning, TimedOut, VaultNotFound)


class Health:
    """`look` says ok, degraded or error, and may take a while."""

    def __init__(self, look: Callable[[], str]) -> None:
        self._look = look
        self._lock = allocate_lock()
        self._seen: tuple[float, str] | None = None
        self._failing: set[str] = set()

    def status(self) -> str:
        with self._lock:  # many that ask at once get one look
            now = time.monotonic()  # before the look: what it tells was true then
            if self._seen is None or now - self._seen[0] >= GOOD_FOR:
                self._seen = (now, self._look())
            status = self._seen[1]
        return "degraded" if status == "ok" and self._failing else status

    def watch(self, vault: str, call: Callable[[], T]) -> T:
        """Run a call on that vault, and remember what it tells: any other failure shows that the vault can be used."""
        try:
            found = call()
        except Failure as failure:
            if isinstance(failure, UNUSABLE) and not isinstance(failure, WithoutApp):
                self._failing.add(vault)
                self._seen = None
            else:
                self._failing.discard(vault)
            raise
        self._failing.discard(vault)
        return found
