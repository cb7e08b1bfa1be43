"""Replacing a text in a note: found exactly once, or not at all.

What a model types is seldom what stands in the note byte for byte: its line ends are plain, its quotes and dashes are
those of a keyboard. Line ends never count. The rest counts at first; only if nothing is found, quotes, dashes, blanks
and Unicode forms are made equal, and the caller is told that they were.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from dataclasses import dataclass

from obsidian_mcp.vault.line_ends import as_at, typed

_BLANKS = "\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys(_BLANKS, " "),
    }
)
_SPELLED = re.compile(" +\r?\n|\r\n| {2,}|\u2026|[^\n][\u0300-\u036f]+")  # what becomes longer or shorter
MOST_FOUND = 100  # places, where only one may be


@dataclass(frozen=True, slots=True)
class Places:
    """Where a text was found, and whether it had to be looked for loosely."""

    spans: list[tuple[int, int]]
    is_loose: bool = False


def places(text: str, wanted: str, begin: int, end: int, every: bool = False) -> Places:
    """Where it stands between the two: every place that doesn't overlap the one before, or the first hundred of all."""
    found = exactly(text, wanted, begin, end, every)
    if found:
        return Places(found)
    alike = _Changed(text.translate(_ALIKE), _SPELLED)
    return Places(_found(alike, _loosely(typed(wanted)), begin, end, every), is_loose=True)


def exactly(text: str, wanted: str, begin: int, end: int, every: bool) -> list[tuple[int, int]]:
    """As it is typed, but for line ends."""
    return _found(_Changed(text, _LINE_END), typed(wanted), begin, end, every)


class _Changed:
    """A text in which some pieces are written otherwise, and where its places are in the text as it was."""

    def __init__(self, text: str, pieces: re.Pattern[str]) -> None:
        parts: list[str] = []
        is_plain = pieces is _LINE_END and "\r" not in text  # as most notes are
        self._before: list[int] = [0]  # where each stretch begins in the text as it was
        self._now: list[int] = [0]
        at = length = 0
        for piece in () if is_plain else pieces.finditer(text):
            new = _spelled(piece[0])
            parts += (text[at : piece.start()], new)
            length += piece.start() - at + len(new)
            at = piece.end()
            self._before.append(at)
            self._now.append(length)
        self.text = "".join((*parts, text[at:])) if parts else text

    def place(self, at: int) -> int:
        number = bisect.bisect_right(self._before, at) - 1
        return self._now[number] + at - self._before[number]

    def back(self, at: int) -> int:
        number = bisect.bisect_right(self._now, at) - 1
        return self._before[number] + at - self._now[number]


_LINE_END = re.compile("\r\n")


def _spelled(piece: str) -> str:
    if piece.endswith("\n"):
        return "\n"
    if piece == "\u2026":
        return "..."
    if piece[0] == " " and not piece.strip(" "):
        return " "
    return unicodedata.normalize("NFC", piece)


def _loosely(wanted: str) -> str:
    return _SPELLED.sub(lambda piece: _spelled(piece[0]), unicodedata.normalize("NFC", wanted.translate(_ALIKE)))


def _found(changed: _Changed, wanted: str, begin: int, end: int, every: bool) -> list[tuple[int, int]]:
    text, first, last = changed.text, changed.place(begin), changed.place(end)
    spans: list[tuple[int, int]] = []
    at = text.find(wanted, first, last)
    while at >= 0 and (every or len(spans) < MOST_FOUND):
        start, stop = changed.back(at), changed.back(at + len(wanted))
        if (changed.place(start), changed.place(stop)) == (at, at + len(wanted)):  # and not within such a piece
            spans.append((start, stop))
        at = text.find(wanted, at + (len(wanted) if every else 1), last)
    return spans


def apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that don't overlap, from the first on."""
    kept: list[tuple[int, int]] = []
    for span in spans:
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def replaced(text: str, spans: list[tuple[int, int]], new: str) -> str:
    """With another text at these places, in the line ends that the note has there."""
    parts: list[str] = []
    at = 0
    for begin, end in spans:
        parts += (text[at:begin], as_at(text, end, new))
        at = end
    return "".join((*parts, text[at:]))
