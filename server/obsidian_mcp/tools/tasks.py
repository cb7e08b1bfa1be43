"""The tools for tasks: those of the vault, and a mark on one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from obsidian_mcp.errors import InvalidArguments, NoteNotFound
from obsidian_mcp.operations import paging, searching, tasking
from obsidian_mcp.operations.dated import named
from obsidian_mcp.operations.passages import cut
from obsidian_mcp.protocol import results
from obsidian_mcp.protocol.jsonrpc import encode
from obsidian_mcp.tools.find import ROOM_FOR_CURSOR, Cursor, Limit
from obsidian_mcp.tools.notes import DryRun, IfMatch, SpecialTarget, Text
from obsidian_mcp.tools.tool import Context, Effect, Params, plain, tool
from obsidian_mcp.tools.toolsets import TASKS
from obsidian_mcp.vault import diffs, text
from obsidian_mcp.vault.path import BadPath
from obsidian_mcp.vault.tasks import SETTINGS, TaskSettings

UNCHANGED = "Nothing was changed."
MARKS = {
    **dict.fromkeys(("todo", "to do", "open", "undone", "unchecked", "not done", "false"), " "),
    **dict.fromkeys(("done", "complete", "completed", "checked", "true"), "x"),
    **dict.fromkeys(("cancelled", "canceled"), "-"),
}


def as_mark(given: object) -> object:
    """The character that a word for it means, with or without brackets."""
    if not isinstance(given, str) or len(given) == 1:
        return given
    word = given[1:-1] if given.startswith("[") and given.endswith("]") else given
    mark = word if len(word) == 1 else MARKS.get(word.strip().lower())
    if mark is None:
        raise BadPath("must be one character: x is done, a blank to do, - cancelled")
    return mark


class ListTasks(Params):
    status: Literal["todo", "done", "any"] = "todo"
    within: Annotated[Text | None, Field(description="Folder or note.")] = None
    due_before: Annotated[Text | None, Field(description="ISO date.")] = None
    words: Annotated[Text | None, Field(description="All in its text.")] = None
    limit: Limit = 25
    cursor: Cursor = None


class SetTask(SpecialTarget):
    task: Annotated[Text, Field(description="Its text, or a part that no other task has.")]
    mark: Annotated[
        Text, BeforeValidator(as_mark), Field(min_length=1, max_length=1, description="x is done, a blank to do.")
    ] = "x"
    if_match: IfMatch = None
    dry_run: DryRun = False


@dataclass(frozen=True, slots=True)
class ListedTask:
    path: str
    line: int
    mark: str
    text: str
    due: str | None = None
    section: str | None = None


@dataclass(frozen=True, slots=True)
class TasksListed:
    tasks: list[ListedTask]
    total: int
    note: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class TaskSet:
    path: str
    line: int
    diff: str
    etag: str
    note: str | None = None


@tool("List tasks", Effect.READS, TASKS, whole_vault=True)
def obsidian_list_tasks(params: ListTasks, it: Context) -> TasksListed:
    """Tasks (- [ ] lines) of the vault, a folder or a note, with due dates of Tasks, Dataview, Kanban. With
    due_before, the first due come first.
    """
    wanted = tasking.Wanted.of(params.status, params.due_before, params.words)
    of = paging.fingerprint(wanted, params.within)
    first = paging.offset(params.cursor, of)
    listing = tasking.listed(wanted, params.within, it.vault, it.contents, it.call)
    about = TasksListed([], len(listing.found), searching.not_looked_at(listing.unread))
    room = it.page - results.size(plain(about)) - ROOM_FOR_CURSOR
    kept = paging.fitting(map(_listed, listing.page(first, params.limit)), _size, room, params.limit)
    more = paging.cursor(first + len(kept), of) if kept and first + len(kept) < about.total else None
    return replace(about, tasks=kept, next_cursor=more)


def _listed(found: tasking.Found) -> ListedTask:
    task, due = found.task, None if found.due is None else found.due.isoformat()
    shown = cut(task.text.strip(), tasking.LONGEST_TEXT)
    return ListedTask(found.path, task.line, task.mark, shown, due, found.section)


def _size(item: Any) -> int:
    """The bytes that it takes in a list."""
    return len(encode(plain(item))) + 1


@tool("Set a task", Effect.CHANGES, TASKS)
def obsidian_set_task(params: SetTask, it: Context) -> TaskSet:
    """Tick a task of a note, open it again, or set any mark. Adds the done date if the Tasks plugin does."""
    if not params.mark.isprintable():
        raise InvalidArguments(f"mark {params.mark!r} is not a character that can be seen.", "Give x, or a blank.")
    note = named(params.name, it.vault, it.now(), whole=True)
    if note.new is not None:
        raise NoteNotFound(f"There is no note {note.path} yet, so it has no tasks.", path=note.path.value)
    settings = TaskSettings.read(it.vault.config_file(SETTINGS))
    marking = tasking.Marking(note.path, params.task, params.mark, settings, it.now().date())
    done = tasking.mark(marking, params.if_match, it.vault, dry_run=params.dry_run)
    is_written = done.after != done.before and not params.dry_run
    said = [part for part in (note.note, done.note, None if is_written else UNCHANGED) if part]
    return TaskSet(
        note.path.value,
        done.line,
        diffs.unified(done.before.decode(), done.after.decode()),
        text.etag(done.after if is_written else done.before),
        " ".join(said) or None,
    )
