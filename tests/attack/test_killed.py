"""kill -9 before every step of every write, and a disk that fails at every step: no text is lost."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.world import World

# Before the n-th of the calls named, counted from the tool call on, the process is killed, or the call fails.
BEFORE_STEP = """
import os, stat, sys
write, read, fstat = os.write, os.read, os.fstat
left, kind, names = int(sys.argv.pop(1)), sys.argv.pop(1), sys.argv.pop(1)
counting = False
def guarded(function):
    def act(*arguments, **more):
        global counting, left
        if function in (write, read) and not stat.S_ISREG(fstat(arguments[0]).st_mode):
            data = function(*arguments)
            counting = counting or function is read and b"tools/call" in data
            return data
        left -= counting
        if left == 0 and counting:
            if kind == "kill":
                os.kill(os.getpid(), 9)
            write(2, b"FAILING\\n")
            raise OSError(int(kind), os.strerror(int(kind)))
        return function(*arguments, **more)
    return act
for name in {"write", "read", *names.split()}:
    setattr(os, name, guarded(getattr(os, name)))
from obsidian_mcp.backends.files import held as holding
holding.rename_new = guarded(holding.rename_new)
from obsidian_mcp.__main__ import main
main()
"""
CHANGING = "replace rename fsync mkdir unlink link write chmod rmdir"
LOOKING = "open read stat lstat fstat scandir listdir"
TOLD = (-32000, -32002, -32005)
AT_ONCE, MOST_STEPS = 4, 200
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


def serving(world: World, *words: str, calls: str = CHANGING) -> Server:
    command = (sys.executable, "-c", BEFORE_STEP, *words, calls) if words else (sys.executable, "-m", "obsidian_mcp")
    return Server(world.environment(), "--backend", "embedded", "--vault", str(world.vault), command=command)


def at_every_step(attempt: Callable[[int], bool]) -> None:
    """Several at a time, until one says that it got through."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for first in range(1, MOST_STEPS, AT_ONCE):
            if not all(list(pool.map(attempt, range(first, first + AT_ONCE)))):
                return
    raise AssertionError("no run got through")


UNCARRIED = "C:\\new"  # the Obsidian command would make a line of it: so it goes by the file
THROUGH_THE_APP: dict[str, Write] = {
    "create": ("create_note", {"name": "Deep/New.md", "content": UNCARRIED}, {"Deep/New.md": b"C:\\new"}),
    "overwrite": ("create_note", {"name": "Note.md", "content": UNCARRIED, "overwrite": True}, {"Note.md": b"C:\\new"}),
    "append": ("append_note", {"name": "Note.md", "content": UNCARRIED}, {"Note.md": OLD + b"C:\\new"}),
    "prepend": ("prepend_note", {"name": "Note.md", "content": UNCARRIED}, {"Note.md": b"C:\\new\n" + OLD}),
}


@pytest.mark.parametrize(
    ("options", "write"),
    [
        *(pytest.param(("--backend", "embedded"), WRITES[name], id=name) for name in WRITES),
        *(pytest.param((), THROUGH_THE_APP[name], id=f"{name}, beside the app") for name in THROUGH_THE_APP),
    ],
)
def test_a_write_that_is_killed_at_any_step_has_happened_or_has_not(
    tmp_path: Path, options: tuple[str, ...], write: Write
) -> None:
    tool, arguments, change = write
    outcomes = set()

    def attempt(step: int) -> bool:
        world = prepared(tmp_path / str(step))
        named = ("--vault", str(world.vault), *options)
        command = (sys.executable, "-c", BEFORE_STEP, str(step), "kill", CHANGING)
        with Server(world.environment(), *named, command=command) as server:
            server.initialize().begin_call(tool, **arguments)
            server.stdin.close()
            killed = server.process.wait(PATIENCE) == -9
        with Server(world.environment(), *named) as server:  # which puts right what was left, and writes there itself
            server.initialize()
            for name in ("Z.md", "Deep/Z.md"):
                server.call("create_note", name=name, content=UNCARRIED)
                server.call("delete_note", name=name, permanent=True)
        found = notes(world)
        assert found in (after({}), after(change)), step
        outcomes.add(found == after(change))
        shutil.rmtree(world.folder)
        return killed

    at_every_step(attempt)
    assert outcomes == {True, False}


