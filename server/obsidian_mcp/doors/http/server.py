"""The server around the routes: its socket, its end, and errors that are JSON everywhere."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from obsidian_mcp import logs
from obsidian_mcp.dispatcher import Dispatcher
from obsidian_mcp.doors.http import messages
from obsidian_mcp.doors.http.bridge import Bridge
from obsidian_mcp.doors.http.calls import Calls
from obsidian_mcp.doors.http.envelope import Envelope
from obsidian_mcp.doors.http.gate import Gate
from obsidian_mcp.doors.http.streamable import Streamable
from obsidian_mcp.protocol import bridge, jsonrpc
from obsidian_mcp.protocol.streamable import is_mcp
from obsidian_mcp.settings import Http
from obsidian_mcp.tools.catalogue import Catalogue
from obsidian_mcp.turns import Turns

KEEP_ALIVE = 75  # seconds that an idle connection stays open
GRACE = 5  # seconds beyond the longest call that the end waits for
EVERY_METHOD = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


class NoSocket(Exception):
    """The address can't be used; one line says why."""


def application(dispatcher: Dispatcher, catalogue: Catalogue, http: Http, health: Callable[[], str]) -> Gate:
    """Every route, behind the gate."""
    turns = Turns()
    calls = Calls(dispatcher, turns)
    bridged, enveloped, streamed = (
        Bridge(catalogue, calls),
        Envelope(catalogue, calls, health),
        Streamable(dispatcher, turns),
    )

    async def mcp(request: Request) -> Response:
        return await (streamed.answer(request) if is_mcp(request.headers) else enveloped.answer(request))

    routes = [
        Route(f"{bridge.PREFIX}/health", bridged.health),
        Route(f"{bridge.PREFIX}/tools", bridged.tools),
        Route(f"{bridge.PREFIX}/tools/{{name:path}}/call", bridged.call, methods=["POST"]),
        *(Route(f"{version}/health", enveloped.health) for version in ("", "/v1")),
        *(Route(f"{version}/mcp", mcp, methods=EVERY_METHOD) for version in ("", "/v1")),
    ]

    async def told(request: Request, problem: Exception) -> Response:
        return _told(request, problem, dispatcher)

    kinds = (bridge.Problem, HTTPException, ClientDisconnect, Exception)
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(kinds, told))
    app.router.redirect_slashes = False
    return Gate(app, http.hosts, http.token)


def _told(request: Request, problem: Exception, dispatcher: Dispatcher) -> Response:
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
        problem = bridge.internal(dispatcher.bug(problem, "the request").message)
    if problem.status == 413:
        headers = messages.UNREAD
    return messages.response(problem.status, problem.body, headers)


class _Protocol(H11Protocol):
    """What isn't HTTP at all is told in JSON too."""

    def send_400_response(self, msg: str) -> None:
        body = jsonrpc.encode(bridge.invalid_body("This is not a valid HTTP request.").body)
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()


def listen(http: Http) -> socket.socket:
    """The socket, or the reason why there is none."""
    listening = None
    try:
        family, kind, _, _, address = socket.getaddrinfo(http.host, http.port, type=socket.SOCK_STREAM)[0]
        # With the protocol named: asyncio then sends small packets at once. Otherwise every reply waits 40 ms.
        listening = socket.socket(family, kind, socket.IPPROTO_TCP)
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(512)
        return listening
    except OSError as error:
        if listening is not None:
            listening.close()
        raise NoSocket(
            f"{http.host} port {http.port} cannot be used: {error.strerror or error}; "
            "another server may be running there, choose one with --port"
        ) from None


def serve(app: Gate, listening: socket.socket, longest: float) -> None:
    """Until a signal asks for the end: then answer what runs, refuse what comes."""
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=int(longest) + GRACE,
    )
    for name in ("uvicorn", "asyncio"):  # their words are not log lines of ours
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    server = uvicorn.Server(config)
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), lambda *_: None)  # what uvicorn raises again when it has ended
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    logs.log("info", "listening", url=f"http://{shown}:{port}", mcp="/mcp", bridge=bridge.PREFIX, pid=os.getpid())
    asyncio.run(server.serve([listening]))
    logs.log("info", "ended")
