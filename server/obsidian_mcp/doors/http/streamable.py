"""MCP's own transport at /mcp (Streamable HTTP).

One POST carries one message, or in one old revision a batch. What comes back depends on what happens meanwhile:

    nothing to answer (a notification, a response)    202, no body
    a reply, and nothing before it                    200 with JSON, or the status of the error
    progress or a question before the reply           200 with text/event-stream: that, then the reply

So the kind of response is not known before the first thing has come back. `_Exchange.first` waits for it on the event
loop; if that is no reply, `rest` streams it and all that follows.

Three kinds of thread meet here. The message is taken on the loop. Its jobs run on the scheduler's threads, and report
from there. The response is written on the loop again. `_Inbox` is where they meet: any thread puts, the loop takes.
Crossing to the loop costs a wake-up, so it happens once per job (at its end), not once per message, and `LoopBridge`
does it for many exchanges at a time. Each exchange counts its ends: one for the receiving itself, one per job; after
the last there is nothing more to come, and its reply came before.

A client that closes its connection cancels what it asked for: `Watch` waits for that, but only for jobs that are not
over at once, because watching costs more than most jobs do.

Sessions of the older revisions are ids that carry their own proof (an HMAC), so nothing is stored for them. Exchanges
of one session, over whichever connections, share one table of calls and one of questions, so that a call can be
cancelled, and a question answered, from another POST; the tables live as long as one of the exchanges does. A question
keeps its exchange alive: the stream that it went out by stays open until the reply.
"""

from __future__ import annotations

import asyncio
import collections
import os
import weakref
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from obsidian_mcp import running
from obsidian_mcp.connection import Connection, Shared
from obsidian_mcp.doors.http import messages
from obsidian_mcp.doors.http.calls import Watch
from obsidian_mcp.doors.http.loop_bridge import LoopBridge
from obsidian_mcp.errors import Failure, InvalidRequest, spec_of
from obsidian_mcp.protocol import jsonrpc, streamable
from obsidian_mcp.protocol.jsonrpc import Reply
from obsidian_mcp.protocol.methods import Session
from obsidian_mcp.servers.notes import NotesServer

_encoded = running.encoded
UNBUFFERED = {"cache-control": "no-store", "x-accel-buffering": "no"}
QUIET = 20.0  # seconds after which a stream says that it is alive: proxies don't wait for a person who thinks


class Streamable:
    def __init__(self, server: NotesServer, loop_bridge: LoopBridge) -> None:
        self._server = server
        self._loop_bridge = loop_bridge
        self._sessions = streamable.Sessions(os.urandom(32))
        self._shared: weakref.WeakValueDictionary[str, Shared] = weakref.WeakValueDictionary()

    async def answer(self, request: Request, headers: streamable.Headers) -> Response:
        try:
            return await self._answer(request, headers)
        except Failure as failure:
            return messages.response(spec_of(failure).http, _encoded(Reply(None, failure=failure)))
        except messages.TooLarge:
            why = f"A body may have {messages.MOST} bytes at most. Send less at once."
            return _refused(413, why, messages.UNREAD)

    async def _answer(self, request: Request, headers: streamable.Headers) -> Response:
        if request.method == "DELETE" and streamable.SESSION in headers:
            return self._end(headers[streamable.SESSION])
        if request.method != "POST":
            return _refused(405, f"{request.method} is not offered here. Use POST.", {"allow": "POST"})
        if not streamable.takes_json(headers.get("accept", "")):
            return _refused(406, "Accept must name application/json beside text/event-stream.")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return _refused(415, "The body must be application/json. Say so in Content-Type.")
        body = await messages.read(request)
        headers.require_once()
        message = messages.decoded(body)
        if streamable.is_modern(message, headers):
            try:
                streamable.check_mirrors(headers, message, self._server.methods)
            except Failure as failure:
                return messages.response(400, _encoded(Reply(jsonrpc.id_of(message), failure=failure)))
            return await self._exchange(request, message, len(body), Session(), Shared(), modern=True)
        if isinstance(message, dict) and message.get("method") == "initialize":
            return await self._exchange(request, message, len(body), Session(), Shared())
        session = streamable.legacy_session(headers, self._sessions)
        id = headers.get(streamable.SESSION)
        shared = Shared() if id is None else self._shared.setdefault(id, Shared())
        return await self._exchange(request, message, len(body), session, shared)

    def expect_no_answers(self) -> None:
        """The server ends, and no further POST is taken."""
        for shared in list(self._shared.values()):
            shared.questions.close()

    def _end(self, id: str) -> Response:
        self._sessions.end(id)
        shared = self._shared.get(id)
        for call in list(shared.calls.values()) if shared is not None else ():
            call.cancel()
        return messages.response(204, None)

    async def _exchange(
        self, request: Request, message: Any, size: int, session: Session, shared: Shared, modern: bool = False
    ) -> Response:
        new = session.revision is None
        exchange = _Exchange(self._server, self._loop_bridge, session, shared)
        reply = await exchange.first(message, size, request)
        if reply is None and not exchange.streams:
            return messages.response(202, None)
        headers = {}
        if new and session.revision is not None:
            headers[streamable.SESSION] = self._sessions.new(session, os.urandom(16).hex())
        if reply is not None:
            return messages.response(streamable.status_of(reply, modern), _encoded(reply), headers)
        return StreamingResponse(exchange.rest(), 200, {**headers, **UNBUFFERED}, "text/event-stream")


