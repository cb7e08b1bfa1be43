"""Where each property stands in a note's YAML: its name, its value, and the items of its list.

A line belongs to the property whose name stands above it, at the indentation of the first one: what a value goes on
with is indented further, or is an item of a list, or a closing bracket. That holds for all YAML that Obsidian reads,
so no more of it has to be understood to leave the other properties alone. YAML that is one pair of braces, as JSON is,
is divided at its commas instead. Whoever edits compares the names found here with those that were read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile

from obsidian_mcp.vault.frontmatter import read
from obsidian_mcp.vault.simple_yaml import parse
from obsidian_mcp.vault.yaml_brackets import Brackets, Edit, Item, brackets, quoted_end, skip_blank

Span = tuple[int, int]

_LINE = re.compile(r"( *)([^\n]*)(?:\n|\Z)")
_COLON = re.compile(r":(?=[ \t\r\n]|\Z)")
_BLANKS = re.compile(r"[ \t]*")
_HEADER = re.compile(r"[|>][-+0-9]*")
_PLAIN_END = re.compile(r"[ \t\r\n]+(?:#|\Z)")
_REFUSED = {
    "?": "a name that is written with `?` can't be edited here",
    "&": "an anchor (`&`) can't be edited here",
    "*": "an alias (`*`) can't be edited here",
    "!": "a tag of YAML (`!`) can't be edited here",
    "...": "YAML in several documents can't be edited here",
}


class Uneditable(Exception):
    """The properties can't be changed like that. `line` is counted from 1, in the note."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, slots=True)
class Property:
    """All its lines, with comments below it that are indented; or its item in braces.

    `colon` is the place after the colon; None in braces, where a name may be alone.

    The value stands in `inline`, which begins on the line of the name, or in the lines of `below`, or in both where
    `inline` is the mark of a block (`|`). `first` is where it begins, None if there is none.
    """

    name: str
    start: int
    end: int
    key: Span
    colon: int | None
    first: int | None
    inline: Span
    below: Span


@dataclass(frozen=True, slots=True)
class Root:
    """All properties, their indentation, and the braces around them if there are any."""

    properties: list[Property]
    indent: str = ""
    braces: Brackets | None = None


@dataclass(frozen=True, slots=True)
class ListLines:
    """A list of `- item` lines. An item is all of its lines, and its `colon` the place after the dash."""

    items: list[Item]

    def begin(self, number: int) -> int:
        return self.items[number].colon or 0

    def edits(self, yaml: str, drops: Collection[int], at: int, texts: Sequence[str]) -> list[Edit]:
        """Removes the items with those numbers, and puts others before the one with the number `at`."""
        first = self.items[0]
        dash = yaml[first.start : yaml.index("-", first.start) + 1]
        blanks = yaml[first.start + len(dash) : first.colon].replace("\t", "")
        end = line_end(yaml, first.start)
        added = "".join(f"{dash}{blanks or ' '}{text}{end}" for text in texts)
        place = self.items[at - 1].end if at else first.start
        dropped: list[Edit] = [(self.items[number].start, self.items[number].end, "") for number in drops]
        return [*dropped, (place, place, added)]


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int  # with its line end
    indent: int
    text: str

    @property
    def at(self) -> int:
        return self.start + self.indent

    @property
    def is_content(self) -> bool:
        return self.text[:1] not in ("", "#")

    @property
    def is_item(self) -> bool:
        return self.text == "-" or self.text.startswith(("- ", "-\t"))

    def is_part(self, indent: int) -> bool:
        """Of what stands at that indentation: a comment is, if it is indented further."""
        return self.is_content or (bool(self.text) and self.indent > indent)


def root(yaml: str) -> Root:
    """Of valid YAML. Raises Uneditable where it is written in ways that few people use."""
    lines = _lines(yaml, 0, len(yaml))
    first = next((line for line in lines if line.is_content), None)
    if first is None:
        return Root([])
    if first.text[0] == "{":
        braces = brackets(yaml, first.at)
        if not yaml.startswith(":", _after_blanks(yaml, braces.end)):
            return Root([_in_braces(yaml, item) for item in braces.items], "", braces)
    names = [number for number, line in enumerate(lines) if _is_name(yaml, line, first.indent)]
    ends = [*names[1:], len(lines)]
    properties = [_property(yaml, lines[at:end]) for at, end in zip(names, ends, strict=True)]
    return Root(properties, " " * first.indent)


def items(yaml: str, found: Property) -> Brackets | ListLines | None:
    """Where the items of a list stand; None if it is written in neither way."""
    if found.first is not None and yaml[found.first] == "[":
        return brackets(yaml, found.first)
    lines = _lines(yaml, *found.below)
    first = next((line for line in lines if line.is_content), None)
    if first is None or not first.is_item:
        return None
    dashes = [number for number, line in enumerate(lines) if line.is_item and line.indent == first.indent]
    ends = [*dashes[1:], len(lines)]
    return ListLines([_item(yaml, lines[at:end]) for at, end in zip(dashes, ends, strict=True)])


