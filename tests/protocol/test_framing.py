from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.protocol.framing import TOO_LONG, Lines, TooLong


def fed(lines: Lines, *pieces: bytes) -> list[bytes | TooLong]:
    return [line for piece in pieces for line in lines.feed(piece)]


@given(st.lists(st.binary(max_size=20)))
def test_lines_are_the_same_however_the_bytes_arrive(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    lines = Lines()
    assert [*fed(lines, *pieces), *lines.end()] == [
        *whole.split(b"\n")[:-1],
        *([whole.split(b"\n")[-1]] if whole.split(b"\n")[-1] else []),
    ]


@given(st.lists(st.binary(max_size=20)), st.integers(1, 30))
def test_a_line_over_the_limit_is_replaced_and_the_next_is_whole(pieces: list[bytes], limit: int) -> None:
    lines = Lines(limit)
    expected = [line if len(line) <= limit else TOO_LONG for line in b"".join(pieces).split(b"\n")[:-1]]
    assert fed(lines, *pieces) == expected


def test_a_line_over_the_limit_is_not_held() -> None:
    lines = Lines(limit=10)
    assert fed(lines, b"x" * 11, b"y" * 1000) == []
    assert lines._parts == []
    assert fed(lines, b"\nshort\n") == [TOO_LONG, b"short"]


def test_the_last_line_needs_no_newline() -> None:
    lines = Lines(limit=10)
    assert fed(lines, b"a\nb") == [b"a"]
    assert list(lines.end()) == [b"b"]
    assert fed(lines, b"x" * 11) == []
    assert list(lines.end()) == [TOO_LONG]
    assert list(Lines().end()) == []
