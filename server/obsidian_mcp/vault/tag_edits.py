"""A tag under another name in a note: in its text, wherever it is a tag there, and among its properties.

A tag is renamed with its children: `#a` to `#b` makes `#b/x` of `#a/x`. The spelling of what is left stays.
"""

from __future__ import annotations

from collections.abc import Callable

from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.property_edits import renamed_tags
from obsidian_mcp.vault.tags import places_in, tags_in

Rename = Callable[[str], str | None]


class NotReadBack(Exception):
    """With the new name, something in the note would be read as another tag, or as none."""


def is_tag(name: str) -> bool:
    """Whether a tag can be called so, without its `#`."""
    return tags_in(f"#{name}", 0) == [name]


def renaming(old: str, new: str) -> Rename:
    """What a tag is called afterwards; None for one that keeps its name."""
    wanted, depth = fold(old), old.count("/") + 1

    def rename(tag: str) -> str | None:
        parts = tag.split("/")
        if fold("/".join(parts[:depth])) != wanted:
            return None
        after = "/".join((new, *parts[depth:]))
        return None if after == tag else after

    return rename


def search_for(old: str) -> Callable[[bytes], bool]:
    """Whether a note may have the tag, by its bytes alone: most notes of a vault need no more than this look."""
    wanted = fold(old)
    plain = wanted.encode() if wanted.isascii() else None

    def may_have(data: bytes) -> bool:
        if plain is not None and plain in data.lower():
            return True
        if b"\\" in data and data.startswith((b"---", b"\xef\xbb\xbf---")):
            return True  # a property in double quotes may hold escapes
        return not data.isascii() and wanted in fold(data.decode("utf-8", "surrogateescape"))

    return may_have


def renamed(text: str, rename: Rename) -> tuple[str, int]:
    """The note with other names for its tags, and in how many places. Raises NotReadBack, and what `property_edits`
    raises.
    """
    in_head = [tag for tag in _in_properties(text) if rename(tag) is not None]
    head = renamed_tags(text, rename) if in_head else text
    after, count = _in_text(head, frontmatter.place(head)[2], rename)
    return after, count + len(in_head)


def _in_properties(text: str) -> list[str]:
    start, end, _ = frontmatter.place(text)
    return frontmatter.tags(frontmatter.read(text).values) if "tags" in text[start:end].lower() else []


def _in_text(text: str, body: int, rename: Rename) -> tuple[str, int]:
    parts: list[str] = []
    at = 0
    places = sorted(set(places_in(text, body)))
    expected = []
    for start, name in places:
        after = rename(name)
        expected.append(name if after is None else after)
        if after is not None:
            parts += (text[at:start], after)
            at = start + len(name)
    if not parts:
        return text, 0
    result = "".join((*parts, text[at:]))
    if [name for _, name in sorted(set(places_in(result, body)))] != expected:
        raise NotReadBack
    return result, len(parts) // 2
