"""A change as two columns: what each file held before, and what it holds after, line beside line."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from obsidian_mcp.vault.changes import Change, NotAsBefore, Rename, Restore, Trash, Write
from obsidian_mcp.vault.history import Difference

CONTEXT = 3  # lines around a difference
MOST_FILES = 100  # of one change
MOST_ROWS = 500  # of one file
MOST_COMPARED = 2_000  # lines; difflib takes quadratic time
LONGEST_LINE = 2_000  # characters

Text = bytes | None


@dataclass(frozen=True, slots=True)
class Row:
    """A line before and a line after, by number and text; one may be missing. Both missing: lines are skipped."""

    old: int | None = None
    before: str | None = None
    new: int | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """What was done to one file. `more` are rows that are left out; `is_text` is false for what is not UTF-8."""

    did: str
    path: str
    to: str | None = None
    rows: tuple[Row, ...] = ()
    more: int = 0
    is_text: bool = True


def compare(changes: Iterable[Change | Difference], read: Callable[[str], Text]) -> Iterator[Compared]:
    """`read` tells what a path holds now: of a long text only what differs was kept."""
    for change in changes:
        if isinstance(change, Rename):
            yield Compared("renamed", change.path, change.target)
        else:
            yield _compared(*_told(change, read), change.path)


def _told(change: Write | Trash | Restore | Difference, read: Callable[[str], Text]) -> tuple[str, Text, Text]:
    """What was done, and the texts before and after."""
    if isinstance(change, Difference):
        try:
            whole = change.write(read(change.path) or b"")
            return "changed", whole.before, whole.after
        except NotAsBefore:
            return "changed", change.before, change.after
    if isinstance(change, Trash):
        return "deleted", change.before, None
    if isinstance(change, Restore):
        return "put back", None, change.before
    verb = "created" if change.before is None else "removed" if change.after is None else "changed"
    return verb, change.before, change.after


def _compared(did: str, before: Text, after: Text, path: str) -> Compared:
    try:
        old, new = _lines(before), _lines(after)
    except UnicodeDecodeError:
        return Compared(did, path, is_text=False)
    rows = list(_rows(old, new))
    return Compared(did, path, None, tuple(rows[:MOST_ROWS]), max(0, len(rows) - MOST_ROWS))


def _lines(text: Text) -> list[str]:
    """None for no text; the end of the last line begins no further one."""
    if not text:
        return []
    return text.decode("utf-8").removesuffix("\n").split("\n")


def _rows(old: list[str], new: list[str]) -> Iterator[Row]:
    head = _same(old, new)
    tail = min(_same(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    start = max(0, head - CONTEXT)
    ends = (min(len(old), len(old) - tail + CONTEXT), min(len(new), len(new) - tail + CONTEXT))
    cut = (old[start : ends[0]], new[start : ends[1]])
    if old == new:
        return
    if start:
        yield Row()
    for number, group in enumerate(_groups(*cut)):
        if number:
            yield Row()
        for _, i, j, k, m in group:
            yield from _pairs(cut[0][i:j], cut[1][k:m], start + i + 1, start + k + 1)
    if ends[0] < len(old):
        yield Row()


def _same(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    most = min(len(one), len(other))
    return next((at for at in range(most) if one[at] != other[at]), most)


def _groups(old: list[str], new: list[str]) -> Iterator[list[tuple[str, int, int, int, int]]]:
    if len(old) + len(new) > MOST_COMPARED:
        yield [("replace", 0, len(old), 0, len(new))]
        return
    yield from difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT)


def _pairs(old: list[str], new: list[str], i: int, k: int) -> Iterator[Row]:
    for at in range(max(len(old), len(new))):
        left = (i + at, _shown(old[at])) if at < len(old) else (None, None)
        right = (k + at, _shown(new[at])) if at < len(new) else (None, None)
        yield Row(*left, *right)


def _shown(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
