"""Asking a Bridge v1 server: one request, one connection, one limit for the whole of it. Nothing is sent twice."""

from __future__ import annotations

import contextlib
import http.client
import socket
from typing import Any
from urllib.parse import quote

from obsidian_mcp.call import CallContext, cancelled
from obsidian_mcp.errors import READ, UNKNOWN, BridgeFailed, InvalidRequest, ParseError, VaultState
from obsidian_mcp.protocol import bridge, jsonrpc

LOOK_LIMIT = 5.0
CALL_LIMIT = 35.0
CHUNK = 64 * 1024
MOST = 64 * 1024 * 1024


class Remote:
    def __init__(self, host: str, port: int, token: str = "") -> None:
        self._host = host
        self._port = port
        self._token = token
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}{bridge.PREFIX}"

    def tools(self) -> tuple[list[dict[str, Any]], str]:
        """The tools there are and their hash, from a server that speaks this protocol."""
        try:
            return bridge.understood(self._ask("GET", "/tools", None, CallContext(LOOK_LIMIT)))
        except InvalidRequest as problem:
            raise self._nonsense(problem.fact) from None

    def greet(self) -> None:
        """Raise unless a Bridge v1 server answers there."""
        found = self._ask("GET", "/health", None, CallContext(LOOK_LIMIT))
        if not isinstance(found, dict) or found.get("protocolVersion") != bridge.PROTOCOL_VERSION:
            raise self._nonsense("it does not say that it speaks protocol version 1")

    def call(self, name: str, arguments: dict[str, Any], call: CallContext) -> tuple[list[dict[str, Any]], bool]:
        """The content, as it is, and whether it tells of an error."""
        body = jsonrpc.encode({"arguments": arguments})
        found = self._ask("POST", f"/tools/{quote(name, safe='')}/call", body, call)
        content = found.get("content") if isinstance(found, dict) else None
        if not isinstance(content, list) or not all(_is_content(part) for part in content):
            raise self._nonsense("the reply to a call has no content", UNKNOWN)
        return content, found.get("isError") is True or found.get("success") is False

    def _ask(self, method: str, path: str, body: bytes | None, call: CallContext) -> Any:
        connection = http.client.HTTPConnection(self._host, self._port)
        try:
            with call.running(lambda: connection, _cut):
                status, data = self._exchange(connection, method, path, body, call)
        except TimeoutError:
            raise self._failed(f"did not answer within {call.limit:g} s", bool(body)) from None
        except (OSError, http.client.HTTPException) as error:
            if call.cancelled:
                raise cancelled() from None
            raise self._lost(error, bool(body)) from None
        return self._understood(status, data, UNKNOWN if body else READ)

    def _exchange(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None, call: CallContext
    ) -> tuple[int, bytes]:
        connection.timeout = _left(call)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        connection.request(method, bridge.PREFIX + path, body, headers)
        connection.sock.settimeout(_left(call))
        reply = connection.getresponse()
        parts, size = [], 0
        while part := reply.read1(CHUNK):
            size += len(part)
            if size > MOST:
                raise http.client.HTTPException(f"more than {MOST} bytes")
            parts.append(part)
            if connection.sock is not None:
                connection.sock.settimeout(_left(call))
        if reply.length:
            raise http.client.IncompleteRead(b"")
        return reply.status, b"".join(parts)

    def _understood(self, status: int, data: bytes, otherwise: VaultState) -> Any:
        """`otherwise` is how the vault was left if the answer is not one; a refusal has changed nothing."""
        try:
            found = jsonrpc.decode(data)
        except ParseError:
            found = None
        if status == 200 and found is not None:
            return found
        told = found.get("message") if isinstance(found, dict) else None
        words = f"it answered {status}: {told}" if isinstance(told, str) else f"it answered {status}, and no JSON"
        if status == 200:
            raise self._nonsense("its answer is not JSON", otherwise)
        fact = f"The bridge server at {self.url} refused: {words.rstrip('.')}."
        raise BridgeFailed(fact, vault=READ if 400 <= status < 500 else otherwise)

    def _failed(self, what: str, is_call: bool) -> BridgeFailed:
        return BridgeFailed(f"The bridge server at {self.url} {what}.", vault=UNKNOWN if is_call else READ)

    def _lost(self, error: Exception, is_call: bool) -> BridgeFailed:
        if isinstance(error, ConnectionRefusedError | socket.gaierror):
            return BridgeFailed(
                f"Nothing answers at {self.url}.", "Start the server there, or name another with --host and --port."
            )
        return self._failed(f"cut the connection ({error or type(error).__name__})", is_call)

    def _nonsense(self, why: str, vault: VaultState = READ) -> BridgeFailed:
        return BridgeFailed(f"What answers at {self.url} does not speak Bridge Protocol v1: {why}.", vault=vault)


def _is_content(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str)


def _left(call: CallContext) -> float:
    if call.remaining <= 0:
        raise TimeoutError
    return call.remaining


def _cut(connection: http.client.HTTPConnection) -> None:
    """Also from another thread, which then sees its socket closed."""
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
