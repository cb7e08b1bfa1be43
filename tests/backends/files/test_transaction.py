"""Moves that are killed, disks that are full, journals that mean nothing: on the files themselves."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.backends.files.test_vault import serving
from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.forks import Fault, Forked, Killed, faulty, forked_server
from tests.support.process import SEARCHED
from tests.support.world import World

CHANGING = "replace rename rename_new fsync fdatasync mkdir unlink write ftruncate posix_fallocate"
Serving = Callable[..., contextlib.AbstractContextManager[Server | Forked]]


def environment(world: World) -> dict[str, str]:
    """With a temporary folder of its own: Python tries that with a file, which a server that is killed leaves."""
    return world.environment(TMPDIR=str(world.folder), PYTHONPATH=SEARCHED)


@pytest.fixture
def forked() -> Serving:
    """A server in a fork, on the vault of a world."""

    def server(
        world: World, fault: Fault | None = None, holds: bool = True
    ) -> contextlib.AbstractContextManager[Forked]:
        options = ("--vault", str(world.vault), "--backend", "embedded")
        return forked_server(environment(world), *options, fault=fault, holds=holds)

    return server


@contextlib.contextmanager
def really(world: World, fault: Fault) -> Iterator[Server]:
    """A real server on it, with that fault."""
    options = ("--vault", str(world.vault), "--backend", "embedded")
    with Server(environment(world), *options, command=faulty(fault)) as server:
        yield server.initialize()


def prepared(folder: Path) -> World:
    world = World(folder)
    world.put("Old.md", "old [[Old]] [[A]]")
    for number in range(3):
        world.put(f"N{number}.md", f"{number} [[Old]]")
    world.put("A.md", "a")
    world.put("Q: why.md", "q [[Old]]")
    return world


MOVED = {
    "Vault/Deep/New.md": b"old [[New]] [[A]]",
    "Vault/A.md": b"a",
    "Vault/Q: why.md": b"q [[New]]",
    **{f"Vault/N{number}.md": f"{number} [[New]]".encode() for number in range(3)},
}


@pytest.mark.parametrize("holds", [True, False], ids=["held", "by path"])
def test_a_move_that_is_killed_at_any_step_is_finished_or_taken_back(
    tmp_path: Path, forked: Serving, holds: bool
) -> None:
    """Before every call that changes the disk, until one run gets through."""
    outcomes = set()
    for step in range(1, 60):
        world = prepared(tmp_path / str(step))
        before = world.tree()
        with forked(world, Fault(step, CHANGING), holds) as server:
            try:
                server.call("move_note", name="Old", to="Deep/New.md")
                killed = False
            except Killed:
                killed = True
        with forked(world, None, holds) as server:
            assert server.call("read_note", name="A.md")["content"] == "a"
        after = world.tree()
        assert after in (before, MOVED), step
        outcomes.add("moved" if after == MOVED else "taken back")
        if not killed:
            break
    else:
        raise AssertionError("no run got through")
    assert step > 8
    assert outcomes == {"moved", "taken back"}


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [(Fault(1, "rename_new"), "taken back"), (Fault(2, "write"), "moved"), (Fault(2, "write", half=True), "moved")],
    ids=["taken back", "finished", "finished, a text half written"],
)
def test_a_real_server_that_is_killed_leaves_a_move_that_the_next_finishes_or_takes_back(
    tmp_path: Path, fault: Fault, outcome: str
) -> None:
    """Before the note is at its new path, and before its second text is."""
    world = prepared(tmp_path)
    before = world.tree()
    with really(world, fault) as server:
        server.begin_call("move_note", name="Old", to="Deep/New.md")
        server.stdin.close()
        assert server.process.wait(PATIENCE) == -9
    assert (world.tree() in (before, MOVED)) == (outcome == "taken back")
    with serving(world) as server:
        assert server.call("read_note", name="A.md")["content"] == "a"
    assert world.tree() == (MOVED if outcome == "moved" else before)


def no_room(calls: str, step: int = 1) -> Fault:
    """A disk that stays full."""
    return Fault(step, calls, errno.ENOSPC, lasting=True)


def full_disk(step: int, lasting: bool = False, half: bool = False) -> Fault:
    """A note that can't be written, or only in part."""
    return Fault(step, "write", errno.ENOSPC, lasting=lasting, half=half)


def failing_disk(step: int) -> Fault:
    return Fault(step, "fdatasync", errno.EIO)


def in_forks_and_once_really(faults: list[Fault]) -> pytest.MarkDecorator:
    cases = [
        pytest.param(fault, "in a fork", id=f"{fault.calls} {fault.step}{' half' * fault.half}") for fault in faults
    ]
    kinds = {fault.calls: fault for fault in faults}.values()
    real = [pytest.param(fault, "a process", id=f"{fault.calls} {fault.step}, a real process") for fault in kinds]
    return pytest.mark.parametrize(("fault", "where"), [*cases, *real])


