"""The tasks of a vault: those that are asked for, and a mark on one of them.

The index has no tasks. It has dates' emoji, names of properties and the word "due", so that a question for what is due
reads few notes; any other looks at the text of all for what every task has, and only notes with that are taken apart.
Every task counts, whether or not the Tasks plugin's global filter is on its line.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AmbiguousName, Failure, Hint, InvalidArguments, NoteNotFound
from obsidian_mcp.operations import editing, surveying
from obsidian_mcp.operations.finding import existing
from obsidian_mcp.operations.passages import cut
from obsidian_mcp.vault import tasks, text
from obsidian_mcp.vault.config import nothing_is_excluded
from obsidian_mcp.vault.contents import Contents, Unread
from obsidian_mcp.vault.path import BadPath, VaultPath
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.query.matching import Note
from obsidian_mcp.vault.query.tree import And, Contains, Filter, In, Or, Part, Pattern, Property, Query
from obsidian_mcp.vault.reference import Reference
from obsidian_mcp.vault.sections import Section, outline, section_at
from obsidian_mcp.vault.structure import Task
from obsidian_mcp.vault.tasks import TaskSettings
from obsidian_mcp.vault.words import folded

LONGEST_TEXT = 300  # characters of a task in a list; the change takes it so, too
LONGEST_NAMED = 100  # and in an error
MOST_NAMED = 10
# What stands in the text of every note with such a task; x and X are done in every vault.
_BEFORE_MARK, _AFTER_MARK = r"[-*+.)][ \t]+\[", r"\][ \t]"
_MARKS = {"todo": r"[^xX\n]", "done": r"[^ \n]", "any": r"."}
_SIGNS_OF_DUE = ("📅", "📆", "🗓", "due")
OUT_OF_REACH = Hint(
    "Name a note in within, or search for notes with obsidian_search_notes and the query task-todo:word.",
    "Name a note in within, or search for notes: obsidian-mcp call search_notes query=task-todo:word",
    needs="obsidian_search_notes",
    without="Name a note in within.",
)
THE_SAME = Hint(
    "Their texts are the same: change the line of one with obsidian_edit_note.",
    "Their texts are the same: change the line of one with obsidian-mcp call edit_note.",
    needs="obsidian_edit_note",
    without="Their texts are the same: change the text of one first.",
)
RECURS = "The task recurs: in the app, the Tasks plugin would now have added the next one. That was not done here."


@dataclass(frozen=True, slots=True)
class Wanted:
    """`words` are folded."""

    status: str
    due_before: datetime.date | None
    words: tuple[str, ...]

    @classmethod
    def of(cls, status: str, due_before: str | None, words: str | None) -> Wanted:
        return cls(status, None if due_before is None else _day(due_before), tuple(folded(words or "").split()))


def _day(given: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(given.strip())
    except ValueError:
        raise InvalidArguments(f"due_before {given!r} is not a date.", "Write it as 2026-11-18.") from None


@dataclass(frozen=True, slots=True)
class Found:
    path: str
    task: Task
    due: datetime.date | None
    section: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All that were asked for; `read` gives the notes again, for the sections of those that are shown."""

    found: list[Found]
    read: Callable[[Iterable[str]], Iterable[tuple[str, bytes]]]
    unread: Unread

    def page(self, first: int, most: int) -> list[Found]:
        """Some of them, with their sections."""
        shown = self.found[first : first + most]
        sections = {path: _sections(Note(path, data)) for path, data in self.read({each.path: 0 for each in shown})}
        return [replace(each, section=_name(sections.get(each.path, []), each.task)) for each in shown]


def _sections(note: Note) -> list[Section]:
    return outline(note.structure, note.text)


def _name(sections: list[Section], task: Task) -> str | None:
    section = section_at(sections, task.line)
    return section.name if section else None


# Listing


def listed(wanted: Wanted, within: str | None, vault: Vault, contents: Contents | None, call: CallContext) -> Listing:
    """By path and line; where a date was asked for, what is due first comes first."""
    settings = TaskSettings.read(vault.config_file(tasks.SETTINGS))
    place = _place(within, vault, contents, call)
    if isinstance(place, VaultPath):
        data = vault.read(place)
        text.decoded(place, data)
        note = [(place.value, data)]
        return Listing(_chosen(note, wanted, settings), lambda paths: note, [])
    if contents is None:
        raise InvalidArguments("The notes of this vault are out of reach: only the app can be asked.", OUT_OF_REACH)
    paths, unread = _notes_with_tasks(wanted, place, vault, contents, call)
    found = _chosen(contents.read_all(paths, call), wanted, settings)
    return Listing(found, lambda paths: contents.read_all(paths, call), unread)


def _chosen(notes: Iterable[tuple[str, bytes]], wanted: Wanted, settings: TaskSettings) -> list[Found]:
    found = [each for path, data in notes for each in _tasks_of(Note(path, data), wanted, settings)]
    if wanted.due_before is not None:
        found.sort(key=lambda each: each.due or datetime.date.max)
    return found


def _tasks_of(note: Note, wanted: Wanted, settings: TaskSettings) -> Iterator[Found]:
    on_board = tasks.BOARD in note.text and tasks.BOARD in note.properties
    for task in note.structure.tasks:
        if wanted.status != "any" and settings.is_closed(task.mark) != (wanted.status == "done"):
            continue
        if wanted.words and not all(word in folded(task.text) for word in wanted.words):
            continue
        day = tasks.due(task.text, on_board)
        if wanted.due_before is None or (day is not None and day < wanted.due_before):
            yield Found(note.path, task, day)


