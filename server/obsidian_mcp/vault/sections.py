"""The sections of a note, and how they are named.

A section goes from its heading to the next one of the same or a higher level. Its name is what a caller would write:
the heading's text where one heading alone has it, else with as many of the headings above it as it takes (`Parent >
Child`), and where another heading is alike all the way up, with a number, the first one too: a bare name that two have
is the name of neither. Each name is found again as that very section.

What a person or a model writes is taken more freely: with `#`s, as in a link, and by Obsidian's own comparison, which
leaves out case and most punctuation. What could mean two sections means none: an edit must never hit the wrong one.
"""

from __future__ import annotations

import bisect
import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.structure import Block, Heading, Structure

WITHOUT_TEXT = "(no text)"  # what a heading is called that has none
MOST_NAMES, NEAREST = 20, 5
_LONGEST = 200  # of a heading's text in names, so that a hostile note has no outline longer than itself
_BETWEEN = " > "
_UNIMPORTANT = re.compile(r"[!\"#$%&(*+),.:;<=>?@^`{|}~/\[\]\\\r\n\s]+")
_NUMBERED = re.compile(r"(.+) \(([1-9][0-9]{0,5})\)", re.DOTALL)
_HASHES = re.compile(r"#+[ \t]*")
_MARKS = re.compile(r"(#{1,6})[ \t]+[^#>]+", re.DOTALL)  # and no path: then they could be those of its first heading


@dataclass(frozen=True, slots=True)
class Section:
    """`start` is where its heading begins, `body` where what is under it does. A block has the level 0."""

    name: str
    level: int
    line: int
    lines: int
    start: int
    body: int
    end: int


class NoSection(Exception):
    """There is no such section, or `several` could be meant. `nearest` are names that can be asked for."""

    def __init__(self, wanted: str, several: list[Section], nearest: list[str]) -> None:
        super().__init__(wanted)
        self.wanted = wanted
        self.several = several
        self.nearest = nearest


@dataclass(frozen=True, slots=True)
class _Titled:
    """A section with the texts of the headings it lies under, its own last."""

    section: Section
    path: tuple[str, ...]


def outline(structure: Structure, text: str) -> list[Section]:
    return [titled.section for titled in _titled(structure, text)]


def section_at(sections: list[Section], line: int) -> Section | None:
    """The innermost one that the line lies in."""
    number = bisect.bisect_right(sections, line, key=lambda section: section.line) - 1
    while number >= 0 and line >= sections[number].line + sections[number].lines:
        number -= 1
    return sections[number] if number >= 0 else None


def flat(structure: Structure, text: str) -> list[tuple[int, int]]:
    """From each heading to the next, whatever their levels, as Obsidian's search has it; and what is before them."""
    places = [structure.body, *(heading.start for heading in structure.headings), len(text)]
    return [(start, end) for start, end in pairwise(places) if start < end]


def find(structure: Structure, text: str, wanted: str) -> Section:
    """The section or block that is meant. Raises NoSection."""
    sections = _titled(structure, text)
    for titled in sections:
        if titled.section.name == wanted:
            return titled.section
    asked = wanted.strip()
    if asked.lstrip("#").startswith("^"):
        return _block(structure, text, wanted, asked.lstrip("#"))
    several = _of_level(_matching(sections, asked), asked)
    if len(several) == 1:
        return several[0]
    raise NoSection(wanted, several, nearest(asked, [titled.section.name for titled in sections]))


def nearest(wanted: str, names: list[str]) -> list[str]:
    """All names, or of many those that look most like it."""
    return names if len(names) <= MOST_NAMES else heapq.nlargest(NEAREST, names, key=likeness(wanted))


# The sections with their names


def _titled(structure: Structure, text: str) -> list[_Titled]:
    headings = structure.headings
    paths = _paths(headings)
    ends = _ends(headings)
    last = text.count("\n") + (not text.endswith("\n"))
    found = []
    for heading, path, end, name in zip(headings, paths, ends, _names(paths), strict=True):
        place = headings[end].start if end < len(headings) else len(text)
        after = headings[end].line if end < len(headings) else last + 1
        section = Section(name, heading.level, heading.line, after - heading.line, heading.start, heading.body, place)
        found.append(_Titled(section, path))
    return found


def _paths(headings: list[Heading]) -> list[tuple[str, ...]]:
    above: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    paths = []
    for heading in headings:
        while above[-1][0] >= heading.level:
            above.pop()
        path = (*above[-1][1], heading.text or WITHOUT_TEXT)
        above.append((heading.level, path))
        paths.append(path)
    return paths


