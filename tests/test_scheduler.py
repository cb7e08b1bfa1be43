from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp import scheduler as scheduler_module
from obsidian_mcp.features.tools import touched
from obsidian_mcp.scheduler import Access, Scheduler

PATIENCE = 30


def read(*keys: str) -> Access:
    return Access(frozenset(keys), writes=False)


def write(*keys: str) -> Access:
    return Access(frozenset(keys), writes=True)


def read_all() -> Access:
    return Access(frozenset(), writes=False, whole=True)


class Gate:
    """A job that says when it has begun, and goes on when it may."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.may_end = threading.Event()

    def __call__(self) -> None:
        self.begun.set()
        self.may_end.wait(PATIENCE)


@pytest.fixture
def gates() -> Iterator[list[Gate]]:
    made: list[Gate] = [Gate() for _ in range(3)]
    yield made
    for gate in made:
        gate.may_end.set()


def test_reads_and_other_notes_run_beside_a_slow_write(gates: list[Gate]) -> None:
    scheduler = Scheduler()
    slow, same, other = gates
    scheduler.submit(write("a"), slow)
    assert slow.begun.wait(PATIENCE)
    scheduler.submit(read("a"), same)
    scheduler.submit(read("b"), other)
    assert other.begun.wait(PATIENCE)
    assert not same.begun.is_set()
    slow.may_end.set()
    assert same.begun.wait(PATIENCE)


def test_a_write_waits_for_the_reads_of_its_note_that_came_first(gates: list[Gate]) -> None:
    scheduler = Scheduler()
    reading, writing, later = gates
    scheduler.submit(read("a"), reading)
    assert reading.begun.wait(PATIENCE)
    scheduler.submit(write("a"), writing)
    scheduler.submit(read("c"), later)
    assert later.begun.wait(PATIENCE)
    assert not writing.begun.is_set()
    reading.may_end.set()
    assert writing.begun.wait(PATIENCE)


def test_writes_to_different_notes_keep_their_order(gates: list[Gate]) -> None:
    scheduler = Scheduler()
    first, second, other = gates
    scheduler.submit(write("a"), first)
    scheduler.submit(write("b"), second)
    scheduler.submit(read("c"), other)
    assert other.begun.wait(PATIENCE)
    assert not second.begun.is_set()
    first.may_end.set()
    assert second.begun.wait(PATIENCE)


def test_more_reads_than_threads_all_run() -> None:
    scheduler, done = Scheduler(threads=2), threading.Semaphore(0)
    for number in range(50):
        scheduler.submit(read(str(number)), done.release)
    assert all(done.acquire(timeout=PATIENCE) for _ in range(50))


def test_quick_jobs_brought_together_are_over_when_the_bringer_goes_on() -> None:
    scheduler, ran = Scheduler(), list[tuple[int, int]]()
    jobs = [(read("a"), lambda number=number: ran.append((number, threading.get_ident()))) for number in range(20)]
    scheduler.run_batch(jobs, PATIENCE)
    assert [number for number, _ in ran] == list(range(20))
    assert len({thread for _, thread in ran}) == 1
    assert threading.get_ident() not in {thread for _, thread in ran}


def test_a_slow_job_holds_up_none_that_was_brought_with_it(gates: list[Gate]) -> None:
    scheduler, (slow, other, third) = Scheduler(), gates
    scheduler.run_batch([(read("a"), slow), (read("b"), other), (read("c"), third)], patience=0.001)
    assert all(gate.begun.wait(PATIENCE) for gate in gates)


def test_quick_jobs_behind_slow_ones_are_shared_by_few_threads(
    gates: list[Gate], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The patience passes when every thread that was asked for has begun something, however long that takes."""
    asked, threads, done = list[None](), set[int](), threading.Semaphore(0)
    ask_for_thread = Scheduler._queue

    def counted(self: Scheduler, work: Callable[[], None]) -> None:
        asked.append(None)
        ask_for_thread(self, work)

    def ended(over: queue.SimpleQueue[None], within: float) -> bool:
        assert all(gate.begun.wait(PATIENCE) for gate in gates[: len(asked)])
        if len(asked) <= len(gates):
            return False
        over.get(timeout=PATIENCE)
        return True

    def quick() -> None:
        threads.add(threading.get_ident())
        done.release()

    monkeypatch.setattr(Scheduler, "_queue", counted)
    monkeypatch.setattr(scheduler_module, "_ended", ended)
    slow = [(read(str(number)), gate) for number, gate in enumerate(gates)]
    Scheduler().run_batch([*slow, *[(read("q"), quick)] * 60], patience=0)
    assert all(done.acquire(timeout=PATIENCE) for _ in range(60))
    assert len(asked) == 4
    assert threads


