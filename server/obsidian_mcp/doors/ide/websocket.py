"""One vault's door: who may come in, and the conversation with each. What is asked is not its matter."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import http
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from obsidian_mcp import logs
from obsidian_mcp.connection import Connection
from obsidian_mcp.doors.ide.clients import Client, Clients, Limits
from obsidian_mcp.protocol import addresses
from obsidian_mcp.scheduler import Scheduler
from obsidian_mcp.servers.ide import messages
from obsidian_mcp.servers.ide.watcher import Watcher

if TYPE_CHECKING:
    from obsidian_mcp.connection import Server as Answers
    from obsidian_mcp.protocol.jsonrpc import Notification

UNREAD = Limits().unread
LONGEST_METHOD = 100  # characters of a method's name that the log gets
HANDSHAKES = 200  # under way at once; beyond that the oldest is cut


class IdeDoor:
    """One vault's. `selection` is the one last seen, as a message."""

    def __init__(
        self,
        server: Answers,
        watcher: Watcher,
        clients: Clients,
        selection: Callable[[], Notification | None],
        token: str,
        limits: Limits,
    ) -> None:
        self._server = server
        self._watcher = watcher
        self._clients = clients
        self._selection = selection
        self._token = token.encode()
        self._limits = limits
        self._scheduler = Scheduler()

    async def open(self, listening: socket.socket) -> Server:
        """Answer from now on. Closing the server tells every client that we go away."""
        quiet = logging.getLogger("websockets")  # its words are not log lines of ours
        quiet.addHandler(logging.NullHandler())
        quiet.propagate = False
        limits = self._limits
        server = await serve(
            self._converse,
            sock=listening,
            process_request=self._admit,
            process_response=_tell_of_malformed,
            select_subprotocol=lambda _, offered: Subprotocol("mcp") if "mcp" in offered else None,
            compression=None,
            server_header=None,
            open_timeout=limits.handshake,
            close_timeout=limits.close,
            ping_interval=None,  # ours is below: theirs gives up after one miss
            max_size=(limits.message, limits.frame),
            create_connection=_Guarded,
            logger=quiet,
        )
        self._checking = asyncio.create_task(self._check(server))
        return server

    async def _check(self, server: Server) -> None:
        """What the log has of the connections as a whole; each looks after itself (`Client.keep_alive`)."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._limits.ping):
                    await server.wait_closed()
                return
            logs.log("debug", f"Health check: {len(server.connections)} active connections")

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        """None lets it in. What is wrong with a token is told to the log alone."""
        refusal = self._refusal(connection, request.headers)
        if refusal is None:
            logs.log("debug", "Authentication successful")
            return None
        status, why = refusal
        logs.log("warning", "handshake refused", status=status.value, why=why)
        return connection.respond(status, f"{status.phrase}\n")

    def _refusal(self, connection: ServerConnection, headers: Headers) -> tuple[http.HTTPStatus, str] | None:
        hosts = headers.get_all("Host")
        if len(hosts) != 1 or addresses.without_port(hosts[0]) not in addresses.LOOPBACK:
            return http.HTTPStatus.FORBIDDEN, "Host is not this machine"
        if headers.get_all("Origin"):  # a web page: no program of ours sends it
            return http.HTTPStatus.FORBIDDEN, "a web page, which has an Origin"
        offered = headers.get_all(messages.AUTHORIZATION)
        same = [hmac.compare_digest(value.encode("utf-8", "surrogateescape"), self._token) for value in offered]
        if len(offered) != 1 or not same[0]:
            return http.HTTPStatus.UNAUTHORIZED, "the token is wrong" if offered else "there is no token"
        kind = _is_command(headers)
        open = (other.request.headers for other in connection.server.connections if other.request)
        if sum(_is_command(other) == kind for other in open) >= self._limits.connections:
            return http.HTTPStatus.SERVICE_UNAVAILABLE, f"{self._limits.connections} connections are open"
        return None

    async def _converse(self, websocket: ServerConnection) -> None:
        assert websocket.request is not None
        assert isinstance(websocket, _Guarded)
        websocket.has_come()
        command = _is_command(websocket.request.headers)
        client = Client(websocket, self._limits, self._selection)
        connection = Connection(
            self._server,
            self._scheduler,
            client.send,
            ended=client.note,
            heard=lambda method: self._heard(client, method, command),
        )
        logs.log("info", "Client connected", command=command)
        if not command:
            self._watcher.listen()
        works = client.write(), client.keep_alive(), client.watch(connection.abandon)
        tasks = [asyncio.create_task(work) for work in works]
        try:
            await self._listen(websocket, client, connection)
        except ConnectionClosed:
            pass
        finally:
            for task in tasks:
                task.cancel()
            client.is_gone = True  # what still waits to greet it must not
            connection.abandon()
            self._clients.leave(client)
            if not command:
                self._watcher.leave()
            logs.log("info", "Client disconnected", command=command, code=websocket.close_code)

    async def _listen(self, websocket: ServerConnection, client: Client, connection: Connection) -> None:
        """Take its messages, as fast as they can be worked on, until it is gone."""
        async for message in websocket:
            while connection.under_way >= self._limits.under_way or not connection.has_room:
                await client.noted()
                if client.is_gone:
                    return
            if client.is_gone:
                return  # what still lies here has no client any more
            data = message.encode() if isinstance(message, str) else message
            client.heard_bytes = len(data)
            logs.log("debug", "Raw data received", bytes=len(data))
            connection.receive(data)

    def _heard(self, client: Client, method: str, command: bool) -> None:
        logs.log("debug", "Parsed message", method=method[:LONGEST_METHOD], bytes=client.heard_bytes)
        if method in messages.INTRODUCING and not client.is_introduced and not command:
            client.is_introduced = True
            for after in self._limits.hello:
                asyncio.get_running_loop().call_later(after, self._greet, client)

    def _greet(self, client: Client) -> None:
        if client.is_gone:
            return
        self._clients.enter(client)
        client.select()


class _Guarded(ServerConnection):
    """Cut where it only talks, or where too many have come after it and it has not said who it is.

    `_coming` are the connections that have not, of all doors, oldest first: those that say nothing make way, so that
    they can't keep a client out.
    """

    _coming: ClassVar[dict[_Guarded, None]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._coming[self] = None
        if len(self._coming) > HANDSHAKES:
            oldest = next(iter(self._coming))
            oldest.has_come()
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.has_come()
        super().connection_lost(exc)

    def has_come(self) -> None:
        """No longer coming: it is admitted, or gone."""
        self._coming.pop(self, None)

    def data_received(self, data: bytes) -> None:
        """Pings are answered by the library, whether the client reads the answers or not."""
        super().data_received(data)
        if self.transport.get_write_buffer_size() > UNREAD:
            self.transport.abort()


def bind(port: int) -> socket.socket:
    """A socket of this machine alone, that does not answer yet."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows, where another program could take the port too
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
    except OSError:
        bound.close()
        raise
    return bound


def _tell_of_malformed(connection: ServerConnection, request: Request, response: Response) -> None:
    """Those that the library itself turns away."""
    if response.status_code in (http.HTTPStatus.BAD_REQUEST, http.HTTPStatus.UPGRADE_REQUIRED):
        logs.log("warning", "handshake refused", status=response.status_code, why="it is not a WebSocket handshake")


def _is_command(headers: Headers) -> bool:
    """Our own `mention`, which is neither counted nor told anything."""
    return messages.COMMAND in headers
