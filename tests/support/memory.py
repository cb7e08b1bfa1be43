"""A vault that is a dictionary, and a client in this process: the same tools and promises, in milliseconds."""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.connection import Connection
from obsidian_mcp.errors import AlreadyExists, NoteNotFound, NotJson, ObsidianNotRunning
from obsidian_mcp.features.completion import Completion
from obsidian_mcp.features.offered import Features
from obsidian_mcp.features.prompts import Prompts
from obsidian_mcp.features.resources import Resources, Served
from obsidian_mcp.features.tools import Tools
from obsidian_mcp.index.library import Library
from obsidian_mcp.index.mentions import Mentions
from obsidian_mcp.index.names import Names
from obsidian_mcp.protocol import jsonrpc
from obsidian_mcp.scheduler import Scheduler
from obsidian_mcp.servers.notes import NotesServer
from obsidian_mcp.servers.offered import Offered
from obsidian_mcp.settings import load
from obsidian_mcp.tools import catalogue
from obsidian_mcp.tools.tool import Context
from obsidian_mcp.vault import text
from obsidian_mcp.vault.changes import ChangeSet, Committed, Rename, Trash, applied
from obsidian_mcp.vault.config import VaultConfig
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.history import By, Entry, KeptChanges, NoSuchEntry, summary, touched
from obsidian_mcp.vault.index import Closed, File, Index, Listing, Stamps, Survey, stamp_in
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath, is_path
from obsidian_mcp.vault.port import Stat
from obsidian_mcp.vault.seen import Seen
from obsidian_mcp.vaults import Opened
from tests.support.client import ToolFailed, peak_mb

PATIENCE = 60.0


class Files(dict[str, bytes]):
    """What the vault holds; also what the index asks of a disk. Every look finds it changed."""

    looks = 0

    def changed(self, folder: str) -> int:
        self.looks += 1
        return self.looks

    def listing(self, folder: str) -> Listing:
        prefix = f"{folder}/" if folder else ""
        below = [path[len(prefix) :] for path in self if path.startswith(prefix)]
        shown = [path for path in below if not path.startswith(".")]
        files = tuple(path for path in shown if "/" not in path)
        folders = tuple(dict.fromkeys(path.partition("/")[0] for path in shown if "/" in path))
        return Listing(self.changed(folder), files, folders)

    def stamp(self, path: str) -> int | None:
        return hash(self[path]) if path in self else None

    def read(self, path: str) -> bytes:
        return self[path]

    def survey(self) -> Survey:
        files, _ = self.changed_files(("",), {}, [])
        folders = {file.path[:at] for file in files for at in range(len(file.path)) if file.path[at] == "/"}
        return Survey(files, sorted(folders), [])

    def changed_files(
        self, endings: tuple[str, ...], known: Stamps, closed: list[tuple[str, Closed]]
    ) -> tuple[list[File], int]:
        shown = [path for path in self if not any(part.startswith(".") for part in path.split("/"))]
        files = [
            File(path, hash(self[path]), 0, len(self[path]), 0) for path in shown if path.lower().endswith(endings)
        ]
        changed = [file for file in files if stamp_in(known, file.path) != file.stamp]
        return changed, len(files) - len(changed)

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | str | None]]:
        for path in paths:
            yield path, self.get(path)

    def read_stamped(self, paths: Iterable[str]) -> Iterator[tuple[str, int, int, bytes]]:
        for path in paths:
            yield path, hash(self[path]), 0, self[path]