def test_what_is_brought_together_is_told_of_meanwhile(gates: list[Gate]) -> None:
    looks = list[None]()
    Scheduler().run_batch([(read("a"), gates[0])], 0.001, lambda: looks.append(None))
    assert looks
    assert gates[0].begun.wait(PATIENCE)


def test_where_every_thread_hangs_the_bringer_goes_on(gates: list[Gate]) -> None:
    scheduler, ran = Scheduler(threads=1), threading.Event()
    scheduler.submit(read("a"), gates[0])
    assert gates[0].begun.wait(PATIENCE)
    scheduler.run_batch([(read("b"), ran.set), (read("c"), gates[1])], patience=0.001)
    assert not ran.is_set()
    gates[0].may_end.set()
    assert ran.wait(PATIENCE)
    assert gates[1].begun.wait(PATIENCE)


def test_what_is_brought_together_keeps_its_turn(gates: list[Gate]) -> None:
    scheduler, (writing, reading, other) = Scheduler(), gates
    scheduler.run_batch([(write("a"), writing), (read("a"), reading), (read("b"), other)], patience=0.001)
    assert writing.begun.wait(PATIENCE)
    assert other.begun.wait(PATIENCE)
    assert not reading.begun.is_set()
    writing.may_end.set()
    assert reading.begun.wait(PATIENCE)


STEPS = st.lists(st.tuples(st.booleans(), st.sets(st.sampled_from("abc"), min_size=1, max_size=2)), max_size=30)


@settings(max_examples=30, deadline=None)
@given(STEPS, st.booleans())
def test_every_call_sees_the_earlier_writes_to_its_notes_and_no_later_one(
    steps: list[tuple[bool, set[str]]], together: bool
) -> None:
    scheduler, done, lock = Scheduler(threads=4), threading.Semaphore(0), threading.Lock()
    versions: dict[str, int] = dict.fromkeys("abc", 0)
    seen: dict[int, dict[str, int]] = {}
    expected: dict[int, dict[str, int]] = {}
    model: dict[str, int] = dict.fromkeys("abc", 0)
    jobs: list[tuple[Access, Callable[[], None]]] = []
    for number, (writes, keys) in enumerate(steps):
        expected[number] = {key: model[key] for key in keys}
        if writes:
            model.update(dict.fromkeys(keys, number + 1))

        def job(number: int = number, writes: bool = writes, keys: set[str] = keys) -> None:
            with lock:
                seen[number] = {key: versions[key] for key in keys}
                if writes:
                    versions.update(dict.fromkeys(keys, number + 1))
            done.release()

        if together:
            jobs.append((Access(frozenset(keys), writes), job))
        else:
            scheduler.submit(Access(frozenset(keys), writes), job)
    scheduler.run_batch(jobs, patience=0.0001)
    assert all(done.acquire(timeout=PATIENCE) for _ in steps)
    assert seen == expected
    assert versions == model


