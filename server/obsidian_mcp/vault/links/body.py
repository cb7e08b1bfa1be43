"""Links in a note's body."""

from __future__ import annotations

from obsidian_mcp.vault.blocks import Kind, Leaf, leaves
from obsidian_mcp.vault.links.inline import Inline
from obsidian_mcp.vault.links.link import Link

_HAS_TEXT = frozenset({Kind.PARAGRAPH, Kind.HEADING, Kind.ROW})


def in_body(text: str, start: int = 0, with_own: bool = False) -> list[Link]:
    """From there on, in the order of the text; `with_own` those too that lead to a heading of the same note."""
    if text.find("[", start) < 0:
        return []
    found: list[Link] = []
    for leaf in leaves(text, start):
        if leaf.kind in _HAS_TEXT and any(text.find("[", begin, end) >= 0 for begin, end in leaf.spans):
            found += _in_leaf(text, leaf)
    return found if with_own else [link for link in found if link.target]


def _in_leaf(text: str, leaf: Leaf) -> list[Link]:
    pieces, origins, at = [], [], 0
    for begin, end in leaf.spans:
        pieces.append(text[begin:end])
        origins.append((at, begin))
        at += end - begin + 1
    has_definitions = leaf.kind is Kind.PARAGRAPH or leaf.is_underlined
    return Inline("\n".join(pieces), origins, leaf.kind is Kind.ROW).links(has_definitions)
