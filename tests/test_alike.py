from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.alike import PIECE, common_ends

TEXTS = st.builds(lambda text, times: text * times, st.text("ab", max_size=8), st.sampled_from([1, 3, PIECE // 3]))


def plainly(one: str, other: str) -> tuple[int, int]:
    most, head, tail = min(len(one), len(other)), 0, 0
    while head < most and one[head] == other[head]:
        head += 1
    while tail < most - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    return head, tail


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_what_two_texts_share_at_their_ends_is_found_as_by_comparing_each_character(
    begin: str, one: str, other: str, end: str
) -> None:
    first, second = begin + one + end, begin + other + end
    assert common_ends(first, second) == plainly(first, second)
    assert common_ends(first.encode(), second.encode()) == plainly(first, second)
