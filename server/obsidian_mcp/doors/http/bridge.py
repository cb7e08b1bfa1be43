"""Bridge Protocol v1, under /bridge/v1."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from obsidian_mcp.doors.http import messages
from obsidian_mcp.doors.http.calls import Calls, full_name
from obsidian_mcp.errors import BadArguments, Failure, InternalError, ParseError
from obsidian_mcp.protocol import bridge, jsonrpc, results
from obsidian_mcp.tools.catalogue import Catalogue


class Bridge:
    def __init__(self, catalogue: Catalogue, calls: Calls) -> None:
        self._catalogue = catalogue
        self._calls = calls
        self._tools = jsonrpc.encode(bridge.tools(catalogue.listing()))
        self._health = jsonrpc.encode(bridge.health())

    async def health(self, request: Request) -> Response:
        return messages.response(200, self._health)

    async def tools(self, request: Request) -> Response:
        return messages.response(200, self._tools)

    async def call(self, request: Request) -> Response:
        return messages.response(200, await self._call(request.path_params["name"], request))

    async def _call(self, named: str, request: Request) -> dict[str, Any]:
        """Raises a Problem for what isn't a call that ran."""
        name = full_name(named, self._catalogue)
        if name not in self._catalogue:
            raise bridge.tool_not_found(named)
        try:
            body = await messages.read_json(request)
        except messages.TooLarge:
            raise bridge.too_large(messages.MOST) from None
        except ParseError as failure:
            raise bridge.invalid_body(failure.message) from None
        arguments = bridge.arguments(body)
        try:
            content = await self._calls.run(name, arguments, results.content, request)
            return bridge.success(content)
        except BadArguments as bad:
            raise bridge.invalid_arguments(bad) from None
        except InternalError as bug:
            raise bridge.internal(bug.message) from None
        except Failure as failure:
            return bridge.failure(failure.message)
