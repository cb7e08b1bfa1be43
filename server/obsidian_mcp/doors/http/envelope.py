"""The envelope: `GET /health`, and `POST /mcp` for clients that don't speak MCP. Every answer is 200."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from obsidian_mcp import running
from obsidian_mcp.doors.http import messages
from obsidian_mcp.doors.http.calls import Calls, full_name
from obsidian_mcp.errors import Failure, ParseError
from obsidian_mcp.protocol import envelope, jsonrpc
from obsidian_mcp.tools.catalogue import Catalogue


class Envelope:
    """`state` says how things stand: `status`, `backend`, `vaults`."""

    def __init__(self, catalogue: Catalogue, calls: Calls, state: Callable[[], dict[str, Any]]) -> None:
        self._catalogue = catalogue
        self._calls = calls
        self._state = state
        self._began = time.monotonic()

    async def health(self, request: Request) -> Response:
        state = await self._calls.look(self._state)
        uptime = int(time.monotonic() - self._began)
        return messages.response(200, envelope.health(state, len(self._catalogue.names), uptime))

    async def answer(self, request: Request) -> Response:
        """Whatever the method and the body are, and whatever goes wrong here."""
        began = time.monotonic()
        try:
            fields, code, headers = await self._told(request)
            return messages.response(200, _measured(fields, began, code), headers)
        except Exception as bug:  # noqa: BLE001  # 200 is promised for a bug too; the log has it
            fields = envelope.bug(running.bug_of(bug, "the request"))
            return messages.response(200, _measured(fields, began, 1), messages.UNREAD)

    async def _told(self, request: Request) -> tuple[dict[str, Any], int, dict[str, str]]:
        try:
            return *await self._fields(request), {}
        except envelope.Refused as refused:
            return refused.fields, 1, {}
        except messages.TooLarge:
            return envelope.malformed(f"The body has more than {messages.MOST} bytes").fields, 1, messages.UNREAD
        except ClientDisconnect:
            return envelope.malformed("The body ended too early").fields, 1, messages.UNREAD

    async def _fields(self, request: Request) -> tuple[dict[str, Any], int]:
        if request.method != "POST":
            raise envelope.malformed(f"Use POST, not {request.method}")
        try:
            body = await messages.read_json(request)
        except ParseError as failure:
            raise envelope.malformed(failure.message) from None
        wanted = envelope.wanted(body)
        if wanted is None:
            return envelope.tools(self._catalogue.listing()), 0
        return await self._call(*wanted, request)

    async def _call(self, named: str, arguments: dict[str, Any], request: Request) -> tuple[dict[str, Any], int]:
        name = full_name(named, self._catalogue)
        if name not in self._catalogue:
            raise envelope.unknown(named, self._catalogue.names)
        if self._catalogue.writes(name) and not envelope.confirmed(arguments):
            raise envelope.unconfirmed(named)
        arguments = envelope.without_confirmation(arguments)
        try:
            return await self._calls.run(name, arguments, lambda data: envelope.success(named, data), request), 0
        except Failure as failure:
            return envelope.failure(named, failure), envelope.exit_code(failure)


def _measured(fields: dict[str, Any], began: float, code: int) -> bytes:
    """Encoded here, where what cannot be encoded still becomes an envelope."""
    return jsonrpc.encode(envelope.measured(fields, int((time.monotonic() - began) * 1000), code))
