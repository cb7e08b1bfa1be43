"""How much two texts have in common at their ends. Memory is compared faster than characters: a piece at a time."""

from __future__ import annotations

from typing import TypeVar

Text = TypeVar("Text", str, bytes)

PIECE = 1 << 16


def common_ends(one: Text, other: Text) -> tuple[int, int]:
    """How many characters (or bytes) both have at their beginning, and how many after those at their end."""
    head = _head(one, other, min(len(one), len(other)))
    return head, _tail(one, other, min(len(one), len(other)) - head)


def _head(one: Text, other: Text, most: int) -> int:
    low = 0
    while low < most and one[low : low + PIECE] == other[low : low + PIECE]:
        low = min(most, low + PIECE)
    high = min(most, low + PIECE)
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _tail(one: Text, other: Text, most: int) -> int:
    """From the ends, which need not be equally far from the beginning."""
    first, second, low = len(one), len(other), 0
    while low < most:
        step = min(PIECE, most - low)
        if one[first - low - step : first - low] != other[second - low - step : second - low]:
            break
        low += step
    high = min(most, low + PIECE)
    while low < high:
        middle = (low + high + 1) // 2
        if one[first - middle : first - low] == other[second - middle : second - low]:
            low = middle
        else:
            high = middle - 1
    return low
