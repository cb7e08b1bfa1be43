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
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.index.building import Builder
from obsidian_mcp.index.entries import INDEXED, entry_of, is_note
from obsidian_mcp.index.indexed import NOTHING, Indexed
from obsidian_mcp.index.mentions import without_collector
from obsidian_mcp.index.reading import Reading
from obsidian_mcp.index.store import Busy, Changes, Store, Unusable, is_wasteful
from obsidian_mcp.vault.contents import Matches
from obsidian_mcp.vault.index import Disk, File, Survey
from obsidian_mcp.vault.links.link import Link
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.query import matching
from obsidian_mcp.vault.query.tree import Query

FEW = 400  # files that are read before the answer
FEW_BYTES = 4 << 20
TRIES = 3  # at a moment in which no other server changes the index


class Library:
    """`file` is where the index is kept; None: nowhere."""

    def __init__(self, disk: Disk, file: str | None) -> None:
        self._disk = disk
        self._file = file
        self._store = Store(file) if file else None
        self._lock = threading.Lock()
        self._idle: list[Store] = []  # connections that only read, for one call at a time each
        self._changes: Changes | None = None
        self._files: tuple[dict[int, File], set[int]] | None = None  # by their numbers, and those of the notes
        self._known: dict[str, tuple[int, int | None]] = {}  # path: number in the index, stamp
        self._unread: list[tuple[str, str]] = []  # of the last look
        self._builder: Builder | None = None

    # The port

    def matching(self, query: Query, is_excluded: Callable[[str], bool], call: CallContext) -> Matches:
        named = matching.named_by_path(query, call)
        with self._view(call) as (view, survey):
            found = view.matching(query, lambda path: not is_excluded(path) or named(path), call)
            if isinstance(view, Indexed):
                found.unread.extend(self._unread)
        found.unread.extend((folder or "the vault's folder", closed.why) for folder, closed in survey.closed)
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

    def properties(self, call: CallContext) -> Iterator[tuple[str, Mapping[str, Any]]]:
        with self._view(call) as (view, _):
            yield from view.properties(call)

    def tags(self, call: CallContext) -> Iterator[tuple[str, list[str]]]:
        with self._view(call) as (view, _):
            yield from view.tags(call)

    def mentioning(self, key: str, call: CallContext) -> list[str]:
        with self._view(call) as (view, _):
            return view.mentioning(key, call)

    def links(self, call: CallContext) -> Iterator[tuple[str, list[Link]]]:
        with self._view(call) as (view, _):
            yield from view.links(call)

    def resolver(self, call: CallContext) -> Resolver:
        return Resolver(file.path for file in self.survey(call).files)

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

    def forget(self) -> None:
        if self._store is not None:
            self._store.forget()
            self._changes = None

    # The index

    @contextlib.contextmanager
    def _view(self, call: CallContext) -> Iterator[tuple[Indexed | Reading, Survey]]:
        """The index, compared with the files a moment ago, or else a reading of all of them."""
        call.check("looking at the vault's files")
        looked = time.time_ns()
        with without_collector():
            survey = self._disk.survey(INDEXED)
            snapshot = self._snapshot(survey, looked, call) if self._store is not None else None
        if snapshot is not None:
            try:
                yield snapshot[0], survey
            finally:
                snapshot[1].end()
                self._idle.append(snapshot[1])
            return
        if self._store is not None:
            self._build_later()
        with self._builder.held_up() if self._builder else contextlib.nullcontext():
            yield Reading(self._disk, survey, self._told), survey

    def _snapshot(self, survey: Survey, looked: int, call: CallContext) -> tuple[Indexed, Store] | None:
        """The index as it is when it agrees with the files, by a connection that sees no later change."""
        assert self._store is not None
        call.acquire(self._lock, "looking at the index")
        try:
            for _ in range(TRIES):
                if not self._bring_up_to_date(self._store, survey, looked, call):
                    return None
                reader = self._idle.pop() if self._idle else Store(self._store.file)
                if reader.begin() == self._changes:
                    return self._indexed(reader, survey), reader
                reader.end()  # another server has changed it meanwhile
                self._idle.append(reader)
        except (Busy, Unusable):
            pass
        finally:
            self._lock.release()
        return None

    def _bring_up_to_date(self, store: Store, survey: Survey, looked: int, call: CallContext) -> bool:
        """Whether it is; not if that would take long."""
        self._load(store)
        changed, gone = self._differences(survey)
        if len(changed) > FEW or sum(file.size for file in changed) > FEW_BYTES:
            return False
        self._unread = []
        if changed or gone:
            self._remember(store, changed, gone, looked, call)
        return True

    def _load(self, store: Store) -> None:
        """What is remembered, unless that is known already and no other server has changed it."""
        changes = store.changes()
        if changes != self._changes:
            self._known = {path: (id, stamp) for id, path, stamp, _ in store.notes()}
            self._changes, self._files = changes, None

    def _differences(self, survey: Survey) -> tuple[list[File], list[int]]:
        """The files that must be read, and the numbers of those that are gone."""
        known = self._known
        nothing = (0, None)
        changed = [file for file in survey.files if known.get(file.path, nothing)[1] != file.stamp]
        if len(survey.files) - len(changed) == len(known):
            return changed, []
        there = {file.path for file in survey.files}
        return changed, [id for path, (id, _) in known.items() if path not in there]

    def _remember(self, store: Store, changed: list[File], gone: list[int], looked: int, call: CallContext) -> None:
        reading = Reading(self._disk, NOTHING)
        entries = [entry_of(file, data, looked) for file, data in reading.read(changed, call)]
        self._unread = reading.unread
        if not entries and not gone:
            return
        before = self._changes
        first = store.save(entries, gone)
        self._changes, self._files = store.changes(), None
        if before is None or self._changes != (*before[:2], before[2] + 1):
            self._changes = None  # another server has changed it before us
            self._load(store)
            return
        numbers = set(gone)
        if numbers:
            self._known = {path: kept for path, kept in self._known.items() if kept[0] not in numbers}
        for number, entry in enumerate(entries, first):
            self._known[entry.path] = (number, entry.stamp)
        if is_wasteful(store.rows(), len(self._known)):
            self._build_later()

    def _indexed(self, reader: Store, survey: Survey) -> Indexed:
        if self._files is None:
            known = self._known
            files = {known[file.path][0]: file for file in survey.files if file.path in known}
            self._files = (files, {id for id, file in files.items() if is_note(file.path)})
        return Indexed(reader, self._disk, *self._files, self._keep_links)

    def _keep_links(self, rows: list[tuple[int, str]]) -> None:
        with self._lock, contextlib.suppress(Busy, Unusable):  # they are read again next time
            if self._store is not None and rows:
                self._store.save_links(rows)

    def _build_later(self) -> None:
        if self._file is None or (self._builder is not None and self._builder.is_running):
            return
        self._builder = Builder(self._disk, self._file)
        self._builder.start()

    def _told(self) -> str:
        return self._builder.told() if self._builder else ""
