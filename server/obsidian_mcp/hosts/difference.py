"""What changes in a host's file, line by line as `diff -U0` shows it. Pure.

Nothing of what stands around is shown: it may be private. Where a file is one long line, or a comma goes to the end of
another's line, only the change itself is, with … for the rest of that line.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import SequenceMatcher

from obsidian_mcp.alike import common_ends

LONGEST_LINE = 160
MOST_COMPARED = 250_000  # pairs of lines
NOWHERE = "/dev/null"
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def unified(file: str, before: str | None, after: str | None, own: Collection[str] = ()) -> list[str]:
    """`own` are the words that may be shown wherever they stand."""
    if before == after:
        return []
    first, gone, come = _changed_lines(before or "", after or "", own)
    heads = [f"--- {file if before is not None else NOWHERE}", f"+++ {file if after is not None else NOWHERE}"]
    return [*heads, *_hunks(first, gone, come)]


def _changed_lines(old: str, new: str, own: Collection[str]) -> tuple[int, list[str], list[str]]:
    """The number of the first line that changes, the lines that go, and those that come."""
    start, end = common_ends(old, new)
    head = old.rfind("\n", 0, start) + 1
    before = _masked(old[head:start], own)
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    after = ""
    if not all(text.endswith("\n") or not (text or before) for text in (gone, come)):
        after = _masked(old[len(old) - end :].partition("\n")[0].rstrip("\r"), own)
    first = old.count("\n", 0, head) + 1
    return first, _lines(f"{before}{gone}{after}"), _lines(f"{before}{come}{after}")


def _masked(text: str, own: Collection[str]) -> str:
    """The part of a line that doesn't change, unless all of it is ours."""
    if len(text) <= LONGEST_LINE:
        rest = _TEXT.sub(lambda found: "" if found[1] in own else found[0], text)
        if not any(mark.isalnum() for mark in rest):
            return text
    return text[: len(text) - len(text.lstrip(" \t"))] + "…"


def _lines(text: str) -> list[str]:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def _hunks(first: int, gone: list[str], come: list[str]) -> list[str]:
    """Lines that stay between two changes are left out as well."""
    steps = [("replace", 0, len(gone), 0, len(come))]
    if len(gone) * len(come) <= MOST_COMPARED:
        steps = [*SequenceMatcher(None, gone, come, autojunk=False).get_opcodes()]
    shown = []
    for what, old_from, old_to, new_from, new_to in steps:
        if what == "equal":
            continue
        shown.append(f"@@ -{_range(first, old_from, old_to)} +{_range(first, new_from, new_to)} @@")
        shown += [f"-{_short(line)}" for line in gone[old_from:old_to]]
        shown += [f"+{_short(line)}" for line in come[new_from:new_to]]
    return shown


def _range(first: int, begin: int, end: int) -> str:
    """As diff writes it: an empty range is named by the line before it."""
    count = end - begin
    line = first + begin - (count == 0)
    return str(line) if count == 1 else f"{line},{count}"


def _short(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …"
