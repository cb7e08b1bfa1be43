"""A change as two columns."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.operations import comparing
from obsidian_mcp.operations.comparing import Compared, Row
from obsidian_mcp.vault.changes import Change, Rename, Restore, Trash, Write
from obsidian_mcp.vault.history import Difference, digest

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "déjà", "[[x]]"]), max_size=30)
TEN = [f"line {number}" for number in range(1, 11)]


def compared(change: Change | Difference, now: bytes | None = None) -> Compared:
    (found,) = comparing.compare([change], lambda path: now)
    return found


def text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def shown(row: Row) -> tuple[object, ...]:
    return row.old, row.before, row.new, row.after


@given(LINES, LINES)
def test_every_row_has_the_lines_of_its_numbers_and_what_is_left_out_is_the_same(
    old: list[str], new: list[str]
) -> None:
    rows = compared(Write("Note.md", text(old), text(new))).rows
    lefts = {row.old: row.before for row in rows if row.old}
    rights = {row.new: row.after for row in rows if row.new}
    assert lefts == {number: old[number - 1] for number in lefts}
    assert rights == {number: new[number - 1] for number in rights}
    unseen = [[line for at, line in enumerate(all, 1) if at not in seen] for all, seen in ((old, lefts), (new, rights))]
    assert unseen[0] == unseen[1]
    assert list(lefts) == sorted(lefts)
    assert list(rights) == sorted(rights)
    assert (rows == ()) == (old == new)
    assert all(shown(one) != shown(other) for one, other in pairwise(rows)), "no gap follows a gap"


def test_a_changed_line_stands_beside_what_it_became() -> None:
    rows = compared(Write("Note.md", text(TEN), text([*TEN[:4], "other", *TEN[5:]]))).rows
    assert [shown(row) for row in rows] == [
        (None, None, None, None),
        *((number, f"line {number}", number, f"line {number}") for number in (2, 3, 4)),
        (5, "line 5", 5, "other"),
        *((number, f"line {number}", number, f"line {number}") for number in (6, 7, 8)),
        (None, None, None, None),
    ]


KINDS: dict[str, tuple[Change, Compared]] = {
    "renamed": (Rename("A.md", "B.md"), Compared("renamed", "A.md", "B.md")),
    "created": (Write("A.md", None, b"x\n"), Compared("created", "A.md", rows=(Row(None, None, 1, "x"),))),
    "removed": (Write("A.md", b"x", None), Compared("removed", "A.md", rows=(Row(1, "x"),))),
    "deleted": (Trash("A.md", before=b"x"), Compared("deleted", "A.md", rows=(Row(1, "x"),))),
    "put back": (Restore("A.md", b"x"), Compared("put back", "A.md", rows=(Row(None, None, 1, "x"),))),
    "not kept": (Trash("A.md"), Compared("deleted", "A.md")),
    "not text": (Write("A.png", b"\xff", b"\xfe"), Compared("changed", "A.png", is_text=False)),
}


@pytest.mark.parametrize(("change", "wanted"), KINDS.values(), ids=KINDS)
def test_each_kind_of_change_is_told(change: Change, wanted: Compared) -> None:
    assert compared(change) == wanted


def test_of_a_long_text_the_whole_is_shown_while_the_note_has_it_and_else_what_was_kept() -> None:
    before, after = b"head\nold\ntail", b"head\nnew\ntail"
    change = Difference("A.md", 5, 5, b"old", b"new", (digest(before), digest(after)))
    for now in (before, after):
        assert [shown(row) for row in compared(change, now).rows][1] == (2, "old", 2, "new")
    for other in (b"other", None):
        assert [shown(row) for row in compared(change, other).rows] == [(1, "old", 1, "new")]


def test_what_is_very_long_is_cut_and_says_so() -> None:
    many = compared(Write("A.md", None, text(["x" * 5000] * 3000)))
    assert (len(many.rows), many.more) == (comparing.MOST_ROWS, 2500)
    assert many.rows[0].after == f"{'x' * comparing.LONGEST_LINE}…"
    swapped = compared(Write("A.md", text(["a"] * 3000), text(["b"] * 3000)))
    assert shown(swapped.rows[0]) == (1, "a", 1, "b")
