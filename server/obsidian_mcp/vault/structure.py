"""What a note is made of: headings, blocks with an id, tags and tasks. The one reader of them.

It is Obsidian's reading, as far as the app's own metadata tell it. Headings count at the root of the note alone; a task
counts wherever its list is. Where tags are is told by `tags`.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from obsidian_mcp.vault.blocks import Container, Kind, Leaf, leaves
from obsidian_mcp.vault.frontmatter import place
from obsidian_mcp.vault.tags import distinct, tags_of

_PLAIN = frozenset({Kind.PARAGRAPH, Kind.ROW})
_RAW = frozenset({Kind.CODE, Kind.HTML, Kind.COMMENT, Kind.MATH})
_TASK = re.compile(r"\[(.)\][ \t]")
_ANY_ID = re.compile(r"\^[A-Za-z0-9-]+[ \t\r]*$", re.MULTILINE)
_ID = re.compile(r"(?:\A|(?<=[ \t]))\^([A-Za-z0-9-]+)[ \t\r]*\Z")


@dataclass(frozen=True, slots=True)
class Heading:
    """`start` is where its first line begins, `body` where the line after it does. The text is as written."""

    text: str
    level: int
    line: int
    start: int
    body: int


@dataclass(frozen=True, slots=True)
class Block:
    """What `^id` names: the item with its children, the paragraph, or what stands before an id on its own line."""

    id: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Task:
    """The first line of its item, from the list's mark on; `text` is what follows `[c] `."""

    line: int
    start: int
    end: int
    mark: str
    text: str


class Structure:
    """Each part is read when it is first asked for, all of them from one pass over the blocks."""

    def __init__(self, text: str, body: int | None = None) -> None:
        self.text = text
        self.body = place(text)[2] if body is None else body

    @cached_property
    def _leaves(self) -> list[Leaf]:
        return list(leaves(self.text, self.body))

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line_at(self, place: int) -> int:
        """From 1."""
        return bisect.bisect_right(self._line_starts, place)

    @cached_property
    def headings(self) -> list[Heading]:
        return [self._heading(leaf) for leaf in self._leaves if leaf.kind is Kind.HEADING and not leaf.depth]

    def _heading(self, leaf: Leaf) -> Heading:
        text, last = self.text, leaf.spans[-1][1]
        line = self.line_at(leaf.spans[0][0])
        body = _after_line(text, last)
        written = "\n".join(text[begin:end] for begin, end in leaf.spans)
        if leaf.is_underlined:
            body = _after_line(text, body)
            title = " ".join(part.strip(" \t\r") for part in written.split("\n"))
        else:
            title = _without_closing(written.strip(" \t\r"))
        return Heading(title, leaf.level, line, self._line_starts[line - 1], body)

    @cached_property
    def raw(self) -> list[tuple[int, int]]:
        """The lines of what is no text: code, comments, HTML."""
        return [span for leaf in self._leaves if leaf.kind in _RAW for span in leaf.spans]

    @cached_property
    def blocks(self) -> list[Block]:
        if not _ANY_ID.search(self.text, self.body):
            return []
        named = _Ids(self.text).read(self._leaves)
        return [Block(id, self.line_at(start), start, end) for id, start, end in named]

    @cached_property
    def tags(self) -> list[str]:
        return distinct(tag for leaf in self._leaves for tag in tags_of(self.text, leaf))

    @cached_property
    def tasks(self) -> list[Task]:
        return [task for leaf in self._leaves if leaf.inside and leaf.inside.bullet for task in self._task(leaf)]

    def _task(self, leaf: Leaf) -> Iterator[Task]:
        """An item is a task by the text on the line of its mark."""
        begin, (at, _) = leaf.inside.start if leaf.inside else 0, leaf.spans[0]
        mark = _TASK.match(self.text, at)
        if mark and (leaf.kind in _PLAIN or leaf.is_underlined) and self.text.find("\n", begin, at) < 0:
            end = line_end(self.text, at)
            if mark.end() <= end:
                yield Task(self.line_at(begin), begin, end, mark[1], self.text[mark.end() : end])