def test_two_spellings_of_a_note_share_a_key() -> None:
    names = ["name", "to", "new_name"]
    spellings = ["Note", "note.md", "Folder/NOTE", "A/B/Note.md"]
    assert len({touched({"name": spelling}, names) for spelling in spellings}) == 1
    assert touched({"name": "Cafe\u0301"}, names) == touched({"name": "CAFÉ.md"}, names)
    assert touched({"name": "A", "new_name": "B"}, names) == touched({"name": "A"}, names) | touched(
        {"name": "B"}, names
    )
    assert touched({"name": "A", "to": "x/B.md"}, names) >= touched({"name": "B"}, names)
    assert touched({"name": 7, "to": None}, names) == frozenset()


SPELLINGS = [
    "[[Note]]", "![[Folder/note|shown]]", "[[Note\\|shown]]", "Note#Heading", "[[Note.md#a/b]]", "Note#^block",
    "obsidian://open?vault=V&file=Folder%2FNote%23Heading", "obsidian://open?file=note.md&vault=V",
    "obsidian://vault/V/Folder/Note", "obsidian:///home/me/V/Note.md", "obsidian://open?path=C%3A%5CV%5CNote.md",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_link_to_a_note_touches_what_its_name_touches(spelling: str) -> None:
    assert touched({"name": spelling}, ["name"]) & touched({"name": "Folder/Note.md"}, ["name"])


def test_a_sharp_in_a_folder_or_name_hides_no_note() -> None:
    assert touched({"name": "C#/Note"}, ["name"]) & touched({"name": "Note"}, ["name"])
    assert touched({"name": "C# notes"}, ["name"]) & touched({"name": "Sub/C# notes.md"}, ["name"])
    assert touched({"name": "obsidian://open?vault=V"}, ["name"])  # names none, and will fail


def test_a_list_of_names_touches_each_and_other_arguments_none() -> None:
    assert touched({"names": ["A.md", "x/B"], "content": "C"}, ["names"]) == {"a", "b"}


@pytest.mark.parametrize("allowed", [0, 1])
def test_where_no_thread_can_be_started_jobs_run_on_those_there_are(
    monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    """A long chain too: a job that follows another does not run inside it."""
    really, started, over = threading.Thread.start, list[threading.Thread](), threading.Event()

    def start(thread: threading.Thread) -> None:
        if len(started) >= allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        really(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    scheduler, ran = Scheduler(), list[int]()

    def job(number: int) -> Callable[[], None]:
        def work() -> None:
            if number == 0:
                scheduler.run_batch(((write("a"), job(later)) for later in range(1, 3000)), PATIENCE)
                scheduler.submit(write("a"), over.set)
            ran.append(number)

        return work

    scheduler.submit(write("a"), job(0))
    assert over.wait(PATIENCE)
    assert ran == list(range(3000))


def test_a_read_of_everything_waits_for_earlier_writes_and_holds_up_none(gates: list[Gate]) -> None:
    scheduler = Scheduler()
    first, reading, later = gates
    scheduler.submit(write("a"), first)
    scheduler.submit(read_all(), reading)
    assert first.begun.wait(PATIENCE)
    assert not reading.begun.is_set()
    first.may_end.set()
    assert reading.begun.wait(PATIENCE)
    scheduler.submit(write("b"), later)
    assert later.begun.wait(PATIENCE)


def write_all() -> Access:
    return Access(frozenset(), writes=True, whole=True)


def test_a_write_to_everything_waits_for_all_before_it_and_all_after_it_wait(gates: list[Gate]) -> None:
    scheduler = Scheduler()
    reading, writing, later = gates
    scheduler.submit(read("a"), reading)
    assert reading.begun.wait(PATIENCE)
    scheduler.submit(write_all(), writing)
    scheduler.submit(read("b"), later)
    assert not writing.begun.is_set()
    reading.may_end.set()
    assert writing.begun.wait(PATIENCE)
    assert not later.begun.is_set()
    writing.may_end.set()
    assert later.begun.wait(PATIENCE)
