"""Files that another program has open, on Windows: what they refuse is tried again for about a second.

There a file that is open may be closed to all others, and can be renamed or removed only if the program has allowed
that. Most have it open for a moment: a virus scanner, an indexer, a synchroniser, another server. Elsewhere no call of
the system fails for that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from obsidian_mcp import call

SECONDS = 1.0
PAUSE = 0.02
_BUSY = {5, 32, 33}  # access denied, which a file that goes at this moment answers too; sharing violation; lock

T = TypeVar("T")


def windows_number(error: OSError) -> int | None:
    """The system's own number. None elsewhere, and where an error comes from Python's own C library."""
    return getattr(error, "winerror", None)


class Patience:
    """One for everything that is done through it. It ends with the limit of the call that runs on this thread; and a
    call that has waited in vain waits no more: it has failed by then, or does without that file.
    """

    def __init__(self, pause: Callable[[float], None] = time.sleep) -> None:
        self._pause = pause
        self._left = SECONDS

    def run(self, act: Callable[[], T]) -> T:
        while True:
            try:
                return act()
            except OSError as error:
                if windows_number(error) not in _BUSY or not self._is_left():
                    raise
            begun = time.monotonic()
            self._pause(PAUSE)
            self._left -= max(PAUSE, time.monotonic() - begun)

    def _is_left(self) -> bool:
        running = call.on_this_thread()
        if running is None:
            return self._left > 0
        if self._left <= 0:
            running.has_waited_in_vain = True
        return not (running.has_waited_in_vain or running.cancelled or running.remaining <= 0)
