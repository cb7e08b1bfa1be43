from __future__ import annotations

from pathlib import Path

import pytest

from obsidian_mcp.errors import FileFailed
from obsidian_mcp.history.ledger import Ledger
from obsidian_mcp.history.recorder import CallHistory
from obsidian_mcp.vault.changes import ChangeSet, Rename, Restore, Trash, Write
from obsidian_mcp.vault.history import By, KeptChanges, happened, summary

BY = By("obsidian_edit_note", "Claude", "s1")
EDIT = ChangeSet("editing A.md", (Write("A.md", b"a", b"b"),))


@pytest.fixture
def history(tmp_path: Path) -> CallHistory:
    return CallHistory(Ledger(str(tmp_path / "history.sqlite")), BY)


def test_a_change_is_listed_when_it_is_finished(history: CallHistory) -> None:
    id = history.begin(EDIT)
    assert (history.entries(), history.last) == ([], None)
    history.finish(id)
    (entry,) = history.entries()
    assert (entry.id, entry.tool, entry.client, entry.session) == (id, *BY)
    assert (history.last, history.entry(id), history.latest()) == (id, entry, entry)


def test_what_was_not_done_is_not_listed(history: CallHistory) -> None:
    history.abandon(history.begin(EDIT))
    assert (history.entries(), history.pending(), history.last) == ([], [], None)


def test_a_change_that_nobody_finished_is_pending_with_its_texts(history: CallHistory) -> None:
    id = history.begin(EDIT)
    assert history.pending() == [(id, KeptChanges("editing A.md", EDIT.changes))]


def test_folders_that_were_made_are_kept(history: CallHistory) -> None:
    made = ChangeSet("creating", (Write("D/N.md", None, b"n"),), made=("D",), unmade=("E",))
    id = history.begin(made)
    history.finish(id)
    _, kept = history.get(id)
    assert (kept.made, kept.unmade) == (("D",), ("E",))
    assert kept.rebuilt(lambda path: None).inverse().unmade == ("D",)


def test_what_is_only_watched_is_not_shown_as_changed(history: CallHistory) -> None:
    move = Rename("A.md", "B.md")
    id = history.begin(ChangeSet("moving", (move, Write("B.md", b"a", b"a", whole=True))))
    history.finish(id)
    _, kept = history.get(id)
    assert (kept.done, len(kept.changes)) == ((move,), 2)


def test_what_another_server_had_begun_is_not_this_calls_change(history: CallHistory) -> None:
    history.settled(history.begin(EDIT))
    assert (len(history.entries()), history.last) == (1, None)


def test_nothing_is_begun_where_it_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = CallHistory(Ledger(str(tmp_path / "file" / "history.sqlite")), BY)
    with pytest.raises(FileFailed, match="history cannot be used") as failed:
        history.begin(EDIT)
    assert "--history off" in failed.value.message
    history.finish("none")  # what was done is done
    history.abandon("none")


HELD = {"A.md": b"a", "B.md": b"b"}
NOT_YET = (
    Write("A.md", b"a", b"x"),
    Write("New.md", None, b"n"),
    Write("B.md", b"b", None),
    Rename("A.md", "C.md"),
    Trash("A.md", before=b"a"),
    Restore("C.md", b"c"),
)
ALREADY = (
    Write("A.md", b"x", b"a"),
    Write("A.md", None, b"a"),
    Write("Gone.md", b"g", None),
    Rename("Gone.md", "A.md"),
    Trash("Gone.md", before=b"g"),
    Restore("A.md", b"a"),
)


@pytest.mark.parametrize("change", NOT_YET, ids=repr)
def test_files_that_are_as_before_say_that_it_was_not_made(change: Write) -> None:
    assert not happened(KeptChanges("", (change,)), HELD.get)


@pytest.mark.parametrize("change", ALREADY, ids=repr)
def test_files_that_are_as_after_say_that_it_was_made(change: Write) -> None:
    assert happened(KeptChanges("", (change,)), HELD.get)


def test_a_text_that_a_person_has_gone_on_with_still_has_the_change() -> None:
    change = Write("A.md", b"1\n2\n3\n", b"1\nTWO\n3\n")
    assert happened(KeptChanges("", (change,)), {"A.md": b"1\nTWO\n3\nmine\n"}.get)
    assert not happened(KeptChanges("", (change,)), {"A.md": b"1\n2\n3\nmine\n"}.get)


SUMMARIES = {
    "Changed A.md": (Write("A.md", b"a", b"b"),),
    "Created A.md": (Write("A.md", None, b"b"),),
    "Removed A.md": (Write("A.md", b"a", None),),
    "Deleted A.md": (Trash("A.md"),),
    "Deleted for good A.md": (Trash("A.md", permanent=True),),
    "Put back A.md": (Restore("A.md", b"a"),),
    "Renamed F/A.md to F/B.md": (Rename("F/A.md", "F/B.md"),),
    "Moved F/A.md to A.md, rewrote links in B.md": (Rename("F/A.md", "A.md"), Write("B.md", b"", b"x")),
    "Moved 2 files, rewrote links in 2 files": (
        Rename("A", "B"),
        Rename("C", "D"),
        Write("E", b"", b"x"),
        Write("F", b"", b"x"),
    ),
    "Changed 2 files": (Write("A.md", b"a", b"b"), Write("B.md", b"a", b"b")),
}


@pytest.mark.parametrize(("said", "changes"), SUMMARIES.items(), ids=SUMMARIES)
def test_a_change_is_said_in_one_line(said: str, changes: tuple[Write, ...]) -> None:
    assert summary(ChangeSet("", changes)) == said


def test_an_undo_says_what_it_undid() -> None:
    assert summary(ChangeSet("", (Write("A.md", b"a", b"b"),), undoes=("x1", "x2"))) == "Undid x1 x2"
