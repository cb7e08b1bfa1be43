"""A client that talks to a real server process over its pipes. Every wait has an end."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Mapping
from typing import Any, Self, Unpack

from obsidian_mcp.tools import catalogue
from tests.support.process import COMMAND as COMMAND
from tests.support.process import PATIENCE as PATIENCE
from tests.support.process import How, start
from tests.support.world import measuring

MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
EVERY_TOOL = catalogue.load().names
TOOLS = catalogue.load(sets=("default",)).names
READING = catalogue.load(read_only=True, sets=("default",)).names


class ToolFailed(Exception):
    """A JSON-RPC error, as a value to look at."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: dict[str, Any] = error.get("data", {})
        self.error_code: str = self.data.get("errorCode", "")


class Server:
    """One server process and what it has said."""

    def __init__(self, environment: Mapping[str, str], *options: str, **how: Unpack[How]) -> None:
        self.process = start(environment, options, **how)
        self.said: list[Any] = []
        self.log = bytearray()
        self._next = 0
        self._replies: dict[Any, queue.SimpleQueue[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._readers = [
            threading.Thread(target=self._read_messages, daemon=True),
            threading.Thread(target=self._read_log, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if measuring():  # a process that is killed takes with it what it has counted
            with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
                self.stdin.close()
                self.process.wait(5)
        self.process.kill()
        self.process.wait(PATIENCE)
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()  # before the readers: behind a launcher the server lives on until then
        for reader in self._readers:
            reader.join(PATIENCE)
        self.stdout.close()
        self.stderr.close()

    @property
    def stdin(self) -> Any:
        return self.process.stdin

    @property
    def stdout(self) -> Any:
        return self.process.stdout

    @property
    def stderr(self) -> Any:
        return self.process.stderr

    def _read_messages(self) -> None:
        for line in self.stdout:
            message = json.loads(line)
            self.said.append(message)
            for one in message if isinstance(message, list) else [message]:
                self._box(one.get("id") if "method" not in one else one["method"]).put(one)

    def _read_log(self) -> None:
        for line in self.stderr:
            self.log += line

    def _box(self, key: Any) -> queue.SimpleQueue[dict[str, Any]]:
        with self._lock:
            return self._replies.setdefault((type(key), key), queue.SimpleQueue())

    def write(self, line: bytes) -> None:
        self.stdin.write(line)
        self.stdin.flush()

    def send(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def new_id(self) -> int:
        self._next += 1
        return self._next

    def begin(self, method: str, params: Any = None) -> int:
        """Send a request and don't wait for its reply."""
        number = self.new_id()
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": {} if params is None else params})
        return number

    def wait(self, key: Any) -> dict[str, Any]:
        """The reply to an id, or the next notification of a method."""
        return self._box(key).get(timeout=PATIENCE)

    def request(self, method: str, params: Any = None) -> dict[str, Any]:
        return self.wait(self.begin(method, params))

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": {} if params is None else params})

    def initialize(self, revision: str = "2025-11-25") -> Self:
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
        assert "result" in self.request("initialize", params)
        self.notify("notifications/initialized")
        return self

    def begin_call(self, tool: str, meta: Mapping[str, Any] | None = None, **arguments: Any) -> int:
        params: dict[str, Any] = {"name": f"obsidian_{tool}", "arguments": arguments}
        if meta is not None:
            params["_meta"] = meta
        return self.begin("tools/call", params)

    def end_call(self, number: int) -> dict[str, Any]:
        reply = self.wait(number)
        if "error" in reply:
            raise ToolFailed(reply["error"])
        result = reply["result"]
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        assert result["structuredContent"]["success"] is True
        data: dict[str, Any] = result["structuredContent"]["data"]
        return data

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The data of a success; a failure is raised."""
        return self.end_call(self.begin_call(tool, **arguments))

    def peak_mb(self) -> float:
        return peak_mb(self.process.pid)

    def finish(self) -> int:
        """Close its input and wait for it to end."""
        self.stdin.close()
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code


def peak_mb(process: int) -> float:
    """The most memory a process has ever held."""
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def run(environment: Mapping[str, str], *options: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the program to its end."""
    return subprocess.run(
        [*COMMAND, *options], env=dict(environment), input=stdin, capture_output=True, timeout=PATIENCE, check=False
    )
