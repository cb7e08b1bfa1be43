"""Links in a note's body.

One pass over the text, left to right: whatever opens first (a fence, a code
span, a comment, a formula) hides what is inside it. Blocks are told apart only
as far as it matters for that: paragraphs, list items, quotes, fences, indented
code.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from obsidian_mcp.vault.links.link import WIKI, Form, Link, wiki

# (?>...) gives nothing back, so that a hostile note costs no more than its length. Not ++ around groups: before
# Python 3.11.5 those fail where they should match.
_TITLE = r"(?:[ \t\r\n]+(?:\"(?>(?:[^\"\\]+|\\.)*)\"|'(?>(?:[^'\\]+|\\.)*)'|\((?>(?:[^()\\]+|\\.)*)\)))?"
_ANGLE = re.compile(r"(?>(?:[^<>\\\n]+|\\.)*)")
_TITLE_AND_CLOSE = re.compile(_TITLE + r"[ \t\r\n]*\)", re.DOTALL)
_TITLE_AND_END = re.compile(_TITLE + r"[ \t\r]*", re.DOTALL)
_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)")
_QUOTE = re.compile(r"(?: {0,3}>+ ?)+")
_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)")
_DEFINITION = re.compile(r" {0,3}\[(?!\^)(?:[^\[\]\\\n]|\\.){1,999}\]:[ \t]*")
# Lines with nothing in them that could begin, end or hide a link. Most are: they are taken in one bite.
_PROSE = re.compile(r"(?:[^\W\d_][^\n\[\]`$%<~\\]*\n){1,200}")
_SPECIAL = re.compile(r"\\.|`+|\$\$?|%%|<!--|!?\[\[(?!\[)|\[|\]\(?", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# Where a paragraph ends at the latest: a blank line, or one that begins something else.
_NEW_BLOCK = re.compile(r"\n(?=[ \t>]*(?:\r?\n|\Z|(?:[-+*]|\d{1,9}[.)])[ \t]|#{1,6}[ \t]|`{3}|~{3}|\|))")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
DEEPEST = 32  # pairs of parentheses in a destination, as in other readers of Markdown


class Body:
    """One pass over the text after the frontmatter."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._at = start + text.startswith("\ufeff", start)
        self._found: list[Link] = []
        self._lists: list[int] = []
        self._quotes = 0
        self._in_paragraph = False
        self._opened: list[int] = []
        self._paragraph = (0, -1)
        self._unclosed: dict[str, int] = {}

    def links(self) -> list[Link]:
        while self._at < len(self._text):
            self._line()
        return sorted(self._found, key=lambda link: link.start)

    def _line(self) -> None:
        """One line, or as many as what begins on it takes."""
        prose = _PROSE.match(self._text, self._at)
        if prose:
            if not self._in_paragraph:
                self._lists.clear()
                self._quotes = 0
            self._in_paragraph = True
            self._at = prose.end()
            return
        end = self._line_end(self._at)
        begin = self._quote(self._at, end)
        content, indent = self._indent(begin, end)
        if not self._text[content:end].strip():
            self._end_paragraph()
            self._at = end + 1
            return
        base = self._list_base(indent)
        if indent - base >= 4 and not self._in_paragraph:
            self._at = end + 1
            return
        content = self._items(content, end, indent)
        fence = _FENCE.match(self._text, content, end)
        if fence and not (fence["mark"][0] == "`" and "`" in fence["info"]):
            self._end_paragraph()
            self._skip_fence(fence, end)
            return
        if self._in_paragraph and self._is_rule(content, end):
            self._end_paragraph()
        if not self._in_paragraph and self._definition(content, end):
            return
        heading = _HEADING.match(self._text, content, end) or self._is_rule(content, end)
        if heading:
            self._end_paragraph()
            if indent == 0:
                self._lists.clear()
        self._in_paragraph = not heading
        self._inline(content, end)

    def _end_paragraph(self) -> None:
        self._in_paragraph = False
        self._opened.clear()

    def _quote(self, at: int, end: int) -> int:
        """Step over the marks of a quote; a list does not reach out of the one it stands in."""
        quote = _QUOTE.match(self._text, at, end)
        depth = quote[0].count(">") if quote else 0
        if depth != self._quotes and not (self._in_paragraph and depth == 0):
            self._quotes = depth
            self._lists.clear()
            self._end_paragraph()
        return quote.end() if quote else at

    def _definition(self, at: int, end: int) -> bool:
        """A reference definition: a destination and perhaps a title, and nothing else."""
        label = _DEFINITION.match(self._text, at, end)
        if not label:
            return False
        start = label.end()
        if not self._text[start:end].strip() and end < len(self._text):
            start, end = end + 1, self._line_end(end + 1)
        kept = len(self._found)
        after = self._destination(start, end, closing=False)
        if _TITLE_AND_END.fullmatch(self._text, after, end) and len(self._found) > kept:
            self._at = end + 1
            return True
        del self._found[kept:]
        return False

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end

    def _indent(self, at: int, end: int, column: int = 0) -> tuple[int, int]:
        """Where a line's text begins, and its column, with tabs to every fourth."""
        while at < end and self._text[at] in " \t":
            column += 4 - column % 4 if self._text[at] == "\t" else 1
            at += 1
        return at, column

    def _list_base(self, indent: int) -> int:
        """The column at which the innermost list item that holds this line has its text."""
        while self._lists and indent < self._lists[-1] and not self._in_paragraph:
            self._lists.pop()  # in a paragraph a lazy line goes on with the item's
        return self._lists[-1] if self._lists and indent >= self._lists[-1] else 0

    def _items(self, at: int, end: int, indent: int) -> int:
        """Step over list markers; what follows is the item's own text."""
        rule = at + len(self._text[at:end].rstrip("*_- \t\r"))  # before this there are other things on the line
        while (marker := _ITEM.match(self._text, at, end)) and not (at >= rule and self._is_rule(at, end)):
            self._end_paragraph()
            while self._lists and indent < self._lists[-1]:
                self._lists.pop()
            column = indent + len(marker[0])
            after, inside = self._indent(marker.end(), end, column)
            if not 1 <= inside - column <= 4:
                self._lists.append(column + 1)
                return end if after < end else at  # empty, or the item begins with indented code
            self._lists.append(inside)
            at, indent = after, inside
        return at

    def _is_rule(self, at: int, end: int) -> bool:
        """A line across the page, or the underlining of a heading, and nothing else."""
        line = self._text[at:end].rstrip(" \t\r")
        if line[:1] not in ("=", "*", "_", "-"):
            return False
        if not line.strip("=") or not line.strip("-"):
            return True
        return not line.strip("*_- \t") and len(line) - line.count(" ") - line.count("\t") >= 3

    def _skip_fence(self, fence: re.Match[str], end: int) -> None:
        """To the end of the fence's closing line, or of the quote or list item that holds it."""
        closing = re.compile(rf"[ \t>]*{re.escape(fence['mark'][0])}{{{len(fence['mark'])},}}[ \t]*\r?$")
        base = self._lists[-1] if self._lists else 0
        at = end + 1
        while at < len(self._text):
            line_end = self._line_end(at)
            line = self._text[at:line_end]
            if self._quotes and not line.lstrip(" ").startswith(">"):
                break
            if base and not self._quotes and line.strip() and self._indent(at, line_end)[1] < base:
                break
            at = line_end + 1
            if closing.match(line):
                break
        self._at = at

    def _inline(self, at: int, end: int) -> None:
        """Links on one line; what opens here and closes later takes us there."""
        opened = self._opened  # the text of a link may go over several lines
        while at < end:
            token = _SPECIAL.search(self._text, at, end)
            if not token:
                break
            at = token.end()
            mark = token[0]
            if mark[0] == "\\":
                continue
            if mark[0] == "`" or mark[0] == "$":
                at = self._span_end(token, mark)
            elif mark in ("%%", "<!--"):
                at = self._end_of("%%" if mark == "%%" else "-->", token.end(), len(self._text))
            elif mark.endswith("[["):
                at = self._wiki_at(token)
            elif mark == "[":
                opened.append(token.start())
            elif opened:
                opened.pop()
                if mark == "](":
                    at = max(at, self._destination(token.end(), self._paragraph_end(at), closing=True))
            if at > end:
                end = self._line_end(at)
        self._at = end + 1

    def _wiki_at(self, token: re.Match[str]) -> int:
        found = WIKI.match(self._text, token.end() - 2)
        if not found:
            return token.end()
        self._found.extend(wiki(found))
        return found.end()

    def _paragraph_end(self, at: int) -> int:
        start, end = self._paragraph
        if not start <= at <= end:
            found = _NEW_BLOCK.search(self._text, at)
            end = found.start() if found else len(self._text)
            self._paragraph = (at, end)
        return end

    def _span_end(self, token: re.Match[str], mark: str) -> int:
        """The end of a code span or a formula that begins here; the end of the mark itself if it is never closed."""
        at = token.end()
        if at < self._unclosed.get(mark, 0):
            return at  # looked for already, from further back
        limit = len(self._text) if mark == "$$" else self._paragraph_end(at)
        if mark[0] == "`":
            closing = re.compile(rf"(?<!`){re.escape(mark)}(?!`)")
        elif mark == "$$":
            closing = re.compile(r"\$\$")
        else:
            if at < len(self._text) and self._text[at].isspace():
                return at
            closing = re.compile(r"(?<![\s\\])\$(?!\d)")
        found = closing.search(self._text, at, limit)
        if found:
            return found.end()
        self._unclosed[mark] = limit
        return at

    def _end_of(self, closing: str, at: int, limit: int) -> int:
        """Where a comment ends; one that is never closed hides the rest."""
        found = self._text.find(closing, at, limit)
        return limit if found < 0 else found + len(closing)

    def _destination(self, at: int, limit: int, closing: bool) -> int:
        """Where a Markdown destination ends, if one stands here."""
        while at < limit and self._text[at] in " \t\r\n":
            at += 1
        if self._text.startswith("<", at):
            end = _ANGLE.match(self._text, at + 1, limit)
            if not end or not self._text.startswith(">", end.end()):
                return at
            if closing and not self._closes(end.end() + 1, limit):
                return at
            self._keep(at + 1, end.end(), Form.ANGLE)
            return end.end() + 1
        end_at = _bare_destination_end(self._text, at, limit)
        if closing and not self._closes(end_at, limit):
            return at
        self._keep(at, end_at, Form.MARKDOWN)
        return end_at

    def _closes(self, at: int, limit: int) -> bool:
        return _TITLE_AND_CLOSE.match(self._text, at, limit) is not None

    def _keep(self, start: int, end: int, form: Form) -> None:
        """A destination that leads into the vault; web addresses and mere headings don't."""
        written = self._text[start:end]
        heading = written.find("#")
        if heading >= 0:
            end, written = start + heading, written[:heading]
        if not written or _SCHEME.match(written):
            return
        target = unquote(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written), errors="surrogateescape")
        self._found.append(Link(start, end, form, target))


def _bare_destination_end(text: str, at: int, limit: int) -> int:
    """No white space, and parentheses only in pairs; where too many are in one another, nothing."""
    start, depth = at, 0
    while at < limit:
        char = text[at]
        if char == "\\" and at + 1 < limit and text[at + 1] not in " \t\n\r":
            at += 2
            continue
        if char in " \t\n\r" or (char == ")" and depth == 0):
            break
        depth += (char == "(") - (char == ")")
        if depth > DEEPEST:
            return start
        at += 1
    return at
