"""Changing a section or a block of a note, and nothing around it.

What a person sees between two sections belongs to neither: blank lines at the edges of a section stay as they are.
After each edit the note is read again: every heading, named block and task outside the place must be there, and no
text have become code or a comment. Blank lines around the new text are tried where that does not hold; if they don't
help, the edit is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from obsidian_mcp.vault.line_ends import as_at, end_at, typed
from obsidian_mcp.vault.sections import Section, same_heading
from obsidian_mcp.vault.structure import Heading, Structure, line_end

_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*(?:\n|\Z)")
_SETEXT = re.compile(r" {0,3}(\S.*)\n {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")
_BOX = re.compile(r"\[.\][ \t]")
_JOINED = re.compile(r"[ \t]*(?:((?:[-*+]|[0-9]{1,9}[.)])[ \t])|(\|)|(>)|(\[\^[^\]]+\]:)|(</?[a-zA-Z]))")
_SETTINGS = re.compile(r"^%% kanban:settings[ \t]*\r?\n", re.MULTILINE)
_MARK = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")


class Spills(Exception):
    """What was outside the place would become something else; says what."""


@dataclass(frozen=True, slots=True)
class Edited:
    text: str
    notes: tuple[str, ...] = ()


def with_body(structure: Structure, section: Section, new: str) -> Edited:
    """The text below a section's heading replaced, with its sub-sections."""
    text, section = structure.text, _without_settings(structure.text, section)
    heading = next(heading for heading in structure.headings if heading.start == section.start)
    body, repeated = _without_heading(typed(new), heading)
    old = text[section.body : section.end]
    core = old.rstrip(" \t\r\n")
    lead = "" if body.startswith("\n") else _blank_lines(core)
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


def _blank_lines(text: str) -> str:
    """Those at its head."""
    found = _BLANK_LINES.match(text)
    return found[0] if found else ""


def _own_line(text: str, section: Section, tail: str) -> str:
    """What follows the new text of a section that had none."""
    return end_at(text, section.body) + tail if section.end < len(text) else end_at(text, section.body)


def _on_new_line(text: str, at: int, content: str) -> str:
    """What begins there begins a line, also after a heading that ends the note."""
    begins = not at or text[at - 1] == "\n" or text[:at] == "\ufeff" or not content
    return content if begins else end_at(text, at) + content


def _without_heading(new: str, heading: Heading) -> tuple[str, tuple[str, ...]]:
    """Without the section's own heading, if it is repeated at the head."""
    bare = new.lstrip("\n")
    found = _ATX.match(bare) or _SETEXT.match(bare)
    if found is None or not same_heading(found[1] or "", heading.text):
        return new, ()
    return bare[found.end() :], ("The heading repeated at the head of new_text was left out",)


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
    text, section = structure.text, _without_settings(structure.text, section)
    last = section.start + len(text[section.start : section.end].rstrip(" \t\r\n"))
    at = line_end(text, last)
    if not section.level:
        id = section.name.removeprefix("^")
        at = _before_own_id(text, section, id) if inline else max(at, _after_id(text, at, id))
    after = _after_line(text, at)  # the line keeps its own end, whatever the one before it has
    new, newline = as_at(text, after, content), end_at(text, after)
    if at < len(text) and not inline:
        new = re.sub(r"\r?\n\Z", "", new)
    apart = "" if inline or _joins(text, last, new) else newline
    return _checked(structure, at, at, new if inline else newline + apart + new)


def _after_line(text: str, at: int) -> int:
    """After the end of a line that stands here."""
    return at + (2 if text.startswith("\r\n", at) else int(text.startswith("\n", at)))


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
    if not content.strip():
        raise Spills(f"without a text ^{id} would name something else")
    content = _as_item(text, section.start, content)
    kept = "" if written is None else written[0]
    notes = ("What is below the item stays",) if stop < section.end else ()
    edited = _checked(structure, section.start, stop, as_at(text, section.start, content) + kept)
    named = [block.start for block in Structure(edited.text).blocks if block.id.lower() == id.lower()]
    if named != [section.start]:
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
    prefix = "" if own else mark[0].partition("[")[0] if _BOX.match(content) else mark[0]
    column = start - (text.rfind("\n", 0, start) + 1)
    indent = " " * (column + len((own or mark)[0].split("[")[0]))
    first, *further = content.split("\n")
    return "\n".join(
        (prefix + first, *(line if not line or line.startswith(indent) else indent + line for line in further))
    )


# What is outside


def _without_settings(text: str, section: Section) -> Section:
    """Kanban keeps its settings in a comment after the last column, of which they are no part."""
    found = _SETTINGS.search(text, section.body, section.end) if section.end == len(text) else None
    return replace(section, end=found.start()) if found else section


def _joins(text: str, last: int, content: str) -> bool:
    """Whether a text may go on with what the last line is. Else a blank line sets it off: a paragraph would become part
    of the list, table or quote before it.
    """
    line = _JOINED.match(text, text.rfind("\n", 0, last) + 1)
    if line is None:
        return True
    other = _JOINED.match(content)
    return content[:1] in " \t\r\n" or (other is not None and other.lastindex == line.lastindex)


def _after_id(text: str, at: int, id: str) -> int:
    """After an id that stands on a line of its own after its block."""
    found = re.compile(rf"\s*^[ \t]*\^{re.escape(id)}[ \t]*(?=\r?$)", re.IGNORECASE | re.MULTILINE).match(text, at)
    return found.end() if found else at


def _before_own_id(text: str, section: Section, id: str) -> int:
    """Before an id at the end of a line of its block, which must stay the last of that line; else the block's end."""
    found = re.compile(rf"[ \t]+\^{re.escape(id)}[ \t]*\r?$", re.IGNORECASE | re.MULTILINE).search(
        text, section.start, section.end
    )
    return found.start() if found else section.end


def _checked(structure: Structure, begin: int, end: int, new: str) -> Edited:
    """The note with another text between the two places, with blank lines around it if only that keeps the rest."""
    text = structure.text
    blank = end_at(text, begin)
    for middle in (new, blank + new, new + blank, blank + new + blank):
        edited = text[:begin] + middle + text[end:]
        if _outside(structure, begin, end) == _outside(Structure(edited), begin, begin + len(middle)):
            return Edited(edited)
    raise Spills(_spilled(structure, begin, end, text[:begin] + new + text[end:], begin + len(new)))


def _outside(structure: Structure, begin: int, end: int) -> list[tuple[str, object]]:
    """What begins outside a place: headings, named blocks, tasks, and what is no text, such as code."""
    found: list[tuple[str, int, object]] = []
    found += (("heading", each.start, (each.level, each.text)) for each in structure.headings)
    found += (("block", each.start, each.id) for each in structure.blocks)
    found += (("task", each.start, each.text) for each in structure.tasks)
    found += (("hidden", start, structure.text[start:stop]) for start, stop in structure.raw)
    return [(kind, what) for kind, start, what in found if not begin <= start < end]


def _spilled(structure: Structure, begin: int, end: int, edited: str, stop: int) -> str:
    before = Counter(_outside(structure, begin, end))
    after = Counter(_outside(Structure(edited), begin, stop))
    for kind, what in (before - after).elements():
        if kind != "hidden":
            return f"the {kind} {what[1] if isinstance(what, tuple) else what} around it would no longer be one"
    return "it would make what stands around it a heading, code or a comment"
