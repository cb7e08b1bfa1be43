"""Links in the text of one block, and what else is more than plain text.

One pass, left to right: whatever opens first (a code span, a tag or comment of HTML, a formula) hides what is inside
it. The text has no marks of quotes and indents of lists in it any more, so nothing is paired across them.
"""

from __future__ import annotations

import bisect
import re
from urllib.parse import unquote

from obsidian_mcp.vault.blocks import CLOSE_TAG, OPEN_TAG
from obsidian_mcp.vault.links.link import WIKI, Form, Link, wiki

# (?>...) gives nothing back, so that a hostile note costs no more than its length. Not ++ around groups: before
# Python 3.11.5 those fail where they should match.
_TITLE = r"(?:\"(?>(?:[^\"\\]+|\\.)*)\"|'(?>(?:[^'\\]+|\\.)*)'|\((?>(?:[^()\\]+|\\.)*)\))"
_ANGLE = re.compile(r"(?>(?:[^<>\\\n]+|\\.)*)")
_TITLE_AND_CLOSE = re.compile(rf"(?:[ \t\r\n]+{_TITLE})?[ \t\r\n]*\)", re.DOTALL)
_TITLE_AND_END = re.compile(rf"[ \t\r\n]+{_TITLE}[ \t\r]*(?:\n|\Z)", re.DOTALL)
_LINE_END = re.compile(r"[ \t\r]*(?:\n|\Z)")
_LABEL = re.compile(r"[ \t]*\[(?!\^)(?=[^\]]*[^\s\]])(?:[^\[\]\\]|\\.){1,999}\]:[ \t\r]*(?:\n[ \t]*)?", re.DOTALL)
_SPECIAL = re.compile(r"\\.|`+|\$\$?|<|!?\[\[(?!\[)|!?\[|\]\(?", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TICKS = re.compile("`+")
_CELL_END = re.compile(r"(?<!\\)\|")
_FORMULA_END = re.compile(r"(?<![\s\\])\$(?!\d)")
_TAG = re.compile(rf"{OPEN_TAG}|{CLOSE_TAG}|<[A-Za-z][A-Za-z0-9.+-]{{1,31}}:[^<>\x00-\x20]*>")
_SHORT_COMMENT = re.compile("<!--?-?>")
# Of what is not a tag: how it begins, and what ends it.
_ASIDES = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
DEEPEST = 32  # pairs of parentheses in a destination, as in other readers of Markdown


class Inline:
    """`text` is the block's; `origins` say where its pieces stand in the note: (place here, place there)."""

    def __init__(self, text: str, origins: list[tuple[int, int]], is_row: bool) -> None:
        self._text = text
        self._origins = origins
        self._is_row = is_row
        self._found: list[Link] = []
        self._spans: list[tuple[int, int]] = []
        self._opened: list[int] = []  # for each bracket that is open: where, if it is an image's, or -1
        self._inactive = 0  # so many of them can't become links: there is one in them already
        self._ticks: dict[int, list[int]] | None = None
        self._never: set[str] = set()  # what does not occur any more, so that it is looked for once

    def links(self, has_definitions: bool) -> list[Link]:
        self._read(self._after_definitions() if has_definitions else 0)
        return self._found

    def spans(self, has_definitions: bool) -> list[tuple[int, int]]:
        """What is not text: code, formulas, HTML, wikilinks, destinations, whole images, definitions. In their order
        of ending, and one may lie in another.
        """
        at = self._after_definitions() if has_definitions else 0
        if at:
            self._spans.append((0, at))
        self._read(at)
        return self._spans

    def _after_definitions(self) -> int:
        at = 0
        while (after := self._definition(at)) > at:
            at = after
        return at

    def _read(self, at: int) -> None:
        text = self._text
        while token := _SPECIAL.search(text, at):
            at, mark = token.end(), token[0]
            if mark[0] == "\\":
                continue
            if mark[0] == "`":
                at = self._code_end(token)
            elif mark[0] == "$":
                at = self._formula_end(token)
            elif mark == "<":
                at = self._html_end(token.start())
            elif mark.endswith("[["):
                at = self._wiki_at(token)
            elif mark.endswith("["):
                self._opened.append(token.start() if mark[0] == "!" else -1)
            elif self._opened:
                at = self._close(token)
            if at > token.end():
                self._spans.append((token.start(), at))

    # What hides

    def _code_end(self, token: re.Match[str]) -> int:
        """The end of a code span that begins here; the end of the ticks if it is never closed."""
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self._text, token.start()):
                self._ticks.setdefault(len(run[0]), []).append(run.start())
        starts, length = self._ticks.get(len(token[0]), []), len(token[0])
        number = bisect.bisect_left(starts, token.end())
        if number < len(starts) and not self._is_in_other_cell(token.end(), starts[number]):
            return starts[number] + length
        return token.end()

    def _is_in_other_cell(self, start: int, end: int) -> bool:
        return self._is_row and _CELL_END.search(self._text, start, end) is not None

    def _formula_end(self, token: re.Match[str]) -> int:
        at, mark = token.end(), token[0]
        if mark == "$$":
            return self._after("$$", at)
        if mark in self._never or self._text[at : at + 1].isspace():
            return at
        found = _FORMULA_END.search(self._text, at)
        if found is None:
            self._never.add(mark)
            return at
        return at if self._is_in_other_cell(at, found.end()) else found.end()

    def _after(self, closing: str, at: int) -> int:
        """After the next one of these; where it is if there is none."""
        if closing in self._never:
            return at
        found = self._text.find(closing, at)
        if found < 0:
            self._never.add(closing)
            return at
        return found + len(closing)

    def _html_end(self, at: int) -> int:
        found = _TAG.match(self._text, at) or _SHORT_COMMENT.match(self._text, at)
        if found:
            return found.end()
        for opening, closing in _ASIDES:
            if self._text.startswith(opening, at):
                after = self._after(closing, at + len(opening))
                return after if after > at + len(opening) else at + 1
        return at + 1

    # Links

    def _wiki_at(self, token: re.Match[str]) -> int:
        found = WIKI.match(self._text, token.end() - 2)
        if found:
            for link in wiki(found):
                self._add(link)
            return found.end()
        self._opened.append(token.start() if token[0][0] == "!" else -1)
        return token.end() - 1

    def _close(self, token: re.Match[str]) -> int:
        """A bracket is closed: with a destination after it, that is a link."""
        opened = self._opened.pop()
        is_image = opened >= 0
        is_active = is_image or len(self._opened) >= self._inactive
        self._inactive = min(self._inactive, len(self._opened))
        if token[0] != "](" or not is_active:
            return token.start() + 1
        after = self._destination(token.end())
        if after is None:
            return token.start() + 1
        if is_image:
            self._spans.append((opened, after))
        else:
            self._inactive = len(self._opened)
        return after

    def _destination(self, at: int) -> int | None:
        """Keep the destination that stands here, up to its parenthesis; where the text goes on."""
        start, end, form = self._target(at)
        closed = _TITLE_AND_CLOSE.match(self._text, end + (form is Form.ANGLE)) if end >= 0 else None
        if closed is None:
            return None
        self._keep(start, end, form)
        return closed.end()

    def _definition(self, at: int) -> int:
        """Keep the destination of a reference definition that stands here; where the text goes on.

        With a wikilink after it, it is what people write before one, and not a definition.
        """
        label = _LABEL.match(self._text, at)
        if not label or self._text.startswith("[[", label.end()):
            return at
        start, end, form = self._target(label.end())
        if end < 0 or (start == end and form is Form.MARKDOWN):
            return at
        after = end + (form is Form.ANGLE)
        whole = _TITLE_AND_END.match(self._text, after) or _LINE_END.match(self._text, after)
        if not whole:
            return at
        self._keep(start, end, form)
        return whole.end()

    def _target(self, at: int) -> tuple[int, int, Form]:
        """Where a destination begins and ends, and its form; it ends at -1 if it is none."""
        text = self._text
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        if text.startswith("<", at):
            end = _ANGLE.match(text, at + 1)
            closes = end is not None and text.startswith(">", end.end())
            return at + 1, end.end() if end and closes else -1, Form.ANGLE
        return at, bare_end(text, at), Form.MARKDOWN

    def _keep(self, start: int, end: int, form: Form) -> None:
        """A destination that leads into the vault, which web addresses don't."""
        written = self._text[start:end]
        heading = written.find("#")
        if heading >= 0:
            end, written = start + heading, written[:heading]
        if heading == 0:
            self._add(Link(start, start, form, ""))
        if not written.strip() or _SCHEME.match(written):
            return
        target = unquote(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written), errors="surrogateescape")
        self._add(Link(start, end, form, target))

    def _add(self, link: Link) -> None:
        """A link never goes over a line's end, so both its ends are in one piece."""
        origins = self._origins
        number = bisect.bisect_right(origins, (link.start, 1 << 62)) - 1 if len(origins) > 1 else 0
        here, there = origins[number]
        self._found.append(Link(link.start + there - here, link.end + there - here, link.form, link.target))


def bare_end(text: str, at: int) -> int:
    """No white space or control character, and parentheses in pairs; -1 where they are not, or too many are nested."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text) and text[at + 1] not in " \t\n\r":
            at += 2
            continue
        if char <= " " or char == "\x7f" or (char == ")" and depth == 0):
            break
        depth += (char == "(") - (char == ")")
        if depth > DEEPEST:
            return -1
        at += 1
    return at if depth == 0 else -1