@in_forks_and_once_really(
    [
        *(no_room(calls) for calls in ("fsync", "posix_fallocate")),
        *(fault(step) for fault in (full_disk, failing_disk) for step in (1, 2, 3)),
        full_disk(2, half=True),
    ]
)
def test_a_move_that_fails_leaves_the_vault_as_it_was_and_usable(
    own_world: World, forked: Serving, fault: Fault, where: str
) -> None:
    """On a disk that stays full, and on one that fails once."""
    own_world.put("Old.md", "old [[Old]]")
    for number in range(3):
        own_world.put(f"N{number}.md", "[[Old]]" + "x" * 4089)  # as much as fits into its room on the disk
    before = own_world.tree()
    with (really if where == "a process" else forked)(own_world, fault) as server:
        with pytest.raises(ToolFailed) as caught:
            server.call("move_note", name="Old", to="Deep/Newer.md")
        assert caught.value.error_code == "FILE_FAILED"
        assert own_world.tree() == before
        assert not (own_world.vault / "Deep").exists()
        assert server.call("read_note", name="Old")["content"] == "old [[Old]]"
        if not fault.lasting:
            assert server.call("move_note", name="Old", to="Deep/Newer.md")["moved"] is True


@pytest.mark.parametrize(
    ("half", "told"),
    [(False, "could not be taken back for N0.md."), (True, "N1.md was written in part")],
    ids=["not written", "written in part"],
)
def test_a_move_that_can_neither_be_finished_nor_taken_back_names_what_is_left(
    own_world: World, forked: Serving, half: bool, told: str
) -> None:
    own_world.put("Old.md", "old")
    for number in range(3):
        own_world.put(f"N{number}.md", "[[Old]]")
    with forked(own_world, full_disk(2, lasting=True, half=half)) as server:
        with pytest.raises(ToolFailed) as caught:
            server.call("move_note", name="Old", to="New.md")
        assert told in caught.value.message
        assert server.call("read_note", name="New")["content"] == "old"
        with pytest.raises(ToolFailed) as caught:
            server.call("move_note", name="New", to="Newer.md")
        assert "An earlier change was interrupted and can't be finished" in caught.value.message
    with forked(own_world) as server:  # on a disk that works again
        assert server.call("read_note", name="New")["content"] == "old"
    assert [own_world.get(f"N{number}.md") for number in range(3)] == [b"[[New]]"] * 3
    assert not own_world.has("Old.md")


@pytest.mark.parametrize("step", [1, 2])
def test_a_note_that_cannot_be_made_leaves_links_as_they_were(own_world: World, forked: Serving, step: int) -> None:
    own_world.put("A/Note.md", "old")
    own_world.put("Links.md", "[[Note]]")
    before = own_world.tree()
    with forked(own_world, no_room("fsync", step)) as server, pytest.raises(ToolFailed):
        server.call("create_note", name="Note", content="new")
    assert own_world.tree() == before


def journal(**parts: Any) -> str:
    """One of a note that was made, with other parts in it."""
    whole = {"version": 1, "doing": "x", "acts": [{"kind": "make", "path": "A.md"}], "texts": [], **parts}
    return json.dumps(whole)


def text(path: str, before: str = "0") -> dict[str, str]:
    return {"now": path, "path": path, "before": before, "after": "x"}


SECRET = hashlib.sha256(b"secret").hexdigest()
JOURNALS = {
    "not JSON": "{",
    "nothing in it": "{}",
    "a list": "[]",
    "no list of texts": journal(texts=5),
    "a text without a path": journal(texts=[{"now": "A.md"}]),
    "a text that is a number": journal(texts=[{**text("A.md"), "after": 7}]),
    "an act of another shape": journal(acts=[{"path": "A.md"}]),
    "paths that lead out": journal(acts=[{"kind": "rename", "path": "A.md", "target": "../B.md", "inode": 1}]),
    "a note that is gone": journal(texts=[text("X.md")]),
    "a note outside": journal(texts=[text("../outside/S.md", SECRET)]),
    "a path that no system takes": journal(texts=[text("A\0.md")]),
    "nested too deeply": "[" * 200_000,
}


@pytest.mark.parametrize("journal", JOURNALS.values(), ids=JOURNALS)
def test_a_journal_that_means_nothing_stops_no_call(own_world: World, journal: str) -> None:
    own_world.put("A.md", "a")
    with serving(own_world) as server:
        server.call("append_note", name="A", content="b")
        (state,) = (own_world.folder / "home").rglob("lock")
        (state.parent / "transaction.json").write_text(journal)
        (own_world.outside / "S.md").write_text("secret")
        before = own_world.tree()
        assert server.call("read_note", name="A")["content"] == "a\nb"
        assert own_world.tree() == before
        assert not (state.parent / "transaction.json").exists()


def test_a_journal_of_another_version_is_kept_and_stops_moves_alone(own_world: World) -> None:
    own_world.put("A.md", "a")
    with serving(own_world) as server:
        server.call("append_note", name="A", content="b")
        (state,) = (own_world.folder / "home").rglob("lock")
        (state.parent / "transaction.json").write_text(journal(version=3))
        assert server.call("append_note", name="A", content="c")["appended"] is True
        with pytest.raises(ToolFailed) as caught:
            server.call("rename_note", name="A", new_name="B")
        assert "another version" in caught.value.message
        assert (state.parent / "transaction.json").exists()


def test_what_a_killed_server_left_is_cleared_away(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.put(".obsidian-mcp-0123456789abcdef.tmp", "half")
    with serving(own_world) as server:
        server.call("append_note", name="Note", content="y")
    assert not own_world.has(".obsidian-mcp-0123456789abcdef.tmp")