class MemoryHistory:
    """A list of what was done: the second of those that answer the two ports."""

    def __init__(self) -> None:
        self.by = By()
        self.last: str | None = None
        self._made: list[tuple[Entry, ChangeSet]] = []

    def begin(self, changes: ChangeSet) -> str:
        id = f"m{len(self._made) + 1}"
        entry = Entry(
            id, 1e9, self.by.tool, self.by.client, "", summary(changes), touched(changes), changes.undoes, None, 0
        )
        self._made.append((entry, changes))
        return id

    def finish(self, id: str, changes: ChangeSet | None = None) -> None:
        self.last = id
        for at, (entry, planned) in enumerate(self._made):
            if entry.id == id:
                self._made[at] = (entry, changes or planned)
                self._mark(entry.undoes, id)

    settled = finish

    def _mark(self, ids: Iterable[str], by: str | None) -> None:
        for at, (entry, planned) in enumerate(self._made):
            if entry.id in ids:
                self._made[at] = (entry._replace(undone_by=by), planned)
                self._mark(entry.undoes, None if by else entry.id)

    def abandon(self, id: str) -> None:
        self._made = [made for made in self._made if made[0].id != id]

    def pending(self) -> list[tuple[str, KeptChanges]]:
        return []

    def entries(
        self, since: float | None = None, note: str | None = None, client: str | None = None, limit: int = 100
    ) -> list[Entry]:
        found, names = list[Entry](), {note}
        for entry, changes in reversed(self._made):
            if note is None or names & set(entry.paths):
                found.append(entry)
            names |= {each.path for each in changes.changes if isinstance(each, Rename) and each.target in names}
        return [entry for entry in found if client in (None, entry.client) and entry.time >= (since or 0)][:limit]

    def entry(self, id: str) -> Entry:
        return self.get(id)[0]

    def get(self, id: str) -> tuple[Entry, KeptChanges]:
        for entry, changes in self._made:
            if entry.id == id:
                return entry, KeptChanges(changes.doing, changes.changes, changes.made, changes.unmade)
        raise NoSuchEntry(id)

    def purge(self) -> int:
        count, self._made = len(self._made), []
        return count

    def latest(self) -> Entry | None:
        mine = (entry for entry in self.entries(client=self.by.client, limit=1000) if not entry.undoes)
        return next((entry for entry in mine if entry.undone_by is None), None)


class MemoryVault:
    def __init__(self, files: Files, history: MemoryHistory | None = None) -> None:
        self._files = files
        self._history = history

    def is_called(self, vault: str) -> bool:
        return vault == "Memory"

    def within(self, absolute: str) -> str | None:
        return absolute.removeprefix("/memory/") if absolute.startswith("/memory/") else None

    def paths(self) -> list[str]:
        return [path for path in self._files if is_path(path)]

    def matching(self, name: Name) -> list[str]:
        return name.matches(self.paths())

    def has(self, path: VaultPath) -> bool:
        return path.value in self._files

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        if path.value in self._files:
            return [path]
        return [VaultPath(other) for other in sorted(self.paths()) if fold(other) == fold(path.value)]

    def spelled_folder(self, folder: str) -> str:
        folders = (VaultPath(path).folder for path in self.paths())
        return next((other for other in folders if fold(other) == fold(folder)), folder)

    def canonical(self, path: VaultPath) -> VaultPath:
        return path

    def settings(self) -> VaultConfig:
        return VaultConfig()

    def types(self) -> dict[str, str]:
        return {}

    def config_file(self, name: str) -> Any:
        found = self._files.get(f".obsidian/{name}")
        try:
            return None if found is None else json.loads(found)
        except ValueError:
            raise NotJson(f".obsidian/{name} is not JSON.") from None

    def in_front(self) -> VaultPath | None:
        raise ObsidianNotRunning("There is no app.")

    def daily_path(self) -> VaultPath | None:
        return None

    def read(self, path: VaultPath) -> bytes:
        if path.value not in self._files:
            raise NoteNotFound(f"There is no file {path}.", path=path.value)
        return self._files[path.value]

    current = read

    def stat(self, path: VaultPath) -> Stat:
        data = self.read(path)
        return Stat(len(data), None, 1e9, text.etag(data))  # a dictionary keeps no birth time

    def created(self, path: VaultPath) -> float | None:
        return self.stat(path).created

    def etag(self, path: VaultPath) -> str:
        return text.etag(self.read(path))

    def show(self, path: VaultPath, *, new_tab: bool) -> None:
        raise ObsidianNotRunning(f"{path} cannot be shown.")

    def settle(self) -> None:
        pass

    def commit(self, doing: str, plan: Callable[[], ChangeSet]) -> Committed:
        planned = plan()
        known = (
            replace(each, before=self._files.get(each.path)) if isinstance(each, Trash) else each
            for each in planned.changes
        )
        changes = replace(planned, changes=tuple(known))
        for change in changes.changes:
            if any(other.startswith(f"{change.path}/") for other in self._files):
                raise AlreadyExists(f"{change.path} is a folder.")
        after = applied(self._files, changes)
        self._files.clear()
        self._files.update(after)
        if self._history is None or changes.changes_nothing:
            return Committed(changes)
        id = self._history.begin(changes)
        self._history.finish(id)
        return Committed(changes, id)


