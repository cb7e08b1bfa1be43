"""A door that runs in a process of its own, and a client that talks to it."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, Unpack

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.support.inside import run_inside
from tests.support.process import How, start
from tests.support.world import World, measuring

LIMIT = 60
AUTHORIZATION = "x-claude-code-ide-authorization"


def lock_folder(world: World) -> Path:
    return world.folder / "home" / ".claude" / "ide"


def locks(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.lock"))]


def mention(world: World, *words: str) -> subprocess.CompletedProcess[str]:
    """`obsidian-mcp mention`, which finds the door by itself."""
    done = run_inside(world.environment(), "mention", *words)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


class DoorProcess:
    """`obsidian-mcp ide`, once it listens."""

    def __init__(self, environment: Mapping[str, str], *options: str, doors: int = 1, **how: Unpack[How]) -> None:
        self.process = start(environment, ("ide", *options), stdin=subprocess.DEVNULL, stdout=1, **how)
        assert self.process.stderr is not None
        self.stderr = io.TextIOWrapper(self.process.stderr)
        self.listening: list[dict[str, Any]] = []
        while len(self.listening) < doors:
            line = self.stderr.readline()
            assert line, "it ended before it listened"
            said = json.loads(line)
            if said["event"] == "listening":
                self.listening.append(said)

    @property
    def port(self) -> int:
        return int(self.listening[0]["port"])

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(LIMIT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if measuring():
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
        self.process.kill()
        self.process.wait(LIMIT)
        self.stderr.close()


class Talk:
    """A client's side of a conversation."""

    def __init__(self, websocket: ClientConnection) -> None:
        self.websocket = websocket
        self._last = 0
        self.kept: list[dict[str, Any]] = []

    def say(self, message: Any) -> None:
        self.websocket.send(message if isinstance(message, str) else json.dumps(message))

    def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self.websocket.recv(LIMIT))
        return heard

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """The whole reply. What comes in between is kept."""
        self._last += 1
        self.say({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params or {}})
        while True:
            heard = self.hear()
            if heard.get("id") == self._last:
                return heard
            self.kept.append(heard)

    def result(self, method: str, params: Any = None) -> Any:
        return self.ask(method, params)["result"]

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of a tool's result."""
        result = self.result("tools/call", {"name": tool, "arguments": arguments})
        assert "isError" not in result, result
        text: str = result["content"][0]["text"]
        return text

    def notice(self, method: str) -> dict[str, Any]:
        """The next notification of that kind, its parameters."""
        while True:
            heard = self.kept.pop(0) if self.kept else self.hear()
            if heard.get("method") == method:
                params: dict[str, Any] = heard["params"]
                return params

    def introduce(self) -> Self:
        self.result("initialize", {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t"}})
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self


@contextmanager
def talking(port: int, token: str, **more: Any) -> Iterator[Talk]:
    headers = {AUTHORIZATION: token, **more.pop("headers", {})}
    with connect(
        f"ws://127.0.0.1:{port}{more.pop('path', '/')}",
        additional_headers=headers,
        subprotocols=[Subprotocol("mcp")],
        compression=None,
        proxy=None,
        open_timeout=LIMIT,
        ping_interval=None,
        **more,
    ) as websocket:
        yield Talk(websocket)
