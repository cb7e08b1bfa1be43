"""Many files moved at once, on a disk: all of them or none, and after a kill every link leads where it led."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.backends.files import write
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import FileFailed
from obsidian_mcp.operations.moving_many import MovesPlan, move_notes
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.names import Destination
from obsidian_mcp.vault.reference import Reference
from tests.backends.files.test_commit import Place

NOTES = {
    "A/one.md": b"one\n[[/A/two]] [x](sub/three.md) [[../four]]",
    "A/two.md": b"two\n[[/A/sub/three]] [[./one]]",
    "A/sub/three.md": b"three\n[x](../one.md) [[/B/five]]",
    "four.md": b"four\n[[/A/one]] [[/A/two]] [[/B/five]]",
    "B/five.md": b"five\n[[/A/sub/three]]",
}
STEPS = 4 + len(NOTES)  # acts and texts


class Stop(BaseException):
    """The server is killed here."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for path, text in NOTES.items():
        place.put(path, text)
    return place


def moved(place: Place) -> MovesPlan:
    call = CallContext()
    names = [Reference.parse("A/"), Reference.parse("B/five.md")]
    return move_notes(names, Destination.parse("T"), place.vault(call), place.index, call, dry_run=False)


def led(place: Place) -> dict[str, list[str]]:
    """By the first line of each note, the first lines of those that its links lead to."""
    files = place.files()
    there = Resolver(files)
    names = {path: data.decode().split("\n")[0] for path, data in files.items()}
    found = {}
    for path, data in files.items():
        goals = [there.resolve(link.target, path) for link in links_in(path, data.decode())]
        found[names[path]] = [names[goal] if goal else "nowhere" for goal in goals]
    return found


def test_all_of_them_move_and_every_link_leads_where_it_led(place: Place) -> None:
    before = led(place)
    assert len(moved(place).changes.changes) > STEPS - 1
    assert sorted(place.files()) == ["T/A/one.md", "T/A/sub/three.md", "T/A/two.md", "T/five.md", "four.md"]
    assert led(place) == before


def stopping(monkeypatch: pytest.MonkeyPatch, steps: int, error: BaseException) -> None:
    left = iter(range(steps))
    for name in ("rename", "put_in_place"):
        act = getattr(write, name)

        def step(*arguments: Any, act: Any = act) -> Any:
            if next(left, None) is None:
                monkeypatch.undo()  # what takes it back goes on
                raise error
            return act(*arguments)

        monkeypatch.setattr(write, name, step)


@pytest.mark.parametrize("steps", range(STEPS))
def test_after_a_kill_at_any_step_every_link_leads_where_it_led(
    place: Place, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    before = led(place)
    stopping(monkeypatch, steps, Stop())
    with pytest.raises(Stop):
        moved(place)
    again = Place.again(place)
    again.recovery.recover()
    assert led(again) == before
    assert not again.state.has_journal


@pytest.mark.parametrize("steps", range(STEPS))
def test_what_fails_at_any_step_leaves_all_as_it_was(place: Place, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    stopping(monkeypatch, steps, FileFailed("The disk fails."))
    with pytest.raises(FileFailed):
        moved(place)
    assert place.files() == NOTES