class _Inbox:
    """What comes back to one POST. Knows nothing of its senders: a cycle of references would be left to the garbage
    collector, thousands a second."""

    def __init__(self, loop_bridge: LoopBridge) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop_bridge = loop_bridge
        self._items: collections.deque[tuple[str, jsonrpc.Message | None]] = collections.deque()
        self._waits: asyncio.Future[None] | None = None
        self.on_loop = True  # until the first job can have begun

    def put(self, kind: str, message: jsonrpc.Message | None = None) -> None:
        """From any thread."""
        self._items.append((kind, message))
        if kind != "reply" and not self.on_loop:  # after a reply comes an end
            self._loop_bridge.deliver(self._loop, self._wake)

    def _wake(self) -> None:
        if self._waits is not None and not self._waits.done():
            self._waits.set_result(None)

    async def next(self, within: float | None = None) -> tuple[str, jsonrpc.Message | None]:
        """The next that comes, or that all is quiet."""
        while not self._items:
            self._waits = self._loop.create_future()
            if within is None:
                await self._waits
            elif not (await asyncio.wait((self._waits,), timeout=within))[0]:
                return "quiet", None
        return self._items.popleft()

    def __bool__(self) -> bool:
        return bool(self._items)


class _Exchange:
    """One POST: what it says goes to a connection of its own, what comes back is gathered on the loop."""

    def __init__(self, server: NotesServer, loop_bridge: LoopBridge, session: Session, shared: Shared) -> None:
        inbox = self._inbox = _Inbox(loop_bridge)
        self._loop_bridge = loop_bridge
        self._connection = Connection(
            server,
            loop_bridge,
            lambda message: inbox.put("reply", message),
            lambda message: inbox.put("notice", message),
            session,
            shared,
            lambda: inbox.put("end"),
        )
        self._held: jsonrpc.Message | None = None
        self._ended = 0
        self._watch: Watch | None = None

    @property
    def streams(self) -> bool:
        """Whether something came before the reply."""
        return self._held is not None

    async def first(self, message: Any, size: int, request: Request) -> Reply | list[Reply] | None:
        """The reply, if it comes before anything else; None if there is none, or if it will be streamed."""
        self._connection.take(message, size)
        self._inbox.put("end")  # after all that was answered at once
        self._inbox.on_loop = False
        if self._connection.started:
            self._loop_bridge.afterwards(lambda: self._begin_watch(request))
        reply: Reply | list[Reply] | None = None
        while True:
            kind, news = await self._inbox.next()
            if kind == "reply":
                assert isinstance(news, Reply | list)
                reply = news
            elif kind == "notice" and reply is None:
                self._held = news
                return None
            elif kind == "end" and self._is_over():
                self._end_watch()
                return reply

    def _is_over(self) -> bool:
        """The receiving, or one more job, has ended; whether that was the last. Its answer came before."""
        self._ended += 1
        return self._ended > self._connection.started

    async def rest(self) -> AsyncIterator[bytes]:
        """The events from the first notice to the reply."""
        try:
            assert self._held is not None
            yield streamable.event(_encoded(self._held))
            while True:
                kind, message = await self._inbox.next(QUIET)
                if kind == "end" and self._is_over():
                    return
                if kind == "quiet":
                    yield streamable.KEEP_ALIVE
                if message is not None:
                    yield streamable.event(_encoded(message))
        finally:
            self._connection.abandon()  # what still runs has no client to answer
            self._end_watch()

    def _begin_watch(self, request: Request) -> None:
        if not self._inbox and self._connection.under_way:
            self._watch = Watch(request, self._connection.abandon)

    def _end_watch(self) -> None:
        if self._watch is not None:
            self._watch.end()


def _refused(status: int, why: str, headers: Mapping[str, str] | None = None) -> Response:
    return messages.response(status, _encoded(Reply(None, failure=InvalidRequest(why))), headers)
