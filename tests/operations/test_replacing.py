from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Conflict, InvalidArguments
from obsidian_mcp.operations.replacing import ReplacePlan, replace_in_notes
from tests.support.memory import Files, context


def run(
    files: Files, old: str, new: str, expected: int | None = None, query: str = "", dry_run: bool = False
) -> ReplacePlan:
    it = context(files)("Memory", CallContext(), 0)
    assert it.contents is not None
    return replace_in_notes(query, old, new, expected, it.vault, it.contents, it.call, dry_run=dry_run)


def notes() -> Files:
    return Files(
        {"a.md": b"one two one", "b.md": b"x\r\none\r\n", "Sub/c.md": b"One", "d.md": b"none, `one`", "e.txt": b"one"}
    )


def test_without_a_number_the_places_are_only_shown() -> None:
    files = notes()
    found = run(files, "one", "1")
    assert [(each.path, each.count) for each in found.notes] == [("a.md", 2), ("b.md", 1), ("d.md", 2)]
    assert found.places == 5
    assert files == notes()


def test_with_the_right_number_they_are_replaced_together() -> None:
    files = notes()
    assert run(files, "one", "1", 5).places == 5
    assert files == Files({**notes(), "a.md": b"1 two 1", "b.md": b"x\r\n1\r\n", "d.md": b"n1, `1`"})


@pytest.mark.parametrize("expected", [1, 4, 6])
def test_with_another_number_nothing_changes(expected: int) -> None:
    files = notes()
    with pytest.raises(Conflict) as failed:
        run(files, "one", "1", expected)
    assert failed.value.data == {"places": 5, "notes": ["a.md", "b.md", "d.md"]}
    assert files == notes()


def test_a_dry_run_checks_the_number_and_changes_nothing() -> None:
    files = notes()
    assert run(files, "one", "1", 5, dry_run=True).places == 5
    with pytest.raises(Conflict):
        run(files, "one", "1", 4, dry_run=True)
    assert files == notes()


def test_only_notes_that_the_query_finds_are_looked_at() -> None:
    files = notes()
    run(files, "One", "1", 1, query="path:Sub")
    assert files == Files({**notes(), "Sub/c.md": b"1"})
    with pytest.raises(InvalidArguments):
        run(files, "x", "y", query="/(/")


LINES = {
    # before, old, new, after, in how many places
    "LF finds CR LF, which is kept": (b"a\r\nb\r\nc", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc", 1),
    "CR LF finds LF, which is kept": (b"a\nb\nc", "a\r\nb", "x\r\ny", b"x\ny\nc", 1),
    "in one line": (b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n", 1),
    "each as it is around it": (b"a b\r\n\n\na b\n\n\n", "b\n", "c\nd\n", b"a c\r\nd\r\n\n\na c\nd\n\n\n", 2),
    "a byte order mark and a last line without end": (b"\xef\xbb\xbfa\r\nb", "b", "c", b"\xef\xbb\xbfa\r\nc", 1),
}


@pytest.mark.parametrize(("before", "old", "new", "after", "count"), LINES.values(), ids=LINES)
def test_line_ends_are_the_notes_own(before: bytes, old: str, new: str, after: bytes, count: int) -> None:
    files = Files({"a.md": before})
    run(files, old, new, count)
    assert files == {"a.md": after}


def test_an_edit_that_would_break_properties_stops_all_of_it() -> None:
    files = Files({"a.md": b"k: 1", "b.md": b"---\nk: 1\n---\n", "c.md": b"---\nbad: [\n---\nk: 1"})
    before = dict(files)
    with pytest.raises(InvalidArguments) as failed:
        run(files, "k: 1", "k: [1", 3)
    assert failed.value.data["path"] == "b.md"
    assert dict(files) == before


def test_a_note_that_is_not_text_is_named_and_left() -> None:
    files = Files({"a.md": b"one", "b.md": b"one \xff"})
    found = run(files, "one", "two", 1)
    assert "b.md" in (found.note or "")
    assert files == {"a.md": b"two", "b.md": b"one \xff"}


def test_the_same_text_twice_is_refused() -> None:
    with pytest.raises(InvalidArguments):
        run(notes(), "one\r\n", "one\n")


PIECES = st.lists(st.sampled_from(["a", "b", " ", "\n", "\r\n"]), max_size=20).map("".join)


@given(PIECES, st.text("ab\n", min_size=1, max_size=3), st.text("xy\n", max_size=3))
def test_what_lies_outside_the_places_is_the_same(text: str, old: str, new: str) -> None:
    found = run(Files({"a.md": text.encode()}), old, f"{new}x")
    flat = text.replace("\r\n", "\n")
    assert found.places == flat.count(old)
    assert [each.after.replace("\r\n", "\n") for each in found.notes] == [flat.replace(old, f"{new}x")][: found.places]
    if "\n" not in old + new:
        assert [each.after for each in found.notes] == [text.replace(old, f"{new}x")][: found.places]
