"""One connection to the server, and how long and beside how many others it may be open.

uvicorn's own limits begin after a request has arrived: `limit_concurrency` refuses one whose head has been read, and
the keep-alive time starts after the first reply. Connections that say nothing, or a byte a minute (slowloris), would
take every descriptor of the process before the gate has seen a token. So the limits are here, at the socket: a head and
a body must arrive in time, and beyond so many connections an idle one is closed for each that comes, first those that
never sent a request. A connection with a request under way, such as a stream, is never closed for another.
"""

from __future__ import annotations

import asyncio
import http
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from obsidian_mcp.protocol import bridge, jsonrpc

MOST = 500  # or half of the descriptors that the process may have
HEAD_WITHIN = 10.0  # seconds from the connection, or from a request's first byte
BODY_WITHIN = 30.0  # seconds from the end of the head


def most_connections() -> int:
    """As many as leave room for the vault's files."""
    try:
        import resource
    except ImportError:  # Windows, where sockets are not counted with files
        return MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else max(1, min(MOST, soft // 2))


class _Packing:
    """A connection on which a reply's head waits for what follows it: uvicorn always writes something more."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if data.startswith(b"HTTP/") and not data.startswith(b"HTTP/1.1 100"):
            self._head = data
            return
        data, self._head = self._head + data, b""
        if data:
            self._transport.write(data)

    def close(self) -> None:
        self.write(b"")
        self._transport.close()


class Protocol(H11Protocol):
    """What isn't HTTP at all is told in JSON too. A reply is one packet where it can be."""

    _due: asyncio.TimerHandle | None = None  # when what is arriving must have arrived
    _due_state: object = None  # what h11 said was arriving
    _idle_since = 0.0
    _is_cut = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as asyncio calls it
        super().connection_made(cast("asyncio.Transport", _Packing(transport)))
        self._idle_since = self.loop.time()
        if len(self.connections) > most_connections() and not self._make_room():
            self._refuse(bridge.busy())
        else:
            self._expect(h11.IDLE, HEAD_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        arriving = self.conn.their_state
        if arriving is h11.IDLE:  # what came is less than a head
            self._expect(arriving, HEAD_WITHIN)
        elif arriving is h11.SEND_BODY:
            self._expect(arriving, BODY_WITHIN)
        elif self._due is not None:
            self._expect(None)

    def on_response_complete(self) -> None:
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(bridge.invalid_body("This is not a valid HTTP request."))

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _expect(self, what: object, within: float = 0.0) -> None:
        """The clock for one thing runs on whatever bytes of it come."""
        if what is self._due_state:
            return
        if self._due is not None:
            self._due.cancel()
            self._due = None
        self._due_state = what
        if what is not None:
            self._due = self.loop.call_later(within, self._late)

    def _late(self) -> None:
        began = self.conn.trailing_data[0]
        if self.conn.their_state is h11.IDLE and began and not self.transport.is_closing():
            self._refuse(bridge.late())
        else:
            self._cut()  # what answers and awaits a body hears of the end

    def _cut(self) -> None:
        self._is_cut = True
        self.transport.abort()

    def _make_room(self) -> bool:
        """Whether there was an idle connection that could be closed."""
        others = [other for other in self.connections if other is not self and isinstance(other, Protocol)]
        idle = [other for other in others if other._is_idle and not other._is_cut]
        if not idle:
            return False
        min(idle, key=Protocol._worth)._cut()
        return True

    def _worth(self) -> tuple[bool, bool, float]:
        """What never sent a request goes first, what still reads its reply last."""
        return self.cycle is not None, self.transport.get_write_buffer_size() > 0, self._idle_since

    def _refuse(self, problem: bridge.Problem) -> None:
        body = jsonrpc.encode(problem.body)
        phrase = http.HTTPStatus(problem.status).phrase
        head = f"HTTP/1.1 {problem.status} {phrase}\r\ncontent-type: application/json\r\n"
        self.transport.write(f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        self.transport.close()
