"""What is loaded after the first reply, and when.

A call needs the log, the backend and its own tool's module. The rest is loaded by the warm-up meanwhile, a step at a
time, and only while no call runs: two threads that both have work take the GIL from each other at every system call, so
a call beside an import would take as long as the import. All of it is loaded under one lock, because two threads that
load one package can see it half made.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

BEFORE = 0.05  # seconds: a client that lists the tools next should not wait for our imports
AFTER = 0.02  # seconds after a call in which its reply is sent, and perhaps the next one comes
BETWEEN_LOOKS = 0.002  # seconds

Step = Callable[[], object]
T = TypeVar("T")


class Loading:
    """`first` is for every call, `steps` make up the rest; each may be done again, and then does nothing."""

    def __init__(self, first: Step, steps: Sequence[Step]) -> None:
        self._first = first
        self._steps = steps
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._running = 0
        self._last = 0.0
        self._nudges = 0
        self._go = threading.Event()
        self.has_begun = False
        self.is_done = False

    def nudge(self) -> None:
        """Called after every line: the first starts the waiting, the third ends it."""
        self._nudges += 1
        if self._nudges == 1:
            with suppress(RuntimeError, MemoryError):  # no further thread is allowed: each call loads what it needs
                threading.Thread(target=self._in_the_background, daemon=True).start()
        elif self._nudges == 3:
            self._go.set()

    def _in_the_background(self) -> None:
        self._go.wait(BEFORE)
        self._load()
        for step in self._steps:
            while self._running or time.monotonic() < self._last + AFTER:
                time.sleep(BETWEEN_LOOKS)
            self._load(step)
        self.is_done = True

    def wake(self) -> None:
        """Load all of it, at once."""
        if not self.is_done:
            for step in self._steps:
                self._load(step)
            self.is_done = True

    def wake_for(self, step: Step) -> None:
        """Load what one call needs."""
        if not self.is_done:
            self.during(lambda: self._load(step))

    def during(self, call: Callable[[], T]) -> T:
        """Run a call, or a part of one, while the background waits."""
        if self.is_done:
            return call()
        self._count(1)
        try:
            return call()
        finally:
            self._count(-1)

    def _count(self, calls: int) -> None:
        with self._counting:
            self._running += calls
            self._last = time.monotonic()

    def _load(self, step: Step | None = None) -> None:
        """Without the collector, which would look through what is loaded again and again: it is kept."""
        with self._lock:
            gc.disable()
            try:
                if not self.has_begun:
                    self._first()
                    self.has_begun = True
                if step is not None:
                    step()
            finally:
                gc.enable()
