"""A server under measurement."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Peer:
    """Asked over its pipes."""

    last_size = 0  # of a reply, in bytes

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._id = 0

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        return self.ask_at_once(method, params, 1)[0]

    def ask_at_once(self, method: str, params: Mapping[str, Any] | None, count: int) -> list[Any]:
        """So many in flight; the replies in whichever order they come. Other messages are passed over."""
        first = self._id + 1
        self._id += count
        lines = (
            json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}})
            for id in range(first, self._id + 1)
        )
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(("\n".join(lines) + "\n").encode())
        self.process.stdin.flush()
        replies: list[Any] = []
        while len(replies) < count:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError("it ended")
            reply = json.loads(line)
            if isinstance(reply.get("id"), int) and first <= reply["id"] <= self._id:
                self.last_size = len(line)
                replies.append(reply)
        return replies

    def send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def initialize(self) -> None:
        self.ask("initialize", INITIALIZE)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def resident_mb(self) -> float:
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)


def embedded(root: Path, home: Path, *options: str) -> Peer:
    """A server on a folder, without the app, warmed up."""
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(root), "--backend", "embedded", "--timeout", "600"]
    peer = Peer([*command, *options], {"PATH": "/usr/bin:/bin", "HOME": str(home)})
    peer.initialize()
    peer.call("obsidian_read_note", name=7)
    return peer


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
