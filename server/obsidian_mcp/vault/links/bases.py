"""Files that a base names: in strings of its formulas and filters, which are not links.

What the app does with them when a file is renamed is not known, so they are told and never changed.
"""

from __future__ import annotations

import re

# A formula stands in a string of YAML and has strings of its own: each kind is looked for by itself.
_STRINGS = (
    re.compile(r"\\\"([^\"\\\n]+)\\\""),
    re.compile(r"\"((?>(?:[^\"\\\n]+|\\.)+))\""),
    re.compile(r"'([^'\n]+)'"),
)
_WIKI = re.compile(r"\[\[([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]")
LONGEST = 1024


def named_in(text: str) -> list[str]:
    """Every string that could be a path or a name, without the brackets of a wikilink."""
    found = (match[1].strip() for pattern in _STRINGS for match in pattern.finditer(text))
    return [_target(text) for text in found if text and len(text) <= LONGEST]


def _target(text: str) -> str:
    link = _WIKI.fullmatch(text)
    return link[1].strip() if link else text
