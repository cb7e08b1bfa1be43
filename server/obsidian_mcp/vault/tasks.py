"""Tasks as their plugins mean them: which are done, when they are due, what changes on a line with its mark.

A task is what `structure` reads as one. What its mark means, and whether ticking it adds a date, is for the settings of
the Tasks plugin to say. Its fields may be emoji or Dataview's; both are read, and the one that the vault has chosen is
written. The plugin reads fields from the end of a line; here the last date counts, wherever it stands: a person who
writes on after a date still means it.

Deliberately absent: the next task of one that recurs, and what `🏁` does on completion. Only the plugin can do these.
"""

from __future__ import annotations

import datetime
import heapq
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.sections import likeness
from obsidian_mcp.vault.structure import Task

SETTINGS = "plugins/obsidian-tasks-plugin/data.json"
BOARD = "kanban-plugin"  # the property of notes whose dates are those of Kanban
NEAREST = 5
_DONE = "DONE"
_CLOSED = frozenset({_DONE, "CANCELLED", "NON_TASK"})  # what the plugin doesn't count as "not done"
_MEANT = {"x": _DONE, "X": _DONE, "-": "CANCELLED"}
_DATE = r"(\d{4}-\d\d-\d\d)"
_DUE = re.compile(rf"[📅📆🗓]\ufe0f?[ \t]*{_DATE}|[\[(][ \t]*(?i:due)[ \t]*::[ \t]*(?:\[\[)?{_DATE}")
_DUE_ON_BOARD = re.compile(rf"{_DUE.pattern}|@\{{{_DATE}\}}|@\[\[{_DATE}\]\]")
_RECURRING = re.compile(r"🔁|[\[(][ \t]*(?i:repeat)[ \t]*::")
_BEFORE_TEXT = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(.)\](?:[ \t]+|\Z)")
_ID = re.compile(r"\^[A-Za-z0-9-]+")
_CUT = "…"


@dataclass(frozen=True, slots=True)
class _Format:
    """How a done date is written, and how it is found again."""

    written: str
    found: re.Pattern[str]


_FORMATS = {
    "tasksPluginEmoji": _Format(" ✅ {}", re.compile(rf" ?✅\ufe0f? *{_DATE}")),
    # The two blanks are the plugin's: with one, the app hides every other field.
    "dataview": _Format(
        "  [completion:: {}]", re.compile(rf" {{0,2}}(?:\[completion:: *{_DATE}\]|\(completion:: *{_DATE}\))")
    ),
}


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """`types` says what each mark means; only lines with the `filter` are the plugin's own."""

    types: Mapping[str, str] = field(default_factory=lambda: _MEANT)
    filter: str = ""
    format: str = "tasksPluginEmoji"
    sets_done_date: bool = False

    @classmethod
    def read(cls, found: object) -> TaskSettings:
        """Of what the plugin's own file holds; without one, as marks are mostly understood."""
        if not isinstance(found, Mapping):
            return cls()
        wanted, form = found.get("globalFilter"), found.get("taskFormat")
        return cls(
            {**_MEANT, **dict(_statuses(found.get("statusSettings"))), "x": _DONE, "X": _DONE},
            wanted if isinstance(wanted, str) else "",
            form if isinstance(form, str) and form in _FORMATS else "tasksPluginEmoji",
            found.get("setDoneDate") is True,
        )

    def is_closed(self, mark: str) -> bool:
        """Done or cancelled; everything else is still to do."""
        return self.types.get(mark) in _CLOSED

    def is_done(self, mark: str) -> bool:
        return self.types.get(mark) == _DONE

    def dates(self, text: str) -> bool:
        """Whether the plugin would write a done date into such a task."""
        return self.sets_done_date and self.filter in text


def _statuses(found: object) -> Iterator[tuple[str, str]]:
    groups = [found.get(name) for name in ("coreStatuses", "customStatuses")] if isinstance(found, Mapping) else []
    for status in (status for group in groups if isinstance(group, list) for status in group):
        symbol, kind = (status.get("symbol"), status.get("type")) if isinstance(status, Mapping) else (None, None)
        if isinstance(symbol, str) and isinstance(kind, str):
            yield symbol, kind


def due(text: str, on_board: bool = False) -> datetime.date | None:
    """The last date by which it is to be done, that is one."""
    days = [_day(found[found.lastindex or 0]) for found in (_DUE_ON_BOARD if on_board else _DUE).finditer(text)]
    return next((day for day in reversed(days) if day is not None), None)


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def recurs(text: str) -> bool:
    return _RECURRING.search(text) is not None


# The task that is meant


class NoTask(Exception):
    """There is no such task, or `several` could be meant."""

    def __init__(self, several: list[Task], nearest: list[Task]) -> None:
        super().__init__()
        self.several = several
        self.nearest = nearest


def find(tasks: Sequence[Task], wanted: str) -> Task:
    """By its text, or a part that no other has. With a mark before it, those that have this mark come first.

    Raises NoTask: what could mean two tasks means none.
    """
    before = _BEFORE_TEXT.match(wanted)
    text = wanted[before.end() if before else 0 :].strip().partition("\n")[0].rstrip()
    several = _matching(tasks, text)
    if before and len(several) > 1:
        several = [task for task in several if task.mark == before[1]] or several
    if len(several) == 1:
        return several[0]
    raise NoTask(several, [] if several else _nearest(tasks, text))


def _matching(tasks: Sequence[Task], wanted: str) -> list[Task]:
    """What the most exact of all readings finds: the whole text before a part of it, with case before without."""
    for same in (lambda text: text, fold):
        if found := [task for task in tasks if same(task.text.strip()) == same(wanted)]:
            return found
    for is_in in (lambda part, text: part in text, lambda part, text: fold(part) in fold(text)):
        if found := _with_part(tasks, wanted, is_in):
            return found
    return []


def _with_part(tasks: Sequence[Task], wanted: str, is_in: Callable[[str, str], bool]) -> list[Task]:
    """A long text may be given as a list has shown it, cut."""
    for part in dict.fromkeys((wanted, wanted.removesuffix(_CUT).rstrip())):
        if part and (found := [task for task in tasks if is_in(part, task.text)]):
            return found
    return []


def _nearest(tasks: Sequence[Task], wanted: str) -> list[Task]:
    alike = likeness(wanted)
    return heapq.nlargest(NEAREST, tasks, key=lambda task: alike(task.text))


# The change


def marked(text: str, task: Task, mark: str, settings: TaskSettings, today: datetime.date) -> str:
    """The note with this mark on the task, and with the done date that goes with it. Nothing else changes."""
    begin = task.end - len(task.text)
    line = task.text
    if settings.dates(line) and settings.is_done(mark) != settings.is_done(task.mark):
        line = _without_date(line, settings)
        if settings.is_done(mark):
            line = _with_date(line, settings, today)
    return f"{text[: begin - 3]}{mark}{text[begin - 2 : begin]}{line}{text[task.end :]}"


def _with_date(line: str, settings: TaskSettings, today: datetime.date) -> str:
    """At the end, before a block id. A task that says nothing gets none."""
    said = line.rstrip(" \t")
    last = max(said.rfind(" "), said.rfind("\t")) + 1
    if _ID.fullmatch(said, last):
        said = said[:last].rstrip(" \t")
    date = _FORMATS[settings.format].written.format(today.isoformat())
    return f"{said}{date}{line[len(said) :]}" if said else line


def _without_date(line: str, settings: TaskSettings) -> str:
    found = list(_FORMATS[settings.format].found.finditer(line))
    return f"{line[: found[-1].start()]}{line[found[-1].end() :]}" if found else line
