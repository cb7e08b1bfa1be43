"""Calls over HTTP, ours and the SDK's in turns: `make bench`."""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.support.foreign import free_port
from tests.support.web import MCP, Web
from tests.support.world import World

CLIENTS = 4
ROUNDS = 6
CALLS = 150  # a client, a round


class Wire:
    """One connection that sends the same bytes again and again: the client must cost little."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 60)
        self._buffer = b""

    def ask(self, request: bytes) -> tuple[bytes, bytes]:
        self._socket.sendall(request)
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self._more()
        head, _, rest = self._buffer.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        while len(rest) < length:
            rest += self._more()
        self._buffer = rest[length:]
        return head, rest[:length]

    def _more(self) -> bytes:
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError(f"closed after {self._buffer!r}")
        return data

    def close(self) -> None:
        self._socket.close()


def post(message: object, port: int, session: str = "") -> bytes:
    body = json.dumps(message).encode()
    headers = {
        **MCP,
        "Host": f"127.0.0.1:{port}",
        "MCP-Protocol-Version": "2025-11-25",
        "Content-Length": str(len(body)),
    }
    if session:
        headers["Mcp-Session-Id"] = session
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body


class Client:
    def __init__(self, port: int, tool: str, arguments: dict[str, str]) -> None:
        self.wire = Wire(port)
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}
        head, _ = self.wire.ask(post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, port))
        session = next(line for line in head.decode().split("\r\n") if line.lower().startswith("mcp-session-id:"))
        id = session.partition(":")[2].strip()
        self.wire.ask(post({"jsonrpc": "2.0", "method": "notifications/initialized"}, port, id))
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        self._request = post(call, port, id)
        assert b"text of the note" in self.wire.ask(self._request)[1]

    def run(self, took: list[float]) -> None:
        for _ in range(CALLS):
            began = time.perf_counter()
            head, _ = self.wire.ask(self._request)
            took.append(time.perf_counter() - began)
            assert head.startswith(b"HTTP/1.1 200")


def round_of(clients: list[Client], took: list[float]) -> float:
    """Seconds for all of them."""
    threads = [threading.Thread(target=client.run, args=(took,)) for client in clients]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def measure() -> None:
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-web-") as folder:
        world = World(Path(folder, "world"))
        note = world.put("Note.md", "text of the note\n" * 20)
        port = free_port()
        sdk = subprocess.Popen([sys.executable, str(Path(__file__).with_name("sdk_server.py")), str(port)])
        with Web(world.environment(), "--backend", "embedded", "--vault", str(world.vault)) as web:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except ConnectionRefusedError:
                    continue
            ours = [Client(web.port, "obsidian_read_note", {"name": "Note.md"}) for _ in range(CLIENTS)]
            theirs = [Client(port, "read", {"path": str(note)}) for _ in range(CLIENTS)]
            mine: list[float] = []
            other: list[float] = []
            spent = [0.0, 0.0]
            for _ in range(ROUNDS):
                spent[0] += round_of(ours, mine)
                spent[1] += round_of(theirs, other)
            for client in (*ours, *theirs):
                client.wire.close()
        sdk.kill()
        sdk.wait(30)
    calls = CLIENTS * ROUNDS * CALLS
    rate, their_rate = calls / spent[0], calls / spent[1]
    print(f"HTTP, {CLIENTS} clients reading a note          {rate:.0f} calls/s, p99 {_p99(mine)}")
    print(f"  the mcp SDK's server                 {their_rate:.0f} calls/s, p99 {_p99(other)}")
    print(f"  rate over the mcp SDK's              {rate / their_rate:.1f} ×   bar 3 ×")


def _p99(took: list[float]) -> str:
    return f"{statistics.quantiles(took, n=100)[98] * 1000:.1f} ms"
