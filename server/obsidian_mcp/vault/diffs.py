"""What a change did to a text, as a short unified diff for a reply."""

from __future__ import annotations

import difflib

CONTEXT = 1  # lines around a change
MOST_LINES, LONGEST_LINE = 40, 160
MOST_COMPARED = 2_000  # lines; difflib takes quadratic time


def unified(before: str, after: str) -> str:
    """Without the lines that name the files. Line ends are not shown; what is longer is cut, and says so."""
    first, old, new = _differing(before.split("\n"), after.split("\n"))
    if len(old) + len(new) > MOST_COMPARED:
        return f"@@ -{first + 1},{len(old)} +{first + 1},{len(new)} @@"
    lines = list(difflib.unified_diff(old, new, lineterm="", n=CONTEXT))[2:]
    shown = [_moved(line, first) if line.startswith("@@") else _cut(line) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"… {len(lines) - MOST_LINES} more lines")
    return "\n".join(shown)


def _differing(old: list[str], new: list[str]) -> tuple[int, list[str], list[str]]:
    """The lines between what both begin with and what both end with, with a little around them; and how many lines
    stand before.
    """
    same = min(len(old), len(new))
    head = next((at for at in range(same) if old[at] != new[at]), same)
    tail = next((at for at in range(same - head) if old[-1 - at] != new[-1 - at]), same - head)
    first, after = max(0, head - CONTEXT), max(0, tail - CONTEXT)
    return first, old[first : len(old) - after], new[first : len(new) - after]


def _moved(header: str, by: int) -> str:
    """A header of a hunk, for the whole text."""
    _, old, new, _ = header.split(" ")
    return f"@@ -{_range(old, by)} +{_range(new, by)} @@"


def _range(written: str, by: int) -> str:
    start, comma, count = written[1:].partition(",")
    return f"{int(start) + by}{comma}{count}"


def _cut(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
