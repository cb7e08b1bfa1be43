"""Two changes to one text: whether the one is in the other, and both of them together.

By lines, and by the standard library's difflib. Each line begins with the newline before it, so that a text that ends
without one can be added to like any other.
"""

from __future__ import annotations

import difflib
from typing import NamedTuple

MOST_COMPARED = 4_000  # lines between the equal beginning and the equal end; difflib's time grows with their square


class _Hunk(NamedTuple):
    """Lines `start` to `end` of the first text are these in the second.

    Of equal lines it doesn't matter which one was removed, or before which one was added: `low` and `high` are how far
    up and down it could as well have been.
    """

    start: int
    end: int
    lines: tuple[bytes, ...]
    low: int
    high: int


def merged(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Theirs, with what ours changed in the base; None where both changed the same lines."""
    lines, mine, other = _lines(base), _hunks(_lines(base), _lines(ours)), _hunks(_lines(base), _lines(theirs))
    if any(_collide(one, another) for one in mine for another in other):
        return None
    found: list[bytes] = []
    at = 0
    for hunk in sorted({*mine, *other}, key=lambda each: (each.start, each.end)):
        found += lines[at : hunk.start]
        if hunk.start == len(lines) == at and found[-1:] == [b"\n"]:
            found.pop()  # a last newline, which the lines that follow begin with
        found += hunk.lines
        at = hunk.end
    return b"".join([*found, *lines[at:]])[1:]


def includes(before: bytes, after: bytes, now: bytes) -> bool:
    """Whether what led from before to after is part of what led from before to now."""
    lines = _lines(before)
    return set(_hunks(lines, _lines(after))) <= set(_hunks(lines, _lines(now)))


def is_confined(base: bytes, ours: bytes, theirs: bytes) -> bool:
    """Whether theirs changed no other lines of the base than ours did."""
    lines = _lines(base)
    mine = _hunks(lines, _lines(ours))
    other = _hunks(lines, _lines(theirs))
    return all(any(one.start <= hunk.start and hunk.end <= one.end for one in mine) for hunk in other)


def _collide(one: _Hunk, other: _Hunk) -> bool:
    """Both change a line, or add lines at one place: which come first is not known. Twice the same is one change."""
    if one == other:
        return False
    if one.start == one.end and other.start == other.end:
        return one.low <= other.high and other.low <= one.high
    return one.low < other.high and other.low < one.high


def _lines(text: bytes) -> list[bytes]:
    return [b"\n" + line for line in text.split(b"\n")]


def _hunks(first: list[bytes], second: list[bytes]) -> list[_Hunk]:
    head = _common(first, second)
    tail = _common(first[head:][::-1], second[head:][::-1])
    old, new = first[head : len(first) - tail], second[head : len(second) - tail]
    if not old and not new:
        return []
    if max(len(old), len(new)) > MOST_COMPARED:
        return [_Hunk(head, head + len(old), tuple(new), head, head + len(old))]
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [_settled(first, head + i, head + j, new[k:m]) for tag, i, j, k, m in codes if tag != "equal"]


def _settled(lines: list[bytes], start: int, end: int, new: list[bytes]) -> _Hunk:
    """As far down as it can go: two changes that are the same must look the same."""
    low = start
    if start == end:
        last = new[::-1]
        while low and lines[low - 1] == last[(start - low) % len(last)]:
            low -= 1
        while end < len(lines) and lines[end] == new[0]:
            new = [*new[1:], lines[end]]
            start = end = end + 1
    elif not new:
        while low and lines[low - 1] == lines[end - 1 - (start - low) % (end - start)]:
            low -= 1
        while end < len(lines) and lines[start] == lines[end]:
            start, end = start + 1, end + 1
    return _Hunk(start, end, tuple(new), low, end)


def _common(one: list[bytes], other: list[bytes]) -> int:
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return number
    return min(len(one), len(other))
