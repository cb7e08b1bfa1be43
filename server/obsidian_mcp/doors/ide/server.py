"""Opening doors: socket, lock file, answers, in this order; and closing them, however the end comes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.server import Server

from obsidian_mcp import logs
from obsidian_mcp.doors.ide.clients import Clients, Limits
from obsidian_mcp.doors.ide.websocket import IdeDoor, bind
from obsidian_mcp.protocol.jsonrpc import Notification
from obsidian_mcp.servers.ide import lockfile, messages
from obsidian_mcp.servers.ide.child import ChildProgram, NoChildProgram
from obsidian_mcp.servers.ide.lockfile import Door
from obsidian_mcp.servers.ide.server import IdeServer
from obsidian_mcp.servers.ide.watcher import Watcher
from obsidian_mcp.servers.ide.workspace import IdeWorkspace
from obsidian_mcp.vault.active import Active

ENDING = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")
PRESSED = (signal.SIGINT, getattr(signal, "SIGBREAK", None))  # Ctrl-C, and Ctrl-Break on Windows
TRIES = 20
BETWEEN_LOOKS = 0.1  # seconds between two looks whether the program has ended


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
    workspaces: Sequence[IdeWorkspace],
    environ: Mapping[str, str],
    port: int,
    command: Sequence[str],
    opened: Callable[[Door], None],
) -> int:
    """A door for each workspace, until a signal comes or the command ends; the exit code."""
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    numbers = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]  # as nohup wants it
    ending = _Ending(numbers)
    with contextlib.ExitStack() as stack:
        try:
            doors = [_open(workspace, environ, port, stack) for workspace in workspaces]
        except lockfile.Unannounced as problem:
            raise NoDoor(str(problem)) from None
        stack.callback(ending.ignore)  # first of all that is done at the end: nothing may interrupt the rest
        try:
            return asyncio.run(_run(doors, environ, command, opened, ending))
        except NoChildProgram as problem:
            raise NoDoor(str(problem)) from None


class _Ending:
    """The signals that ask for an end. One that comes before there is a loop is noted and passed on then: an exception
    in the midst of announcing would leave a lock file behind.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers
        self.asked: int | None = None
        self._act(self._note)

    def _act(self, act: Callable[[int], Any]) -> None:
        for number in self._numbers:
            signal.signal(number, lambda number, _: act(number))

    def _note(self, number: int) -> None:
        self.asked = number

    def ignore(self) -> None:
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)

    def pass_on(self, act: Callable[[int], None]) -> None:
        """From now on; and at once, if one has come already."""

        def heard(number: int) -> None:
            self._note(number)
            act(number)

        self._act(heard)
        if self.asked is not None:
            act(self.asked)


def _open(workspace: IdeWorkspace, environ: Mapping[str, str], port: int, stack: contextlib.ExitStack) -> Opened:
    lockfile.sweep(environ, workspace.root)
    listening = _bound(environ, port)
    stack.callback(listening.close)
    token = str(uuid.uuid4())
    known = stack.enter_context(lockfile.announced(environ, workspace.root, listening.getsockname()[1], token))
    door, watcher = make(workspace, token, Limits())
    return Opened(known, listening, door, watcher)


def make(workspace: IdeWorkspace, token: str, limits: Limits, **between: float) -> tuple[IdeDoor, Watcher]:
    """A vault's door and what watches for it."""
    clients = Clients(limits)

    def message(found: Active) -> Notification:
        return messages.selection_changed(found, workspace.file(found.path), workspace.uri(found.path))

    def newest() -> Notification | None:
        found = watcher.latest
        return message(found) if found else None

    watcher = Watcher(workspace.active, workspace.last_saved, clients.select, **between)
    server = IdeServer(workspace, watcher, clients.mention)
    return IdeDoor(server, watcher, clients, newest, token, limits), watcher


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
    doors: Sequence[Opened],
    environ: Mapping[str, str],
    command: Sequence[str],
    opened: Callable[[Door], None],
    ending: _Ending,
) -> int:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    ending.pass_on(lambda number: _set(stop, loop))
    servers: list[Server] = []
    try:
        for one in doors:
            servers.append(await one.door.open(one.listening))
            _begin(one.watcher)
            logs.log("info", "listening", vault=one.known.folder, port=one.known.port, pid=os.getpid())
            opened(one.known)
        if not command:
            await stop.wait()
            return 0
        if ending.asked is not None:
            return 128 + ending.asked
        first = doors[0].known
        child = ChildProgram(command, first.folder, first.port, environ)
        # What is pressed is pressed for the program, which gets it from the terminal.
        ending.pass_on(lambda number: None if number in PRESSED else child.end(number))
        while (code := child.exit_code) is None:  # not by a thread, which the system may not allow
            await asyncio.sleep(BETWEEN_LOOKS)
        return code
    finally:
        ending.ignore()
        for one in doors:
            one.watcher.end()
        for server in servers:
            server.close()
        await _closed(servers)
        logs.log("info", "ended")


def _begin(watcher: Watcher) -> None:
    try:
        watcher.begin()
    except (RuntimeError, MemoryError):
        raise NoDoor("the system allows no further thread; end other programs or raise the limit") from None


def _set(stop: asyncio.Event, loop: asyncio.AbstractEventLoop) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(stop.set)


async def _closed(servers: Sequence[Server]) -> None:
    """Every client has a moment to take leave; one that doesn't read is cut off."""
    if not servers:
        return
    waiting = [asyncio.ensure_future(server.wait_closed()) for server in servers]
    _, late = await asyncio.wait(waiting, timeout=Limits().close)
    if late:
        for server in servers:
            for connection in list(server.all_connections):
                connection.transport.abort()
        await asyncio.wait(late)
