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
    with MACHINE.start({}, [str(world.vault / path)], program="holding.py") as program:
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


def test_a_reader_in_a_loop_disturbs_no_writer(own_world: World) -> None:
    own_world.put("Note.md", "begin")
    options = ("--vault", str(own_world.vault), "--backend", "embedded")
    failures: list[ToolFailed] = []
    over = threading.Event()

    def read(server: Server) -> None:
        while not over.is_set():
            try:
                server.call("read_note", name="Note")
            except ToolFailed as failure:
                failures.append(failure)

    with (
        Server(own_world.environment(), *options) as writer,
        Server(own_world.environment(), *options) as reader,
    ):
        writer.initialize()
        loop = threading.Thread(target=read, args=(reader.initialize(),))
        loop.start()
        try:
            for number in range(APPENDS):
                writer.call("append_note", name="Note", content=f"line {number}")
        finally:
            over.set()
            loop.join()
    assert not failures
    assert own_world.get("Note.md").decode().split("\n") == ["begin", *(f"line {number}" for number in range(APPENDS))]


def test_two_writers_lose_nothing(own_world: World) -> None:
    own_world.put("Note.md", "begin")
    options = ("--vault", str(own_world.vault), "--backend", "embedded")
    with (
        Server(own_world.environment(), *options) as one,
        Server(own_world.environment(), *options) as other,
    ):
        calls = []
        for server in (one.initialize(), other.initialize()):
            calls += [
                (server, server.begin_call("append_note", name="Note", content=f"{server.process.pid} {number}"))
                for number in range(20)
            ]
        for server, number in calls:
            server.end_call(number)
    assert len(own_world.get("Note.md").decode().split("\n")) == 41
