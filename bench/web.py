"""Calls over HTTP, ours and the SDK's in turns: `make bench`."""

from __future__ import annotations

import json
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.report import Report
from tests.support.foreign import reserved_port
from tests.support.web import MCP
from tests.support.world import World

CLIENTS = (8, 100)  # at once
ROUNDS = 6
CALLS = 1200  # a round, of all clients


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

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, request: bytes) -> None:
        self._socket.sendall(request)

    def take(self) -> bytes | None:
        """The head of a reply that has come whole."""
        self._buffer += self._more()
        end = self._buffer.find(b"\r\n\r\n")
        at = self._buffer.find(b"ontent-length: ", 0, end)
        if end < 0 or at < 0:
            return None
        length = int(self._buffer[at + 15 : self._buffer.find(b"\r\n", at)])
        if len(self._buffer) < end + 4 + length:
            return None
        head, self._buffer = self._buffer[:end], b""
        return head

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

    def begin(self) -> None:
        self._began = time.perf_counter()
        self.wire.send(self._request)

    def end(self, took: list[float]) -> bool:
        """Take what has come; whether the reply is whole."""
        head = self.wire.take()
        if head is None:
            return False
        assert head.startswith(b"HTTP/1.1 200")
        took.append(time.perf_counter() - self._began)
        return True


def round_of(clients: list[Client], took: list[float]) -> float:
    """Seconds for all of them. One thread and no waiting for each other: the client must not be what is measured."""
    poll = select.epoll()
    by_number = {client.wire.fileno(): client for client in clients}
    left = dict.fromkeys(by_number, CALLS // len(clients))
    began = time.perf_counter()
    for number, client in by_number.items():
        poll.register(number, select.EPOLLIN)
        client.begin()
    while any(left.values()):
        for number, _ in poll.poll():
            client = by_number[number]
            if client.end(took):
                left[number] -= 1
                if left[number]:
                    client.begin()
    spent = time.perf_counter() - began
    poll.close()
    return spent


@contextmanager
def started(words: Sequence[str], port: int, environment: Mapping[str, str]) -> Iterator[int]:
    """A server that logs errors alone, once it listens."""
    process = subprocess.Popen(words, env=dict(environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except ConnectionRefusedError:
                assert process.poll() is None
        yield port
    finally:
        process.kill()
        process.wait(30)


def measure(report: Report, rounds: int) -> None:
    for clients in CLIENTS:
        print(f"HTTP with {clients} clients ...", flush=True)
        _measure(report, clients, rounds)


def _measure(report: Report, clients: int, rounds: int) -> None:
    """The SDK's server reads with the same code as ours: what is compared is the way there and back."""
    with (
        tempfile.TemporaryDirectory(prefix="obsidian-mcp-web-") as folder,
        reserved_port() as one,
        reserved_port() as two,
    ):
        world = World(Path(folder, "world"))
        world.put("Note.md", "text of the note\n" * 20)
        options = ["--backend", "embedded", "--vault", str(world.vault), "--log-level", "error"]
        own = [sys.executable, "-m", "obsidian_mcp", "serve", "--port", str(one), *options]
        sdk = [sys.executable, str(Path(__file__).with_name("sdk_server.py")), str(two), str(world.vault)]
        environment = world.environment()
        with started(own, one, environment), started(sdk, two, environment):
            ours = [Client(one, "obsidian_read_note", {"name": "Note.md"}) for _ in range(clients)]
            theirs = [Client(two, "read_note", {"name": "Note.md"}) for _ in range(clients)]
            mine: list[float] = []
            other: list[float] = []
            spent = [0.0, 0.0]
            for _ in range(rounds):
                spent[0] += round_of(ours, mine)
                spent[1] += round_of(theirs, other)
            for client in (*ours, *theirs):
                client.wire.close()
    calls = clients * rounds * (CALLS // clients)
    rate, their_rate = calls / spent[0], calls / spent[1]
    name = f"HTTP, {clients} clients"
    report.note(f"ours, {name}", **{"reads/s": rate, "p99, ms": _p99(mine)})
    report.note(f"mcp SDK, {name}", **{"reads/s": their_rate, "p99, ms": _p99(other)})
    if clients == max(CLIENTS):
        report.bar(f"{name}, rate over the mcp SDK's", rate / their_rate, "×", 4, at_least=True)


def _p99(took: list[float]) -> float:
    return statistics.quantiles(took, n=100)[98] * 1000
