"""Changing a section or a block of a note, and nothing around it.

What a person sees between two sections belongs to neither: blank lines at the edges of a section stay as they are.
After each edit the note is read again: every heading and block outside the place must still be there. A code block that
the new text leaves open, or a line that would turn the paragraph before it into a heading, is refused, unless a blank
line is all that it takes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from obsidian_mcp.vault.line_ends import as_at, end_at, typed
from obsidian_mcp.vault.sections import Section, same_heading
from obsidian_mcp.vault.structure import Heading, Structure

_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*(?:\n|\Z)")
_SETEXT = re.compile(r" {0,3}(\S.*)\n {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")
_MARK = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")


class Spills(Exception):
    """What was outside the place would become something else; says what."""


@dataclass(frozen=True, slots=True)
class Edited:
    text: str
    notes: tuple[str, ...] = ()


def with_body(structure: Structure, section: Section, new: str) -> Edited:
    """The text below a section's heading replaced, with its sub-sections."""
    text = structure.text
    heading = next(heading for heading in structure.headings if heading.start == section.start)
    body, repeated = _without_heading(typed(new), heading)
    old = text[section.body : section.end]
    core = old.rstrip(" \t\r\n")
    lead = "" if not core or body.startswith("\n") else _BLANK_LINES.match(core)[0]  # type: ignore[index]
    tail = old[len(core) :]
    if not body.strip():
        middle = re.sub(r"\A[ \t]*\r?\n", "", tail, count=1) if core else tail
    elif tail:
        middle = (
            lead + as_at(text, section.body, body.rstrip("\n")) + (tail if core else _own_line(text, section, tail))
        )
    else:
        middle = lead + as_at(text, section.body, body)
    edited = _checked(structure, section.body, section.end, _on_new_line(text, section.body, middle))
    return Edited(edited.text, (*repeated, *_told_headings(structure, section, body)))


def _own_line(text: str, section: Section, tail: str) -> str:
    """What follows the new text of a section that had none."""
    return end_at(text, section.body) + tail if section.end < len(text) else end_at(text, section.body)


def _on_new_line(text: str, at: int, content: str) -> str:
    """What begins there begins a line, also after a heading that ends the note."""
    begins = not at or text[at - 1] == "\n" or not content
    return content if begins else end_at(text, at) + content


def _without_heading(new: str, heading: Heading) -> tuple[str, tuple[str, ...]]:
    """Without the section's own heading, if it is repeated at the head."""
    found = _ATX.match(new) or _SETEXT.match(new)
    if found is None or not same_heading(found[1] or "", heading.text):
        return new, ()
    return new[found.end() :], ("The heading repeated at the head of new_text was left out",)


def _told_headings(structure: Structure, section: Section, body: str) -> Iterator[str]:
    old = Counter(each.text for each in structure.headings if section.body <= each.start < section.end)
    new = Structure(body, 0).headings
    gone = list((old - Counter(each.text for each in new)).elements())
    if gone:
        yield f"With the section went the headings {'; '.join(gone)}"
    above = [each.text for each in new if each.level <= section.level]
    if above:
        yield f"The heading {above[0]} is not below {section.name}, so it begins a section of its own"


def appended(structure: Structure, section: Section, content: str, inline: bool) -> Edited:
    """At the end of a section, after its sub-sections, on the line after its last one."""
    text = structure.text
    last = section.start + len(text[section.start : section.end].rstrip(" \t\r\n"))
    at = _line_end(text, last)
    new = as_at(text, at, content)
    if at < len(text) and not inline:
        new = re.sub(r"\r?\n\Z", "", new)
    return _checked(structure, at, at, new if inline else end_at(text, at) + new)


def prepended(structure: Structure, section: Section, content: str, inline: bool) -> Edited:
    """Right below a section's heading; before a block."""
    text, at = structure.text, section.body
    new = _on_new_line(text, at, as_at(text, at, content))
    if not inline and not new.endswith("\n"):
        new += end_at(text, at)
    return _checked(structure, at, at, new)


def with_block(structure: Structure, section: Section, new: str) -> Edited:
    """A block's own text replaced; its id stays, and so do an item's mark and its children."""
    text, id = structure.text, section.name.removeprefix("^")
    ending = re.compile(rf"[ \t]+\^{re.escape(id)}[ \t]*$", re.IGNORECASE | re.MULTILINE)
    written = ending.search(text, section.start, section.end)
    content = re.sub(rf"(?:\A|[ \t\n]+)\^{re.escape(id)}\s*\Z", "", typed(new).rstrip("\n"), flags=re.IGNORECASE)
    stop = _before_id(text, section.end, id) if written is None else written.end()
    content = _as_item(text, section.start, content)
    kept = "" if written is None else written[0]
    notes = ("What is below the item stays",) if stop < section.end else ()
    edited = _checked(structure, section.start, stop, as_at(text, section.start, content) + kept)
    if sum(block.id.lower() == id.lower() for block in Structure(edited.text, structure.body).blocks) != 1:
        raise Spills(f"the block ^{id} would no longer be one")
    return Edited(edited.text, notes)


def _before_id(text: str, at: int, id: str) -> int:
    """Where the block ends whose id stands on a line of its own after it."""
    line = re.compile(rf"^[ \t]*\^{re.escape(id)}[ \t]*\r?$", re.IGNORECASE | re.MULTILINE).search(text, at)
    return max(at, len(text[: line.start()].rstrip(" \t\r\n"))) if line else at


def _as_item(text: str, start: int, content: str) -> str:
    """With the mark of the item that it replaces, and its further lines indented as that needs."""
    mark = _MARK.match(text, start)
    if mark is None:
        return content
    own = _MARK.match(content)
    prefix = "" if own else mark[0]
    column = start - (text.rfind("\n", 0, start) + 1)
    indent = " " * (column + len((own or mark)[0].split("[")[0]))
    first, *further = content.split("\n")
    return "\n".join(
        (prefix + first, *(line if not line or line.startswith(indent) else indent + line for line in further))
    )


# What is outside


def _checked(structure: Structure, begin: int, end: int, new: str) -> Edited:
    """The note with another text between the two places, with blank lines around it if only that keeps the rest."""
    text = structure.text
    blank = end_at(text, begin)
    for middle in (new, blank + new, new + blank, blank + new + blank):
        edited = text[:begin] + middle + text[end:]
        after = Structure(edited, structure.body)
        if _outside(structure, begin, end) == _outside(after, begin, begin + len(middle)):
            return Edited(edited)
    raise Spills(_spilled(structure, begin, end, text[:begin] + new + text[end:], begin + len(new)))


def _outside(structure: Structure, begin: int, end: int) -> list[tuple[int, str]]:
    """The headings that begin outside a place."""
    return [(each.level, each.text) for each in structure.headings if not begin <= each.start < end]


def _spilled(structure: Structure, begin: int, end: int, edited: str, stop: int) -> str:
    before = Counter(_outside(structure, begin, end))
    after = Counter(_outside(Structure(edited, structure.body), begin, stop))
    gone = [text for _, text in (before - after).elements()]
    if gone:
        return f"the heading {gone[0]} after it would no longer be one; a code block or comment in the new text is open"
    return "a line before it would become a heading"


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - text.endswith("\r", 0, end)