def _ends(headings: list[Heading]) -> list[int]:
    """For each heading the number of the one that ends its section."""
    ends = [len(headings)] * len(headings)
    above: list[int] = []
    for number, heading in enumerate(headings):
        while above and headings[above[-1]].level >= heading.level:
            ends[above.pop()] = number
        above.append(number)
    return ends


def _names(paths: list[tuple[str, ...]]) -> list[str]:
    """The text if no other section has it, or the shortest path that is not another's path or text. Else the whole
    path with a number, and never one that is a path or text itself.
    """
    forms = [list(dict.fromkeys(_forms(path))) for path in paths]
    texts = Counter(several[0] for several in forms)
    bearers = Counter(form for several in forms for form in several)
    counts: Counter[str] = Counter()
    taken = set(bearers)
    names = []
    for several in forms:
        text, *longer = several
        counts.update(several)
        name = text if texts[text] == 1 else next((form for form in longer if bearers[form] == 1), "")
        if not name:
            name = several[-1]
            while name in taken:
                name = f"{name} ({counts[several[-1]]})"
            taken.add(name)
        names.append(name)
    return names


def _forms(path: tuple[str, ...]) -> Iterator[str]:
    """How a section could be named, the shortest first. With a ^ it would be a block."""
    titles = [title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…" for title in path]
    for first in range(len(titles) - 1, -1, -1):
        form = _BETWEEN.join(titles[first:])
        yield f"# {form}" if form.startswith("^") else form


# What is asked for


def _matching(sections: list[_Titled], asked: str) -> list[Section]:
    """The sections that the most exact of all readings finds."""
    if found := _by_titles(sections, asked):
        return found
    numbered = _NUMBERED.fullmatch(asked)
    return _by_titles(sections, numbered[1])[int(numbered[2]) - 1 :][:1] if numbered else []


def _of_level(several: list[Section], asked: str) -> list[Section]:
    """Of several, those of the level that the marks before the text give, if there are any."""
    marks = _MARKS.fullmatch(asked)
    if len(several) < 2 or marks is None:
        return several
    return [section for section in several if section.level == len(marks[1])] or several


def _by_titles(sections: list[_Titled], asked: str) -> list[Section]:
    """By a heading's text or its path: as it is written, and else by all that Obsidian would take for the same."""
    bare = _HASHES.sub("", asked, count=1) if asked.startswith("#") else asked
    readings = [[asked], [bare], bare.split(_BETWEEN), bare.split(">"), asked.split("#")]
    for reading in readings:
        path = [part for part in map(str.strip, reading) if part]
        if found := [titled.section for titled in sections if _is_on(path, titled.path)]:
            return found
    normal = cache(_normal)
    paths = [[part for part in map(normal, reading) if part] for reading in readings]
    spelled = [(titled.section, tuple(map(normal, titled.path))) for titled in sections]
    return [section for section, titles in spelled if any(_is_on(path, titles) for path in paths)]


def _is_on(path: list[str], titles: tuple[str, ...]) -> bool:
    """Whether a heading's path ends as this one does and has the others in this order; some may be left out."""
    above = iter(titles[:-1])
    return bool(path) and path[-1] == titles[-1] and all(part in above for part in path[:-1])


def same_heading(one: str, other: str) -> bool:
    return _normal(one) == _normal(other)


def _normal(text: str) -> str:
    """As Obsidian compares a link's heading; and any Unicode form."""
    return fold(_UNIMPORTANT.sub(" ", text).strip())


def _block(structure: Structure, text: str, wanted: str, asked: str) -> Section:
    id = asked.removeprefix("^").strip().lower()
    several = [_as_section(block, text) for block in structure.blocks if block.id.lower() == id]
    if len(several) == 1:
        return several[0]
    raise NoSection(wanted, several, nearest(asked, _once(f"^{block.id}" for block in structure.blocks)))


def _as_section(block: Block, text: str) -> Section:
    lines = text.count("\n", block.start, block.end) + 1
    return Section(f"^{block.id}", 0, block.line, lines, block.start, block.start, block.end)


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _pairs(text: str) -> frozenset[str]:
    folded = f" {fold(text[:_LONGEST])} "
    return frozenset(folded[at : at + 2] for at in range(len(folded) - 1))


def likeness(wanted: str) -> Callable[[str], float]:
    """How much a text is like this one: the pairs of letters that they share (the coefficient of Dice)."""
    pairs = _pairs(wanted)

    def like(other: str) -> float:
        theirs = _pairs(other)
        return 2 * len(pairs & theirs) / (len(pairs) + len(theirs))

    return like
