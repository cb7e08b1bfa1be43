"""What the notes of a vault say, remembered between calls and between runs, and never believed unchecked.

Before each answer every file is compared with what is remembered of it. Where few differ, they are read and remembered
first, and the index answers. Where many do (there is no index yet, or a whole folder has come), the answer is found by
reading the notes, and the index is made meanwhile, in the background, as far as it gets: whatever is remembered stays
remembered. Where no index can be kept, all notes are read each time.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from obsidian_mcp.call import CallContext
from obsidian_mcp.index.building import LONG_BUSY, Builder
from obsidian_mcp.index.entries import INDEXED, entry_of, is_note
from obsidian_mcp.index.indexed import Indexed, Known
from obsidian_mcp.index.mentions import without_collector
from obsidian_mcp.index.names import Names
from obsidian_mcp.index.reading import Reading
from obsidian_mcp.index.store import Busy, Changes, Entry, Places, Store, Unusable, is_wasteful
from obsidian_mcp.vault.config import nothing_is_excluded
from obsidian_mcp.vault.contents import Choose, Matches, Unread
from obsidian_mcp.vault.index import Closed, Disk, File, Survey
from obsidian_mcp.vault.links.link import Link
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.query import matching
from obsidian_mcp.vault.query.tree import Query

T = TypeVar("T")

FEW = 400  # files that are read before the answer
FEW_BYTES = 4 << 20
FEW_HOPELESS = 20  # files that could not be read and are tried again
MOST_ANSWERS, LONGEST_ANSWER = 8, 200_000  # that are kept for the next time
TRIES = 3  # at a moment in which no other server changes the index


class Library:
    """`file` is where the index is kept; None: nowhere."""

    def __init__(self, disk: Disk, file: str | None, names: Names | None = None) -> None:
        self._disk = disk
        self._names = names or Names(disk)
        self._file = file
        self._store = Store(file) if file else None
        self._lock = threading.Lock()
        self._idle: list[Store] = []  # connections that only read, for one call at a time each
        self._changes: Changes | None = None
        self._known: dict[str, Known] = {}
        self._stamps: dict[str, dict[str, int | None]] = {}  # of the same files
        self._by_id: dict[int, Known] = {}  # never changed, but replaced: a view may be using it
        self._notes: set[int] = set()  # the numbers of the notes among them; the same holds for it
        self._answers: dict[str, tuple[Changes, list[Any]]] = {}
        self._hopeless: dict[str, tuple[int, str]] = {}  # files that can't be read: in which state, and why
        self._builder: Builder | None = None

    # The port

    def matching(self, query: Query, is_excluded: Callable[[str], bool], call: CallContext) -> Matches:
        named = matching.named_by_path(query, call)
        may_be_found = None
        if is_excluded is not nothing_is_excluded:
            may_be_found = lambda path: not is_excluded(path) or named(path)  # noqa: E731  # one of two
        found, unread = self._answer(lambda view: view.matching(query, may_be_found, call), call)
        found.unread.extend(unread)
        return found

    def survey(self, call: CallContext) -> Survey:
        call.check("looking at the vault's files")
        return self._disk.survey()

    def read(self, path: str) -> bytes | None:
        for _, data in self._disk.read_each([path]):
            return data if isinstance(data, bytes) else None
        return None

    def read_all(self, paths: Iterable[str], call: CallContext) -> Iterator[tuple[str, bytes]]:
        for number, (path, data) in enumerate(self._disk.read_each(paths)):
            if not number % 32:
                call.check(f"reading {path}")
            if isinstance(data, bytes):
                yield path, data

    def properties(self, call: CallContext) -> tuple[list[tuple[str, Mapping[str, Any]]], Unread]:
        return self._answer(lambda view: list(view.properties(call)), call)

    def aliases(self, call: CallContext) -> list[tuple[str, Sequence[str]]]:
        return self._answer(lambda view: list(view.aliases(call)), call)[0]

    def tags(self, call: CallContext) -> tuple[list[tuple[str, Sequence[str]]], Unread]:
        return self._answer(lambda view: self._remembered("tags", view, lambda: list(view.tags(call))), call)

    def links(
        self, call: CallContext, mentioning: str | None = None, choose: Choose | None = None
    ) -> tuple[list[tuple[str, list[Link]]], Unread]:
        if choose is None:
            ask = f"links to {mentioning}"
            return self._answer(
                lambda view: self._remembered(ask, view, lambda: list(view.links(call, mentioning))), call
            )
        chosen = choose
        return self._answer(
            lambda view: [
                (path, kept) for path, found in view.links(call, mentioning) if (kept := chosen(path, found))
            ],
            call,
        )

    def resolver(self, call: CallContext) -> Resolver:
        with self._names.held(call):
            return self._names.current(call).copy()

    def _remembered(self, key: str, view: Indexed | Reading, ask: Callable[[], list[T]]) -> list[T]:
        """An answer that is the same until the index changes; not a very long one."""
        if not isinstance(view, Indexed):
            return ask()
        known = self._answers.get(key)
        if known is not None and known[0] == view.changes:
            return known[1]
        found = ask()
        if len(found) <= LONGEST_ANSWER:
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
            self._answers[key] = (view.changes, found)
        return found

    # For people

    @property
    def file(self) -> str:
        return self._file or "the state folder"

    @property
    def size(self) -> int:
        """Bytes that the index takes."""
        return self._store.size if self._store else 0

    @property
    def can_be_kept(self) -> bool:
        """Whether an index could be written; nothing is tried."""
        return self._store is not None and self._store.is_possible

    def count(self) -> int:
        """How many files it remembers."""
        return len(self._store.notes()) if self._store else 0

    def build(self, call: CallContext, report: Callable[[int, int], None]) -> bool:
        """Now, and not in the background; whether that could be done."""
        return self._file is not None and Builder(self._disk, self._file).build(call, report)

    def clear(self) -> None:
        """Empty the index, as one change of it: another server may be using it."""
        if self._file is None:
            return
        store = Store(self._file, LONG_BUSY)
        try:
            store.clear()
        except (Busy, Unusable):
            store.forget()
        finally:
            store.close()

    def forget(self) -> None:
        if self._store is not None:
            try:
                self._store.forget()
            except PermissionError:  # on Windows, while another server has it open: then it stays, and is empty
                self.clear()
            self._changes = None

    # The index

    def _answer(self, question: Callable[[Indexed | Reading], T], call: CallContext) -> tuple[T, Unread]:
        """From the index, compared with the files a moment ago, or else by a reading of all of them; and what could not
        be looked at, and why.
        """
        call.check("looking at the vault's files")
        closed: list[tuple[str, Closed]] = []
        snapshot = self._snapshot(closed, call) if self._store is not None else None
        files = snapshot if isinstance(snapshot, list) else None
        if isinstance(snapshot, tuple):
            view, reader = snapshot
            try:
                return question(view), [*view.unread, *_told(closed)]
            except (Busy, Unusable):
                closed.clear()  # it is damaged, and thrown away
            finally:
                reader.end()
                self._idle.append(reader)
        try:
            with self._builder.held_up() if self._builder else contextlib.nullcontext():
                if files is None:
                    closed.clear()
                    files, _ = self._disk.changed_files(INDEXED, {}, closed)
                found = question(Reading(self._disk, files, self._how_far))
        finally:
            if self._store is not None:
                self._build_later()  # not before: it would only slow down the answer
        return found, _told(closed)

    def _snapshot(
        self, closed: list[tuple[str, Closed]], call: CallContext
    ) -> tuple[Indexed, Store] | list[File] | None:
        """The index as it is when it agrees with the files, by a connection that sees no later change.

        Where it has none of them, the files: they need not be looked for again.
        """
        assert self._store is not None
        call.acquire(self._lock, "looking at the index")
        try:
            for _ in range(TRIES):
                closed.clear()
                is_current = self._bring_up_to_date(self._store, closed, call)
                if not isinstance(is_current, bool):
                    return is_current
                reader = self._idle.pop() if self._idle else Store(self._store.file)
                if is_current and reader.begin() == self._changes:
                    return self._indexed(reader), reader
                reader.end()  # another server has changed it meanwhile
                self._idle.append(reader)
        except (Busy, Unusable):
            pass
        finally:
            self._lock.release()
        return None

    def _bring_up_to_date(
        self, store: Store, closed: list[tuple[str, Closed]], call: CallContext
    ) -> bool | list[File] | None:
        """Whether it is, or has to be compared again; None, or all files, if bringing it up to date would take long."""
        self._load(store)
        if not self._known and self._builder is not None and self._builder.is_running:
            return None  # it has hardly begun
        looked = time.time_ns()
        with without_collector():
            changed, gone = self._differences(closed)
        hopeful, hopeless = self._sorted_by_hope(changed)
        if len(hopeful) > FEW or sum(file.size for file in hopeful) > FEW_BYTES:
            return None if self._known else changed
        changed = [*hopeful, *hopeless]
        return self._remember(store, changed, gone, looked, call) if changed or gone else True

    def _load(self, store: Store) -> None:
        """What is remembered, unless that is known already and no other server has changed it."""
        changes = store.changes()
        if changes != self._changes:
            with without_collector():
                files = [Known._make(row) for row in store.notes()]
                self._known = {file.path: file for file in files}
                self._by_id = {file.id: file for file in files}
                self._notes = {file.id for file in files if is_note(file.path)}
                self._stamps = _by_folder(files)
            self._changes = changes

    def _differences(self, closed: list[tuple[str, Closed]]) -> tuple[list[File], list[int]]:
        """The files that must be read, and the numbers of those that are gone."""
        known = self._known
        changed, same = self._disk.changed_files(INDEXED, self._stamps, closed)
        if same + sum(file.path in known for file in changed) == len(known):
            return changed, []
        there = {file.path for file in self._disk.changed_files(INDEXED, {}, [])[0]}
        return changed, [kept.id for path, kept in known.items() if path not in there]

    def _sorted_by_hope(self, changed: list[File]) -> tuple[list[File], list[File]]:
        """Those that were never tried, and of those that could not be read a few that cost little: it may pass.

        What can't be read is not found by what it said before.
        """
        if self._builder is not None:
            self._hopeless.update(self._builder.unread)
        hopeful = [file for file in changed if self._hopeless.get(file.path, (None, ""))[0] != file.stamp]
        hopeless = [file for file in changed if self._hopeless.get(file.path, (None, ""))[0] == file.stamp]
        self._hopeless = {file.path: self._hopeless[file.path] for file in hopeless}  # and none that is gone
        self._pass_over(file.path for file in hopeless)
        return hopeful, [file for file in hopeless[:FEW_HOPELESS] if file.size <= FEW_BYTES]

    def _remember(self, store: Store, changed: list[File], gone: list[int], looked: int, call: CallContext) -> bool:
        """Whether nothing else has been changed meanwhile."""
        reading = Reading(self._disk)
        entries = [entry_of(file, data, looked) for file, data in reading.read(changed, call)]
        self._give_up(changed, dict(reading.unread))
        before = self._changes
        if entries or gone:
            first = store.save(entries, gone)
            self._changes = store.changes()
            self._adopt(entries, first, gone)
        if before is None or self._changes not in (before, (before[0], before[1] + 1)):
            self._changes = None  # another server has changed it before us
            return False
        if is_wasteful(store.rows(), len(self._known)):
            self._build_later()
        return True

    def _give_up(self, changed: list[File], unread: Mapping[str, str]) -> None:
        for file in changed:
            if file.path in unread:
                self._hopeless[file.path] = (file.stamp, unread[file.path])
            else:
                self._hopeless.pop(file.path, None)
        self._pass_over(file.path for file in changed)  # until it is remembered anew

    def _pass_over(self, paths: Iterable[str]) -> None:
        numbers = {known.id for path in paths if (known := self._known.pop(path, None)) is not None}
        if numbers:
            self._by_id = {id: file for id, file in self._by_id.items() if id not in numbers}
            self._notes = self._notes - numbers

    def _adopt(self, entries: list[Entry], first: int, gone: list[int]) -> None:
        if gone:
            self._pass_over([self._by_id[id].path for id in gone if id in self._by_id])
            self._stamps = _by_folder(self._known.values())
        new = [Known(entry.path, id, entry.stamp, entry.modified) for id, entry in enumerate(entries, first)]
        self._known.update((file.path, file) for file in new)
        self._by_id = self._by_id | {file.id: file for file in new}
        self._notes = self._notes | {file.id for file in new if is_note(file.path)}
        for file in new:
            folder, _, name = file.path.rpartition("/")
            self._stamps.setdefault(folder, {})[name] = file.stamp

    def _indexed(self, reader: Store) -> Indexed:
        changes = self._changes
        assert changes is not None
        unread = [(path, why) for path, (_, why) in self._hopeless.items()]
        keep = lambda rows: self._keep_links(rows, changes)  # noqa: E731  # of this state
        return Indexed(reader, self._disk, changes, self._by_id, self._notes, keep, unread)

    def _keep_links(self, rows: list[tuple[int, Places]], of: Changes) -> None:
        with self._lock, contextlib.suppress(Busy, Unusable):  # they are read again next time
            if self._store is not None and rows:
                self._store.save_links(rows, of)

    def _build_later(self) -> None:
        if self._file is None or (self._builder is not None and self._builder.is_running):
            return
        self._builder = Builder(self._disk, self._file)
        self._builder.start()

    def _how_far(self) -> str:
        return self._builder.told() if self._builder else ""


def _told(closed: list[tuple[str, Closed]]) -> Unread:
    return [(folder or "the vault's folder", problem.why) for folder, problem in closed]


def _by_folder(files: Iterable[Known]) -> dict[str, dict[str, int | None]]:
    found: dict[str, dict[str, int | None]] = {}
    last, names = None, {}
    for path, _, stamp, _ in files:
        folder, _, name = path.rpartition("/")
        if folder != last:  # mostly those of one folder come together
            last, names = folder, found.setdefault(folder, {})
        names[name] = stamp
    return found
