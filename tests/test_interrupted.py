"""Moves that are killed, disks that are full, journals that mean nothing: on the files themselves."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.world import World
from tests.test_embedded import serving

KILL_BEFORE = """
import os, sys
left = int(sys.argv.pop(1))
def guarded(function):
    def act(*arguments, **more):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)
        return function(*arguments, **more)
    return act
for name in ("replace", "rename", "fsync", "mkdir", "unlink"):
    setattr(os, name, guarded(getattr(os, name)))
from obsidian_mcp.__main__ import main
main()
"""


def test_a_move_that_is_killed_at_any_step_is_finished_or_taken_back(tmp_path: Path) -> None:
    """Before every call that changes the disk, until one run gets through."""
    outcomes = set()
    for step in range(1, 60):
        world = World(tmp_path / str(step))
        world.put("Old.md", "old [[Old]] [[A]]")
        for number in range(3):
            world.put(f"N{number}.md", f"{number} [[Old]]")
        world.put("A.md", "a")
        world.put("Q: why.md", "q [[Old]]")
        before = world.tree()
        command = (sys.executable, "-c", KILL_BEFORE, str(step))
        arguments = ("--vault", str(world.vault), "--backend", "embedded")
        with Server(world.environment(), *arguments, command=command) as server:
            server.initialize().begin_call("move_note", name="Old", to="Deep/New.md")
            server.stdin.close()
            killed = server.process.wait(PATIENCE) == -9
        with serving(world) as server:
            assert server.call("read_note", name="A.md")["content"] == "a"
        after = world.tree()
        moved = {
            "Vault/Deep/New.md": b"old [[New]] [[A]]",
            "Vault/A.md": b"a",
            "Vault/Q: why.md": b"q [[New]]",
            **{f"Vault/N{number}.md": f"{number} [[New]]".encode() for number in range(3)},
        }
        assert after in (before, moved), step
        outcomes.add("moved" if after == moved else "taken back")
        if not killed:
            break
    else:
        raise AssertionError("no run got through")
    assert step > 8
    assert outcomes == {"moved", "taken back"}


FULL_DISK = """
import os, sys
left = int(sys.argv.pop(1))
replace = os.replace
def failing(*arguments, **more):
    global left
    if str(arguments[1]).endswith(".md"):
        left -= 1
        if left == 0:
            raise OSError(28, "No space left on device")
    return replace(*arguments, **more)
os.replace = failing
from obsidian_mcp.__main__ import main
main()
"""

NO_ROOM = """
import os, sys
left = int(sys.argv.pop(1))
fsync = os.fsync
def failing(fd):
    global left
    left -= 1
    if left <= 0:
        raise OSError(28, "No space left on device")
    return fsync(fd)
os.fsync = failing
from obsidian_mcp.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("failing", "step"), [*((NO_ROOM, step) for step in (1, 2, 3, 5)), *((FULL_DISK, step) for step in (1, 2, 3))]
)
def test_a_move_that_fails_leaves_the_vault_as_it_was_and_usable(own_world: World, failing: str, step: int) -> None:
    """On a disk that stays full, and on one that fails once."""
    own_world.put("Old.md", "old [[Old]]")
    for number in range(3):
        own_world.put(f"N{number}.md", "[[Old]]")
    before = own_world.tree()
    with serving(own_world, command=(sys.executable, "-c", failing, str(step))) as server:
        with pytest.raises(ToolFailed) as caught:
            server.call("move_note", name="Old", to="Deep/New.md")
        assert caught.value.error_code == "FILE_FAILED"
        assert own_world.tree() == before
        assert not (own_world.vault / "Deep").exists()
        assert server.call("read_note", name="Old")["content"] == "old [[Old]]"
        if failing == FULL_DISK:
            assert server.call("move_note", name="Old", to="Deep/New.md")["moved"] is True


def test_a_move_that_can_neither_be_finished_nor_taken_back_names_what_is_left(own_world: World) -> None:
    own_world.put("Old.md", "old")
    for number in range(3):
        own_world.put(f"N{number}.md", "[[Old]]")
    command = (sys.executable, "-c", FULL_DISK.replace("left == 0", "left <= 0"), "2")
    with serving(own_world, command=command) as server:
        with pytest.raises(ToolFailed) as caught:
            server.call("move_note", name="Old", to="New.md")
        assert "could not be taken back for N0.md." in caught.value.message
        assert server.call("read_note", name="New")["content"] == "old"
        with pytest.raises(ToolFailed) as caught:
            server.call("move_note", name="New", to="Newer.md")
        assert "An earlier move was interrupted and can't be finished" in caught.value.message
    with serving(own_world) as server:  # on a disk that works again
        assert server.call("read_note", name="New")["content"] == "old"
    assert [own_world.get(f"N{number}.md") for number in range(3)] == [b"[[New]]"] * 3
    assert not own_world.has("Old.md")


@pytest.mark.parametrize("step", [2, 3])
def test_a_note_that_cannot_be_made_leaves_links_as_they_were(own_world: World, step: int) -> None:
    own_world.put("A/Note.md", "old")
    own_world.put("Links.md", "[[Note]]")
    before = own_world.tree()
    command = (sys.executable, "-c", NO_ROOM, str(step))
    with serving(own_world, command=command) as server, pytest.raises(ToolFailed):
        server.call("create_note", name="Note", content="new")
    assert own_world.tree() == before


JOURNALS = {
    "not JSON": "{",
    "nothing in it": "{}",
    "another shape": '{"old":"A.md","new":"B.md","inode":1,"rewrites":5}',
    "paths that lead out": '{"old":"A.md","new":"../B.md","inode":1,"rewrites":[]}',
    "a note that is gone": '{"old":null,"new":"A.md","inode":null,"rewrites":[{"now":"X.md","path":"X.md",'
    '"before":"0","after":"x"}]}',
    "a note outside": '{"old":null,"new":"A.md","inode":null,"rewrites":[{"now":"../outside/S.md",'
    '"path":"../outside/S.md","before":"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b","after":"x"}]}',
    "a list": "[]",
}


@pytest.mark.parametrize("journal", JOURNALS.values(), ids=JOURNALS)
def test_a_journal_that_means_nothing_stops_nobody(own_world: World, journal: str) -> None:
    own_world.put("A.md", "a")
    with serving(own_world) as server:
        server.call("append_note", name="A", content="b")
        (state,) = (own_world.folder / "home").rglob("lock")
        (state.parent / "move.json").write_text(journal)
        (own_world.outside / "S.md").write_text("secret")
        before = own_world.tree()
        assert server.call("read_note", name="A")["content"] == "a\nb"
        assert own_world.tree() == before
        assert not (state.parent / "move.json").exists()


def test_what_a_killed_server_left_is_cleared_away(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.put(".obsidian-mcp-0123456789abcdef.tmp", "half")
    with serving(own_world) as server:
        server.call("append_note", name="Note", content="y")
    assert not own_world.has(".obsidian-mcp-0123456789abcdef.tmp")
