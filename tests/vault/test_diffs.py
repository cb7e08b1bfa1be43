"""Short unified diffs."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.diffs import LONGEST_LINE, MOST_LINES, unified

SHOWN = {
    "a line": ("a\nb\nc\nd\n", "a\nb\nX\nd\n", "@@ -2,3 +2,3 @@\n b\n-c\n+X\n d"),
    "the first": ("a\nb\nc\n", "X\nb\nc\n", "@@ -1,2 +1,2 @@\n-a\n+X\n b"),
    "two far apart": (
        "a\nb\nc\nd\ne\nf\n",
        "X\nb\nc\nd\ne\nX\n",
        "@@ -1,2 +1,2 @@\n-a\n+X\n b\n@@ -5,3 +5,3 @@\n e\n-f\n+X\n ",
    ),
    "a line more": ("a\nb", "a\nb\nc", "@@ -2 +2,2 @@\n b\n+c"),
    "a note that is made": ("", "a", "@@ -1 +1 @@\n-\n+a"),
    "Windows' line ends": ("a\r\nb\r\n", "a\r\nc\r\n", "@@ -1,3 +1,3 @@\n a\n-b\n+c\n "),
    "nothing": ("a", "a", ""),
}


@pytest.mark.parametrize(("before", "after", "expected"), SHOWN.values(), ids=SHOWN)
def test_a_change_is_shown_with_a_line_around_it(before: str, after: str, expected: str) -> None:
    assert unified(before, after) == expected


def test_what_is_long_is_cut_and_says_so() -> None:
    assert unified("a", "x" * 1000).endswith(f"+{'x' * (LONGEST_LINE - 1)}…")
    lines = unified("", "\n".join(map(str, range(500)))).split("\n")
    assert len(lines) == MOST_LINES + 1
    assert "more lines" in lines[-1]
    assert unified("a\n" * 3000, "b\n" * 3000).count("\n") == 0


texts = st.lists(st.sampled_from(["a", "b", "cc", ""]), max_size=12).map("\n".join)


@given(texts, texts)
def test_what_goes_and_what_comes_make_the_one_text_of_the_other(before: str, after: str) -> None:
    lines = unified(before, after).split("\n") if before != after else []
    gone = Counter(line[1:] for line in lines if line.startswith("-"))
    come = Counter(line[1:] for line in lines if line.startswith("+"))
    old, new = Counter(before.split("\n")), Counter(after.split("\n"))
    assert gone <= old
    assert old - gone + come == new
