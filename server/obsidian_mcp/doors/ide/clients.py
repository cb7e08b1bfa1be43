"""The clients connected to one door, and how messages reach each."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from obsidian_mcp import logs, running
from obsidian_mcp.protocol import jsonrpc

MIB = 1024 * 1024
MOST_WAITING = 100  # mentions


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one door. Times are seconds."""

    connections: int = 10
    frame: int = MIB
    message: int = 10 * MIB
    ping: float = 30.0
    missed: int = 2  # pings in a row without an answer, and the client is gone
    unread: int = 32 * MIB  # bytes that may wait for a client that doesn't read
    under_way: int = 100  # calls of one client
    hello: tuple[float, ...] = (0.2, 1.0, 3.0)  # after its introduction, when it is told the selection
    mention: float = 60.0  # that a mention waits for a client
    handshake: float = 10.0
    close: float = 1.0


class Clients:
    """Those that are connected, and what waits for them. Used from every thread."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._ready: set[Client] = set()
        self._waiting: list[tuple[float, jsonrpc.Notification]] = []

    def mention(self, message: jsonrpc.Notification) -> int:
        """To every client, or to the next one that comes; how many have it now."""
        with self._lock:
            ready = list(self._ready)
            if not ready:
                now = time.monotonic()
                waiting = [(until, one) for until, one in self._waiting if now < until][1 - MOST_WAITING :]
                self._waiting = [*waiting, (now + self._limits.mention, message)]
        for client in ready:
            client.send(message)
        if ready:
            logs.log("debug", "Sent at-mention", clients=len(ready))
        return len(ready)

    def select(self) -> None:
        """There is something new to tell."""
        with self._lock:
            ready = list(self._ready)
        for client in ready:
            client.select()

    def enter(self, client: Client) -> None:
        now = time.monotonic()
        with self._lock:
            self._ready.add(client)
            waiting, self._waiting = [message for until, message in self._waiting if now < until], []
        for message in waiting:
            client.send(message)
            logs.log("debug", "Sent at-mention", clients=1)

    def leave(self, client: Client) -> None:
        with self._lock:
            self._ready.discard(client)


class Client:
    """One connection's way out: in order, without waiting for a reader, and never without end.

    `selection` is the newest, as a message; it is asked for when it can be sent.
    """

    def __init__(
        self, websocket: ServerConnection, limits: Limits, selection: Callable[[], jsonrpc.Notification | None]
    ) -> None:
        self._websocket = websocket
        self._selection = selection
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._messages: collections.deque[bytes] = collections.deque()
        self._is_due = False
        self._size = 0
        self._news = asyncio.Event()
        self._ended = asyncio.Event()
        self.heard_bytes = 0  # of its last message
        self.is_introduced = False
        self.is_gone = False

    def send(self, message: jsonrpc.Message) -> None:
        """From any thread, which also does the encoding."""
        data = running.encoded(message)
        self._on_loop(lambda: self._put(data))

    def select(self) -> None:
        """From any thread: there is a new selection. Only the newest is sent."""
        self._on_loop(self._make_due)

    def note(self) -> None:
        """A call has ended."""
        self._on_loop(self._ended.set)

    async def noted(self) -> None:
        """Until a call has ended, or the client is gone."""
        self._ended.clear()
        if not self.is_gone:
            await self._ended.wait()

    async def watch(self, gone: Callable[[], None]) -> None:
        """Call it as soon as the client is gone, whatever else is waited for."""
        await self._websocket.wait_closed()
        self.is_gone = True
        gone()
        self._ended.set()

    def _on_loop(self, work: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its clients with it
            self._loop.call_soon_threadsafe(work)

    def _put(self, message: bytes) -> None:
        self._messages.append(message)
        self._size += len(message)
        if self._size > self._limits.unread:
            logs.log("warning", "cut off", why="it does not read", bytes=self._size)
            self._websocket.transport.abort()
        self._news.set()

    def _make_due(self) -> None:
        self._is_due = True
        self._news.set()

    async def write(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self._news.wait()
                self._news.clear()
                while self._messages:
                    message = self._messages.popleft()
                    await self._websocket.send(message.decode())
                    self._size -= len(message)
                if self._is_due:
                    self._is_due = False
                    selection = self._selection()
                    if selection is not None:
                        await self._websocket.send(running.encoded(selection).decode())

    async def keep_alive(self) -> None:
        """A client that has vanished says nothing: so it is asked."""
        missed, due = 0, self._loop.time()
        answered: asyncio.Future[float] | None = None
        with contextlib.suppress(ConnectionClosed):
            while True:
                due += self._limits.ping
                await asyncio.sleep(due - self._loop.time())
                missed = 0 if answered is None or answered.done() else missed + 1
                if missed >= self._limits.missed:
                    logs.log("info", "Removing dead connection", missed=missed)
                    self._websocket.transport.abort()
                    return
                answered = self._loop.create_future()  # where its buffer is full, no ping goes out: that counts too
                with contextlib.suppress(TimeoutError):
                    waiter = await asyncio.wait_for(self._websocket.ping(), self._limits.ping / 2)
                    answered = asyncio.ensure_future(waiter)
                    answered.add_done_callback(_look_at)


def _look_at(waiter: asyncio.Future[float]) -> None:
    if not waiter.cancelled():
        waiter.exception()
