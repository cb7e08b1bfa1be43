"""Replacing a text or a section of a note: what is meant, what is told when it can't be found, and what is refused."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from obsidian_mcp.errors import AmbiguousName, InvalidArguments, NoteNotFound
from obsidian_mcp.operations.passages import cut
from obsidian_mcp.operations.sectioning import section_in
from obsidian_mcp.vault import frontmatter, section_edits, text_edits
from obsidian_mcp.vault.line_ends import typed
from obsidian_mcp.vault.nearest import nearest
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.sections import Section, outline, section_at
from obsidian_mcp.vault.structure import Structure

MOST_PLACES = 8  # that an error lists
LONGEST_SHOWN, MOST_SHOWN = 160, 6  # characters of a line, and lines, of what is shown instead
LOOSE = "old_text was found once quotes, dashes, blanks and Unicode forms were taken as equal"


@dataclass(frozen=True, slots=True)
class Replaced:
    """A note's text after an edit: how many places were replaced, and what should be said of it."""

    text: str
    count: int
    note: str | None = None


def edited(
    path: VaultPath, text: str, new: str, old: str | None = None, section: str | None = None, all: bool = False
) -> Replaced:
    """The note with another text where `old` stands, or else in place of what is below the section's heading."""
    if old == "":
        raise InvalidArguments("old_text is empty.", "Give the text to replace, or leave old_text out.")
    if old is not None:
        done = _with_text(path, text, old, new, section, all)
    elif section is not None:
        done = _with_section(path, text, new, section)
    else:
        raise InvalidArguments(
            "Neither old_text nor section says what is to be replaced.",
            "Give old_text as it stands in the note, or the section whose text is to be replaced.",
        )
    require_frontmatter(path, text, done.text)
    return done


def _with_text(path: VaultPath, text: str, old: str, new: str, section: str | None, all: bool) -> Replaced:
    if typed(old) == typed(new):
        raise InvalidArguments("old_text and new_text are the same, so nothing would change.")
    structure = Structure(text, frontmatter.place(text)[2])
    part = None if section is None else section_in(path, structure, section)
    begin, end = (part.start, part.end) if part else (0, len(text))
    found = text_edits.places(text, old, begin, end, every=all)
    if not found.spans:
        raise _missing(path, structure, old, part)
    if len(found.spans) > 1 and (found.is_loose or not all):
        raise _several(path, structure, found.spans, part, found.is_loose)
    spans = text_edits.apart(found.spans)
    return Replaced(text_edits.replaced(text, spans, new), len(spans), f"{LOOSE}." if found.is_loose else None)


def _with_section(path: VaultPath, text: str, new: str, wanted: str) -> Replaced:
    structure = Structure(text, frontmatter.place(text)[2])
    section = section_in(path, structure, wanted)
    change = section_edits.with_body if section.level else section_edits.with_block
    with _fitting(path, section):
        done = change(structure, section, new)
    if done.text == text:
        raise InvalidArguments(f"{section.name} in {path} has this text already, so nothing would change.")
    return Replaced(done.text, 1, ". ".join(done.notes) + "." if done.notes else None)


def added(path: VaultPath, text: str, content: str, wanted: str, *, at_end: bool, inline: bool) -> str:
    """The note with the content at the end or the beginning of a section."""
    structure = Structure(text, frontmatter.place(text)[2])
    section = section_in(path, structure, wanted)
    change = section_edits.appended if at_end else section_edits.prepended
    with _fitting(path, section):
        return change(structure, section, content, inline).text


@contextlib.contextmanager
def _fitting(path: VaultPath, section: Section) -> Iterator[None]:
    """Turns what a section's edit refuses into a failure."""
    try:
        yield
    except section_edits.Spills as problem:
        raise InvalidArguments(
            f"The text does not fit into {section.name} of {path}: {problem}.",
            "Give a text that leaves nothing open and begins no heading there, or edit with old_text.",
            path=path.value,
        ) from None


