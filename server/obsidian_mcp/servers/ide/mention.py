"""Pointing at a note, from another process: the door of its vault is found and told."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from obsidian_mcp import long_paths
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import BridgeFailed
from obsidian_mcp.operations.finding import existing
from obsidian_mcp.servers.ide import lockfile, messages
from obsidian_mcp.servers.ide.lockfile import Door
from obsidian_mcp.settings import Settings, UsageError, looks_like_path
from obsidian_mcp.vault import text
from obsidian_mcp.vault.history import NOBODY
from obsidian_mcp.vault.path import BadPath
from obsidian_mcp.vault.reference import Reference
from obsidian_mcp.vaults import locate
from obsidian_mcp.vaults.behind import files_backend

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
            f"The door to {door.folder} does not answer ({type(error).__name__}).", "Start it anew."
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


def mention_note(settings: Settings, named: str, lines: tuple[int, int] | None) -> tuple[str, int]:
    """Tell the open door of a vault; the note's path, and how many have heard it. Lines are from 1."""
    doors = lockfile.doors(settings.environ)
    if settings.vaults:
        wanted = _folders_of(settings.vaults[0], settings)
        doors = [door for door in doors if door.folder in wanted or os.path.basename(door.folder) in wanted]
    folders = sorted({door.folder for door in doors})
    if not doors:
        which = f"to {settings.vaults[0]} " if settings.vaults else ""
        raise UsageError(f"no door {which}is open; open one with obsidian-mcp ide --vault NAME")
    if len(folders) > 1:
        raise UsageError(f"several doors are open, name one with --vault: {', '.join(folders)}")
    vault = files_backend(settings).open(folders[0], CallContext(), NOBODY).vault
    try:
        path = existing(Reference.parse(named), vault)
    except BadPath as problem:
        raise UsageError(f"the note's name {problem}") from None
    if lines is not None:
        there = text.line_count(text.decoded(path, vault.read(path)))
        if lines[1] > there:
            raise UsageError(f"{path} has {there} lines; there is no line {lines[1]}")
    wire = (lines[0] - 1, lines[1] - 1) if lines else None
    return path.value, mention_to_all(doors, path.value, wire)


def _folders_of(wanted: str, settings: Settings) -> set[str]:
    """What a door to that vault could call its folder."""
    place = locate(wanted, settings.environ)
    same = [vault for vault in place.vaults if wanted in (vault.id, vault.name)]
    named = {long_paths.real(place.folder)} if looks_like_path(wanted) else {wanted}
    return {*named, *(long_paths.real(vault.path) for vault in same)}
