"""A move that was interrupted, and what others did before the next server came."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp import logs
from obsidian_mcp.backends.files import write
from obsidian_mcp.errors import FileFailed
from tests.backends.files.test_commit import Place

LINKING = [f"L{number}.md" for number in range(4)]


class Stop(BaseException):
    """The server is killed here."""


def interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch, after: int, own: bytes = b"old") -> Place:
    """A vault in which a move from Old.md to New.md was stopped when so many texts were in place."""
    place = Place(folder)
    place.put("Old.md", own)
    for name in LINKING:
        place.put(name, b"see [[Old]]")
    put, left = write.put_in_place, iter(range(after))

    def stopping(*arguments: Any) -> None:
        if next(left, None) is None:
            raise Stop
        put(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(write, "put_in_place", stopping)
        with pytest.raises(Stop):
            place.move("Old.md", "New.md")
    assert place.state.has_journal
    return Place.again(place)


def links(place: Place) -> set[bytes]:
    return {place.files()[name] for name in LINKING}


@pytest.mark.parametrize("after", [0, 2])
def test_a_file_that_was_renamed_again_by_hand_keeps_its_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    place = interrupted(tmp_path, monkeypatch, after)
    (place.folder / "Sub").mkdir()
    (place.folder / "New.md").rename(place.folder / "Sub/Third.md")
    place.recovery.recover()
    assert links(place) == {b"see [[Third]]"}
    assert not place.state.has_journal


def test_a_file_that_another_server_renamed_keeps_its_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = interrupted(tmp_path, monkeypatch, 2)
    elsewhere = Place.again(place, state=tmp_path / "another state")
    elsewhere.move("New.md", "Third.md")
    assert links(place) == {b"see [[Third]]", b"see [[Old]]"}
    place.recovery.recover()
    assert links(place) == {b"see [[Third]]"}


def test_a_file_that_was_rewritten_as_well_is_found_by_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = interrupted(tmp_path, monkeypatch, 4, own=b"I am [[Old]]")
    place.put("Sub/Third.md", b"I am [[New]]")
    (place.folder / "New.md").unlink()
    (place.folder / LINKING[0]).write_bytes(b"see [[Old]] still")
    place.recovery.recover()
    assert place.files()[LINKING[0]] == b"see [[Third]] still"


def test_a_note_that_was_changed_meanwhile_keeps_its_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = interrupted(tmp_path, monkeypatch, 1)
    for name in LINKING:
        place.put(name, b"changed, and see [[Old]]")
    place.recovery.recover()
    assert links(place) == {b"changed, and see [[New]]"}


def test_a_new_note_at_the_old_place_keeps_the_links_that_were_written_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = interrupted(tmp_path, monkeypatch, 1)
    place.put("Old.md", b"another")
    place.put(LINKING[3], b"the new [[Old]]")
    place.recovery.recover()
    assert links(place) == {b"see [[New]]", b"the new [[Old]]"}


def test_a_file_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = interrupted(tmp_path, monkeypatch, 0)
    told: list[str] = []
    monkeypatch.setattr(logs, "log", lambda level, event, **_: told.append(f"{level}: {event}"))
    (place.folder / "New.md").unlink()
    place.recovery.recover()
    assert links(place) == {b"see [[Old]]"}
    assert not place.state.has_journal
    assert "error: a note that was being moved is gone" in told


def saves(place: Place, names: list[str]) -> Callable[..., None]:
    """What an editor does that saves its own text, each time one of these notes has got its new one."""
    put, left = write.put_in_place, list(names)

    def saving(path: str, *arguments: Any) -> None:
        put(path, *arguments)
        if left:
            place.put(left.pop(0), b"edited, see [[Old]]")

    return saving


@pytest.mark.parametrize("edited", [[LINKING[1], LINKING[0]], [LINKING[0], LINKING[1]], [LINKING[3], LINKING[0]]])
def test_an_editor_that_saves_twice_during_a_move_loses_neither_text_nor_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edited: list[str]
) -> None:
    place = Place(tmp_path)
    place.put("Old.md", b"old")
    for name in LINKING:
        place.put(name, b"see [[Old]]")
    monkeypatch.setattr(write, "put_in_place", saves(place, edited))
    place.move("Old.md", "New.md")
    assert "New.md" in place.files()
    assert links(place) == {b"see [[New]]", b"edited, see [[New]]"}
    assert not place.state.has_journal


def test_a_journal_is_kept_while_a_note_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = interrupted(tmp_path, monkeypatch, 0)
    place.put(LINKING[0], b"changed [[Old]]")
    (place.folder / LINKING[0]).chmod(0o444)
    with pytest.raises(FileFailed):
        place.recovery.recover()
    assert place.state.has_journal
    (place.folder / LINKING[0]).chmod(0o644)
    place.recovery.recover()
    assert links(place) == {b"see [[New]]", b"changed [[New]]"}
