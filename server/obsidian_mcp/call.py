"""One call while it runs: its time limit, its cancellation, its progress."""

from __future__ import annotations

import time
from _thread import _local, allocate_lock, get_ident  # threading loads much more, and is wanted later

from obsidian_mcp.errors import Cancelled, TimedOut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, TypeVar

    from obsidian_mcp.errors import Question

    T = TypeVar("T")

    class Lock(Protocol):
        def acquire(self, blocking: bool = ..., timeout: float = ...) -> bool: ...
        def release(self) -> None: ...


BETWEEN_CHECKS = 0.05  # seconds


class NotBegun(TimedOut):
    """The limit passed between two steps: the next was not begun."""


def cancelled() -> Cancelled:
    return Cancelled("The client cancelled the call.")


_threads = _local()


def on_this_thread() -> CallContext | None:
    """The call that runs on this thread, if one does."""
    found: CallContext | None = getattr(_threads, "call", None)
    return found


class Interrupts:
    """Signals that end the program by an exception. One that comes while a child is being started waits until that is
    over: before its number is known, nothing could end it.
    """

    def __init__(self) -> None:
        self._thread = 0
        self._holds = False
        self._waiting: BaseException | None = None

    def listen(self) -> None:
        """Signals are heard by the thread that this is called on."""
        self._thread = get_ident()

    def end(self, by: BaseException) -> None:
        """Called by the handler of a signal."""
        if not self._holds:
            raise by
        self._waiting = by

    def hold(self) -> None:
        self._holds = get_ident() == self._thread

    def release(self) -> BaseException | None:
        """What came meanwhile."""
        if get_ident() != self._thread:
            return None
        self._holds = False
        waiting, self._waiting = self._waiting, None
        return waiting


interrupts = Interrupts()


class CallContext:
    """Given to whatever a call runs through, so that all of it obeys one limit."""

    def __init__(
        self,
        limit: float = 30.0,
        report: Callable[[float, str], None] | None = None,
        whole: CallContext | None = None,
    ) -> None:
        self.limit = limit
        self._whole = whole
        self._report = report
        self._started = time.monotonic()
        self._lock = allocate_lock()
        self._cancelled = False
        self._stop: Callable[[], None] | None = None
        self._confirm: Callable[[Question], None] | None = None
        self.has_waited_in_vain = False  # for a file that another program has open: see `patience`

    def begin(self) -> None:
        """Start the clock. Waiting for one's turn does not count against the limit."""
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    @property
    def remaining(self) -> float:
        return self.limit - self.elapsed

    @property
    def cancelled(self) -> bool:
        return self._cancelled or (self._whole is not None and self._whole.cancelled)

    def part(self, limit: float) -> CallContext:
        """For a step that can be given up: a limit of its own, and it is cancelled with the call."""
        return CallContext(limit, whole=self)

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            stop = self._stop
        if stop is not None:
            stop()

    def running(self, start: Callable[[], T], stop: Callable[[T], None]) -> _Running:
        """Around something that takes a while: cancelling stops it, and it is stopped at the end in any case.

        It starts under the lock: a cancel comes before it, and it never starts,
        or after it, and finds it.
        """
        return _Running(self, start, stop)

    def _start(self, start: Callable[[], T], stop: Callable[[T], None]) -> T:
        with self._lock:
            if self._cancelled:
                raise cancelled()
            interrupts.hold()
            try:
                it = start()
            finally:
                interrupted = interrupts.release()
            self._stop = lambda: stop(it)
        if interrupted is not None:
            stop(it)
            raise interrupted
        return it

    def _forget(self) -> None:
        with self._lock:
            self._stop = None

    def check(self, doing: str) -> None:
        """Raise if the call must not go on to `doing`."""
        if self.cancelled:
            raise cancelled()
        if self.remaining <= 0:
            raise NotBegun(
                f"The limit of {self.limit:g} s passed before {doing}; that step was not begun.",
                "Check that Obsidian responds, then try again.",
            )

    def acquire(self, lock: Lock, doing: str) -> None:
        """Take a lock that another call may keep for long: the limit and a cancel count while it is waited for."""
        while not lock.acquire(timeout=BETWEEN_CHECKS):
            self.check(doing)

    def when_cancelled(self, stop: Callable[[], None]) -> bool:
        """While it waits and nothing of it runs. Whether it is not cancelled already."""
        with self._lock:
            self._stop = None if self._cancelled else stop
            return not self._cancelled

    def ask_by(self, confirm: Callable[[Question], None] | None) -> None:
        """How the person can be asked; by none where the client can't."""
        self._confirm = confirm

    @property
    def can_ask(self) -> bool:
        return self._confirm is not None

    def confirm(self, question: Question) -> None:
        """Return if the person has agreed, or can't be asked. Nothing may have been done before."""
        if self._confirm is not None:
            self._confirm(question)

    def progress(self, message: str) -> None:
        if self._report is not None:
            self._report(self.elapsed, message)


class OnThread:
    """A call runs on this thread. With None, what is done has no limit: to take back what was done by half."""

    __slots__ = ("_before", "_call")

    def __init__(self, call: CallContext | None) -> None:
        self._call = call

    def __enter__(self) -> None:
        self._before = on_this_thread()
        _threads.call = self._call

    def __exit__(self, *_: object) -> None:
        _threads.call = self._before


class _Running:
    """A class and not a generator: contextlib takes longer to load than all of this module."""

    __slots__ = ("_call", "_it", "_start", "_stop")

    def __init__(self, call: CallContext, start: Callable[[], Any], stop: Callable[[Any], None]) -> None:
        self._call = call
        self._start = start
        self._stop = stop

    def __enter__(self) -> Any:
        self._it = self._call._start(self._start, self._stop)
        return self._it

    def __exit__(self, *_: object) -> None:
        self._call._forget()
        self._stop(self._it)