def scalar(yaml: str, start: int, limit: int) -> Span:
    """The text, number or brackets that begin here, without what follows on the line."""
    if start < limit and yaml[start] in "\"'":
        return start, quoted_end(yaml, start)
    if start < limit and yaml[start] in "[{":
        return start, brackets(yaml, start).end
    end = _PLAIN_END.search(yaml, start, limit)
    return start, end.start() if end else limit


def line_at(yaml: str, at: int) -> int:
    """In the note: the YAML begins on its second line."""
    return yaml.count("\n", 0, at) + 2


def line_end(yaml: str, at: int) -> str:
    """Of the line there."""
    end = yaml.find("\n", at)
    return "\r\n" if end > 0 and yaml[end - 1] == "\r" else "\n"


def require_plain(yaml: str, found: Property) -> None:
    """Raises Uneditable for a value that stands for another one, or that another one stands for."""
    mark = yaml[found.first] if found.first is not None else ""
    if mark in ("&", "*", "!"):
        raise Uneditable(_REFUSED[mark], line_at(yaml, found.start))


def _lines(yaml: str, start: int, end: int) -> list[_Line]:
    found = (line for line in _LINE.finditer(yaml, start, end) if line[0])
    return [_Line(line.start(), line.end(), len(line[1]), line[2].strip(" \t\r")) for line in found]


def _is_name(yaml: str, line: _Line, indent: int) -> bool:
    if not line.is_content or line.indent != indent or line.is_item or line.text[0] in "]}":
        return False
    mark = "..." if line.text.split()[0] == "..." else line.text[0]
    is_refused = mark in _REFUSED and (mark != "?" or line.text[1:2] in ("", " ", "\t"))
    if is_refused:
        raise Uneditable(_REFUSED[mark], line_at(yaml, line.start))
    return True


def _property(yaml: str, lines: list[_Line]) -> Property:
    line, end = lines[0], _end(lines, lines[0].indent)
    key, colon = _key(yaml, line)
    at = _after_blanks(yaml, colon)
    first: int | None = at
    inline, below = (colon, colon), (line.end, line.end)
    if yaml[at : at + 1] in ("", "\r", "\n", "#"):
        first = next((line.at for line in lines[1:] if line.is_content), None)
        below = (line.end, end if first is not None else line.end)
    elif yaml[at] in "|>":
        inline = (at, _header_end(yaml, at))
        below = (line.end, _block_end(lines, yaml[slice(*inline)]))
    else:
        inline = scalar(yaml, at, end)
        below = (next(line.end for line in lines if line.end >= inline[1]),) * 2
    return Property(_name(yaml[slice(*key)]), line.start, end, key, colon, first, inline, below)


def _key(yaml: str, line: _Line) -> tuple[Span, int]:
    """The name as it is written, and the place after its colon."""
    if line.text[0] in "\"'[{":
        end = scalar(yaml, line.at, line.end)[1]
        return (line.at, end), _after_blanks(yaml, end) + 1
    found = _COLON.search(yaml, line.at, line.end)
    if not found:
        raise Uneditable("this is neither `name: value` nor part of a value", line_at(yaml, line.start))
    written = yaml[line.at : found.start()].rstrip(" \t")
    return (line.at, line.at + len(written)), found.end()


def _in_braces(yaml: str, item: Item) -> Property:
    until = item.end if item.colon is None else item.colon - 1
    key = (item.start, item.start + len(yaml[item.start : until].rstrip()))
    at = item.end if item.colon is None else skip_blank(yaml, item.colon)
    first = at if at < item.end else None
    inline = (at, item.end) if first is not None else (item.colon or item.end,) * 2
    name = _name(yaml[slice(*key)])
    return Property(name, item.start, item.end, key, item.colon, first, inline, (item.end, item.end))


def _item(yaml: str, lines: list[_Line]) -> Item:
    line = lines[0]
    return Item(line.start, _end(lines, line.indent), _after_blanks(yaml, line.at + 1))


def _name(written: str) -> str:
    """As Obsidian spells it: `1.10` is the name `1.1`."""
    quick = parse(f"{written}:")
    return next(iter(quick if quick is not None else read(f"---\n{written}:\n---\n").values), "")


def _end(lines: list[_Line], indent: int) -> int:
    return max(line.end for line in lines if line.is_part(indent))


def _block_end(lines: list[_Line], header: str) -> int:
    """Where a line is indented less than the first, or than the header says, the block has ended."""
    name, *below = (line for line in lines if line.text)
    digit = next((int(mark) for mark in header if mark.isdigit()), None)
    indent = name.indent + digit if digit else max(name.indent + 1, below[0].indent if below else 0)
    return max([name.end, *(line.end for line in takewhile(lambda line: line.indent >= indent, below))])


def _header_end(yaml: str, at: int) -> int:
    found = _HEADER.match(yaml, at)
    return found.end() if found else at


def _after_blanks(yaml: str, at: int) -> int:
    found = _BLANKS.match(yaml, at)
    return found.end() if found else at
