"""Which job runs when, and on which thread.

The order. Jobs run side by side, except where that could be observed: writes run one after another in the order in
which they came, and a read of a note comes after the earlier writes to it and before the later ones. So a client that
sends "append, read, delete" for one note without waiting gets what it would have got by waiting, and a slow job holds
up nothing that doesn't touch its note. This is a graph: each job knows how many earlier ones it waits for, and each
tells its followers when it is over. A job that waits for none is ready.

The keys. What a job touches is a set of keys, one per note, that no two spellings of the note differ in. Two notes may
share a key: that is a false positive, and costs a wait. The opposite would cost a note.

The threads. Ready jobs run on a pool that grows to THREADS. But handing a job to another thread and its reply back
costs more than most jobs take: two Python threads that both have work take the GIL from each other at every system
call. So a door hands over everything that one read of its input brought with `run_batch`: one thread runs the jobs in
order while the door's own thread waits, without the GIL. A job that is not quick is left alone with its thread, and
another goes on with the jobs after it, then two more, and so on; where that is not enough, each of those left gets a
thread of its own. So a slow read delays the others by the patience, not by its length, and where it was the machine
that was busy for a moment, there are not sixty threads that fight for the GIL. Where the system allows no further
thread, the jobs wait for those that there are; where there is none, the door's own runs them.
"""

from __future__ import annotations

from _queue import Empty, SimpleQueue
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterable

    Work = Callable[[], None]
else:
    from _collections import deque  # without what its package loads

MOST_RUNNERS = 8  # threads that share what was brought together
THREADS = 64  # as many jobs may hang before a read of another note has to wait


class Access:
    """What a job touches, and whether it changes that.

    `chained` says whether a write waits for every earlier write, or for those to its own notes alone. `whole` is for a
    job that may touch any note: a read of that kind comes after all earlier writes, and later ones don't wait for it; a
    write waits for everything before it, and everything after it waits.
    """

    __slots__ = ("chained", "keys", "whole", "writes")

    def __init__(self, keys: frozenset[str], writes: bool, chained: bool = True, whole: bool = False) -> None:
        self.keys = keys
        self.writes = writes
        self.whole = whole
        self.chained = writes and (chained or whole)


class _Turn:
    """A job in the graph."""

    __slots__ = ("access", "followers", "waits", "work")

    def __init__(self, access: Access, work: Work) -> None:
        self.access = access
        self.work = work
        self.waits = 0
        self.followers: list[_Turn] = []


class _Note:
    """The turns not yet over that touch one key."""

    __slots__ = ("readers", "writer")

    def __init__(self) -> None:
        self.writer: _Turn | None = None
        self.readers: set[_Turn] = set()


