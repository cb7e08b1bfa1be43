"""A note as the index remembers it."""

from __future__ import annotations

import re

from obsidian_mcp.index.names import is_settled
from obsidian_mcp.index.store import Entry
from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.index import File
from obsidian_mcp.vault.links.link_names import names_in
from obsidian_mcp.vault.query.matching import Note, stem
from obsidian_mcp.vault.query.ranking import searchable_parts

NOTES = (".md",)
INDEXED = (".md", ".canvas")  # canvases for their links alone
NO_WORDS = ("", "", "")
_ALIASES = re.compile("^[\"']?aliases", re.IGNORECASE | re.MULTILINE)


def is_note(path: str) -> bool:
    return path.endswith(NOTES) or path.lower().endswith(NOTES)


def entry_of(file: File, data: bytes, now: int) -> Entry:
    """`now` is when it was looked at, in nanoseconds: a change that comes as soon again could keep the time."""
    stamp = file.stamp if is_settled(file.touched, now) else None
    mentions = names_in(file.path, data)
    if not is_note(file.path):
        return Entry(file.path, stamp, file.modified, file.size, NO_WORDS, mentions, [], {})
    note = Note(file.path, data)
    return Entry(
        file.path,
        stamp,
        file.modified,
        file.size,
        words_of(note),
        mentions,
        note.tags,
        dict(note.properties),
    )


def words_of(note: Note) -> tuple[str, str, str]:
    """The properties are read only where there may be aliases among them: most notes have none."""
    has_head = note.text.startswith(("---", "\ufeff---"))
    end = note.text.find("\n---", 3) if has_head else 0
    has_aliases = has_head and _ALIASES.search(note.text, 0, len(note.text) if end < 0 else end)
    aliases = frontmatter.aliases(note.properties) if has_aliases else []
    return searchable_parts(stem(note.path), aliases, note.searchable)
