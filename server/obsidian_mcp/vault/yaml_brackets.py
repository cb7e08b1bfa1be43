"""A list or map in brackets (YAML's flow style, and JSON): where its items stand, and how they are added and removed.

What is read here is known to be valid, so nothing is checked. Quotes, comments and brackets within are passed over,
for a comma in them separates nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

Edit = tuple[int, int, str]  # from where to where, and what stands there instead

_WORD = re.compile(r"[^ \t\r\n,\[\]{}]+")
_QUOTED = re.compile(r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"|'[^']*(?:''[^']*)*'", re.DOTALL)
_BLANK = re.compile(r"[ \t\r\n]*(?:(?<![^ \t\r\n])#[^\n]*[ \t\r\n]*)*")
_SEPARATOR = re.compile(r",\s*")


@dataclass(frozen=True, slots=True)
class Item:
    """`colon` is the place after the colon, where the value of a name begins, if there is one."""

    start: int
    end: int
    colon: int | None = None


@dataclass(frozen=True, slots=True)
class Brackets:
    """From the opening bracket to after the closing one."""

    start: int
    end: int
    items: list[Item]

    def begin(self, number: int) -> int:
        return self.items[number].start

    def edits(self, yaml: str, drops: Collection[int], at: int, texts: Sequence[str]) -> list[Edit]:
        """Removes the items with those numbers, and puts others before the one with the number `at`."""
        between = self._between(yaml)
        first = next((number for number in range(len(self.items)) if number not in drops), None)
        if first is None:
            start, end = (self.items[0].start, self.items[-1].end) if self.items else (self.start + 1,) * 2
            return [(start, end, between.join(texts))]
        edits = [self._drop(number, first) for number in drops]
        if first < at:
            place, added = self.items[at - 1].end, "".join(between + text for text in texts)
        else:
            place, added = self.items[at].start, "".join(text + between for text in texts)
        return [*edits, (place, place, added)]

    def _drop(self, number: int, first_kept: int) -> Edit:
        """An item with the comma that is no longer needed."""
        if number < first_kept:
            return self.items[number].start, self.items[number + 1].start, ""
        return self.items[number - 1].end, self.items[number].end, ""

    def _between(self, yaml: str) -> str:
        """What separates the items: a comma, with a space or a line end as it is used there."""
        if len(self.items) > 1:
            found = yaml[self.items[-2].end : self.items[-1].start]
            return found if _SEPARATOR.fullmatch(found) else ", "
        before = yaml[self.start + 1 : self.items[0].start] if self.items else ""
        return f",{before}" if "\n" in before and before.isspace() else ", "


def brackets(yaml: str, start: int) -> Brackets:
    """Those that open at this place."""
    items: list[Item] = []
    begin: int | None = None
    colon: int | None = None
    depth, end, after = 1, start + 1, _After.MARK
    at = skip_blank(yaml, end)
    while depth and at < len(yaml):
        mark = yaml[at]
        depth += (mark in "[{") - (mark in "]}")
        if depth == 0 or (depth == 1 and mark == ","):
            if begin is not None:
                items.append(Item(begin, end, colon))
            begin = colon = None
        elif begin is None:
            begin = at
        end, after = _token(yaml, at, after)
        if depth == 1 and after is _After.MARK and colon is None and mark != ",":
            colon = end
        at = skip_blank(yaml, end)
    return Brackets(start, end, items)


def skip_blank(yaml: str, at: int) -> int:
    """Past white space, line ends and comments."""
    found = _BLANK.match(yaml, at)
    return found.end() if found else at


def quoted_end(yaml: str, at: int) -> int:
    """After the text in quotes that begins here."""
    found = _QUOTED.match(yaml, at)
    return found.end() if found else len(yaml)


class _After(Enum):
    """What was read last, which decides what a quote or a colon is."""

    MARK = "a bracket that opens, a comma, or a colon"
    TEXT = "a word: a quote in it is a character like any other"
    CLOSED = "quotes, or a bracket that closes: a colon after it needs no space"


def _token(yaml: str, at: int, after: _After) -> tuple[int, _After]:
    """Where the mark, the quoted text or the word here ends, and what it was."""
    mark = yaml[at]
    if mark in "[{," or (mark == ":" and after is _After.CLOSED):
        return at + 1, _After.MARK
    if mark in "]}":
        return at + 1, _After.CLOSED
    if mark in "\"'" and after is _After.MARK:
        return quoted_end(yaml, at), _After.CLOSED
    found = _WORD.match(yaml, at)
    end = found.end() if found else at + 1
    return end, _After.MARK if yaml[end - 1] == ":" else _After.TEXT
