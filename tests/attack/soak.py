"""A long day: mixed calls from four clients at once, with edits, searches and undos. `make soak` makes 200,000."""

from __future__ import annotations

import contextlib
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.web import MCP, Web, send
from tests.support.world import World

CLIENTS = 4
NOTES = 40
MOST_GROWTH, MOST_MEMORY = 10, 150  # MB
MOST_OF_DATABASES = 3 * 2 * 8  # descriptors: a file, its log and its index, of two databases, for calls at once
LOOKED_THROUGH = 1000  # changes of one note, by an undo
HISTORY = 2  # MB that the history may have, which a day like this would exceed many times
MOST_LEDGER = HISTORY + 5  # MB, with what SQLite keeps of its own log


@dataclass
class Found:
    """What was seen of the server after each tenth of the calls, and how long calls took. `ledger` is in MB.

    How many connections a database has depends on how many calls have met: their descriptors are counted apart.
    """

    resident: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    of_databases: list[int] = field(default_factory=list)
    ledger: list[float] = field(default_factory=list)
    took: list[list[float]] = field(default_factory=list)

    def p99(self, tenth: int) -> float:
        return statistics.quantiles(self.took[tenth], n=100)[98] * 1000

    @property
    def growing(self) -> list[str]:
        """What a long day has changed. The first tenth is for warming up."""
        grown = []
        if self.resident[-1] - self.resident[1] > MOST_GROWTH or self.resident[-1] > MOST_MEMORY:
            grown.append(f"memory: {self.resident}")
        if len(set(self.descriptors[1:])) > 1:
            grown.append(f"descriptors: {self.descriptors}")
        if max(self.of_databases) > MOST_OF_DATABASES:
            grown.append(f"descriptors of databases: {self.of_databases}")
        if max(self.ledger) > MOST_LEDGER:
            grown.append(f"history: {self.ledger}")
        return grown


