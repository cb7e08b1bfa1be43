"""kill -9 before every step of every write, and a disk that fails at every step: no text is lost."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.world import World

# Before the n-th call that changes the disk, the process is killed, or the call fails.
BEFORE_STEP = """
import os, stat, sys
write = os.write
left, kind = int(sys.argv.pop(1)), sys.argv.pop(1)
def guarded(function):
    def act(*arguments, **more):
        global left
        if function is write and not stat.S_ISREG(os.fstat(arguments[0]).st_mode):
            return write(*arguments)  # a reply, or a line of the log
        left -= 1
        if left == 0:
            if kind == "kill":
                os.kill(os.getpid(), 9)
            raise OSError(int(kind), os.strerror(int(kind)))
        return function(*arguments, **more)
    return act
for name in ("replace", "rename", "fsync", "mkdir", "unlink", "link", "write", "chmod", "rmdir"):
    setattr(os, name, guarded(getattr(os, name)))
from obsidian_mcp.__main__ import main
main()
"""
OLD, OTHER = b"old text\n", b"other [[Note]]\n"
WRITES: dict[str, tuple[str, dict[str, Any], dict[str, bytes]]] = {
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


def serving(world: World, *words: str) -> Server:
    command = (sys.executable, "-c", BEFORE_STEP, *words) if words else (sys.executable, "-m", "obsidian_mcp")
    return Server(world.environment(), "--backend", "embedded", "--vault", str(world.vault), command=command)


@pytest.mark.parametrize("write", WRITES)
def test_a_write_that_is_killed_at_any_step_has_happened_or_has_not(tmp_path: Path, write: str) -> None:
    tool, arguments, change = WRITES[write]
    outcomes = set()
    for step in range(1, 80):
        world = prepared(tmp_path / str(step))
        with serving(world, str(step), "kill") as server:
            server.initialize().begin_call(tool, **arguments)
            server.stdin.close()
            killed = server.process.wait(PATIENCE) == -9
        with serving(world) as server:  # which puts right what was left, and writes there itself
            server.initialize()
            for name in ("Z.md", "Deep/Z.md"):
                server.call("create_note", name=name, content="z")
                server.call("delete_note", name=name, permanent=True)
        found = notes(world)
        assert found in (after({}), after(change)), step
        outcomes.add(found == after(change))
        shutil.rmtree(world.folder)
        if not killed:
            break
    else:
        raise AssertionError("no run got through")
    assert outcomes == {True, False}


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("write", WRITES)
def test_a_disk_that_fails_at_any_step_is_told_and_nothing_is_lost(tmp_path: Path, write: str, error: int) -> None:
    tool, arguments, change = WRITES[write]
    for step in range(1, 80):
        world = prepared(tmp_path / str(step))
        with serving(world, str(step), str(error)) as server:
            server.initialize()
            try:
                server.call(tool, **arguments)
                failed = None
            except ToolFailed as problem:
                failed = problem
            assert server.request("ping")["result"] == {}
            descriptors = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        found = notes(world)
        assert found in (after({}), after(change)), (step, failed)
        if failed is not None:
            assert failed.code in (-32000, -32005), failed.message
        assert failed is None or found == after({}) or "could not be" in failed.message, (step, failed)
        assert descriptors < 16
        shutil.rmtree(world.folder)
        if failed is None and step > 3:
            break