@pytest.mark.parametrize(
    ("calls", "error"),
    [(CHANGING, errno.EIO), (CHANGING, errno.ENOSPC), (CHANGING, errno.EACCES), (LOOKING, errno.EIO)],
)
@pytest.mark.parametrize("write", WRITES)
def test_a_disk_that_fails_at_any_step_is_told_and_nothing_is_lost(
    tmp_path: Path, write: str, calls: str, error: int
) -> None:
    tool, arguments, change = WRITES[write]

    def attempt(step: int) -> bool:
        world = prepared(tmp_path / str(step))
        with serving(world, str(step), str(error), calls=calls) as server:
            server.initialize()
            open_before = os.listdir(f"/proc/{server.process.pid}/fd")
            try:
                server.call(tool, **arguments)
                failed = None
            except ToolFailed as problem:
                failed = problem
            assert server.request("ping")["result"] == {}
            assert os.listdir(f"/proc/{server.process.pid}/fd") == open_before, step
        # A temporary file that can't be removed now is removed before the next write.
        found = {path: data for path, data in notes(world).items() if ".obsidian-mcp-" not in path}
        if failed is None:
            assert found == after(change), step
        else:
            assert failed.code in TOLD, (step, failed.message)
            assert found == after({}) or (found == after(change) and "could not be" in failed.message), (step, failed)
        shutil.rmtree(world.folder)
        return b"FAILING" in server.log

    at_every_step(attempt)


def interrupted(world: World, step: int) -> bool:
    """A rename, killed before that step; whether that was between the file and its links."""
    tool, arguments, change = WRITES["rename"]
    with serving(world, str(step), "kill") as server:
        server.initialize().begin_call(tool, **arguments)
        server.stdin.close()
        server.process.wait(PATIENCE)
    found = {path: data for path, data in notes(world).items() if ".obsidian-mcp-" not in path}
    return found not in (after({}), after(change))


@pytest.fixture(scope="module")
def midway(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The step before which a kill leaves the most to do."""
    folder = tmp_path_factory.mktemp("midway")
    return next(step for step in range(1, MOST_STEPS) if interrupted(prepared(folder / str(step)), step))


@pytest.mark.parametrize(("calls", "error"), [(CHANGING, errno.ENOSPC), (CHANGING, errno.EIO), (LOOKING, errno.EIO)])
def test_a_disk_that_fails_while_an_interrupted_move_is_put_right_costs_no_link(
    tmp_path: Path, midway: int, calls: str, error: int
) -> None:
    def attempt(step: int) -> bool:
        world = prepared(tmp_path / str(step))
        assert interrupted(world, midway)
        with serving(world, str(step), str(error), calls=calls) as server:
            server.initialize().request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Other.md"}})
            assert server.request("ping")["result"] == {}
        log = bytes(server.log)
        with serving(world) as server:
            server.initialize().call("read_note", name="Other.md")
            server.call("create_note", name="Z.md", content="z")  # which sweeps
            server.call("delete_note", name="Z.md", permanent=True)
        assert notes(world) == after(WRITES["rename"][2]), step
        shutil.rmtree(world.folder)
        return b"FAILING" in log

    at_every_step(attempt)


def test_a_move_interrupted_before_the_disk_was_unmounted_is_finished_when_it_is_back(
    tmp_path: Path, midway: int
) -> None:
    world = prepared(tmp_path)
    assert interrupted(world, midway)
    world.vault.rename(tmp_path / "elsewhere")
    world.vault.mkdir()
    with serving(world) as server:
        with pytest.raises(ToolFailed):
            server.initialize().call("read_note", name="Other.md")
        server.call("create_note", name="Meanwhile.md", content="a note can be made in an empty vault")
    shutil.rmtree(world.vault)
    (tmp_path / "elsewhere").rename(world.vault)
    with serving(world) as server:
        server.initialize().call("read_note", name="Other.md")
    assert notes(world) == after(WRITES["rename"][2])


def test_a_note_that_may_not_be_written_keeps_the_journal_and_stops_moves_alone(tmp_path: Path, midway: int) -> None:
    world = prepared(tmp_path)
    assert interrupted(world, midway)
    other = world.vault / "Other.md"
    other.chmod(0o444)
    with serving(world) as server:
        assert server.initialize().call("read_note", name="Name.md")["content"] == "old text\n"
        server.call("append_note", name="Name.md", content="more")
        with pytest.raises(ToolFailed) as caught:
            server.call("rename_note", name="Name.md", new_name="Third")
        assert "Other.md is read-only" in caught.value.message
        other.chmod(0o644)
        server.call("read_note", name="Name.md")
    assert other.read_bytes() == b"other [[Name]]\n"


def test_a_journal_that_is_damaged_stops_nobody(tmp_path: Path) -> None:
    world = prepared(tmp_path)
    good = {"now": "Other.md", "path": "Other.md", "before": "", "after": "x"}
    for journal in (
        "[" * 200_000,
        json.dumps({"old": "A\0.md", "new": "Note.md", "inode": 1, "rewrites": [good]}),
        json.dumps({"old": None, "new": "Note.md", "inode": 1, "rewrites": [{**good, "path": "A\0.md"}]}),
    ):
        with serving(world) as server:
            server.initialize().call("append_note", name="Note.md", content="x")
            (lock,) = (world.folder / "home").rglob("lock")
            (lock.parent / "move.json").write_text(journal)
            server.call("read_note", name="Note.md")
            assert not (lock.parent / "move.json").exists()
