"""Telling what was changed: which changes are meant, and what each did, as a short diff."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from obsidian_mcp.errors import InvalidArguments, UnknownTool
from obsidian_mcp.protocol.jsonrpc import encode
from obsidian_mcp.vault import diffs
from obsidian_mcp.vault.changes import Change, Rename, Restore, Trash, Write
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.history import Difference, Entry, History

MOST_IN_A_SESSION = 1000
MOST_SEARCHED = 10_000  # changes, for a note that is not there any more
MOST_FILES = 50  # of one change that are shown


def kept(history: History | None) -> History:
    if history is None:
        raise UnknownTool("No history of this vault is kept: the server was started with --history off.")
    return history


def moment(since: str, now: datetime.datetime) -> float:
    """`today`, `yesterday`, a date or a time as ISO 8601 writes it; by the clock here where it names no zone."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    days = {"today": 0, "yesterday": 1}.get(since.strip().lower())
    if days is not None:
        return (today - datetime.timedelta(days=days)).timestamp()
    try:
        return datetime.datetime.fromisoformat(since.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise InvalidArguments(
            f"since must be today, a date or a time, such as {today:%Y-%m-%d} or {now:%Y-%m-%dT%H:%M}, not {since!r}."
        ) from None


def once_called(name: str, entries: Iterable[Entry]) -> Iterator[Entry]:
    """Those of a file that is not there any more, by a name that it had."""
    wanted = _bare(name)
    return (entry for entry in entries if any(_bare(path).endswith(wanted) for path in entry.paths))


def _bare(path: str) -> str:
    return f"/{fold(path).removesuffix('.md').strip('/')}"


def is_undoable(entry: Entry) -> bool:
    return entry.undone_by is None and not entry.undoes


def diff_of(changes: Iterable[Change | Difference], most: int) -> str:
    """What was done to each file, in so many bytes of JSON at most; what is left out is said."""
    every = list(changes)
    parts: list[str] = []
    room = most
    for change in every[:MOST_FILES]:
        part = _shown(change)
        size = len(encode(part))
        if size > room and parts:
            break
        parts.append(part if size <= room else f"{part[: max(0, room // 6)]}\n…")  # a character takes six at most
        room -= size
    left = len(every) - len(parts)
    return "\n".join([*parts, *([f"… and {left} more files"] if left else [])])


def _shown(change: Change | Difference) -> str:
    if isinstance(change, Rename):
        return f"renamed {change.path} → {change.target}"
    if isinstance(change, Trash | Restore):
        verb = "deleted" if isinstance(change, Trash) else "put back"
        texts = (change.before, None) if isinstance(change, Trash) else (None, change.before)
        return _told(f"{verb} {change.path}", *texts)
    if isinstance(change, Write) and change.before is None:
        return _told(f"created {change.path}", None, change.after)
    if isinstance(change, Write) and change.after is None:
        return _told(f"removed {change.path}", change.before, None)
    return _told(f"changed {change.path}", change.before, change.after)


def _told(head: str, before: bytes | None, after: bytes | None) -> str:
    texts = [(text or b"").decode("utf-8", "replace") for text in (before, after)]
    body = diffs.unified(*texts)
    return f"{head}\n{body}" if body else head
