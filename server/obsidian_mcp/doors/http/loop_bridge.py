"""Between the event loop and the threads that run jobs. Crossing is expensive both ways, so it is done in batches."""

from __future__ import annotations

import asyncio
import collections
import contextlib
from collections.abc import Callable

from obsidian_mcp.scheduler import Access, Scheduler

PATIENCE = 0.002  # seconds that the loop waits for a call: most are over by then


class LoopBridge:
    """What is submitted in one round of the loop is handed over at once, and the loop waits while it is quick."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._submitted: list[tuple[Access, Callable[[], None]]] = []
        self._delivered: collections.deque[Callable[[], None]] = collections.deque()
        self._afterwards: list[Callable[[], None]] = []
        self._waits = False

    def submit(self, access: Access, work: Callable[[], None]) -> None:
        """On the loop alone."""
        if not self._submitted:
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._submitted.append((access, work))

    def afterwards(self, look: Callable[[], None]) -> None:
        """On the loop: call it when what was just submitted has been handed over, and most of it is over."""
        self._afterwards.append(look)

    def deliver(self, loop: asyncio.AbstractEventLoop, news: Callable[[], None]) -> None:
        """From any thread: have it called on the loop, in the order of delivery."""
        self._delivered.append(news)
        if not self._waits:  # otherwise it looks by itself when it goes on
            with contextlib.suppress(RuntimeError):  # the loop has ended, and its clients with it
                loop.call_soon_threadsafe(self._call_all)

    def _hand_over(self) -> None:
        jobs, self._submitted = self._submitted, []
        self._waits = True
        try:
            self._scheduler.run_batch(jobs, PATIENCE)
        finally:
            self._waits = False
            self._call_all()
            looks, self._afterwards = self._afterwards, []
            for look in looks:
                look()

    def _call_all(self) -> None:
        while self._delivered:
            self._delivered.popleft()()
