"""Who runs when.

Calls run side by side, except where that could be seen: writes run one after
another in the order in which they came, and a read of a note comes after the
earlier writes to it and before the later ones. So a client that sends
"append, read, delete" for one note without waiting gets what it would have got
by waiting, and a slow call holds up nothing that doesn't touch its note.
"""

from __future__ import annotations

import threading
from _queue import SimpleQueue
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Job = Callable[[], None]

THREADS = 64  # so many calls may hang before another note's read has to wait


class Access:
    """What a call touches: the notes, by a key that no two spellings of one differ in."""

    __slots__ = ("chained", "followers", "keys", "waits", "writes")

    def __init__(self, keys: frozenset[str], writes: bool, chained: bool = True) -> None:
        self.keys = keys
        self.writes = writes
        self.chained = writes and chained  # whether it waits for every earlier write, or for those to its notes alone
        self.waits = 0
        self.followers: list[tuple[Access, Job]] = []


class _Note:
    """The turns not yet over that touch one key."""

    __slots__ = ("readers", "writer")

    def __init__(self) -> None:
        self.writer: Access | None = None
        self.readers: set[Access] = set()


class Scheduler:
    def __init__(self, threads: int = THREADS) -> None:
        self._lock = threading.Lock()
        self._notes: dict[str, _Note] = {}
        self._last_writer: Access | None = None
        self._ready: SimpleQueue[Job] = SimpleQueue()
        self._threads = threads
        self._started = 0
        self._busy = 0

    def submit(self, turn: Access, job: Job) -> None:
        """Run the job on a thread of the pool as soon as its turn comes."""
        if self._comes_now(turn, job):
            self._start(turn, job)

    def run_batch(self, jobs: Iterable[tuple[Access, Job]], patience: float) -> None:
        """Run them on one thread, one after another, and wait while they are quick.

        One that takes longer than the patience is left alone with its thread, and the rest get threads of
        their own. Two threads of Python with something to do take the interpreter from each other at every
        system call; quick jobs are done many times sooner if whoever brings them waits instead.
        """
        lane = deque((turn, job) for turn, job in jobs if self._comes_now(turn, job))
        if not lane:
            return
        over = threading.Lock()
        over.acquire()

        def work() -> None:
            try:
                while (pair := _first(lane)) is not None:
                    self._run(*pair)
            finally:
                over.release()

        left = len(lane) - 1
        self._queue(work)
        while not over.acquire(timeout=patience):
            if len(lane) == left:
                break
            left = len(lane)
        while (pair := _first(lane)) is not None:
            self._start(*pair)

    def _comes_now(self, turn: Access, job: Job) -> bool:
        """Enter it; what has to wait is started by the last that it waits for."""
        with self._lock:
            before = self._before(turn)
            self._enter(turn)
            turn.waits = len(before)
            for earlier in before:
                earlier.followers.append((turn, job))
        return not before

    def _before(self, turn: Access) -> set[Access]:
        notes = [self._notes[key] for key in turn.keys if key in self._notes]
        before = {note.writer for note in notes if note.writer is not None}
        if turn.writes:
            for note in notes:
                before |= note.readers
        if turn.chained and self._last_writer is not None:
            before.add(self._last_writer)
        return before

    def _enter(self, turn: Access) -> None:
        for key in turn.keys:
            note = self._notes.setdefault(key, _Note())
            if turn.writes:
                note.writer = turn
                note.readers = set()
            else:
                note.readers.add(turn)
        if turn.chained:
            self._last_writer = turn

    def _leave(self, turn: Access) -> list[tuple[Access, Job]]:
        with self._lock:
            for key in turn.keys:
                note = self._notes[key]
                note.readers.discard(turn)
                if note.writer is turn:
                    note.writer = None
                if note.writer is None and not note.readers:
                    del self._notes[key]
            if self._last_writer is turn:
                self._last_writer = None
            for follower, _ in turn.followers:
                follower.waits -= 1
            return [pair for pair in turn.followers if pair[0].waits == 0]

    def _start(self, turn: Access, job: Job) -> None:
        self._queue(lambda: self._run(turn, job))

    def _run(self, turn: Access, job: Job) -> None:
        try:
            job()
        finally:
            for follower, its_job in self._leave(turn):
                self._start(follower, its_job)

    def _queue(self, work: Job) -> None:
        with self._lock:
            self._busy += 1
            more = self._started < min(self._busy, self._threads)
            self._started += more
        self._ready.put(work)
        if more:
            threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            work = self._ready.get()
            try:
                work()
            finally:
                with self._lock:
                    self._busy -= 1


def _first(lane: deque[tuple[Access, Job]]) -> tuple[Access, Job] | None:
    """Take it, whoever else takes from the other side of a thread."""
    try:
        return lane.popleft()
    except IndexError:
        return None
