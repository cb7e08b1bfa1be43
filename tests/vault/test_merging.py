from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.merging import includes, is_confined, merged

#            base, ours, theirs, both
MERGED = {
    "other lines": (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n", b"A\nb\nC\n"),
    "the next line": (b"a\nb\nc\n", b"A\nb\nc\n", b"a\nB\nc\n", b"A\nB\nc\n"),
    "an addition taken back below which more was added": (b"a\nour", b"a", b"a\nour\nmore", b"a\nmore"),
    "an addition without a newline taken back": (b"a\nour", b"a\n", b"a\nour\nmore\n", b"a\nmore\n"),
    "a line added above": (b"a\nb\n", b"a\n", b"x\na\nb\n", b"x\na\n"),
    "one of two equal lines by both": (b"h\nx\nm\nm\n", b"h\nx\nm\n", b"H\nx\nm\n", b"H\nx\nm\n"),
    "the same twice": (b"a\nb\n", b"A\nb\n", b"A\nb\n", b"A\nb\n"),
    "carriage returns": (b"a\r\nb\r\n", b"A\r\nb\r\n", b"a\r\nb\r\nc\r\n", b"A\r\nb\r\nc\r\n"),
    "bytes that are no text": (b"\xff\nb\n", b"\xfe\nb\n", b"\xff\nB\n", b"\xfe\nB\n"),
    "nothing of ours": (b"a", b"a", b"b", b"b"),
}
COLLIDING = {
    "one line": (b"a\nb\nc\n", b"a\nB\nc\n", b"a\nbb\nc\n"),
    "one place": (b"a\nb\n", b"a\nx\nb\n", b"a\ny\nb\n"),
    "a line that is gone": (b"a\nb\nc\n", b"a\nB\nc\n", b"a\nc\n"),
    "everything": (b"a", b"b", b"c"),
    "one of two equal lines": (b"h\n- m\n- m\n- e\n", b"h\n- m\n- e\n", b"H\n- m\n- e\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "both"), MERGED.values(), ids=MERGED)
def test_changes_of_different_lines_are_both_there(base: bytes, ours: bytes, theirs: bytes, both: bytes) -> None:
    assert merged(base, ours, theirs) == both


@pytest.mark.parametrize(("base", "ours", "theirs"), COLLIDING.values(), ids=COLLIDING)
def test_changes_of_the_same_lines_are_not_merged(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert merged(base, ours, theirs) is None


LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"long line"]), max_size=8).map(b"\n".join)


@given(LINES, LINES, LINES)
def test_a_merge_is_the_same_from_both_sides(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert merged(base, ours, theirs) == merged(base, theirs, ours)


@given(LINES, LINES)
def test_a_change_alone_is_taken_as_it_is(base: bytes, ours: bytes) -> None:
    assert merged(base, ours, base) == ours
    assert merged(base, base, ours) == ours
    assert includes(base, ours, ours)
    assert is_confined(base, ours, ours)


@given(LINES, LINES, LINES)
def test_what_was_merged_has_both_changes(base: bytes, ours: bytes, theirs: bytes) -> None:
    both = merged(base, ours, theirs)
    if both is not None and base not in (ours, theirs):
        assert both.count(b"<<<<") == 0
        assert set(both.split(b"\n")) <= {line for text in (base, ours, theirs) for line in text.split(b"\n")}


def test_a_change_within_another_is_found_there() -> None:
    assert includes(b"a\nb\nc\n", b"a\nB\nc\n", b"a\nB\nc\nmore\n")
    assert not includes(b"a\nb\nc\n", b"a\nB\nc\n", b"a\nb\nc\nmore\n")


def test_changes_of_other_lines_are_not_confined() -> None:
    assert is_confined(b"a\n[[x]]\n", b"a\n[[y]]\n", b"a\n[[z]]\n")
    assert not is_confined(b"a\n[[x]]\n", b"a\n[[y]]\n", b"A\n[[z]]\n")


def test_a_long_text_is_compared_as_one_piece() -> None:
    base = b"".join(b"%d\n" % number for number in range(20_000))
    assert (
        merged(base, base.replace(b"\n7\n", b"\nseven\n"), base + b"more")
        == base.replace(b"\n7\n", b"\nseven\n") + b"more"
    )
    everywhere = base.replace(b"1", b"one")
    assert merged(base, everywhere, base.replace(b"\n777\n", b"\nx\n")) is None
