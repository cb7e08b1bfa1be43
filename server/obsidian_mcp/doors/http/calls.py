"""Calls from HTTP to the tools: jobs on the scheduler's threads, in the order that holds everywhere."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import Request

from obsidian_mcp import running
from obsidian_mcp.call import CallContext
from obsidian_mcp.doors.http.loop_bridge import LoopBridge
from obsidian_mcp.errors import Failure
from obsidian_mcp.features.tools import Tools
from obsidian_mcp.protocol.clients import SMALL
from obsidian_mcp.scheduler import Access
from obsidian_mcp.tools.catalogue import Catalogue

T = TypeVar("T")
PREFIX = "obsidian_"  # of every tool's name; clients of Bridge v1 and the envelope may leave it out
BEFORE_WATCHING = 0.05  # seconds


class Calls:
    def __init__(self, tools: Tools, bridge: LoopBridge) -> None:
        self._tools = tools
        self._bridge = bridge

    def offers(self, name: str) -> bool:
        return name in self._tools.catalogue

    async def run(
        self,
        name: str,
        arguments: dict[str, Any],
        shape: Callable[[dict[str, Any]], T],
        request: Request,
        page: int = SMALL,
        client: str = "",
    ) -> T:
        """The shaped data of a success; raises a Failure. A client that goes cancels its call."""
        job = self._tools.job(name, arguments, shape, page=page, client=client)
        call = CallContext(job.limit)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                outcome = running.run(job, call)
            except Failure as failure:
                self._bridge.deliver(loop, functools.partial(_settle, future, None, failure))
            else:
                self._bridge.deliver(loop, functools.partial(_settle, future, outcome, None))

        self._bridge.submit(job.access, work)
        return await unless_gone(future, request, call.cancel, self._bridge)

    async def look(self, look: Callable[[], T]) -> T:
        """What it finds, on a thread of the same pool: it touches no note."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                found, bug = look(), None
            except Exception as raised:  # noqa: BLE001  # raised again where it is awaited
                found, bug = None, raised
            self._bridge.deliver(loop, functools.partial(_settle, future, found, bug))

        self._bridge.submit(Access(frozenset(), writes=False), work)
        return await future


def full_name(name: str, catalogue: Catalogue) -> str:
    """`read_note` → `obsidian_read_note`, where that is a tool; any other name as it is."""
    return PREFIX + name if name not in catalogue and PREFIX + name in catalogue else name


def _settle(future: asyncio.Future[Any], outcome: Any, failure: Exception | None) -> None:
    if future.done():
        return  # the client is gone
    if failure is None:
        future.set_result(outcome)
    else:
        future.set_exception(failure)


async def unless_gone(future: asyncio.Future[T], request: Request, cancel: Callable[[], None], bridge: LoopBridge) -> T:
    """Wait for it; if the client goes first, cancel it and still wait: it must not run on unseen."""
    watches: list[Watch] = []
    bridge.afterwards(lambda: None if future.done() else watches.append(Watch(request, cancel)))
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