def context(files: Files) -> Callable[..., Context]:
    """What the tools get of such a vault."""
    names = Names(files)
    index = Index(names, Mentions(files, names))
    library = Library(files, None, names)
    history = MemoryHistory()

    def opened(label: str, call: CallContext, page: int, tool: str = "", client: str = "") -> Context:
        history.by, history.last = By(tool, client), None
        vault = MemoryVault(files, history)
        return Context(Opened(vault, index, lambda: library, history=history), call, page, label=label)

    return opened


class Session:
    """A client's side of a connection in this process."""

    def __init__(self, server: NotesServer) -> None:
        self._replies: dict[Any, queue.SimpleQueue[dict[str, Any]]] = {}
        self._connection = Connection(server, Scheduler(), self._take)
        self._next = 0
        self.request("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "memory"}})

    def _take(self, message: jsonrpc.Message) -> None:
        found = json.loads(jsonrpc.encode_message(message))
        self._replies[found["id"]].put(found)

    def begin(self, method: str, params: Any) -> int:
        self._next += 1
        self._replies[self._next] = queue.SimpleQueue()
        self._connection.take({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}, 0)
        return self._next

    def request(self, method: str, params: Any) -> dict[str, Any]:
        return self._replies[self.begin(method, params)].get(timeout=PATIENCE)

    def result(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request; an error is raised."""
        reply = self.request(method, params)
        if "error" in reply:
            raise ToolFailed(reply["error"])
        result: dict[str, Any] = reply["result"]
        return result

    def begin_call(self, tool: str, **arguments: Any) -> int:
        return self.begin("tools/call", {"name": f"obsidian_{tool}", "arguments": arguments})

    def end_call(self, number: int) -> dict[str, Any]:
        reply = self._replies[number].get(timeout=PATIENCE)
        if "error" in reply:
            raise ToolFailed(reply["error"])
        data: dict[str, Any] = reply["result"]["structuredContent"]["data"]
        return data

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.end_call(self.begin_call(tool, **arguments))

    def peak_mb(self) -> float:
        return peak_mb(os.getpid())


def session(files: Files) -> Session:
    """The notes server over a dictionary."""
    settings = load({"vault": ["Memory"]}, {})
    tools = Tools(settings, catalogue.load(), ("Memory",), context(files), lambda name: None)
    offered = Offered(tools, 30.0, lambda: None, lambda: features(files))
    return Session(NotesServer(settings, tools.catalogue, lambda: tools, lambda: "", lambda: offered))


def features(files: Files, sets: Sequence[str] = ("all",)) -> Features:
    """What is offered beside tools; the later a file was put, the later it was changed."""

    def seen(label: str, call: CallContext, within: str = "") -> list[Seen]:
        paths = [path for path in files if is_path(path) and (not within or path.startswith(f"{within}/"))]
        return [Seen(at, len(files[path]), path) for at, path in enumerate(paths)]

    opened = context(files)

    def served() -> list[Served]:
        return [Served("Memory", "Memory")]

    def open_vault(label: str, call: CallContext) -> Opened:
        return opened(label, call, 0)

    tools = catalogue.load(sets=sets).names
    prompts = Prompts(tools, "Prompts", served, open_vault, seen, lambda: datetime(2026, 11, 18, 9))
    completion = Completion(served, seen, today=lambda: date(2026, 11, 18))
    return Features(Resources(served, open_vault, seen), completion, prompts)
