"""What a change did to a text, as a short unified diff for a reply."""

from __future__ import annotations

import difflib

from obsidian_mcp.alike import common_ends

CONTEXT = 1  # lines around a change
MOST_LINES, LONGEST_LINE = 40, 160
MOST_COMPARED = 2_000  # lines; difflib takes quadratic time


def unified(before: str, after: str) -> str:
    """Without the lines that name the files. Line ends are not shown; what is longer is cut, and says so."""
    first, old, new = _differing(before, after)
    if len(old) + len(new) > MOST_COMPARED:
        return f"@@ -{first + 1},{len(old)} +{first + 1},{len(new)} @@"
    lines = list(difflib.unified_diff(old, new, lineterm="", n=CONTEXT))[2:]
    shown = [_moved(line, first) if line.startswith("@@") else _cut(line) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"… {len(lines) - MOST_LINES} more lines")
    return "\n".join(shown)


def _differing(before: str, after: str) -> tuple[int, list[str], list[str]]:
    """The lines between what both begin with and what both end with, with a little around them; and how many lines
    stand before. A note may be long: only those lines are cut out of it.
    """
    start, tail = common_ends(before, after)
    for _ in range(CONTEXT + 1):
        start = before.rfind("\n", 0, start)
        if start < 0:
            break
    start += 1
    old, new = (text[start : _with_lines_after(text, len(text) - tail)].split("\n") for text in (before, after))
    return before.count("\n", 0, start), old, new


def _with_lines_after(text: str, at: int) -> int:
    for _ in range(CONTEXT + 1):
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        at = end + 1
    return at - 1


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
