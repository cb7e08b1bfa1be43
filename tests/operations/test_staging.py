from __future__ import annotations

import pytest

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.operations.staging import Staged
from obsidian_mcp.vault.changes import ChangeSet, Rename, Restore, Trash, Write, applied

FILES = {"A.md": b"a", "B.md": b"b"}


def staged() -> Staged:
    return Staged(FILES.get, lambda path: path in FILES)


def test_nothing_staged_is_nothing_to_do() -> None:
    it = staged()
    assert (it.text("A.md"), it.has("C.md"), it.text("C.md")) == (b"a", False, None)
    assert it.changes() == ()


def test_a_text_that_is_written_twice_is_written_once() -> None:
    it = staged()
    it.write("A.md", b"1")
    it.write("A.md", b"2")
    assert it.changes() == (Write("A.md", b"a", b"2"),)
    it.write("A.md", b"a")
    assert it.changes() == ()


def test_a_file_that_was_moved_twice_is_moved_once_and_written_where_it_lies() -> None:
    it = staged()
    it.rename("A.md", "X.md")
    it.write("X.md", b"x")
    it.rename("X.md", "Y.md")
    assert it.changes() == (Rename("A.md", "Y.md"), Write("Y.md", b"a", b"x"))
    assert (it.has("A.md"), it.has("X.md"), it.text("Y.md")) == (False, False, b"x")


def test_a_file_may_take_the_place_of_one_that_moves_away() -> None:
    it = staged()
    it.rename("B.md", "C.md")
    it.rename("A.md", "B.md")
    assert it.changes() == (Rename("B.md", "C.md"), Rename("A.md", "B.md"))
    assert applied(FILES, ChangeSet("", it.changes())) == {"B.md": b"a", "C.md": b"b"}


def test_files_that_change_places_are_refused() -> None:
    it = staged()
    it.rename("A.md", "C.md")
    it.rename("B.md", "A.md")
    it.rename("C.md", "B.md")
    with pytest.raises(InvalidArguments, match="changed places"):
        it.changes()


def test_what_is_made_and_removed_again_is_nothing() -> None:
    it = staged()
    it.make("New.md", b"n")
    it.remove("New.md")
    assert it.changes() == ()


def test_what_is_removed_says_how() -> None:
    it = staged()
    it.remove("A.md", Trash("A.md"))
    it.remove("B.md")
    assert it.changes() == (Trash("A.md", before=b"a"), Write("B.md", b"b", None))


def test_what_is_put_back_comes_from_the_trash_unless_its_text_is_another() -> None:
    it = staged()
    it.make("C.md", b"c", Restore("C.md", b"c", ".trash/C.md"))
    assert it.changes() == (Restore("C.md", b"c", ".trash/C.md"),)
    it.write("C.md", b"other")
    assert it.changes() == (Write("C.md", None, b"other"),)


def test_a_new_file_in_the_place_of_one_that_was_removed() -> None:
    it = staged()
    it.remove("A.md")
    it.make("A.md", b"new")
    assert applied(FILES, ChangeSet("", it.changes())) == {"A.md": b"new", "B.md": b"b"}
