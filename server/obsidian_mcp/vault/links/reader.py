"""The links in a file.

Obsidian's links are in the body of a note, in its properties, and in a canvas: its file nodes, the text of its cards,
the pictures of its groups. What stands in code, math or comments is not a link. Only a target's own characters are
replaced, so nothing else can change.
"""

from __future__ import annotations

import re

from obsidian_mcp.vault.frontmatter import place
from obsidian_mcp.vault.links.body import in_body
from obsidian_mcp.vault.links.coding import Coded, Coding
from obsidian_mcp.vault.links.link import Form, Link
from obsidian_mcp.vault.links.properties import in_properties

_CANVAS_TEXT = re.compile(r'(?<!\\)"(?P<key>file|background|text)"\s*:\s*"(?P<value>(?>(?:[^"\\]+|\\.)*))"')


def links_in(path: str, text: str, with_own: bool = False) -> list[Link]:
    """`with_own`: those of a note to its own headings too, which have no target."""
    return in_canvas(text) if path.lower().endswith(".canvas") else in_note(text, with_own)


def in_canvas(text: str) -> list[Link]:
    """File nodes and the pictures behind groups are whole paths from the root; the text of a card is Markdown."""
    links: list[Link] = []
    for found in _CANVAS_TEXT.finditer(text):
        value = Coded(text, found.start("value"), found.end("value"), Coding.JSON)
        if found["key"] != "text":
            links.append(Link(found.start("value"), found.end("value"), Form.CANVAS, value.text, Coding.JSON))
            continue
        for link in in_body(value.text):
            start, end = value.place(link.start), value.place(link.end)
            links.append(Link(start, end, link.form, link.target, Coding.JSON))
    return links


def in_note(text: str, with_own: bool = False) -> list[Link]:
    start, end, body = place(text)
    links = list(in_properties(text, start, end, with_own)) if body else []
    links.extend(in_body(text, body, with_own))
    return links
