"""Finding notes by what they say: the search is read, asked of all notes, put in order and shown in few bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.operations.passages import Passage, passages
from obsidian_mcp.vault.contents import Hit, Matches
from obsidian_mcp.vault.query.matching import Note
from obsidian_mcp.vault.query.parser import BadQuery, parse
from obsidian_mcp.vault.query.tree import EVERYTHING, Query
from obsidian_mcp.vault.words import folded

# So many passages for the first notes; one for each of the others.
PASSAGES = (3, 2)
CHARS_A_NOTE = 800  # where there is more room than that, there are more passages
MOST_UNREAD = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """A note as the answer has it."""

    path: str
    passages: list[Passage]
    more: int
    properties: dict[str, Any] | None


def understood(text: str) -> Query:
    """Raises InvalidArguments, with the place and the repair."""
    try:
        return parse(text)
    except BadQuery as problem:
        near = text[max(0, problem.at - 10) : problem.at + 20]
        raise InvalidArguments(
            f"The query can't be read at character {problem.at + 1} ({near!r}): {problem.problem}.", problem.instead
        ) from None


def moment(text: str) -> int:
    """A date or time as nanoseconds since 1970; without a zone it is this machine's."""
    try:
        when = datetime.fromisoformat(text.strip())
        return int((when if when.tzinfo else when.astimezone()).astimezone(UTC).timestamp() * 1_000_000_000)
    except (ValueError, OverflowError, OSError):
        raise InvalidArguments(
            f"modified_after {text!r} is not a date.", "Write 2026-11-18 or 2026-11-18T09:30."
        ) from None


def ordered(hits: Sequence[Hit], sort: str, query: Query, after: int | None) -> list[Hit]:
    """Best first; what is equal, by the later change; an empty search lists the newest."""
    kept = [hit for hit in hits if after is None or hit.modified >= after]
    if sort == "name":
        return sorted(kept, key=lambda hit: (folded(hit.path.rpartition("/")[2]), hit.path))
    if sort == "modified" or query.filter == EVERYTHING:
        return sorted(kept, key=lambda hit: (-hit.modified, hit.path))
    return sorted(kept, key=lambda hit: (-hit.score, -hit.modified, hit.path))


def shown(
    hits: Sequence[Hit],
    matches: Matches,
    query: Query,
    read: Callable[[str], bytes | None],
    properties: Sequence[str],
    max_chars: int,
) -> Iterator[Shown]:
    """The notes with their passages, one after the other, for as long as the caller has room."""
    for number, hit in enumerate(hits):
        data = read(hit.path)
        if data is None:  # gone, or not text: it counts and has its place, or pages would overlap
            yield Shown(hit.path, [], 0, None)
            continue
        note = Note(hit.path, data)
        most = PASSAGES[number] if number < len(PASSAGES) else 1
        some, more = passages(note, query, matches.words, most * max(1, max_chars // (CHARS_A_NOTE * 5)))
        yield Shown(hit.path, some, more, chosen_properties(note.properties, properties))


def chosen_properties(values: Mapping[str, Any], wanted: Sequence[str]) -> dict[str, Any] | None:
    """Those that were asked for, under their own names."""
    if not wanted:
        return None
    keys = {folded(name) for name in wanted}
    return {name: value for name, value in values.items() if folded(name) in keys}


def not_looked_at(unread: Sequence[tuple[str, str]]) -> str | None:
    """In a sentence."""
    if not unread:
        return None
    first = ", ".join(f"{path} ({why})" for path, why in unread[:MOST_UNREAD])
    more = len(unread) - MOST_UNREAD
    return f"Could not be read: {first}{f' and {more} more' if more > 0 else ''}."


def characters(value: Any) -> int:
    """How long a result is as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