def require_frontmatter(path: VaultPath, before: str, after: str) -> None:
    """Raise if the properties could be read before, and no longer can."""
    old = frontmatter.read(before)
    if not old.body or old.problem:
        return
    new = frontmatter.read(after)
    written = before[old.start : old.end].strip()
    is_lost = bool(written) and not new.body and written in after
    if new.problem or is_lost:
        why = new.problem or "They would no longer stand between two lines --- at the head of the note."
        raise InvalidArguments(
            f"The edit would make the properties of {path} unreadable. {why}",
            "Use obsidian_set_properties for properties, or give new_text that is valid YAML there.",
            path=path.value,
        )


# What is told


def _where(structure: Structure, sections: list[Section], at: int) -> str:
    line = structure.line_at(at)
    section = section_at(sections, line)
    return f"line {line}" + (f" ({section.name})" if section else "")


def _several(
    path: VaultPath, structure: Structure, spans: list[tuple[int, int]], part: Section | None, is_loose: bool
) -> AmbiguousName:
    sections = outline(structure, structure.text)
    shown = [
        f"{_where(structure, sections, begin)}: {_line(structure.text, begin)}" for begin, _ in spans[:MOST_PLACES]
    ]
    more = f"; and {len(spans) - MOST_PLACES} more" if len(spans) > MOST_PLACES else ""
    times = f"{len(spans)} times" + (" or more" if len(spans) == text_edits.MOST_FOUND else "")
    within = f"{part.name} of {path}" if part else str(path)
    how = " once quotes, dashes and blanks are taken as equal" if is_loose else ""
    all = "" if is_loose else ", or all=true to replace each"
    return AmbiguousName(
        f"old_text stands {times} in {within}{how}: {'; '.join(shown)}{more}.",
        f"Give more of the text around the one that is meant, or its section{all}.",
        path=path.value,
    )


def _missing(path: VaultPath, structure: Structure, old: str, part: Section | None) -> NoteNotFound:
    text = structure.text
    sections = outline(structure, text)
    if part is not None:
        elsewhere = text_edits.places(text, old, 0, len(text)).spans
        if any(begin < part.end and end > part.start for begin, end in elsewhere):
            return _crossing(path, part)
        if elsewhere:
            where = ", ".join(_where(structure, sections, begin) for begin, _ in elsewhere[:MOST_PLACES])
            return NoteNotFound(
                f"{part.name} of {path} does not have old_text; it stands in {where}.",
                "Give that section, or none.",
                path=path.value,
            )
    begin, end = (part.start, part.end) if part else (0, len(text))
    near = _nearest(text, old, begin, end)
    if near is None:
        within = f"{part.name} of {path}" if part else str(path)
        return NoteNotFound(
            f"{within} does not have old_text, nor anything like it.",
            "Leave section out, or read the note." if part else "Read the note.",
            path=path.value,
        )
    return NoteNotFound(
        f'{path} does not have old_text. The nearest is in {_where(structure, sections, near[0])}: "{near[1]}".',
        "Give old_text as it stands there.",
        path=path.value,
    )


def _crossing(path: VaultPath, part: Section) -> NoteNotFound:
    first, last = part.line, part.line + part.lines - 1
    return NoteNotFound(
        f"old_text is not all in {part.name} of {path}, which is lines {first} to {last}: it begins before or ends "
        "after them.",
        "Leave section out, or give only the part of old_text that is in it.",
        path=path.value,
    )


def _nearest(text: str, old: str, begin: int, end: int) -> tuple[int, str] | None:
    """Where the text is that is most like it, and what stands there on as many lines."""
    near = nearest(text, old, begin, end)
    if near is None:
        return None
    at, lines_before = near
    count = min(typed(old).strip().count("\n") + 1, MOST_SHOWN)
    start = max(begin, _line_before(text, at, min(lines_before, count - 1)))
    first, *further = text[start:end].split("\n", count)[:count]
    if start < at - LONGEST_SHOWN // 2 and not further:  # far into a long line
        first = "…" + first[at - start - LONGEST_SHOWN // 4 :].partition(" ")[2]
    return start, "\n".join(cut(line.rstrip("\r"), LONGEST_SHOWN) for line in (first, *further))


def _line_before(text: str, at: int, count: int) -> int:
    """Where the line begins that is so many before the one that this is in."""
    for _ in range(count + 1):
        at = max(0, text.rfind("\n", 0, at))
    return at + text.startswith("\n", at)


def _line(text: str, at: int) -> str:
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    return cut(text[start : len(text) if end < 0 else end].strip(), 80)
