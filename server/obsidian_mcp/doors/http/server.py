"""The server around the routes: its socket, its connections, and its end."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import Callable, Mapping

import uvicorn

from obsidian_mcp import logs
from obsidian_mcp.doors.http.connections import Protocol
from obsidian_mcp.doors.http.gate import Gate
from obsidian_mcp.protocol import bridge
from obsidian_mcp.settings import Http

KEEP_ALIVE = 30  # seconds that an idle connection stays open
BACKLOG = 128  # connections that wait to be accepted, and that are accepted before any is looked at
GARBAGE = 50_000  # objects that may come before the collector looks: a request leaves a few in a ring
GRACE = 5  # seconds beyond the longest call that the end waits for


class NoSocket(Exception):
    """The address can't be used; one line says why."""


def listen(http: Http) -> socket.socket:
    """The socket, or the reason why there is none."""
    listening = None
    try:
        family, kind, _, _, address = socket.getaddrinfo(http.host, http.port, type=socket.SOCK_STREAM)[0]
        # With the protocol named: asyncio then sends small packets at once. Otherwise every reply waits 40 ms.
        listening = socket.socket(family, kind, socket.IPPROTO_TCP)
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows, where another program could take the port too
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        return listening
    except OSError as error:
        if listening is not None:
            listening.close()
        if isinstance(error, socket.gaierror):
            raise NoSocket(f"there is no address {http.host}: {error.strerror}; choose one with --host") from None
        raise NoSocket(
            f"{http.host} port {http.port} cannot be used: {error.strerror or error}; "
            "another server may be running there, choose one with --port"
        ) from None


def link(listening: socket.socket, secret: str) -> str:
    """Where this machine's own browser finds the page. The secret is in the fragment, which is never sent."""
    return f"{_url(listening, {'0.0.0.0': '127.0.0.1', '::': '::1'})}/#{secret}"


def _url(listening: socket.socket, instead: Mapping[str, str]) -> str:
    host, port = listening.getsockname()[:2]
    host = instead.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """`ending` is called when a signal asked for the end, on the loop."""

    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        await super().shutdown(sockets)


def serve(app: Gate, listening: socket.socket, longest: float) -> None:
    """Until a signal asks for the end: then answer what runs, refuse what comes."""
    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        backlog=BACKLOG,
        timeout_graceful_shutdown=int(longest) + GRACE,
    )
    for name in ("uvicorn", "asyncio"):  # their words are not log lines of ours
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False
    server = _Server(config, app.ending)
    for name in ("SIGTERM", "SIGINT", "SIGBREAK"):  # the last is Ctrl-Break, on Windows
        if hasattr(signal, name):
            # Before uvicorn listens to them itself, and when it raises them again after its end.
            signal.signal(getattr(signal, name), server.handle_exit)
    logs.log("info", "listening", url=_url(listening, {}), mcp="/mcp", bridge=bridge.PREFIX, pid=os.getpid())
    gc.freeze()  # what is loaded by now stays: it need not be looked through again and again
    gc.set_threshold(GARBAGE)
    asyncio.run(server.serve([listening]))
    logs.log("info", "ended")
