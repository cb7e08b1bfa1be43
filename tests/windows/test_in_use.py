"""Files that another program has open, and several servers on one vault."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.world import World
from tests.windows.plugin import MACHINE

APPENDS = 100


@contextlib.contextmanager
def held(world: World, path: str) -> Iterator[None]:
    """Another program has the file open, and shares it with no other."""
    with MACHINE.program({}, [str(world.vault / path)], program="holding.py") as program:
        assert program.stdin
        assert program.stdout
        assert program.stdout.readline().strip() == b"held"
        yield
        program.stdin.close()
        assert program.wait(PATIENCE) == 0


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "read": ("read_note", {}),
    "append": ("append_note", {"content": "x"}),
    "rename": ("rename_note", {"new_name": "New"}),
    "delete": ("delete_note", {}),
    "delete for good": ("delete_note", {"permanent": True}),
}


def test_a_note_that_another_program_has_open_is_told_as_that(world: World, server: Server) -> None:
    world.put("Note.md", "text")
    world.put("Other.md", "[[Note]]")
    before = world.tree()
    with held(world, "Note.md"):
        for tool, arguments in CALLS.values():
            with pytest.raises(ToolFailed) as failed:
                server.call(tool, name="Note", **arguments)
            assert "open in another program" in failed.value.message, tool
    assert world.tree() == before
    server.call("append_note", name="Note", content="x")


def test_nothing_is_moved_while_a_note_that_may_hold_links_is_open_elsewhere(world: World, server: Server) -> None:
    world.put("Note.md", "text")
    world.put("Other.md", "[[Note]]")
    before = world.tree()
    with held(world, "Other.md"):
        with pytest.raises(ToolFailed) as failed:
            server.call("rename_note", name="Note", new_name="New")
        assert "Other.md" in failed.value.message
    assert world.tree() == before
    server.call("rename_note", name="Note", new_name="New")
    assert world.get("Other.md") == b"[[New]]"


def test_a_reader_in_a_loop_disturbs_no_writer(world: World, server: Server, second_server: Server) -> None:
    world.put("Note.md", "begin")
    failures: list[ToolFailed] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            try:
                second_server.call("read_note", name="Note")
            except ToolFailed as failure:
                failures.append(failure)

    loop = threading.Thread(target=read)
    loop.start()
    try:
        for number in range(APPENDS):
            server.call("append_note", name="Note", content=f"line {number}")
    finally:
        over.set()
        loop.join()
    assert not failures
    assert world.get("Note.md").decode().split("\n") == ["begin", *(f"line {number}" for number in range(APPENDS))]


def test_two_writers_lose_nothing(world: World, server: Server, second_server: Server) -> None:
    world.put("Note.md", "begin")
    calls = []
    for one in (server, second_server):
        calls += [
            (one, one.begin_call("append_note", name="Note", content=f"{one.process.pid} {number}"))
            for number in range(20)
        ]
    for one, number in calls:
        one.end_call(number)
    assert len(world.get("Note.md").decode().split("\n")) == 41
