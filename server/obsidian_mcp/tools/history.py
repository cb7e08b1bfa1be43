"""The tools that tell what was changed, and take it back."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from obsidian_mcp.errors import Hint, InvalidArguments, NoteNotFound
from obsidian_mcp.operations import paging, recounting, undoing
from obsidian_mcp.operations.finding import existing
from obsidian_mcp.protocol.jsonrpc import encode
from obsidian_mcp.tools.notes import DryRun, Text
from obsidian_mcp.tools.tool import Context, Effect, Params, plain, tool
from obsidian_mcp.tools.toolsets import HISTORY
from obsidian_mcp.vault.changes import Rename
from obsidian_mcp.vault.history import MOST_IDS, Entry, History, NoSuchEntry, Unreadable, touched
from obsidian_mcp.vault.path import BadPath
from obsidian_mcp.vault.reference import Reference

MOST_PATHS = 10  # of one change that are listed
ROOM_FOR_REST = 400  # bytes of a result beside its list or diff
FIND_ID = Hint("Give an id from obsidian_list_changes.", "Give an id from obsidian-mcp history.")

Since = Annotated[Text | None, Field(description="today, or ISO date or time.")]


class ListChanges(Params):
    id: Annotated[Text | None, Field(description="Only this change, with its diff.")] = None
    name: Annotated[Text | None, Field(description="Only of this note.")] = None
    since: Since = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 20
    cursor: Text | None = None


class UndoChange(Params):
    id: Annotated[Text | None, Field(description="Default: your latest change.")] = None
    since: Annotated[Text | None, Field(description="All changes of client since then.")] = None
    client: Text | None = None
    merge: Annotated[bool, Field(description="Keep later edits on other lines.")] = False
    dry_run: DryRun = False


@dataclass(frozen=True, slots=True)
class ListedChange:
    id: str
    time: str
    tool: str
    client: str
    vault: str
    paths: list[str]
    summary: str
    undone: bool
    more_paths: int | None = None


@dataclass(frozen=True, slots=True)
class ChangesListed:
    changes: list[ListedChange]
    diff: str | None = None
    next_cursor: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeUndone:
    id: str
    undone: bool
    paths: list[str]
    diff: str
    note: str | None = None


@tool("List changes", Effect.READS, HISTORY, whole_vault=True)
def obsidian_list_changes(params: ListChanges, it: Context) -> ChangesListed:
    """What was changed through this server, newest first, by any client."""
    history = recounting.kept(it.history)
    it.vault.settle()
    if params.id is not None:
        return _with_diff(_entry(params.id, history), history, it)
    since = None if params.since is None else recounting.moment(params.since, it.now())
    asked = paging.fingerprint("changes", params.name, params.since)
    first = paging.offset(params.cursor, asked)
    found = _of_note(params.name, since, first + params.limit + 1, history, it)[first:]
    shown = (_listed(entry, it) for entry in found[: params.limit])
    page = paging.fitting(shown, lambda each: len(encode(plain(each))) + 1, it.page - ROOM_FOR_REST, params.limit)
    more = paging.cursor(first + len(page), asked) if len(found) > len(page) else None
    return ChangesListed(page, next_cursor=more)


@tool("Undo a change", Effect.CHANGES, HISTORY, whole_vault=True)
def obsidian_undo_change(params: UndoChange, it: Context) -> ChangeUndone:
    """Take back a change with its moves and links. Refused if a note was changed since."""
    history = recounting.kept(it.history)
    it.vault.settle()
    entries = _meant(params, history, it)
    done = undoing.undo(entries, it.vault, history, it.contents, it.call, merge=params.merge, dry_run=params.dry_run)
    paths = touched(done.changes)
    diff = recounting.diff_of(done.changes.changes, it.page - 2 * ROOM_FOR_REST)
    ids = " ".join(entry.id for entry in entries[:MOST_IDS])
    ids += f" and {len(entries) - MOST_IDS} more" if len(entries) > MOST_IDS else ""
    return ChangeUndone(ids, not params.dry_run, list(paths[:MOST_PATHS]), diff, _said(done, paths, it))


def _meant(params: UndoChange, history: History, it: Context) -> list[Entry]:
    """The changes to be undone, newest first."""
    if params.id is not None:
        if params.since is not None:
            raise InvalidArguments("id names one change and since many: give one of them.")
        return [_entry(params.id, history)]
    client = params.client or history.by.client
    if not client:
        raise InvalidArguments("The client has given no name, so its latest change is not known.", FIND_ID)
    if params.since is None:
        latest = history.latest() if params.client in (None, history.by.client) else _latest_of(client, history)
        if latest is None:
            raise InvalidArguments(f"There is no change of {client} left to undo.", FIND_ID)
        return [latest]
    since = recounting.moment(params.since, it.now())
    every = history.entries(since=since, client=client, limit=recounting.MOST_IN_A_SESSION + 1)
    found = [entry for entry in every if recounting.is_undoable(entry)]
    if not found:
        raise InvalidArguments(f"There is no change of {client} since {params.since} left to undo.", FIND_ID)
    if len(every) > recounting.MOST_IN_A_SESSION:
        raise InvalidArguments(
            f"{client} has made more than {recounting.MOST_IN_A_SESSION} changes since then.", FIND_ID
        )
    return found


def _entry(id: str, history: History) -> Entry:
    try:
        return history.entry(id)
    except NoSuchEntry:
        raise undoing.unknown(id) from None


def _with_diff(entry: Entry, history: History, it: Context) -> ChangesListed:
    listed = _listed(entry, it)
    try:
        _, changes = history.get(entry.id)
    except (Unreadable, NoSuchEntry) as problem:
        return ChangesListed([listed], note=str(problem))
    room = it.page - ROOM_FOR_REST - len(encode(plain(listed)))
    return ChangesListed([listed], recounting.diff_of(changes.done, room))


def _latest_of(client: str, history: History) -> Entry | None:
    every = history.entries(client=client, limit=recounting.MOST_SEARCHED)
    return next((entry for entry in every if recounting.is_undoable(entry)), None)


def _of_note(name: str | None, since: float | None, limit: int, history: History, it: Context) -> list[Entry]:
    """The changes of a note, of one that is gone by a name that it had; or all."""
    if name is None:
        return history.entries(since=since, limit=limit)
    try:
        path = existing(Reference.parse(name), it.vault).value
    except BadPath as problem:
        raise InvalidArguments(f"name {problem}.") from None
    except NoteNotFound:
        every = history.entries(since=since, limit=recounting.MOST_SEARCHED)
        found = list(recounting.once_called(name, every))[:limit]
        if not found:
            raise
        return found
    return history.entries(since=since, note=path, limit=limit)


def _listed(entry: Entry, it: Context) -> ListedChange:
    more = len(entry.paths) - MOST_PATHS
    return ListedChange(
        entry.id,
        datetime.datetime.fromtimestamp(entry.time).astimezone().isoformat(timespec="seconds"),
        entry.tool.removeprefix("obsidian_"),
        entry.client,
        it.label,
        list(entry.paths[:MOST_PATHS]),
        entry.summary,
        entry.undone_by is not None,
        more if more > 0 else None,
    )


def _said(done: undoing.Undone, paths: tuple[str, ...], it: Context) -> str | None:
    said = []
    if done.merged:
        said.append(f"Later edits were kept in {', '.join(done.merged[:MOST_PATHS])}.")
    if len(paths) > MOST_PATHS:
        said.append(f"{len(paths) - MOST_PATHS} more files are not listed.")
    if it.contents is None and any(isinstance(change, Rename) for change in done.changes.changes):
        said.append("The Obsidian app mends the links.")
    return " ".join(said) or None
