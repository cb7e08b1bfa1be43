"""Opening doors: socket, lock file, answers, in this order; and closing them, however the end comes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.server import Server

from obsidian_mcp import logs
from obsidian_mcp.doors.ide.clients import Audience, Limits
from obsidian_mcp.doors.ide.server import IdeDoor, bind
from obsidian_mcp.ide import lockfile, shapes
from obsidian_mcp.ide.answering import Ide
from obsidian_mcp.ide.companion import Companion, NoCompanion
from obsidian_mcp.ide.desk import Desk
from obsidian_mcp.ide.lockfile import Door
from obsidian_mcp.ide.watching import Watcher
from obsidian_mcp.vault.active import Active

ENDING = ("SIGTERM", "SIGINT", "SIGHUP")
TRIES = 20


class NoDoor(Exception):
    """A door can't be opened; one line says why."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A door with its socket, not answering yet."""

    known: Door
    listening: socket.socket
    door: IdeDoor
    watcher: Watcher


def serve(
    desks: Sequence[Desk],
    environ: Mapping[str, str],
    port: int,
    command: Sequence[str],
    opened: Callable[[Door], None],
) -> int:
    """A door for each desk, until a signal comes or the command ends; the exit code."""
    for name in ENDING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    with contextlib.ExitStack() as stack:
        try:
            doors = [_open(desk, environ, port, stack) for desk in desks]
        except lockfile.Unannounced as problem:
            raise NoDoor(str(problem)) from None
        try:
            return asyncio.run(_run(doors, environ, command, opened))
        except NoCompanion as problem:
            raise NoDoor(str(problem)) from None


def _open(desk: Desk, environ: Mapping[str, str], port: int, stack: contextlib.ExitStack) -> Opened:
    lockfile.sweep(environ, desk.root)
    listening = _bound(environ, port)
    stack.callback(listening.close)
    token = str(uuid.uuid4())
    known = stack.enter_context(lockfile.announced(environ, desk.root, listening.getsockname()[1], token))
    door, watcher = make(desk, token, Limits())
    return Opened(known, listening, door, watcher)


def make(desk: Desk, token: str, limits: Limits, **between: float) -> tuple[IdeDoor, Watcher]:
    """A desk's door and what watches for it."""
    audience = Audience(limits)

    def message(found: Active) -> bytes:
        return shapes.selection_changed(found, desk.file(found.path), desk.uri(found.path))

    def hello() -> bytes | None:
        found = watcher.latest
        return message(found) if found else None

    watcher = Watcher(desk.active, desk.left, lambda found: audience.select(message(found)), **between)
    answerer = Ide(desk, watcher, audience.mention)
    return IdeDoor(answerer, watcher, audience, hello, token, limits), watcher


def _bound(environ: Mapping[str, str], port: int) -> socket.socket:
    """On a port for which no other program has a lock file: that would not be ours to replace."""
    for _ in range(TRIES):
        try:
            bound = bind(port)
        except OSError as error:
            raise NoDoor(f"port {port} cannot be used: {error.strerror}; leave --port out") from None
        if not lockfile.is_taken(environ, bound.getsockname()[1]):
            return bound
        bound.close()
        if port:
            break
    raise NoDoor(f"another program has left a lock file for port {port}; leave --port out")


async def _run(
    doors: Sequence[Opened], environ: Mapping[str, str], command: Sequence[str], opened: Callable[[Door], None]
) -> int:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    _on_signals(lambda number: loop.call_soon_threadsafe(stop.set))
    servers: list[Server] = []
    try:
        for one in doors:
            servers.append(await one.door.open(one.listening))
            one.watcher.begin()
            logs.log("info", "listening", vault=one.known.folder, port=one.known.port, pid=os.getpid())
            opened(one.known)
        if not command:
            await stop.wait()
            return 0
        first = doors[0].known
        companion = Companion(command, first.folder, first.port, environ)
        # Ctrl-C is pressed for the program, which gets it from the terminal.
        _on_signals(lambda number: None if number == signal.SIGINT else companion.end(number))
        return await asyncio.to_thread(companion.wait)
    finally:
        for one in doors:
            one.watcher.end()
        for server in servers:
            server.close()
        await asyncio.gather(*(server.wait_closed() for server in servers))
        logs.log("info", "ended")


def _on_signals(act: Callable[[int], Any]) -> None:
    for name in ENDING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: act(number))
