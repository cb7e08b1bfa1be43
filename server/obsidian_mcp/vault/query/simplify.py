"""A search's tree with its bare words put together."""

from __future__ import annotations

from obsidian_mcp.vault.query import tree
from obsidian_mcp.vault.query.tree import And, Contains, Filter, Or, Words
from obsidian_mcp.vault.words import words_in


def simplified(part: Filter) -> Filter:
    return _without_marks(_together(part))


def _together(part: Filter) -> Filter:
    """Bare words that stand side by side, or with OR between them, are one group, whatever parentheses there are."""
    if not isinstance(part, And | Or):
        return part
    parts = [_together(inner) for inner in part.parts]
    words = tuple(word for inner in parts if isinstance(inner, Words) for word in inner.words)
    rest = [inner for inner in parts if not isinstance(inner, Words)]
    found = tuple([Words(words), *rest] if words else rest)
    return found[0] if len(found) == 1 else type(part)(found)


def _without_marks(part: Filter) -> Filter:
    """What has no letter or digit is no word: alone it is looked for as it stands, beside others it is passed over."""
    if isinstance(part, Words):
        texts = [tree.Text(Contains(word)) for word in part.words]
        return _telling(part) or (texts[0] if len(texts) == 1 else And(tuple(texts)))
    if not isinstance(part, And | Or):
        return part
    kept = [_telling(inner) if isinstance(inner, Words) else _without_marks(inner) for inner in part.parts]
    found = tuple(inner for inner in kept if inner is not None)
    return found[0] if len(found) == 1 else type(part)(found)


def _telling(part: Words) -> Words | None:
    words = tuple(word for word in part.words if words_in(word))
    return Words(words) if words else None
