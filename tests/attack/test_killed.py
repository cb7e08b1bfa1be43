"""kill -9 before every step of every write, and a disk that fails at every step: no text is lost."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.forks import Fault, Forked, Killed, descriptors, faulty, forked_server
from tests.support.process import SEARCHED, How
from tests.support.world import World

CHANGING = (
    "replace rename rename_new fsync fdatasync mkdir unlink link write read chmod rmdir ftruncate posix_fallocate"
)
LOOKING = "open read stat lstat fstat scandir listdir rename_new write"
TOLD = (-32000, -32002, -32005)
AT_ONCE, MOST_STEPS = 2, 200
MEMORY = "/dev/shm"
OLD, OTHER = b"old text\n", b"other [[Note]]\n"
Write = tuple[str, dict[str, Any], dict[str, bytes]]
WRITES: dict[str, Write] = {
    "create": ("create_note", {"name": "Deep/New.md", "content": "new"}, {"Deep/New.md": b"new"}),
    "overwrite": ("create_note", {"name": "Note.md", "content": "new", "overwrite": True}, {"Note.md": b"new"}),
    "append": ("append_note", {"name": "Note.md", "content": "more"}, {"Note.md": OLD + b"more"}),
    "prepend": ("prepend_note", {"name": "Note.md", "content": "more"}, {"Note.md": b"more\n" + OLD}),
    "delete": ("delete_note", {"name": "Note.md"}, {"Note.md": b"", ".trash/Note.md": OLD}),
    "delete for good": ("delete_note", {"name": "Note.md", "permanent": True}, {"Note.md": b""}),
    "rename": ("rename_note", {"name": "Note.md", "new_name": "Name.md"},
               {"Note.md": b"", "Name.md": OLD, "Other.md": b"other [[Name]]\n"}),
    "move": ("move_note", {"name": "Note.md", "to": "Deep"}, {"Note.md": b"", "Deep/Note.md": OLD}),
}  # fmt: skip


def prepared(folder: Path) -> World:
    world = World(folder)
    world.put("Note.md", OLD)
    world.put("Other.md", OTHER)
    world.put(".obsidian/app.json", '{"trashOption": "local"}')
    (world.folder / "home").mkdir()
    return world


def after(change: dict[str, bytes]) -> dict[str, bytes]:
    whole = {"Note.md": OLD, "Other.md": OTHER, **change}
    return {path: data for path, data in whole.items() if data}


def notes(world: World) -> dict[str, bytes]:
    files = (file for file in world.vault.rglob("*") if file.is_file())
    found = {file.relative_to(world.vault).as_posix(): file.read_bytes() for file in files}
    return {path: data for path, data in found.items() if not path.startswith(".obsidian/")}


@pytest.fixture(scope="module", params=[True, False], ids=["held", "by path"])
def holds(request: pytest.FixtureRequest) -> bool:
    """Whether folders are held open, as here, or named by their paths, as where the system can't do that."""
    held: bool = request.param
    return held


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """In memory, if there is such a place: the steps are the same, and nobody waits for a disk that others use."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


EMBEDDED = ("--backend", "embedded")


def environment(world: World) -> dict[str, str]:
    """With a temporary folder of its own: Python tries that with a file, which a server that is killed leaves."""
    return world.environment(TMPDIR=str(world.folder), PYTHONPATH=SEARCHED)


Forking = Callable[..., contextlib.AbstractContextManager[Forked]]


@pytest.fixture(scope="module")
def forked(holds: bool) -> Forking:
    """A server in a fork, on the vault of a world."""

    def server(
        world: World, fault: Fault | None = None, options: tuple[str, ...] = EMBEDDED
    ) -> contextlib.AbstractContextManager[Forked]:
        return forked_server(environment(world), "--vault", str(world.vault), *options, fault=fault, holds=holds)

    return server


def serving(world: World, fault: Fault | None = None) -> Server:
    """A real server on it."""
    more: How = {"command": faulty(fault)} if fault else {"forked": False}
    return Server(environment(world), "--vault", str(world.vault), *EMBEDDED, **more)


def at_every_step(attempt: Callable[[int], bool]) -> None:
    """In order and several at a time, until one says that it got through."""
    steps, through = iter(range(1, MOST_STEPS)), threading.Event()

    def work() -> None:
        while not through.is_set():
            step = next(steps, None)
            assert step is not None, "no run got through"
            if not attempt(step):
                through.set()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for worker in [pool.submit(work) for _ in range(AT_ONCE)]:
            worker.result()


REWRITING = ("overwrite", "append", "prepend", "rename")
UNCARRIED = "C:\\new"  # the Obsidian command would make a line of it: so it goes by the file
THROUGH_THE_APP: dict[str, Write] = {
    "create": ("create_note", {"name": "Deep/New.md", "content": UNCARRIED}, {"Deep/New.md": b"C:\\new"}),
    "overwrite": ("create_note", {"name": "Note.md", "content": UNCARRIED, "overwrite": True}, {"Note.md": b"C:\\new"}),
    "append": ("append_note", {"name": "Note.md", "content": UNCARRIED}, {"Note.md": OLD + b"C:\\new"}),
    "prepend": ("prepend_note", {"name": "Note.md", "content": UNCARRIED}, {"Note.md": b"C:\\new\n" + OLD}),
}


@pytest.mark.parametrize(
    ("holds", "options", "write", "calls"),
    [
        *(pytest.param(True, EMBEDDED, WRITES[name], CHANGING, id=name) for name in WRITES),
        *(pytest.param(False, EMBEDDED, WRITES[name], CHANGING, id=f"{name}, by path") for name in WRITES),
        *(pytest.param(True, EMBEDDED, WRITES[name], "write", id=f"{name}, half") for name in REWRITING),
        *(
            pytest.param(True, (), THROUGH_THE_APP[name], calls, id=f"{name}, beside the app{half}")
            for name in THROUGH_THE_APP
            for calls, half in ((CHANGING, ""), ("write", ", half"))
        ),
    ],
    indirect=["holds"],
)
def test_a_write_that_is_killed_at_any_step_has_happened_or_has_not(
    tmp_path: Path, scratch: Path, forked: Forking, options: tuple[str, ...], write: Write, calls: str
) -> None:
    """Before every step; and where only writes are counted, when half of one is on the disk."""
    tool, arguments, change = write
    folder = scratch if options == EMBEDDED else tmp_path  # in memory there may be no commands
    names = ["Z.md", *("Deep/Z.md" for path in change if path.startswith("Deep/"))]
    outcomes = set()

    def attempt(step: int) -> bool:
        world = prepared(folder / str(step))
        with forked(world, Fault(step, calls, half=calls == "write"), options) as server, contextlib.suppress(Killed):
            server.call(tool, **arguments)
        killed = server.killed
        with forked(world, None, options) as server:  # which puts right what was left, and writes there itself
            for name in names:
                server.call("create_note", name=name, content=UNCARRIED)
                server.call("delete_note", name=name, permanent=True)
        found = notes(world)
        assert found in (after({}), after(change)), step
        outcomes.add(found == after(change))
        shutil.rmtree(world.folder)
        return killed

    at_every_step(attempt)
    assert outcomes == {True, False} or (outcomes == {True} and calls == "write")  # a rename's texts come after it


@pytest.mark.parametrize(
    ("holds", "options"), [(True, EMBEDDED), (True, ())], ids=["embedded", "beside the app"], indirect=["holds"]
)
def test_a_note_that_was_half_written_is_whole_for_the_next_that_reads_it(
    tmp_path: Path, forked: Forking, options: tuple[str, ...]
) -> None:
    tool, arguments, change = THROUGH_THE_APP["prepend"]
    world = prepared(tmp_path)
    with forked(world, Fault(3, "write", half=True), options) as server, pytest.raises(Killed):  # the record is first
        server.call(tool, **arguments)
    assert notes(world) not in (after({}), after(change))
    with forked(world, None, options) as server:
        assert server.call("read_note", name="Note.md")["content"].encode() == change["Note.md"]


def check_that_it_was_told(world: World, failed: ToolFailed | None, change: dict[str, bytes], step: int) -> None:
    # A temporary file that can't be removed now is removed before the next write.
    found = {path: data for path, data in notes(world).items() if ".obsidian-mcp-" not in path}
    if failed is None:
        assert found == after(change), step
    else:
        assert failed.code in TOLD, (step, failed.message)
        assert found == after({}) or (found == after(change) and "could not be" in failed.message), (step, failed)


FAILURES = {
    "EIO": (CHANGING, errno.EIO),
    "ENOSPC": (CHANGING, errno.ENOSPC),
    "EACCES": (CHANGING, errno.EACCES),
    "EIO when looking": (LOOKING, errno.EIO),
}
ALL = [(write, failure) for write in WRITES for failure in FAILURES]
# The others differ in the number alone; and a rename opens, replaces and moves, as the rest do together.
BY_PATH = [*((write, "EIO") for write in WRITES), ("rename", "EIO when looking")]


@pytest.mark.parametrize(
    ("holds", "write", "failure"),
    [
        *(pytest.param(True, write, FAILURES[name], id=f"{write}, {name}") for write, name in ALL),
        *(pytest.param(False, write, FAILURES[name], id=f"{write}, {name}, by path") for write, name in BY_PATH),
    ],
    indirect=["holds"],
)
def test_a_disk_that_fails_at_any_step_is_told_and_nothing_is_lost(
    scratch: Path, forked: Forking, write: str, failure: tuple[str, int]
) -> None:
    tool, arguments, change = WRITES[write]

    def attempt(step: int) -> bool:
        world = prepared(scratch / str(step))
        with forked(world, Fault(step, *failure)) as server:
            try:
                server.call(tool, **arguments)
                failed = None
            except ToolFailed as problem:
                failed = problem
            open_before, open_after = server.descriptors
            assert open_after == open_before, step
        check_that_it_was_told(world, failed, change, step)
        shutil.rmtree(world.folder)
        return server.happened

    at_every_step(attempt)


def is_midway(world: World) -> bool:
    """Whether the rename was killed between the file and its links."""
    found = {path: data for path, data in notes(world).items() if ".obsidian-mcp-" not in path}
    return found not in (after({}), after(WRITES["rename"][2]))


def interrupted(forked: Forking, world: World, step: int) -> bool:
    """A rename, killed before that step."""
    tool, arguments, _ = WRITES["rename"]
    with forked(world, Fault(step, CHANGING)) as server, contextlib.suppress(Killed):
        server.call(tool, **arguments)
    return is_midway(world)


@pytest.fixture(scope="module")
def midway(tmp_path_factory: pytest.TempPathFactory, forked: Forking) -> int:
    """The step before which a kill leaves the most to do."""
    folder = tmp_path_factory.mktemp("midway")
    steps = range(1, MOST_STEPS)
    return next(step for step in steps if interrupted(forked, prepared(folder / str(step)), step))


@pytest.mark.parametrize(
    ("holds", "failure"),
    [
        *(pytest.param(True, FAILURES[name], id=name) for name in ("ENOSPC", "EIO", "EIO when looking")),
        pytest.param(False, FAILURES["EIO"], id="EIO, by path"),
    ],
    indirect=["holds"],
)
def test_a_disk_that_fails_while_an_interrupted_move_is_put_right_costs_no_link(
    scratch: Path, forked: Forking, midway: int, failure: tuple[str, int]
) -> None:
    def attempt(step: int) -> bool:
        world = prepared(scratch / str(step))
        assert interrupted(forked, world, midway)
        with forked(world, Fault(step, *failure)) as failing, contextlib.suppress(ToolFailed):
            failing.call("read_note", name="Other.md")
        with forked(world) as server:
            server.call("read_note", name="Other.md")
            server.call("create_note", name="Z.md", content="z")  # which sweeps
            server.call("delete_note", name="Z.md", permanent=True)
        assert notes(world) == after(WRITES["rename"][2]), step
        shutil.rmtree(world.folder)
        return failing.happened

    at_every_step(attempt)


def test_a_move_interrupted_before_the_disk_was_unmounted_is_finished_when_it_is_back(
    tmp_path: Path, forked: Forking, midway: int
) -> None:
    world = prepared(tmp_path)
    assert interrupted(forked, world, midway)
    world.vault.rename(tmp_path / "elsewhere")
    world.vault.mkdir()
    with forked(world) as server:
        with pytest.raises(ToolFailed):
            server.call("read_note", name="Other.md")
        server.call("create_note", name="Meanwhile.md", content="a note can be made in an empty vault")
    shutil.rmtree(world.vault)
    (tmp_path / "elsewhere").rename(world.vault)
    with forked(world) as server:
        server.call("read_note", name="Other.md")
    assert notes(world) == after(WRITES["rename"][2])


def test_a_note_that_may_not_be_written_keeps_the_journal_and_stops_moves_alone(
    tmp_path: Path, forked: Forking, midway: int
) -> None:
    world = prepared(tmp_path)
    assert interrupted(forked, world, midway)
    other = world.vault / "Other.md"
    other.chmod(0o444)
    with forked(world) as server:
        assert server.call("read_note", name="Name.md")["content"] == "old text\n"
        server.call("append_note", name="Name.md", content="more")
        with pytest.raises(ToolFailed) as caught:
            server.call("rename_note", name="Name.md", new_name="Third")
        assert "Other.md is read-only" in caught.value.message
        other.chmod(0o644)
        server.call("read_note", name="Name.md")
    assert other.read_bytes() == b"other [[Name]]\n"


IN_A_REAL_PROCESS = pytest.mark.parametrize("holds", [True], ids=["a real process"], indirect=True)


@IN_A_REAL_PROCESS
def test_a_real_server_that_is_killed_midway_leaves_a_move_that_the_next_finishes(tmp_path: Path, midway: int) -> None:
    """At the same step as in a fork: both count alike."""
    tool, arguments, change = WRITES["rename"]
    world = prepared(tmp_path)
    with serving(world, Fault(midway, CHANGING)) as server:
        server.initialize().begin_call(tool, **arguments)
        server.stdin.close()
        assert server.process.wait(PATIENCE) == -9
    assert is_midway(world)
    with serving(world) as server:
        server.initialize().call("create_note", name="Z.md", content="z")
        server.call("delete_note", name="Z.md", permanent=True)
    assert notes(world) == after(change)


@IN_A_REAL_PROCESS
def test_a_real_server_tells_of_a_disk_that_fails_midway_and_goes_on(tmp_path: Path, midway: int) -> None:
    tool, arguments, change = WRITES["rename"]
    world = prepared(tmp_path)
    with serving(world, Fault(midway, CHANGING, errno.EIO)) as server:
        server.initialize()
        open_before = descriptors(server.process.pid)
        with pytest.raises(ToolFailed) as caught:
            server.call(tool, **arguments)
        assert server.request("ping")["result"] == {}
        assert descriptors(server.process.pid) == open_before
    check_that_it_was_told(world, caught.value, change, midway)
    assert b"FAILING" in server.log


@IN_A_REAL_PROCESS
def test_a_real_server_on_a_disk_that_fails_while_it_puts_a_move_right_costs_no_link(
    tmp_path: Path, forked: Forking, midway: int
) -> None:
    world = prepared(tmp_path)
    assert interrupted(forked, world, midway)
    with serving(world, Fault(1, "write", errno.ENOSPC)) as server:
        server.initialize().request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Other.md"}})
        assert server.request("ping")["result"] == {}
    assert b"FAILING" in server.log
    assert is_midway(world)
    with serving(world) as server:
        server.initialize().call("read_note", name="Other.md")
    assert notes(world) == after(WRITES["rename"][2])
