"""A server on a real port, and a client that says exactly what it is told to."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import signal
import socket
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, Unpack

from tests.support.client import ToolFailed, peak_mb
from tests.support.process import PATIENCE, How, start
from tests.support.world import measuring

MCP = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The messages of a stream."""
        parts = [part for part in self.body.decode().split("\n\n") if part]
        return [json.loads(part.partition("data: ")[2]) for part in parts]


class Web:
    """`obsidian-mcp serve` on a port of the system's choice."""

    def __init__(self, environment: Mapping[str, str], *options: str, **how: Unpack[How]) -> None:
        words = ("serve", "--port", "0", *options)
        self.process = start(environment, words, stdin=subprocess.DEVNULL, **how)
        self.log: list[dict[str, Any]] = []
        self._lines: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = int(self.wait_for("listening")["url"].rpartition(":")[2])

    def _children(self) -> list[int]:
        found: list[int] = []
        for each in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # a thread that has ended meanwhile
                found += map(int, each.read_text(encoding="ascii").split())
        return found

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            entry = json.loads(line)
            self.log.append(entry)
            self._lines.put(entry)

    def wait_for(self, event: str) -> dict[str, Any]:
        while True:
            entry = self._lines.get(timeout=PATIENCE)
            if entry["event"] == event:
                return entry

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        started = self._children()
        if measuring():
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
        self.process.kill()
        self.process.wait(PATIENCE)
        for child in started:  # nobody else ends a command that hangs when its server is killed
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._reader.join(PATIENCE)
        assert self.process.stdout
        assert self.process.stderr
        said = self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        assert said == b"", "nothing belongs on stdout"

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None, **more: str
    ) -> Reply:
        connection = self.connect()
        try:
            return send(connection, method, path, body, {**(headers or {}), **more})
        finally:
            connection.close()

    def raw(self, data: bytes) -> bytes:
        """Whatever bytes, and everything that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            connection.sendall(data)
            said = b""
            with contextlib.suppress(ConnectionResetError):  # closed with something of ours unread
                while part := connection.recv(65536):
                    said += part
        return said

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("POST", f"/bridge/v1/tools/obsidian_{tool}/call", {"arguments": arguments}).json

    def envelope(self, body: Any) -> Any:
        reply = self.ask("POST", "/mcp", body)
        assert reply.status == 200
        return reply.json

    def rpc(self, message: Any, headers: Mapping[str, str] | None = None) -> Reply:
        return self.ask("POST", "/mcp", message, {**MCP, **(headers or {})})

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def send(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any, headers: Mapping[str, str]
) -> Reply:
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection.request(method, path, data, dict(headers))
    answer = connection.getresponse()
    return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


class WebSession:
    """The same as `client.Server`, over Streamable HTTP: one session."""

    def __init__(self, web: Web, name: str = "web") -> None:
        self.web = web
        self._next = 0
        self._replies: dict[int, Any] = {}
        first = self._post(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}},
        )
        self._headers = {"Mcp-Session-Id": first.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        assert self._notify("notifications/initialized").status == 202

    _headers: Mapping[str, str] = {}

    def _post(self, method: str, params: Any) -> Reply:
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        return self.web.rpc(message, self._headers)

    def _notify(self, method: str) -> Reply:
        return self.web.rpc({"jsonrpc": "2.0", "method": method}, self._headers)

    def begin_call(self, tool: str, **arguments: Any) -> int:
        """One after another: on HTTP nothing but waiting keeps an order."""
        reply = self._post("tools/call", {"name": f"obsidian_{tool}", "arguments": arguments})
        self._replies[self._next] = reply.json
        return self._next

    def end_call(self, number: int) -> dict[str, Any]:
        reply = self._replies.pop(number)
        if "error" in reply:
            raise ToolFailed(reply["error"])
        data: dict[str, Any] = reply["result"]["structuredContent"]["data"]
        return data

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.end_call(self.begin_call(tool, **arguments))

    def peak_mb(self) -> float:
        return peak_mb(self.web.process.pid)
