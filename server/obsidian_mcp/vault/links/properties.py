"""Links in a note's properties."""

from __future__ import annotations

import re
from collections.abc import Iterator

from obsidian_mcp.vault.links.link import WIKI, Form, Link, wiki

_PROPERTY = re.compile(r"[ \t]*(?:-[ \t]+)*(?:[^\s:\"'\[\]{}#][^:\"'\[\]{}]*:[ \t]+)?")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*[ \t]*(?:#[^\n]*)?\r?\n")
_QUOTED = re.compile(r"\"(?>(?:[^\"\\]+|\\.)*)\"|'(?>(?:[^']+|'')*)'")
# In a list: what is never closed goes on to the end; an apostrophe inside a word opens nothing.
_PIECE = re.compile(r"\"(?>(?:[^\"\\]+|\\.)*)(?:\"|\Z)|(?<![^\s\[{,:])'(?>(?:[^']+|'')*)(?:'|\Z)", re.DOTALL)


def in_properties(text: str, start: int, end: int) -> Iterator[Link]:
    """Wikilinks in the text values of the properties that stand there."""
    for first, last, quote in _values(text[start:end]):
        for found in WIKI.finditer(text, start + first, start + last):
            yield from _quoted(wiki(found)) if quote == "'" else wiki(found)


def _values(yaml: str) -> Iterator[tuple[int, int, str]]:
    """Where text stands in YAML, and in which quotes. Unquoted brackets at the head of a value are a list, not text."""
    at, block, quote = 0, -1, ""
    for line in yaml.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip(" "))
        head = _PROPERTY.match(line)
        begin = head.end() if head else 0
        value = line[begin:]
        if quote:  # a quoted value over several lines
            end = re.search(r'(?<!\\)"' if quote == '"' else r"'", line)
            yield at, at + (end.start() if end else len(line)), quote
            quote = "" if end else quote
        elif block >= 0 and (indent > block or not line.strip()):
            yield at, at + len(line), ""
        elif _BLOCK_SCALAR.match(value):
            block = indent
        else:
            block = -1
            if value.startswith(("'", '"')) and not _QUOTED.match(value):
                quote = value[0]
                yield at + begin, at + len(line), quote
            elif value.startswith(("[", "{", '"', "'")):
                for quoted in _PIECE.finditer(value):
                    yield at + begin + quoted.start(), at + begin + quoted.end(), quoted[0][0]
            else:
                comment = re.search(r"(?:^|\s)#", value)
                yield at + begin, at + begin + (comment.start() if comment else len(value)), ""
        at += len(line)


def _quoted(links: Iterator[Link]) -> Iterator[Link]:
    for link in links:
        yield Link(link.start, link.end, Form.SINGLE_QUOTED, link.target.replace("''", "'"))
