"""Between the loop and the threads that run calls: both ways are dear, so they are gone together."""

from __future__ import annotations

import asyncio
import collections
import contextlib
from collections.abc import Callable

from obsidian_mcp.scheduler import Access, Scheduler

PATIENCE = 0.002  # seconds that the loop waits for a call: most are over by then


class LoopBridge:
    """What is submitted in one round of the loop is handed over at once, and the loop waits while it is quick."""

    def __init__(self, turns: Scheduler) -> None:
        self._turns = turns
        self._submitted: list[tuple[Access, Callable[[], None]]] = []
        self._brought: collections.deque[Callable[[], None]] = collections.deque()
        self._afterwards: list[Callable[[], None]] = []
        self._waits = False

    def submit(self, turn: Access, job: Callable[[], None]) -> None:
        """On the loop alone."""
        if not self._submitted:
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._submitted.append((turn, job))

    def afterwards(self, look: Callable[[], None]) -> None:
        """On the loop: call it when what was just submitted has been handed over, and most of it is over."""
        self._afterwards.append(look)

    def bring(self, loop: asyncio.AbstractEventLoop, deliver: Callable[[], None]) -> None:
        """From whichever thread: have it done on the loop, in the order in which it was brought."""
        self._brought.append(deliver)
        if not self._waits:  # otherwise it looks by itself when it goes on
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to tell
                loop.call_soon_threadsafe(self._deliver)

    def _hand_over(self) -> None:
        jobs, self._submitted = self._submitted, []
        self._waits = True
        try:
            self._turns.run_batch(jobs, PATIENCE)
        finally:
            self._waits = False
            self._deliver()
            looks, self._afterwards = self._afterwards, []
            for look in looks:
                look()

    def _deliver(self) -> None:
        while self._brought:
            self._brought.popleft()()
