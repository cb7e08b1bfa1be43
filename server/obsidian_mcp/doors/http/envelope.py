"""The envelope: `GET /health`, and `POST /mcp` for clients that don't speak MCP. Every answer is 200."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from obsidian_mcp.doors.http import messages
from obsidian_mcp.doors.http.calls import Calls
from obsidian_mcp.errors import Failure, ParseError
from obsidian_mcp.protocol import envelope
from obsidian_mcp.tools.catalogue import Catalogue

CACHED = 30.0  # seconds that a look at the vault's health is good for


class Envelope:
    def __init__(self, catalogue: Catalogue, calls: Calls, look: Callable[[], str]) -> None:
        self._catalogue = catalogue
        self._calls = calls
        self._look = look
        self._began = time.monotonic()
        self._status: tuple[float, str] | None = None
        self._looking = asyncio.Lock()

    async def health(self, request: Request) -> Response:
        async with self._looking:  # many who ask at once get one look
            now = time.monotonic()
            if self._status is None or now - self._status[0] >= CACHED:
                self._status = (now, await self._calls.look(self._look))
        uptime = int(time.monotonic() - self._began)
        return messages.response(200, envelope.health(self._status[1], len(self._catalogue.names), uptime))

    async def answer(self, request: Request) -> Response:
        """Whatever the method and the body are."""
        began = time.monotonic()
        code, headers = 1, {}
        try:
            fields, code = await self._fields(request)
        except envelope.Refused as refused:
            fields = refused.fields
        except messages.TooLarge:
            fields = envelope.malformed(f"The body has more than {messages.MOST} bytes").fields
            headers = messages.UNREAD
        elapsed = int((time.monotonic() - began) * 1000)
        return messages.response(200, envelope.measured(fields, elapsed, code), headers)

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

    async def _call(self, name: str, arguments: dict[str, Any], request: Request) -> tuple[dict[str, Any], int]:
        if name not in self._catalogue:
            raise envelope.unknown(name, self._catalogue.names)
        if self._catalogue.writes(name) and not envelope.confirmed(arguments):
            raise envelope.unconfirmed(name)
        arguments = envelope.without_confirmation(arguments)
        try:
            return await self._calls.run(name, arguments, lambda data: envelope.success(name, data), request), 0
        except Failure as failure:
            return envelope.failure(name, failure), envelope.exit_code(failure)