class Client:
    """Keeps one connection, and counts what it has added."""

    def __init__(self, web: Web, number: int) -> None:
        self._connection = web.connect()
        self._random = random.Random(number)
        self._number = number
        self._headers: dict[str, str] = dict(MCP)
        first = self._ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        self._headers["Mcp-Session-Id"] = first.headers["mcp-session-id"]
        self.added = 0

    def _ask(self, method: str, params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return send(self._connection, "POST", "/mcp", message, self._headers)

    def _call(self, tool: str, **arguments: Any) -> None:
        self._data(tool, **arguments)

    def _data(self, tool: str, **arguments: Any) -> Any:
        reply = self._ask("tools/call", {"name": f"obsidian_{tool}", "arguments": arguments}).json
        assert "result" in reply, (tool, arguments, reply)
        return reply["result"]["structuredContent"]["data"]

    def close(self) -> None:
        self._connection.close()

    def begin(self) -> None:
        """A history as long as an undo looks back: what it takes to look through it is taken once."""
        for number in range(LOOKED_THROUGH // 2):
            self._edit()
            if not number % 10:
                self._look("Note 0")

    def step(self) -> None:
        note = f"Note {self._random.randrange(NOTES)}"
        kind = self._random.random()
        if kind < 0.45:
            self._call("read_note", name=note)
        elif kind < 0.55:
            self._call("file_info", name=f"{note}.md")
        elif kind < 0.63:
            self._look(note)
        elif kind < 0.75:
            self._edit()
        elif kind < 0.9:
            log = f"Log {self.added % NOTES}"  # many: one that grew would be read whole ever again
            self._call("append_note", name=log, content=f"client {self._number} line {self.added}")
            self.added += 1
        elif kind < 0.97:
            self._call("create_note", name=note, content=f"{kind}\n" * 20, overwrite=True)
        else:
            passing = f"Passing {self._number}"
            self._call("create_note", name=passing, content=f"[[{note}]]")
            self._call("prepend_note", name=passing, content="x")
            self._call("rename_note", name=passing, new_name=f"{passing} by")
            self._call("move_note", name=f"{passing} by", to="Deep")
            self._call("delete_note", name=f"Deep/{passing} by.md", permanent=True)

    def _look(self, note: str) -> None:
        looks: list[tuple[str, dict[str, Any]]] = [
            ("search_notes", {"query": "text line"}),
            ("search_notes", {"query": f"path:Log client {self._number}"}),
            ("list_links", {"kind": "backlinks", "name": note}),
            ("outline_note", {"name": note}),
            ("list_changes", {"limit": 5}),
            ("list_tasks", {"status": "todo"}),
        ]
        tool, arguments = self._random.choice(looks)
        self._call(tool, **arguments)

    def _edit(self) -> None:
        """Of a note that no other client touches: so an undo has to bring back what was there."""
        own = f"Own {self._number}"
        before = self._data("read_note", name=own)
        mark = "done" if "- [ ]" in before["content"] else "todo"
        edits: list[tuple[str, dict[str, Any]]] = [
            ("edit_note", {"old_text": "the middle", "new_text": "the middle"[::-1]}),
            ("set_properties", {"set": {"count": self._random.randrange(1000) + 1000}}),
            ("set_task", {"task": "water", "mark": mark}),
        ]
        tool, arguments = self._random.choice(edits)
        done = self._data(tool, name=own, **arguments)
        self._call("undo_change", id=done["change"])
        after = self._data("read_note", name=own)
        assert (after["etag"], after["content"]) == (before["etag"], before["content"])


def _all_at_once(clients: list[Client], work: Callable[[Client], None]) -> None:
    """Raises what one of them has raised."""
    problems: list[BaseException] = []

    def attempt(client: Client) -> None:
        try:
            work(client)
        except BaseException as problem:  # noqa: BLE001  # told by the thread that waits
            problems.append(problem)

    threads = [threading.Thread(target=attempt, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def soak(world: World, calls: int, progress: Callable[[int], None] = lambda tenth: None) -> Found:
    """Raises if a call fails or an append is missing."""
    for number in range(NOTES):
        world.put(f"Note {number}.md", "text\n" * 20)
        world.put(f"Log {number}.md", "")
    for number in range(CLIENTS):
        world.put(f"Own {number}.md", "---\ncount: 1\n---\nthe middle\n- [ ] water\n" + "text\n" * 500)
    found = Found()
    options = ("--backend", "embedded", "--vault", str(world.vault), "--toolsets", "all", "--history-mb", str(HISTORY))
    with Web(world.environment(), *options, forked=False) as web:
        clients = [Client(web, number) for number in range(CLIENTS)]
        _all_at_once(clients, lambda client: client.begin())
        for tenth in range(10):
            took: list[float] = []

            def work(client: Client, took: list[float] = took) -> None:
                for _ in range(calls // 10 // CLIENTS):
                    began = time.perf_counter()
                    client.step()
                    took.append(time.perf_counter() - began)

            _all_at_once(clients, work)
            found.took.append(took)
            opened = _opened(web.process.pid)
            found.of_databases.append(sum(".sqlite" in file for file in opened))
            found.descriptors.append(len(opened) - found.of_databases[-1])
            found.resident.append(_resident(web.process.pid))
            found.ledger.append(_ledger(world))
            progress(tenth + 1)
        for client in clients:
            client.close()
    lines = "\n".join(world.get(f"Log {number}.md").decode() for number in range(NOTES)).split("\n")
    wanted = {f"client {number} line {line}" for number, client in enumerate(clients) for line in range(client.added)}
    assert sorted(line for line in lines if line) == sorted(wanted)
    return found


def _ledger(world: World) -> float:
    """Of the history on disk, with SQLite's own log."""
    return sum(file.stat().st_size for file in world.folder.rglob("history.sqlite*")) / (1 << 20)


def _opened(pid: int) -> list[str]:
    found = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed by now
            found.append(os.readlink(f"/proc/{pid}/fd/{number}"))
    return found


def _resident(pid: int) -> float:
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    began = time.monotonic()

    def progress(tenth: int) -> None:
        print(f"\r{tenth * calls // 10:,} of {calls:,} calls, {time.monotonic() - began:.0f} s", end="", flush=True)

    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-soak-") as folder:
        found = soak(World(Path(folder, "world")), calls, progress)
    seconds = time.monotonic() - began
    print(f"\r{calls:,} calls by {CLIENTS} clients in {seconds:.0f} s: none failed, every append is there")
    for tenth in (0, 4, 9):
        print(
            f"  after {(tenth + 1) * 10:3} %: {found.resident[tenth]:.0f} MB, {found.descriptors[tenth]} descriptors "
            f"and {found.of_databases[tenth]} of databases, "
            f"history {found.ledger[tenth]:.1f} MB, p99 {found.p99(tenth):.1f} ms"
        )
    grown = found.growing
    if found.p99(9) > 3 * found.p99(0):
        grown.append("p99")
    if grown:
        sys.exit("Not the same in the evening: " + "; ".join(grown))


if __name__ == "__main__":
    main()
