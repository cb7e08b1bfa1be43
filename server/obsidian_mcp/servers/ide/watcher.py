"""Watching the active note: one poll per second, only while a client listens, and never in a call's way."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from obsidian_mcp import logs
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Cancelled, Failure
from obsidian_mcp.running import bug_of
from obsidian_mcp.vault.active import Active

BETWEEN_LOOKS = 1.0  # seconds
AFTER_FAILURES = 5.0
FAILURES = 3  # in a row, and then it is asked more seldom
LIMIT = 10.0  # seconds for one look


class Watcher:
    """`look` asks the app, `last_saved` says what is on disk, `tell` hears of every change of `latest`."""

    def __init__(
        self,
        look: Callable[[CallContext], Active | None],
        last_saved: Callable[[], Active | None],
        tell: Callable[[], None],
        between: float = BETWEEN_LOOKS,
        after_failures: float = AFTER_FAILURES,
    ) -> None:
        self._look = look
        self._last_saved = last_saved
        self._tell = tell
        self._between = between
        self._after_failures = after_failures
        self._change = threading.Condition()
        self._asking = threading.Lock()  # held while the app is asked
        self._call: CallContext | None = None
        self._listeners = 0
        self._calls = 0
        self._failures = 0
        self._ended = False
        self._looked = -float("inf")  # when, by the clock of `time.monotonic`
        self.latest: Active | None = None

    def begin(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def end(self) -> None:
        with self._change:
            self._ended = True
            self._change.notify_all()
        self._take_back()

    def listen(self) -> None:
        with self._change:
            if not self._listeners and time.monotonic() - self._looked > self._between:
                self.latest = None  # it may be stale
            self._listeners += 1
            self._change.notify_all()

    def leave(self) -> None:
        with self._change:
            self._listeners -= 1
            if not self._listeners:
                self._failures = 0

    @property
    def listeners(self) -> int:
        return self._listeners

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """For a call: it does not wait for a look, and no look begins before it is over."""
        with self._change:
            self._calls += 1
        try:
            self._take_back()
            with self._asking:
                yield
        finally:
            with self._change:
                self._calls -= 1
                self._change.notify_all()

    def ask(self, call: CallContext) -> Active | None:
        """Now, within a call that has suspended the polling; what is on disk if the app doesn't say."""
        try:
            return self._look(call)
        except Cancelled:
            raise
        except Failure:
            return self._last_saved()

    def _take_back(self) -> None:
        with self._change:
            call = self._call
        if call is not None:
            call.cancel()

    def _run(self) -> None:
        while self._wait():
            try:
                self.poll()
            except Exception as bug:  # noqa: BLE001  # one odd answer must not end the watching
                self._failures += 1
                bug_of(bug, "watching")

    def _wait(self) -> bool:
        """Until the next look is due; False at the end."""
        with self._change:
            while not self._ended:
                due = None
                if self._listeners and not self._calls:
                    due = self._looked + self.pause - time.monotonic()
                    if due <= 0:
                        return True
                self._change.wait(due)
            return False

    @property
    def pause(self) -> float:
        """Seconds until the next look."""
        return self._after_failures if self._failures >= FAILURES else self._between

    def poll(self) -> None:
        """One look, unless a call is under way."""
        if self._calls:
            return
        with self._asking:
            with self._change:
                if self._calls or self._ended:
                    return
                call = self._call = CallContext(LIMIT)
            try:
                found = self._look(call)
                self._failures = 0
            except Cancelled:
                return
            except Failure as failure:
                self._failures += 1
                if self._failures == FAILURES:
                    logs.log("info", "asking seldom", why=failure.message, seconds=self._after_failures)
                found = self._last_saved()
            finally:
                with self._change:
                    self._call = None
                    self._looked = time.monotonic()
        with self._change:
            if not self._listeners or found == self.latest:
                return
            self.latest = found
        self._tell()