def _notes_with_tasks(
    wanted: Wanted, folder: str, vault: Vault, contents: Contents, call: CallContext
) -> tuple[list[str], Unread]:
    """The notes that may have such tasks. Those that the vault excludes only where the folder itself is excluded."""
    is_excluded = vault.settings().is_excluded()
    prefix = f"{folder}/" if folder else ""
    if prefix and is_excluded(prefix):
        is_excluded = nothing_is_excluded
    matches = contents.matching(Query(filter_for(wanted, prefix)), is_excluded, call)
    paths = (hit.path for hit in matches.hits if hit.path.startswith(prefix) and not is_excluded(hit.path))
    return sorted(paths, key=lambda path: (folded(path), path)), matches.unread


def filter_for(wanted: Wanted, prefix: str) -> Filter:
    """What is cheapest to tell comes first."""
    parts: list[Filter] = [In(Part.PATH, Contains(prefix, exact=True))] if prefix else []
    if wanted.due_before is not None:
        signs = (In(Part.CONTENT, Contains(sign, whole=True)) for sign in _SIGNS_OF_DUE)
        parts.append(Or((*signs, Property(tasks.BOARD))))
    parts.append(In(Part.CONTENT, Pattern(f"{_BEFORE_MARK}{_MARKS[wanted.status]}{_AFTER_MARK}", exact=True)))
    return And((*parts, *(In(Part.CONTENT, Contains(word)) for word in wanted.words)))


# Where


def _place(within: str | None, vault: Vault, contents: Contents | None, call: CallContext) -> VaultPath | str:
    """A note, or a folder, which is empty for the whole vault. Never a guess between the two."""
    given = (within or "").strip()
    if given in ("", ".", "/"):
        return ""
    if contents is None:
        return _note(given, vault)
    folders = contents.survey(call).folders
    if given.endswith("/") or given in folders:
        return surveying.existing_folder(given, folders, ())
    folder, hint = _folder(given, folders)
    try:
        note = _note(given, vault)
    except NoteNotFound as problem:
        if folder is None:
            raise NoteNotFound(f"{problem.fact} No folder is called so either.", hint, **problem.data) from None
        return folder
    if folder is None:
        return note
    raise AmbiguousName(
        f"{given!r} is the folder {folder} and the note {note}.", f"Give {folder}/ or {note} as within."
    )


def _folder(given: str, folders: Sequence[str]) -> tuple[str | None, Hint]:
    """If there is none, what could be given instead."""
    try:
        return surveying.existing_folder(given, folders, ()), Hint("")
    except Failure as problem:
        return None, problem.hint


def _note(given: str, vault: Vault) -> VaultPath:
    try:
        return existing(Reference.parse(given), vault)
    except BadPath as problem:
        raise InvalidArguments(f"within {problem}.") from None


# Marking


@dataclass(frozen=True, slots=True)
class Marked:
    """A task's note before and after; `note` is what else is to be said."""

    line: int
    before: bytes
    after: bytes
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Marking:
    """What is to be done: a mark for the task that is meant, on that day."""

    path: VaultPath
    task: str
    mark: str
    settings: TaskSettings
    today: datetime.date

    def planned(self, data: bytes) -> Marked:
        """Raises unless exactly one task is meant."""
        note = Note(self.path.value, text.decoded(self.path, data).encode())
        try:
            task = tasks.find(note.structure.tasks, self.task)
        except tasks.NoTask as problem:
            raise (
                self._ambiguous(note, problem.several) if problem.several else self._missing(problem.nearest)
            ) from None
        if task.mark == self.mark:
            return Marked(task.line, data, data, f"The task has the mark {self.mark!r} already.")
        after = tasks.marked(note.text, task, self.mark, self.settings, self.today)
        return Marked(task.line, data, after.encode(), RECURS if self._recurs(task) else None)

    def _recurs(self, task: Task) -> bool:
        settings = self.settings
        is_ticked = settings.is_done(self.mark) and not settings.is_done(task.mark)
        return is_ticked and settings.filter in task.text and tasks.recurs(task.text)

    def _missing(self, nearest: list[Task]) -> NoteNotFound:
        named = [f"{cut(task.text.strip(), LONGEST_NAMED)} (line {task.line})" for task in nearest]
        hint = f"The nearest are: {'; '.join(named)}." if named else "It has no tasks."
        return NoteNotFound(f"{self.path} has no task {self.task!r}.", hint, path=self.path.value)

    def _ambiguous(self, note: Note, several: list[Task]) -> AmbiguousName:
        sections = _sections(note)
        named = [_described(task, _name(sections, task)) for task in several[:MOST_NAMED]]
        more = f"; and {len(several) - MOST_NAMED} more" if len(several) > MOST_NAMED else ""
        are_alike = len({(task.mark, task.text.strip()) for task in several}) < len(several)
        return AmbiguousName(
            f"{self.path} has {len(several)} tasks {self.task!r}: {'; '.join(named)}{more}.",
            THE_SAME if are_alike else "Give more of its text, with its mark before it, as in - [ ] text.",
            path=self.path.value,
        )


def _described(task: Task, section: str | None) -> str:
    place = f"line {task.line}{f', section {section}' if section else ''}"
    return f"[{task.mark}] {cut(task.text.strip(), LONGEST_NAMED)} ({place})"


def mark(marking: Marking, if_match: str | None, vault: Vault, *, dry_run: bool) -> Marked:
    """Where nothing would change, nothing is written."""
    path, seen = marking.path, vault.current(marking.path)
    text.require_match(path, text.etag(seen), if_match)
    done = marking.planned(seen)
    if dry_run or done.after == done.before:
        return done

    def change(before: bytes) -> bytes:
        nonlocal done
        done = done if before == done.before else marking.planned(before)
        return done.after

    editing.edit(path, change, if_match, vault, f"marking a task of {path}")
    return done
