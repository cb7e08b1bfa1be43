"""What was asked of a client and waits for its answer.

One table per session. On HTTP a question goes out by one connection and its answer comes in by another, so the ids are
this process's own, and an answer is taken only from the session that was asked.
"""

from __future__ import annotations

from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from typing import Any

    GoOn = Callable[[Any], None]

_lock = allocate_lock()  # of all tables: they are seldom used


class _Question:
    __slots__ = ("clock", "go_on")

    def __init__(self, go_on: GoOn) -> None:
        self.go_on = go_on
        self.clock: threading.Timer | None = None


class Questions:
    """Any thread may put, answer or take back: what takes a question out of the table has it alone."""

    __slots__ = ("_is_closed", "_waiting")
    asked = 0  # by this process so far

    def __init__(self) -> None:
        self._waiting: dict[str, _Question] = {}
        self._is_closed = False

    def put(self, go_on: GoOn) -> str | None:
        """The id of one more, or None if no answer can come. `go_on` is called with the answer."""
        with _lock:
            if self._is_closed:
                return None
            Questions.asked += 1
            id = f"ask-{Questions.asked}"
            self._waiting[id] = _Question(go_on)
            return id

    def expire(self, id: str, after: float, late: Callable[[], None]) -> None:
        """Call it so many seconds from now, if the question still waits then."""
        import threading
        from contextlib import suppress

        clock = threading.Timer(after, late)
        clock.daemon = True
        with _lock:
            if id not in self._waiting:
                return
            self._waiting[id].clock = clock
        with suppress(RuntimeError, MemoryError):  # no further thread is allowed: then it waits as long as it takes
            clock.start()

    def take_back(self, id: str) -> bool:
        """Whether it still waited."""
        return self._take(id) is not None

    def answer(self, id: Any, answer: Any) -> None:
        """Go on with what asked; an answer to nothing is dropped."""
        question = self._take(id) if isinstance(id, str) else None
        if question is not None:
            question.go_on(answer)

    def close(self) -> None:
        """From now on no answer can come: what waits stays without one."""
        with _lock:
            self._is_closed = True
            waiting = list(self._waiting)
        for id in waiting:
            self.answer(id, None)

    def _take(self, id: str) -> _Question | None:
        """Its clock ends with it: each is a thread."""
        with _lock:
            question = self._waiting.pop(id, None)
        if question is not None and question.clock is not None:
            question.clock.cancel()
        return question
