"""Every route, after the gate; errors are JSON everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from obsidian_mcp import running
from obsidian_mcp.doors.http import messages
from obsidian_mcp.doors.http.bridge import Bridge
from obsidian_mcp.doors.http.calls import Calls
from obsidian_mcp.doors.http.envelope import Envelope
from obsidian_mcp.doors.http.gate import Gate
from obsidian_mcp.doors.http.loop_bridge import LoopBridge
from obsidian_mcp.doors.http.page import Page, PageParts
from obsidian_mcp.doors.http.streamable import Streamable
from obsidian_mcp.features.tools import Tools
from obsidian_mcp.protocol import bridge, streamable
from obsidian_mcp.scheduler import Scheduler
from obsidian_mcp.servers.notes import NotesServer
from obsidian_mcp.settings import Http


def application(
    server: NotesServer, http: Http, state: Callable[[], dict[str, Any]], parts: PageParts, history: Tools
) -> Gate:
    """Everything. `history` has the tools that the page uses."""
    loop_bridge, catalogue = LoopBridge(Scheduler()), server.tools.catalogue
    calls = Calls(server.tools, loop_bridge)
    bridged, enveloped = Bridge(catalogue, calls), Envelope(catalogue, calls, state)
    routes = [
        Route(f"{bridge.PREFIX}/health", bridged.health),
        Route(f"{bridge.PREFIX}/tools", bridged.tools),
        Route(f"{bridge.PREFIX}/tools/{{name:path}}/call", bridged.call, methods=["POST"]),
        *(Route(f"{version}/health", enveloped.health) for version in ("", "/v1")),
        *Page(parts, Calls(history, loop_bridge)).routes(),
    ]
    streamed = Streamable(server, loop_bridge)
    return Gate(_Mcp(streamed, enveloped, _routed(routes)), http, parts.guard, streamed.expect_no_answers)


def page_alone(http: Http, parts: PageParts, history: Tools) -> Gate:
    """The page and nothing else."""
    calls = Calls(history, LoopBridge(Scheduler()))
    return Gate(_routed(Page(parts, calls).routes()), http, parts.guard)


def _routed(routes: list[Route]) -> Starlette:
    kinds = (bridge.Problem, HTTPException, ClientDisconnect, Exception)
    rest = Starlette(routes=routes, exception_handlers=dict.fromkeys(kinds, _told))
    rest.router.redirect_slashes = False
    return rest


class _Mcp:
    """`/mcp`, one path for two kinds of client, told apart by their headers; what is elsewhere goes on to the rest.

    Before the router because it is where nearly every call comes in, and each layer costs.
    """

    def __init__(self, streamed: Streamable, enveloped: Envelope, rest: ASGIApp) -> None:
        self._streamed = streamed
        self._enveloped = enveloped
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] not in ("/mcp", "/v1/mcp"):
            await self._rest(scope, receive, send)
            return
        request = Request(scope, receive, send)
        try:
            response = await self._answer(request)
        except Exception as problem:  # noqa: BLE001  # a bug; the client must hear of it, and the log has it
            response = _told(request, problem)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        headers = streamable.headers(request.scope["headers"])
        if streamable.is_mcp(headers):
            return await self._streamed.answer(request, headers)
        return await self._enveloped.answer(request)


def _told(request: Request, problem: Exception) -> Response:
    """Whatever went wrong, as JSON."""
    headers: dict[str, str] = {}
    if isinstance(problem, HTTPException):
        headers = dict(problem.headers or {})
        if problem.status_code == 405:
            problem = bridge.method_not_allowed(request.method, headers.get("Allow", ""))
        else:
            problem = bridge.not_found(request.url.path)
    elif isinstance(problem, ClientDisconnect):
        return messages.response(400, bridge.invalid_body("The body ended too early.").body)
    elif not isinstance(problem, bridge.Problem):
        problem = bridge.internal(running.bug_of(problem, "the request").message)
    if problem.status == 413:
        headers = messages.UNREAD
    return messages.response(problem.status, problem.body, headers)