class Scheduler:
    def __init__(self, threads: int = THREADS) -> None:
        self._lock = allocate_lock()
        self._notes: dict[str, _Note] = {}
        self._last_writer: _Turn | None = None
        self._last_whole: _Turn | None = None  # of the writes that may touch any note
        self._ready: SimpleQueue[Work] = SimpleQueue()
        self._threads = threads
        self._started = 0
        self._busy = 0
        self._alone = False  # whether a caller's thread runs the jobs, because there is no other

    def submit(self, access: Access, work: Work) -> None:
        """Run the work on a thread of the pool as soon as its turn comes."""
        turn = self._enter(access, work)
        if turn is not None:
            self._start(turn)

    def run_batch(self, jobs: Iterable[tuple[Access, Work]], patience: float, meanwhile: Work = lambda: None) -> None:
        """Run them on one thread, one after another, and wait while they are quick.

        Each time the patience has passed, `meanwhile` is called.
        """
        turns = (self._enter(access, work) for access, work in jobs)
        lane = deque(turn for turn in turns if turn is not None)
        if not lane:
            return
        over = SimpleQueue[None]()

        def work() -> None:
            try:
                while (turn := _first(lane)) is not None:
                    self._run(turn)
            finally:
                over.put(None)

        runners, left = 1, len(lane) - 1
        self._queue(work)
        while not _ended(over, patience):
            meanwhile()
            if len(lane) == left:
                if not lane or runners == MOST_RUNNERS:
                    break
                for _ in range(min(runners, left)):
                    self._queue(work)
                runners *= 2
            left = len(lane)
        while (turn := _first(lane)) is not None:
            self._start(turn)

    def _enter(self, access: Access, work: Work) -> _Turn | None:
        """Add it to the graph; the turn if it comes at once. What has to wait is started by the last it waits for."""
        turn = _Turn(access, work)
        with self._lock:
            before = self._before(access)
            self._register(turn)
            turn.waits = len(before)
            for earlier in before:
                earlier.followers.append(turn)
        return None if before else turn

    def _before(self, access: Access) -> set[_Turn]:
        notes = [self._notes[key] for key in access.keys if key in self._notes]
        before = {note.writer for note in notes if note.writer is not None}
        if access.writes:
            for note in notes:
                before |= note.readers
        if access.writes and access.whole:
            for note in self._notes.values():
                before |= note.readers
                before |= {note.writer} if note.writer is not None else set()
        if (access.chained or access.whole) and self._last_writer is not None:
            before.add(self._last_writer)
        if self._last_whole is not None:
            before.add(self._last_whole)
        return before

    def _register(self, turn: _Turn) -> None:
        for key in turn.access.keys:
            note = self._notes.setdefault(key, _Note())
            if turn.access.writes:
                note.writer = turn
                note.readers = set()
            else:
                note.readers.add(turn)
        if turn.access.chained:
            self._last_writer = turn
        if turn.access.writes and turn.access.whole:
            self._last_whole = turn

    def _leave(self, turn: _Turn) -> list[_Turn]:
        """Take it out of the graph; the followers whose turn has come."""
        with self._lock:
            for key in turn.access.keys:
                note = self._notes[key]
                note.readers.discard(turn)
                if note.writer is turn:
                    note.writer = None
                if note.writer is None and not note.readers:
                    del self._notes[key]
            if self._last_writer is turn:
                self._last_writer = None
            if self._last_whole is turn:
                self._last_whole = None
            for follower in turn.followers:
                follower.waits -= 1
            return [follower for follower in turn.followers if follower.waits == 0]

    def _start(self, turn: _Turn) -> None:
        self._queue(lambda: self._run(turn))

    def _run(self, turn: _Turn) -> None:
        try:
            turn.work()
        finally:
            for follower in self._leave(turn):
                self._start(follower)

    def _queue(self, work: Work) -> None:
        with self._lock:
            self._busy += 1
            more = self._started < min(self._busy, self._threads)
            self._started += more
        self._ready.put(work)
        if more:
            import threading  # with all that it loads: not before the first job

            try:
                threading.Thread(target=self._work, daemon=True).start()
            except (RuntimeError, MemoryError):  # a limit on threads or on memory
                self._do_without()

    def _work(self) -> None:
        while True:
            self._run_next(self._ready.get())

    def _run_next(self, work: Work) -> None:
        try:
            work()
        finally:
            with self._lock:
                self._busy -= 1

    def _do_without(self) -> None:
        """A thread could not be started: where there is none at all, the first to find that runs what is ready."""
        with self._lock:
            self._started -= 1
            if self._started or self._alone:  # a job that follows another would else run inside it
                return
            self._alone = True
        while (work := self._next_alone()) is not None:
            self._run_next(work)

    def _next_alone(self) -> Work | None:
        with self._lock:
            try:
                return self._ready.get_nowait()
            except Empty:
                self._alone = False
                return None


def _ended(over: SimpleQueue[None], within: float) -> bool:
    """Whether one has found nothing more to do."""
    try:
        over.get(timeout=within)
    except Empty:
        return False
    return True


def _first(lane: deque[_Turn]) -> _Turn | None:
    """Take the first, whichever thread takes the next."""
    try:
        return lane.popleft()
    except IndexError:
        return None
