"""Replacing a text in a note: found exactly once, or not at all.

What a model types is seldom what stands in the note byte for byte: its line ends are plain, its quotes and dashes are
those of a keyboard. Line ends never count. The rest counts at first; only if nothing is found, quotes, dashes, blanks
and Unicode forms are made equal, and the caller is told that they were.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from obsidian_mcp.vault.line_ends import CRLF, as_at, typed

_SINGLE = "'\u2018\u2019\u201a\u201b\u02bc\u2032\u00b4`"
_DOUBLE = '"\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb'
_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_BLANKS = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_CLASSES = {char: f"[{re.escape(kind)}]" for kind in (_SINGLE, _DOUBLE, _DASHES) for char in kind}
_PIECE = re.compile(rf"[{_BLANKS}]*\n|[{_BLANKS}]+|\.\.\.|.", re.DOTALL)
LONGEST_LOOSE = 20_000  # characters; a longer text is no slip of the pen


@dataclass(frozen=True, slots=True)
class Places:
    """Where a text was found, and whether it had to be looked for loosely."""

    spans: list[tuple[int, int]]
    is_loose: bool = False


def places(text: str, wanted: str, begin: int, end: int) -> Places:
    """Every place between the two, those that overlap too."""
    flat = _Flat(text)
    first, last = flat.place(begin), flat.place(end)
    spans = list(_exact(flat.text, typed(wanted), first, last))
    is_loose = not spans and len(wanted) <= LONGEST_LOOSE
    if is_loose:
        spans = list(_loose(flat.text, typed(wanted), first, last))
    return Places([(flat.back(start), flat.back(stop)) for start, stop in spans], is_loose)


class _Flat:
    """A text with plain line ends, and where its places are in the text as it is."""

    def __init__(self, text: str) -> None:
        self._original = text
        self.text = typed(text)
        ends = re.finditer(CRLF, text) if len(self.text) < len(text) else ()
        self._ends = [found.start() - number for number, found in enumerate(ends)]

    def place(self, at: int) -> int:
        return at - (self._original.count(CRLF, 0, at) if self._ends else 0)

    def back(self, at: int) -> int:
        return at + bisect.bisect_left(self._ends, at)


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


def _exact(text: str, wanted: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    at = text.find(wanted, begin, end)
    while at >= 0:
        yield at, at + len(wanted)
        at = text.find(wanted, at + 1, end)


def _loose(text: str, wanted: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    pieces = _PIECE.findall(unicodedata.normalize("NFC", wanted))
    # Blanks at its head begin where they begin in the text: else a long run of them would be tried from each.
    head = f"(?<![{_BLANKS}])" if pieces and pieces[0][0] in " \t\n" else ""
    pattern = re.compile(head + "".join(map(_like, pieces)))
    at = begin
    while found := pattern.search(text, at, end):
        yield found.span()
        at = found.start() + 1


def _like(piece: str) -> str:
    if piece.endswith("\n"):
        return f"[{_BLANKS}]*\n"
    if re.fullmatch(f"[{_BLANKS}]+", piece):
        return f"[{_BLANKS}]+"
    if piece in ("...", "\u2026"):
        return r"(?:\.\.\.|\u2026)"
    if piece in _CLASSES:
        return _CLASSES[piece]
    forms = dict.fromkeys((piece, unicodedata.normalize("NFD", piece)))
    return re.escape(piece) if len(forms) == 1 else f"(?:{'|'.join(map(re.escape, forms))})"
