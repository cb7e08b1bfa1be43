"""The links in a file.

Obsidian's Markdown has links in three places: the body, the properties, and the
file nodes of a canvas. What stands in code, math or comments is not a link. Only a
target's own characters are ever replaced, so nothing else can change.
"""

from __future__ import annotations

import json
import re

from obsidian_mcp.vault.links.body import in_body
from obsidian_mcp.vault.links.link import Form, Link
from obsidian_mcp.vault.links.properties import in_properties

_CANVAS_FILE = re.compile(r'(?<!\\)"file"\s*:\s*"(?P<value>(?>(?:[^"\\]+|\\.)*))"')
_OPENING = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def in_canvas(text: str) -> list[Link]:
    """File nodes hold a whole path from the root, as a JSON string."""
    links = []
    for found in _CANVAS_FILE.finditer(text):
        try:
            target = json.loads(f'"{found["value"]}"')
        except ValueError:
            continue
        links.append(Link(found.start("value"), found.end("value"), Form.CANVAS, target))
    return links


def in_note(text: str) -> list[Link]:
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    links: list[Link] = []
    if opening and closing:
        links.extend(in_properties(text, opening.end(), closing.start()))
    links.extend(in_body(text, closing.end() if closing else 0))
    return links
