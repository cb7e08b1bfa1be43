"""Links in a note's properties."""

from __future__ import annotations

import re
from collections.abc import Iterator

from obsidian_mcp.vault.links.coding import Coded, Coding
from obsidian_mcp.vault.links.inline import Inline
from obsidian_mcp.vault.links.link import WIKI, Form, Link, wiki

_PROPERTY = re.compile(r"[ \t]*(?:-[ \t]+)*(?:[^\s:\"'\[\]{}#][^:\"'\[\]{}]*:[ \t]+)?")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\n]*)?\r?\n")
_QUOTED = re.compile(r"\"(?>(?:[^\"\\]+|\\.)*)\"|'(?>(?:[^']+|'')*)'")
# In a list: what is never closed goes on to the end; an apostrophe inside a word opens nothing.
_PIECE = re.compile(r"\"(?>(?:[^\"\\]+|\\.)*)(?:\"|\Z)|(?<![^\s\[{,:])'(?>(?:[^']+|'')*)(?:'|\Z)", re.DOTALL)

_CLOSING = {'"': re.compile(r"(?>(?:[^\"\\]+|\\.)*)\"", re.DOTALL), "'": re.compile(r"(?>(?:[^']+|'')*)'")}
_QUOTES = {'"': Coding.DOUBLE, "'": Coding.SINGLE}


def in_properties(text: str, start: int, end: int, with_own: bool = False) -> Iterator[Link]:
    """Links in the text values of the properties that stand there. No code, no comments: a property is plain text."""
    for first, last, coding in _values(text[start:end]):
        if text.find("[", start + first, start + last) >= 0:
            found = _in_value(text, Coded(text, start + first, start + last, coding))
            yield from found if with_own else (link for link in found if link.target)


def _in_value(raw: str, value: Coded) -> Iterator[Link]:
    """Brackets that are themselves written as escapes are left alone."""
    found = [
        link
        for match in WIKI.finditer(value.text)
        if raw.startswith("[[", value.place(match.start()))
        for link in wiki(match)
    ]
    if "](" in raw[value.place(0) : value.place(len(value.text))]:
        found += [link for link in Inline(value.text, [(0, 0)], False).links(False) if link.form is not Form.WIKI]
    for link in sorted(found, key=lambda link: link.start):
        yield Link(value.place(link.start), value.place(link.end), link.form, link.target, value.coding)


def _values(yaml: str) -> Iterator[tuple[int, int, Coding]]:
    """Where text stands in YAML, and in which quotes. Unquoted brackets at the head of a value are a list, not text."""
    at, block, quote = 0, -1, ""
    for line in yaml.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip(" "))
        head = _PROPERTY.match(line)
        begin = head.end() if head else 0
        value = line[begin:]
        if quote:  # a quoted value over several lines
            end = _CLOSING[quote].match(line)
            yield at, at + (end.end() - 1 if end else len(line)), _QUOTES[quote]
            quote = "" if end else quote
        elif block >= 0 and (indent > block or not line.strip()):
            yield at, at + len(line), Coding.PLAIN
        elif _BLOCK_SCALAR.match(value):
            block = indent
        else:
            block = -1
            if value.startswith(("'", '"')) and not _QUOTED.match(value):
                quote = value[0]
                yield at + begin + 1, at + len(line), _QUOTES[quote]
            elif value.startswith(("[", "{", '"', "'")):
                for quoted in _PIECE.finditer(value):
                    last = quoted.end() - (len(quoted[0]) > 1 and quoted[0][0] == quoted[0][-1])
                    yield at + begin + quoted.start() + 1, at + begin + last, _QUOTES[quoted[0][0]]
            else:
                comment = re.search(r"(?:^|\s)#", value)
                yield at + begin, at + begin + (comment.start() if comment else len(value)), Coding.UNQUOTED
        at += len(line)