def line_end(text: str, at: int) -> int:
    """Where the line ends that this is in, without what ends it."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - text.endswith("\r", 0, end)


def _after_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _without_closing(title: str) -> str:
    shorter = title.rstrip("#")
    return shorter.rstrip(" \t") if not shorter or shorter[-1] in " \t" else title


# Blocks with an id


@dataclass(slots=True)
class _Whole:
    """What stands at the root of a note as one: a list, a quote, a table, code, a paragraph."""

    kind: Kind
    first: Container | None
    start: int
    end: int

    def goes_on_with(self, text: str, leaf: Leaf, outer: Container | None) -> bool:
        if outer or self.first:
            return outer is not None and outer.first is self.first
        begin = leaf.spans[0][0]
        between = text[self.end : begin]
        if leaf.kind is Kind.ROW is self.kind:
            return not any(not line.strip() for line in between.split("\n")[1:-1])
        is_code = leaf.kind is Kind.CODE is self.kind
        return is_code and text[self.start] in " \t" and text[begin] in " \t" and not between.strip()


class _Ids:
    """Reads the ids, and remembers what stands before one that is on a line of its own."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._before: _Whole | None = None
        self._ends: dict[Container, int] = {}
        self._found: list[tuple[str, Container | tuple[int, int]]] = []

    def read(self, found: Iterable[Leaf]) -> Iterator[tuple[str, int, int]]:
        for leaf in found:
            self._leaf(leaf)
        for id, what in self._found:
            yield id, *((what.start, self._ends[what]) if isinstance(what, Container) else what)

    def _leaf(self, leaf: Leaf) -> None:
        begin, end = leaf.spans[0][0], line_end(self._text, leaf.spans[-1][1])
        outer = leaf.inside
        while outer and outer.parent:
            outer = outer.parent
        if leaf.kind in _PLAIN and self._has_id(leaf, begin, end, outer):
            self._before = None
            return
        if self._before and self._before.goes_on_with(self._text, leaf, outer):
            self._before.end = end
        elif leaf.kind is Kind.HEADING and not outer:
            self._before = None
        else:
            first = outer.first if outer else None
            self._before = _Whole(leaf.kind, first, first.start if first else begin, end)
        container = leaf.inside
        while container:
            self._ends[container] = end
            container = container.parent

    def _has_id(self, leaf: Leaf, begin: int, end: int, outer: Container | None) -> bool:
        """Keep the id at the end of the leaf, if there is one; whether it is all that the leaf is."""
        line = max(leaf.spans[-1][0], self._text.rfind("\n", leaf.spans[-1][0], end) + 1)
        found = _ID.search(self._text[line:end])
        if not found:
            return False
        is_alone = not self._text[line : line + found.start()].strip(" \t")
        if not outer and is_alone and (begin == line or leaf.kind is Kind.ROW):
            before = self._before
            self._found.append((found[1], (before.start, before.end) if before else (begin, end)))
            return True
        if leaf.kind is Kind.ROW:
            return False
        if not outer:
            self._found.append((found[1], (begin, end)))
        elif _is_in_items_only(leaf.inside):
            assert leaf.inside
            self._found.append((found[1], leaf.inside))
        elif is_alone and not outer.width and begin < line:
            self._under_quote(found[1], outer, line)
        return False

    def _under_quote(self, id: str, quote: Container, line: int) -> None:
        """An id directly under a quote is read as going on with its text, but has no > before it."""
        newline = self._text.rfind("\n", 0, line)
        if ">" not in self._text[newline:line]:
            self._found.append((id, (quote.start, line_end(self._text, newline))))


def _is_in_items_only(container: Container | None) -> bool:
    while container and container.bullet:
        container = container.parent
    return container is None
