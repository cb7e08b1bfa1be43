"""A heading under another name, and the links to it.

A link names a heading by its text, or by a path of headings (`#Parent#Child`, some of which may be left out). It is
looked up as Obsidian does: from the top, each part the next heading of that text that is deeper than the last; case and
most punctuation don't count. A link is rewritten where it passes through the renamed heading, and there alone: of
`[[Note#Parent#Old|x]]` the letters of `Old`. The law: every link leads to the heading that it led to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from obsidian_mcp.vault.links.coding import Coded
from obsidian_mcp.vault.links.inline import bare_end
from obsidian_mcp.vault.links.link import Form, Link
from obsidian_mcp.vault.links.link_rewrites import leads_to
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.links.writing import Rewrite, apply, in_its_form
from obsidian_mcp.vault.sections import same_heading
from obsidian_mcp.vault.structure import Heading, Structure

_ATX = re.compile(r"\ufeff? {0,3}#{1,6}[ \t]+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SUBPATH = re.compile(r'(?<!\\)"subpath"\s*:\s*"(?P<value>#(?>(?:[^"\\]+|\\.)*))"')
# What Obsidian leaves out when it makes a link to a heading; and all that doesn't count when one is looked up.
_LEFT_OUT = re.compile(r"(?:[:#|^\\\r\n\[\]]|%%)+")
_UNIMPORTANT = re.compile(r"[!\"#$%&(*+),.:;<=>?@^`{|}~/\[\]\\\r\n]+")


class NotReadBack(Exception):
    """With the new text, the heading or a link to it would be read as something else."""


def renamed(text: str, number: int, new: str) -> str:
    """The note with another text for its heading of that number. Level, closing #s and underlining stay."""
    headings = Structure(text).headings
    begin, end = _title(text, headings[number])
    after = text[:begin] + new + text[end:]
    expected = [(each.text, each.level) for each in headings]
    expected[number] = (new, headings[number].level)
    if [(each.text, each.level) for each in Structure(after).headings] != expected:
        raise NotReadBack
    return after


def _title(text: str, heading: Heading) -> tuple[int, int]:
    """Where a heading's text stands, of one that is underlined perhaps over several lines."""
    marks = _ATX.match(text, heading.start)
    if marks and text.startswith(heading.text, marks.end()):
        return marks.end(), marks.end() + len(heading.text)
    lines = text[heading.start : heading.body].rstrip("\r\n")
    title = lines[: lines.rfind("\n") + 1].rstrip()
    return heading.start + len(title) - len(title.lstrip("\ufeff \t")), heading.start + len(title)


# Which heading a link leads to


class Headings:
    """The headings of a note, as links look them up."""

    def __init__(self, texts: Sequence[str], levels: Sequence[int]) -> None:
        self._texts = texts
        self._levels = levels
        self._known: dict[str, list[int]] = {}

    @classmethod
    def of(cls, headings: Sequence[Heading]) -> Headings:
        return cls([heading.text for heading in headings], [heading.level for heading in headings])

    def with_text(self, number: int, text: str) -> Headings:
        return Headings([text if at == number else each for at, each in enumerate(self._texts)], self._levels)

    def same(self, text: str) -> list[int]:
        """The numbers of those that are the same to a link."""
        if text not in self._known:
            self._known[text] = [at for at, each in enumerate(self._texts) if same_heading(each, text)]
        return self._known[text]

    def walked(self, path: Sequence[str]) -> list[int]:
        """The heading that each part of a path means; empty if there is no such path, or it is a block's."""
        if not path or path[0].startswith(("^", "[^")):
            return []
        found: list[int] = []
        at, level = 0, 0
        for part in path:
            number = next((each for each in self.same(part) if each >= at and self._levels[each] > level), None)
            if number is None:
                return []
            found.append(number)
            at, level = number + 1, self._levels[number]
        return found


# The links


@dataclass(frozen=True, slots=True)
class HeadingRename:
    """A heading of a note (`number` of its `headings`) on its way to another text."""

    path: str
    headings: Headings
    number: int
    new: str

    def rewrites(self, at: str, text: str, vault: Resolver) -> list[Rewrite]:
        """What must be rewritten in one file. Raises NotReadBack."""
        links = links_in(at, text, with_own=True)
        led = self._led(at, text, links, vault, self.headings)
        found = [
            part
            for link, path in zip(links, led, strict=True)
            for part, number in zip(parts_of(text, link) if path else (), path, strict=True)
            if number == self.number
        ]
        if not found:
            return []
        after = self.headings.with_text(self.number, self.new)
        for spelling in (_LEFT_OUT.sub(" ", self.new), _UNIMPORTANT.sub(" ", self.new)):
            rewrites = [in_its_form(text, part, " ".join(spelling.split())) for part in found]
            result = apply(text, rewrites)
            now = self._led(at, result, links_in(at, result, with_own=True), vault, after)
            if len(now) == len(led) and all(was in ([], there) for was, there in zip(led, now, strict=True)):
                return rewrites
        raise NotReadBack

    def _led(self, at: str, text: str, links: Sequence[Link], vault: Resolver, headings: Headings) -> list[list[int]]:
        """For each link the headings on its way; none where it leads elsewhere."""
        return [
            headings.walked([part.target for part in parts_of(text, link)])
            if leads_to(vault, link, at) == self.path
            else []
            for link in links
        ]


def parts_of(text: str, link: Link) -> list[Link]:
    """The headings that a link names after its target, each as a link of the same form would be written."""
    start, end = _subpath(text, link)
    return list(_parts(text, start, end, link)) if start < end else []


def _parts(text: str, start: int, end: int, link: Link) -> Iterator[Link]:
    for written in re.finditer("[^#]+", text[start:end]):
        bare = written[0].strip()
        if bare:
            begin = start + written.start() + written[0].index(bare)
            yield Link(begin, begin + len(bare), link.form, _read(text, begin, len(bare), link), link.coding)


def _read(text: str, begin: int, length: int, link: Link) -> str:
    said = Coded(text, begin, begin + length, link.coding).text
    if link.form in (Form.MARKDOWN, Form.ANGLE):
        return unquote(_ESCAPED.sub(r"\1", said), errors="surrogateescape")
    return said


def _subpath(text: str, link: Link) -> tuple[int, int]:
    """From the first # on; nothing if there is none."""
    if link.form is Form.CANVAS:
        return _subpath_of_node(text, link)
    if link.form is Form.WIKI:
        inside = text[link.end : max(link.end, text.find("]]", link.end))]
        inside = inside.partition("|")[0].rstrip("\\")  # in a table the bar is escaped
    elif link.form is Form.ANGLE:
        inside = text[link.end : max(link.end, text.find(">", link.end))]
    else:
        inside = text[link.end : max(link.end, bare_end(text, link.start))]
    return (link.end, link.end + len(inside)) if inside.lstrip().startswith("#") else (0, 0)


def _subpath_of_node(text: str, link: Link) -> tuple[int, int]:
    """A node of a canvas has it beside its file."""
    begin, end = text.rfind("{", 0, link.start), text.find("}", link.end)
    found = _SUBPATH.search(text, begin, end) if 0 <= begin < end else None
    return found.span("value") if found else (0, 0)
