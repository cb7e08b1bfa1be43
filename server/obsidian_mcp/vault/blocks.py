"""The blocks of a note: what is text, and what is code.

Everything that reads a note's structure starts here. This is CommonMark's own algorithm for blocks (section "Phase 1"
of its appendix): each line is first matched against the containers that are open (quotes, list items), then looked at
for new containers, then for what kind of leaf it begins or goes on with. A line that is not indented far enough for its
list item ends the item and everything open in it, a fence too; only the text of a paragraph goes on lazily. Columns
count tabs to every fourth, and a tab may belong to a container in part.

Beyond CommonMark: tables (their cells are apart for code spans), footnotes, Obsidian's `%%` comments and `$$` formulas
on lines of their own. A comment or formula that is never closed is text: what is hidden by mistake would be lost from
sight, and links in it would break.

Not a library, though there are good ones: they tell lines where columns are needed, and take longer for one note than
a rename may take for all of them. The tests judge this reader by one of them, over generated notes and real ones.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import NamedTuple

DEEPEST = 100  # containers in one another; more are text, so that a hostile note costs no more than its length


class Kind(enum.Enum):
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    ROW = "a row of a table"
    CODE = "code"
    HTML = "html"
    COMMENT = "comment"
    MATH = "math"


class Leaf(NamedTuple):  # and not a dataclass: there are many, and a tuple is made in a third of the time
    """A block without other blocks in it. `spans` are its lines without what belongs to containers.

    `level` is a heading's, and `is_underlined` one that has a line of = or - below it; `depth` says in how many quotes,
    list items and footnotes the leaf lies, and `inside` is the innermost of them.
    """

    kind: Kind
    spans: list[tuple[int, int]]
    level: int = 0
    depth: int = 0
    is_underlined: bool = False
    inside: Container | None = None


class Container:
    """A quote (`width` 0), or a list item or footnote whose text begins `width` columns further in.

    `start` is where its mark stands, and `parent` what it lies in. A list item knows its `bullet` (what its mark ends
    with) and the first item of its list; others have no bullet, and themselves as the first.
    """

    __slots__ = ("bullet", "first", "is_empty", "parent", "start", "width")

    def __init__(self, width: int, start: int, bullet: str = "", is_empty: bool = False) -> None:
        self.width = width
        self.start = start
        self.bullet = bullet
        self.is_empty = is_empty  # begun by a marker alone, and nothing in it yet
        self.first = self
        self.parent: Container | None = None


_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
ATTRIBUTE = r"\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?"
OPEN_TAG = rf"<[A-Za-z][A-Za-z0-9-]*(?>(?:{ATTRIBUTE})*)\s*/?>"
CLOSE_TAG = r"</[A-Za-z][A-Za-z0-9-]*\s*>"
# How a block of HTML begins, and what ends it; None: a blank line.
_HTML: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile("<!--"), re.compile("-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile("<![A-Za-z]"), re.compile(">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_BLOCK_TAGS})(?=\s|/?>|$)", re.IGNORECASE), None),
)
_HTML_ALONE = re.compile(rf"(?:{OPEN_TAG}|{CLOSE_TAG})\s*$")
_FENCE = re.compile(r"(`{3,}(?=[^`\n]*$)|~{3,})")
_HEADING = re.compile(r"#{1,6}(?=[ \t\r]|$)")
_UNDERLINE = re.compile(r"(=+|-+)[ \t\r]*$")
_RULE = re.compile(r"(?:(?>(?:\*[ \t]*){3,})|(?>(?:-[ \t]*){3,})|(?>(?:_[ \t]*){3,}))\r?$")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t\r]|$)")
_FOOTNOTE = re.compile(r"\[\^[^\s\]]+\]:")
_DELIMITERS = re.compile(r"(?!-[ \t])\|?[ \t]*:?-+:?[ \t]*(?>(?:\|[ \t]*:?-+:?[ \t]*)*)\|?[ \t\r]*$")
_CELL_END = re.compile(r"(?<!\\)\|")
# Lines with nothing in them that could begin or end a block. Most are: they are taken in one bite.
_PROSE = re.compile(r"(?:[^\W\d_][^\n|]*\n){1,200}")


def leaves(text: str, start: int = 0) -> Iterator[Leaf]:
    """The blocks from there on, in their order. Blank lines, rules and the underlining of headings are none."""
    return _Blocks(text, start + text.startswith("\ufeff", start)).read()


class _Blocks:
    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._next = start
        self._containers: list[Container] = []
        self._done: list[Leaf] = []
        self._paragraph: list[tuple[int, int]] = []
        self._in_table = False
        self._ends: re.Pattern[str] | None = None  # what the last line of a raw leaf holds
        self._raw: Leaf | None = None
        # Of the line that is being read: where it goes on, in which column, and where it ends.
        self._at = self._column = self._end = 0

    def read(self) -> Iterator[Leaf]:
        while self._next < len(self._text):
            self._line()
            if self._done:
                yield from self._done
                self._done.clear()
        self._close()
        yield from self._done

    def _line(self) -> None:
        text = self._text
        if self._raw is None and not self._containers and not self._in_table:
            prose = _PROSE.match(text, self._next)
            if prose:
                self._paragraph.append((self._next, prose.end() - 1))
                self._next = prose.end()
                return
        self._at, self._column = self._next, 0
        end = text.find("\n", self._at)
        self._end = len(text) if end < 0 else end
        self._next = self._end + 1
        matched = self._matched()
        if self._raw is not None:
            if matched == len(self._containers):
                if self._go_on_with_raw(self._raw):
                    return
            else:
                self._close()
        self._begin(matched)

    # What the line goes on with

    def _matched(self) -> int:
        """Step over the marks and indents of the open containers; how many of them this line belongs to."""
        for number, container in enumerate(self._containers):
            at, column = self._indent()
            is_blank = self._is_blank(at)
            if container.width:
                if is_blank:
                    if container.is_empty:
                        return number
                elif column - self._column >= container.width:
                    self._skip_columns(container.width)
                else:
                    return number
            elif is_blank or column - self._column > 3 or self._text[at] != ">":
                return number
            else:
                self._at, self._column = at + 1, column + 1
                self._skip_columns(1)
        return len(self._containers)

    def _go_on_with_raw(self, raw: Leaf) -> bool:
        """Whether the line belongs to the code, HTML, comment or formula that is open."""
        at, column = self._indent()
        if raw.kind is Kind.HTML and self._ends is None:
            if self._is_blank(at):
                self._close()
                return False
            raw.spans.append((self._at, self._end))
            return True
        raw.spans.append((self._at, self._end))
        assert self._ends is not None
        if raw.kind is Kind.CODE:
            if column - self._column <= 3 and self._ends.match(self._text, at, self._end):
                self._close()
        else:
            closing = self._ends.search(self._text, self._at, self._end)
            if closing:
                self._close()
                if raw.kind is Kind.COMMENT:
                    self._text_after(closing.end())
        return True

    def _text_after(self, at: int) -> None:
        """What stands on the line on which a comment ends."""
        if self._text[at : self._end].strip():
            self._paragraph.append((at, self._end))

    # What the line begins

    def _begin(self, matched: int) -> None:
        """New containers, one in another, and then the leaf that the rest of the line is."""
        while True:
            at, column = self._indent()
            indent = column - self._column
            if self._is_blank(at):
                self._end_containers(matched)
                self._close()
                return
            if indent > 3:
                if self._paragraph and not self._in_table:
                    self._paragraph.append((at, self._end))  # indented code can't interrupt a paragraph
                else:
                    self._begin_leaf(matched)
                    self._done.append(self._leaf_of(Kind.CODE, [(self._at, self._end)]))
                return
            is_in_paragraph = bool(self._paragraph) and matched == len(self._containers)
            if self._leaf(at, matched, is_in_paragraph):
                return
            if matched >= DEEPEST or not self._container(at, column, matched, is_in_paragraph):
                break
            matched = len(self._containers)
        self._add_text(at, matched)

    def _end_containers(self, matched: int) -> None:
        if matched < len(self._containers):
            self._close()
            del self._containers[matched:]

    def _open(self, matched: int, container: Container) -> None:
        if matched < len(self._containers) and self._containers[matched].bullet == container.bullet != "":
            container.first = self._containers[matched].first
        self._end_containers(matched)
        self._close()
        self._fill()
        container.parent = self._containers[-1] if self._containers else None
        self._containers.append(container)

    def _leaf_of(self, kind: Kind, spans: list[tuple[int, int]], level: int = 0, is_underlined: bool = False) -> Leaf:
        containers = self._containers
        return Leaf(kind, spans, level, len(containers), is_underlined, containers[-1] if containers else None)

    def _fill(self) -> None:
        if self._containers:
            self._containers[-1].is_empty = False

    def _container(self, at: int, column: int, matched: int, is_in_paragraph: bool) -> bool:
        """Step over the mark of a quote, a list item or a footnote, if one stands here."""
        indent = column - self._column
        if self._text[at] == ">":
            self._open(matched, Container(0, at))
            self._at, self._column = at + 1, column + 1
            self._skip_columns(1)
            return True
        marker = _ITEM.match(self._text, at, self._end)
        if marker:
            return self._item(marker, column, indent, matched, is_in_paragraph)
        footnote = _FOOTNOTE.match(self._text, at, self._end)
        if footnote:
            self._open(matched, Container(4, at))
            self._at, self._column = footnote.end(), column + len(footnote[0])
            return True
        return False

    def _item(self, marker: re.Match[str], column: int, indent: int, matched: int, is_in_paragraph: bool) -> bool:
        is_empty = self._is_blank(marker.end())
        if is_in_paragraph and (is_empty or (marker[1] is not None and int(marker[1]) != 1)):
            return False
        length = len(marker[0])
        self._at, self._column = marker.end(), column + length
        spaces = self._indent()[1] - self._column
        if is_empty or not 1 <= spaces <= 4:
            spaces = 1
        self._skip_columns(spaces)
        self._open(matched, Container(indent + length + spaces, marker.start(), marker[0][-1], is_empty))
        return True

    def _leaf(self, at: int, matched: int, is_in_paragraph: bool) -> bool:
        """A heading, a rule, a row of a table; or the first line of what is not text."""
        text, end = self._text, self._end
        char = text[at]
        if char == "#":
            heading = _HEADING.match(text, at, end)
            if heading:
                self._begin_leaf(matched)
                span = (heading.end(), end)
                self._done.append(self._leaf_of(Kind.HEADING, [span], len(heading[0])))
                return True
        elif char in "`~":
            fence = _FENCE.match(text, at, end)
            if fence:
                mark = fence[0]
                closing = re.compile(rf"{re.escape(mark[0])}{{{len(mark)},}}[ \t\r]*$")
                self._begin_raw(Kind.CODE, closing, at, matched)
                return True
        elif char == "<":
            return self._html(at, matched)
        elif char in "%$" and text.startswith(char * 2, at):
            return self._hiding(char * 2, at, matched)
        if is_in_paragraph and char in "=-|:" and self._underlines(at):
            return True
        if char in "*-_" and _RULE.match(text, at, end):
            self._begin_leaf(matched)
            return True
        return False

    def _begin_leaf(self, matched: int) -> None:
        self._end_containers(matched)
        self._close()
        self._fill()

    def _begin_raw(self, kind: Kind, ends: re.Pattern[str] | None, at: int, matched: int) -> None:
        self._begin_leaf(matched)
        self._ends = ends
        self._raw = self._leaf_of(kind, [(at, self._end)])

    def _html(self, at: int, matched: int) -> bool:
        for begins, ends in _HTML:
            if begins.match(self._text, at, self._end):
                self._begin_raw(Kind.HTML, ends, at, matched)
                if ends is not None and ends.search(self._text, at, self._end):
                    self._close()
                return True
        if self._paragraph or not _HTML_ALONE.match(self._text, at, self._end):
            return False
        self._begin_raw(Kind.HTML, None, at, matched)
        return True

    def _hiding(self, mark: str, at: int, matched: int) -> bool:
        """A comment or formula that begins on this line and ends on a later one."""
        if self._text.find(mark, at + 2, self._end) >= 0 or self._text.find(mark, self._end) < 0:
            return False
        self._begin_raw(Kind.COMMENT if mark == "%%" else Kind.MATH, re.compile(re.escape(mark)), at, matched)
        return True

    def _underlines(self, at: int) -> bool:
        """Whether the line makes a heading of the paragraph before it, or a table of its last line."""
        underline = _UNDERLINE.match(self._text, at, self._end)
        if underline and not self._in_table:
            spans, self._paragraph = self._paragraph, []
            level = 1 if underline[0][0] == "=" else 2
            self._done.append(self._leaf_of(Kind.HEADING, spans, level, is_underlined=True))
            return True
        if self._in_table or not _DELIMITERS.match(self._text, at, self._end):
            return False
        first, end = self._paragraph[-1]
        begin = max(first, self._text.rfind("\n", first, end) + 1)
        head, delimiters = self._text[begin:end], self._text[at : self._end]
        if "|" not in head + delimiters or _cells(head) != _cells(delimiters):
            return False
        self._begin_table(first, begin, end)
        return True

    def _begin_table(self, first: int, begin: int, end: int) -> None:
        """The last line of the paragraph is the head."""
        self._paragraph[-1:] = [(first, begin - 1)] if begin > first else []
        self._close()
        self._done.append(self._leaf_of(Kind.ROW, [(begin, end)]))
        self._in_table = True

    def _add_text(self, at: int, matched: int) -> None:
        """A line of a paragraph, of the one before it if there is one, or a row of a table."""
        if self._in_table and matched == len(self._containers):
            self._done.append(self._leaf_of(Kind.ROW, [(at, self._end)]))
            return
        if not self._paragraph or self._in_table:
            self._begin_leaf(matched)
        self._paragraph.append((at, self._end))

    def _close(self) -> None:
        """End the leaf that is open, if one is."""
        if self._raw is not None:
            self._done.append(self._raw)
            self._raw = self._ends = None
        if self._paragraph:
            self._done.append(self._leaf_of(Kind.PARAGRAPH, self._paragraph))
            self._paragraph = []
        self._in_table = False

    # Columns

    def _indent(self) -> tuple[int, int]:
        """Where the line's text begins, and in which column."""
        text, at, column, end = self._text, self._at, self._column, self._end
        while at < end:
            if text[at] == " ":
                column += 1
            elif text[at] == "\t":
                column += 4 - column % 4
            else:
                break
            at += 1
        return at, column

    def _skip_columns(self, count: int) -> None:
        """White space of so many columns. Of a tab that is wider the rest stays: it is counted from the new column."""
        goal = self._column + count
        while self._at < self._end and self._column < goal:
            if self._text[self._at] == " ":
                self._column += 1
            elif self._text[self._at] == "\t":
                after = self._column + 4 - self._column % 4
                if after > goal:
                    self._column = goal
                    return
                self._column = after
            else:
                return
            self._at += 1

    def _is_blank(self, at: int) -> bool:
        return at >= self._end or not self._text[at : self._end].strip(" \t\r")


def _cells(row: str) -> int:
    """How many cells a row has."""
    inner = row.strip(" \t\r").removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return len(_CELL_END.findall(inner)) + 1
