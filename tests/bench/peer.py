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
    """One request at a time."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._id = 0

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params or {}})
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

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


def embedded(root: Path, home: Path) -> Peer:
    """A server on a folder, without the app, warmed up."""
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(root), "--backend", "embedded", "--timeout", "600"]
    peer = Peer(command, {"PATH": "/usr/bin:/bin", "HOME": str(home)})
    peer.initialize()
    peer.call("obsidian_read_note", name=7)
    return peer


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
