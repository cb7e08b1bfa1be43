"""The server, started by a host's own entry as the host would start it, and one question to it.

A host gives a server neither the shell's settings nor its folder, so neither does this.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

LIMIT = 60.0  # seconds for one reply; the first start of all has to compile what it loads
LISTS, ASKS = "obsidian_list_folder", "obsidian_file_info"
DEEPEST = 20  # folders that are looked into for a note
MOST_SAID = 20_000  # characters that are kept of what it says on stderr
OURS = ("OBSIDIAN_MCP_", "PYTHON", "VIRTUAL_ENV")


class Failed(Exception):
    """It would not work; one line says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How many tools it offers; what is in the vault's first folder, if one of them can tell."""

    tools: int
    listed: dict[str, Any] | None


def attempt(entry: Mapping[str, Any], environ: Mapping[str, str], vault: str = "", limit: float = LIMIT) -> Answer:
    """Start it, list its tools, and call one; `vault` is what the tools call the vault, where there are several.

    Folders are listed from the disk. So a note is asked about too, if there is one: that shows whether the app answers.
    """
    with contextlib.closing(_Server(entry, environ, limit)) as server:
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "obsidian-mcp setup"}}
        server.ask("initialize", about)
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = {tool["name"] for tool in server.ask("tools/list", {})["tools"]}
        if LISTS not in tools:
            return Answer(len(tools), None)
        which = {"vault": vault} if vault else {}
        listed = server.call(LISTS, which)
        note = _some_note(server, which, listed) if ASKS in tools else ""
        if note:
            server.call(ASKS, {**which, "name": note})
    return Answer(len(tools), listed)


def _some_note(server: _Server, which: Mapping[str, Any], listed: Mapping[str, Any]) -> str:
    """The first that a listing shows, or one further down."""
    for _ in range(DEEPEST):
        notes = [file["path"] for file in listed["files"] if file["path"].endswith(".md")]
        inner = [folder["path"] for folder in listed["folders"] if folder["notes"]]
        if notes or not inner:
            return notes[0] if notes else ""
        listed = server.call(LISTS, {**which, "folder": inner[0]})
    return ""


def as_a_host(environ: Mapping[str, str], entry: Mapping[str, Any]) -> dict[str, str]:
    """The environment that a host hands on."""
    own = entry.get("env")
    kept = {name: value for name, value in environ.items() if not name.upper().startswith(OURS)}
    return {**kept, **{name: str(value) for name, value in (own if isinstance(own, dict) else {}).items()}}


class _Server:
    def __init__(self, entry: Mapping[str, Any], environ: Mapping[str, str], limit: float) -> None:
        self._limit = limit
        self._next = 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._said = ""
        try:
            self._process = subprocess.Popen(
                [entry["command"], *entry.get("args", [])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=as_a_host(environ, entry),
                cwd=os.path.abspath(os.sep),
            )
        except OSError as error:
            raise Failed(f"{entry['command']} cannot be started: {error.strerror}.") from None
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._read, self._read_log)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        for line in _stream(self._process.stdout):
            self._lines.put(line)
        self._lines.put(b"")

    def _read_log(self) -> None:
        for line in _stream(self._process.stderr):
            self._said = (self._said + line.decode("utf-8", "replace"))[-MOST_SAID:]

    def send(self, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # the reply that does not come tells it
            stdin = _stream(self._process.stdin)
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        while True:
            message = self._message(method)
            if message.get("id") == self._next and "method" not in message:
                break
        if "error" in message:
            raise Failed(str(message["error"]["message"]))
        result: dict[str, Any] = message["result"]
        return result

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        called = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if called.get("isError"):
            raise Failed(str(called["content"][0]["text"]))
        data: dict[str, Any] = called["structuredContent"]["data"]
        return data

    def _message(self, method: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self._limit)
        except queue.Empty:
            raise Failed(f"The server did not answer {method} within {self._limit:g} s.") from None
        if not line:
            self._threads[1].join(self._limit)
            last = self._said.strip().rpartition("\n")[2]
            raise Failed(f"The server ended before it answered {method}: {last or 'it said nothing'}")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """By the end of its input, as hosts do; if it does not heed that, at once."""
        with contextlib.suppress(BrokenPipeError):
            _stream(self._process.stdin).close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(5)
        for stream in (self._process.stdout, self._process.stderr):
            _stream(stream).close()


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
