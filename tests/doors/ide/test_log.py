"""What the log tells of connections and messages: the ids are those of specs/ide-door.md."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from tests.doors.ide.conftest import furnish, token_of
from tests.support.ide import AUTHORIZATION, LIMIT, DoorProcess, mention, talking
from tests.support.world import World

QUICK = (
    "import dataclasses\n"
    "from obsidian_mcp.doors.ide import clients, server\n"
    "limits = dataclasses.replace(clients.Limits(), ping=0.1)\n"
    "server.Limits = lambda: limits"
)


class Log:
    """What a door says after it listens."""

    def __init__(self, door: DoorProcess) -> None:
        self.entries: list[dict[str, Any]] = []
        self._stream = door.stderr

    def until(self, event: str) -> dict[str, Any]:
        while True:
            self.entries.append(json.loads(self._stream.readline()))
            if self.entries[-1]["event"] == event:
                return self.entries[-1]


def refused(door: DoorProcess, token: str, **headers: str) -> None:
    with pytest.raises(InvalidStatus), talking(door.port, token, headers=headers):
        pass


def test_i31_i32_the_log_has_the_contracts_events_and_no_text(own_world: World) -> None:
    furnish(own_world)
    with DoorProcess(own_world.environment(), "--vault", "Vault", "--log-level", "debug", first=QUICK) as door:
        log, token = Log(door), token_of(own_world)
        with talking(door.port, token) as talk:
            log.until("Authentication successful")
            assert log.until("Client connected")["level"] == "info"
            said = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "files/read", "params": {"path": "Note.md"}})
            talk.introduce().say(said)
            while (parsed := log.until("Parsed message"))["method"] != "files/read":
                pass
            assert parsed["bytes"] == len(said)
            assert parsed["bytes"] in [entry["bytes"] for entry in log.entries if entry["event"] == "Raw data received"]
            log.until("Health check: 1 active connections")
            talk.notice("selection_changed")
            assert mention(own_world, "Note").returncode == 0
            log.until("Sent at-mention")
        log.until("Client disconnected")
        refused(door, "wrong")
        assert (log.until("handshake refused")["status"], log.entries[-1]["why"]) == (401, "the token is wrong")
        refused(door, token, Origin="null")
        assert (log.until("handshake refused")["status"], log.entries[-1]["level"]) == (403, "warning")
        with deaf(door.port, token):
            assert log.until("Removing dead connection")["missed"] == 2
    told = json.dumps(log.entries)
    assert "Note.md" not in told
    assert token not in told


@contextmanager
def deaf(port: int, token: str) -> Iterator[None]:
    """A client that has come in and answers nothing."""
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    head = f"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{key}"
    with socket.create_connection(("127.0.0.1", port), LIMIT) as raw:
        raw.sendall(f"{head}{AUTHORIZATION}: {token}\r\n\r\n".encode())
        yield
