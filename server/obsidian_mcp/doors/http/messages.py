"""Bodies in and out: counted as they stream, JSON whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from obsidian_mcp.protocol import jsonrpc

MOST = 1024 * 1024


class TooLarge(Exception):
    """The body has more bytes than any request may have."""


UNREAD = {"connection": "close"}  # after a body that was not read to its end, the connection can't be used again


async def read(request: Request) -> bytes:
    """The whole body, and never more than the limit of it."""
    parts, size, more = [], 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size > MOST:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)


async def read_json(request: Request) -> Any:
    """Raises ParseError if it is none."""
    return decoded(await read(request))


def decoded(body: bytes) -> Any:
    return jsonrpc.decode(body.removeprefix(b"\xef\xbb\xbf"), "The body", hint="")


def response(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON value, bytes that are JSON already, or nothing at all."""
    if body is None:
        return Response(status_code=status, headers=headers)
    data = body if isinstance(body, bytes) else jsonrpc.encode(body)
    return Response(data, status, {"cache-control": "no-store", **(headers or {})}, "application/json")
