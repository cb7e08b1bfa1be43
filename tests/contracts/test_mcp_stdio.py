"""A strict client of MCP over stdio, from specs/mcp-stdio.md, tools.md and errors.md alone."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Mapping
from typing import Any, Self

from tests.contracts.shapes import TEXT_CONTENT, fits, schema, text
from tests.support.client import COMMAND, PATIENCE
from tests.support.world import World

INITIALIZE = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "Claude Desktop", "version": "1.0.0"},
}
INITIALIZED = {
    "protocolVersion": "2024-11-05",
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    "serverInfo": {"name": "obsidian-mcp", "version": text},
    "instructions": text,
}
ERROR = {"code": int, "message": text, "data": lambda data: text(data["errorCode"])}


class StdioClient:
    """One message per line, and every line that comes back is checked."""

    def __init__(self, environment: Mapping[str, str], *options: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*COMMAND, *options], env=dict(environment), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._last = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self._reader.join(PATIENCE)
        self.process.__exit__(None, None, None)  # its pipes

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._replies.put(line)

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hear(self, id: Any) -> Any:
        """The reply to one request; this client never has two under way, so nothing else may come."""
        line = self._replies.get(timeout=PATIENCE)
        assert line.endswith(b"\n")
        reply = json.loads(line)
        one = {"error": ERROR} if "error" in reply else {"result": dict}
        return fits(reply, {"jsonrpc": "2.0", "id": id if id is not None else lambda id: id is None, **one})

    def ask(self, method: str, params: Any) -> Any:
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        return self.hear(self._last)

    def tools(self) -> dict[str, Any]:
        listed = fits(self.ask("tools/list", {})["result"], {"tools": lambda tools: len(tools) > 0})["tools"]
        for tool in listed:
            assert text(tool["name"])
            assert text(tool["description"])
            assert schema(tool["inputSchema"])
        return {tool["name"]: tool for tool in listed}

    def call(self, tool: str, **arguments: Any) -> Any:
        """The data of a success; the code of a failure."""
        reply = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "error" in reply:
            return reply["error"]["code"], reply["error"]["data"]["errorCode"]
        fits(reply["result"]["content"], [TEXT_CONTENT])
        payload = json.loads(reply["result"]["content"][0]["text"])
        assert reply["result"].get("isError", False) is False
        return fits(payload, {"success": True, "data": dict})["data"]

    def end(self, last: bytes = b"") -> int:
        """The exit code after a last message, or after the end of the input; nothing more may be said."""
        assert self.process.stdin is not None
        if last:
            self.send(last)
        else:
            self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self._replies.empty()
        return code


def test_the_examples_of_mcp_over_stdio(own_world: World) -> None:
    with StdioClient(own_world.environment(), "--vault", "Vault") as client:
        fits(client.ask("initialize", INITIALIZE)["result"], INITIALIZED)
        client.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        create = client.tools()["obsidian_create_note"]["inputSchema"]
        assert {"name", "content", "overwrite"} <= set(create["properties"])
        assert create["required"] == ["name"]
        made = client.call("obsidian_create_note", name="Meeting Notes", content="# Meeting Notes\n\n- Agenda item 1")
        assert (made["path"], made["created"]) == ("Meeting Notes.md", True)
        assert own_world.get("Meeting Notes.md") == b"# Meeting Notes\n\n- Agenda item 1"
        assert client.end(b'{"jsonrpc":"2.0","method":"exit"}') == 0


def test_the_errors_of_mcp_over_stdio(own_world: World) -> None:
    for path in ("One/Twin.md", "Two/Twin.md"):
        own_world.put(path, "x")
    with StdioClient(own_world.environment(), "--vault", "Vault", "--vault", "Nope") as client:
        client.ask("initialize", INITIALIZE)
        for line, code, id in (
            (b"{", -32700, None),
            (b"[]", -32600, None),
            (b'{"jsonrpc":"2.0","id":"x"}', -32600, "x"),
        ):
            client.send(line)
            assert client.hear(id)["error"]["code"] == code
        assert client.ask("no/such", {})["error"]["code"] == -32601
        assert client.call("obsidian_fly") == (-32602, "UNKNOWN_TOOL")
        assert client.call("obsidian_read_note") == (-32602, "INVALID_ARGUMENTS")
        assert client.call("obsidian_read_note", name="Note", vault="Nope") == (-32002, "VAULT_NOT_FOUND")
        assert client.call("obsidian_read_note", name="Gone") == (-32003, "FILE_NOT_FOUND")
        assert client.call("obsidian_read_note", name="Twin") == (-32004, "AMBIGUOUS_NAME")
        own_world.mood("not-running")
        assert client.call("obsidian_open_note", name="One/Twin.md") == (-32001, "OBSIDIAN_NOT_RUNNING")
        assert client.end() == 0
