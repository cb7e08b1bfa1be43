"""Bytes in, lines out. Holds at most one line, and never one over the limit."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE = 16 * 1024 * 1024


class TooLong:
    """Stands where a line over the limit was; its bytes are gone."""


TOO_LONG = TooLong()


class Lines:
    """Fed with whatever arrives, gives back whole lines without their newline."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._held = 0
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._hold(piece)
            yield self._take()
        self._hold(rest)

    def end(self) -> Iterator[bytes | TooLong]:
        """The last line may come without a newline."""
        if self._parts or self._skipping:
            yield self._take()

    def _hold(self, piece: bytes) -> None:
        self._held += len(piece)
        if self._held > self._limit:
            self._skipping = True
            self._parts.clear()
        elif piece:
            self._parts.append(piece)

    def _take(self) -> bytes | TooLong:
        line: bytes | TooLong = TOO_LONG if self._skipping else b"".join(self._parts)
        self._parts.clear()
        self._held = 0
        self._skipping = False
        return line
