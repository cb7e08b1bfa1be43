"""Calls from HTTP to the tools: on the threads of `turns`, in the order that holds everywhere."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import Request

from obsidian_mcp.call import CallContext
from obsidian_mcp.doors.http.loop_bridge import LoopBridge
from obsidian_mcp.errors import Failure, InvalidArguments
from obsidian_mcp.servers.notes import Dispatcher, ToolCall

T = TypeVar("T")
BEFORE_WATCHING = 0.05  # seconds


class BadArguments(Exception):
    """The arguments are wrong as such, and nothing has run."""

    def __init__(self, failure: InvalidArguments) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Calls:
    def __init__(self, dispatcher: Dispatcher, lane: LoopBridge) -> None:
        self._dispatcher = dispatcher
        self._lane = lane

    async def run(
        self, name: str, arguments: dict[str, Any], shape: Callable[[dict[str, Any]], T], request: Request
    ) -> T:
        """The shaped data of a success; raises BadArguments or a Failure. A client that goes cancels its call."""
        tool = self._dispatcher.ticket(name, arguments)
        call = CallContext(tool.limit)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                outcome = self._attempt(tool, call, shape)
            except (BadArguments, Failure) as failure:
                self._lane.bring(loop, functools.partial(_settle, future, None, failure))
            else:
                self._lane.bring(loop, functools.partial(_settle, future, outcome, None))

        self._lane.submit(tool.turn, work)
        return await unless_gone(future, request, call.cancel, self._lane)

    def _attempt(self, tool: ToolCall, call: CallContext, shape: Callable[[dict[str, Any]], T]) -> T:
        try:
            self._dispatcher.check(tool)
        except InvalidArguments as failure:
            raise BadArguments(failure) from None
        return self._dispatcher.attempt(tool, call, shape)


def _settle(future: asyncio.Future[Any], outcome: Any, failure: Exception | None) -> None:
    if future.done():
        return  # the client is gone
    if failure is None:
        future.set_result(outcome)
    else:
        future.set_exception(failure)


async def unless_gone(future: asyncio.Future[T], request: Request, cancel: Callable[[], None], lane: LoopBridge) -> T:
    """Wait for it; if the client goes first, cancel it and still wait: it must not run on unseen."""
    watches: list[Watch] = []
    lane.afterwards(lambda: None if future.done() else watches.append(Watch(request, cancel)))
    try:
        return await future
    finally:
        for watch in watches:
            watch.end()


class Watch:
    """Calls back when the client has gone. Begins after a moment: most calls are over by then."""

    def __init__(self, request: Request, gone: Callable[[], None]) -> None:
        self._request = request
        self._gone = gone
        self._task: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(BEFORE_WATCHING, self._begin)

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._watch())

    async def _watch(self) -> None:
        await gone_away(self._request)
        self._gone()

    def end(self) -> None:
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()


async def gone_away(request: Request) -> None:
    """Returns when the client has closed its connection. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
