"""Pointing at a note, from another process: the door of its vault is found and told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from obsidian_mcp.errors import BridgeFailed
from obsidian_mcp.servers.ide import messages
from obsidian_mcp.servers.ide.lockfile import Door

OPENING = 5.0
LIMIT = 35.0  # seconds: a call of the door's may take 30


def mention(door: Door, file: str, lines: tuple[int, int] | None) -> int:
    """How many have heard of it; none: it waits for the next who comes."""
    headers = {messages.AUTHORIZATION: door.token, messages.COMMAND: "mention"}
    try:
        with connect(
            f"ws://127.0.0.1:{door.port}/",
            additional_headers=headers,
            subprotocols=[Subprotocol("mcp")],
            compression=None,
            proxy=None,
            open_timeout=OPENING,
            ping_interval=None,
            close_timeout=1,
        ) as websocket:
            websocket.send(messages.greeting().decode())
            websocket.recv(LIMIT)
            websocket.send(messages.mention(file, lines).decode())
            reply = json.loads(websocket.recv(LIMIT))
    except (OSError, TimeoutError, InvalidHandshake, WebSocketException, ValueError) as error:
        raise BridgeFailed(
            f"The door to {door.folder} does not answer ({type(error).__name__}). Start it anew."
        ) from None
    return _clients(reply)


def _clients(reply: Mapping[str, object]) -> int:
    result, error = reply.get("result"), reply.get("error")
    if isinstance(result, dict) and isinstance(result.get("clients"), int):
        return int(result["clients"])
    why = error.get("message") if isinstance(error, dict) else "an answer that is not understood"
    raise BridgeFailed(f"The door refused: {why}")


def mention_to_all(doors: Sequence[Door], file: str, lines: tuple[int, int] | None) -> int:
    """To every door of one vault; one that doesn't answer keeps the others from nothing."""
    heard, failure, answered = 0, None, False
    for door in doors:
        try:
            heard += mention(door, file, lines)
            answered = True
        except BridgeFailed as failed:
            failure = failed
    if failure is not None and not answered:
        raise failure
    return heard
