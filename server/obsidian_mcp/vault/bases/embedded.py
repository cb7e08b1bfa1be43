"""The bases that stand in a note, as blocks of code."""

from __future__ import annotations

import re

from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.blocks import Kind, Leaf, leaves

_OPENING = re.compile(r"(`{3,}|~{3,})[ \t]*base(?=[ \t\r\n]|$)")


def in_note(note: str) -> list[str]:
    """The text of each, in their order."""
    found = (_base(note, leaf) for leaf in leaves(note, frontmatter.read(note).body))
    return [text for text in found if text is not None]


def _base(note: str, leaf: Leaf) -> str | None:
    opening = _OPENING.match(note, leaf.spans[0][0]) if leaf.kind is Kind.CODE else None
    if opening is None:
        return None
    lines = [note[start:end].rstrip("\r\n") for start, end in leaf.spans[1:]]
    mark = opening[1]
    if lines and lines[-1].strip().startswith(mark) and not lines[-1].strip().strip(mark[0]):
        del lines[-1]
    return "\n".join(lines)
