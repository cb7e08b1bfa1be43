"""The page for people: what was changed, and a button that takes it back. The contract is specs/history-page.md."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from obsidian_mcp import __version__
from obsidian_mcp.call import CallContext
from obsidian_mcp.doors.http import messages, page_guard
from obsidian_mcp.doors.http.calls import Calls
from obsidian_mcp.doors.http.page_guard import PageGuard
from obsidian_mcp.errors import (
    SHELL,
    BadArguments,
    Conflict,
    Failure,
    Hint,
    InternalError,
    ParseError,
    UnknownTool,
    spec_of,
)
from obsidian_mcp.features.changes import MOST, Changes
from obsidian_mcp.protocol import bridge, streamable
from obsidian_mcp.protocol.clients import COMMAND_LINE
from obsidian_mcp.tools.catalogue import Catalogue

FILE = Path(__file__).with_name("page.html")
CLIENT = "obsidian-mcp page"
UNDO = "obsidian_undo_change"
LISTED = 200  # changes, unless more are asked for
PATIENCE = 30.0  # seconds for a look at the history
LATER_EDITS_CAN_STAY = Hint("The later edits are on other lines: they can stay.")

Answer = Callable[[Request], Any]


class PageParts:
    """What the page is made of: the tools that are on, the state of the vaults, the changes, and who may undo them."""

    def __init__(
        self, catalogue: Catalogue, state: Callable[[], dict[str, Any]], changes: Changes, guard: PageGuard
    ) -> None:
        self.catalogue = catalogue
        self.state = state
        self.changes = changes
        self.guard = guard


class Page:
    """`calls` knows the history's tools, as far as they are on: without undo where the server is read-only."""

    def __init__(self, parts: PageParts, calls: Calls) -> None:
        self._parts = parts
        self._calls = calls
        self._html = FILE.read_bytes()
        self._headers = _headers(self._html.decode("utf-8"))

    def routes(self) -> list[Route]:
        asked = {"state": self._state, "news": self._news, "changes": self._changes, "change": self._change}
        told = {"enter": self._enter, "undo": self._undo}
        return [
            Route("/", self._whole),
            *(Route(page_guard.PREFIX + name, _guarded(answer)) for name, answer in asked.items()),
            *(Route(page_guard.PREFIX + name, _guarded(answer), methods=["POST"]) for name, answer in told.items()),
        ]

    async def _whole(self, request: Request) -> Response:
        if streamable.is_mcp(streamable.headers(request.scope["headers"])):
            raise bridge.not_found("/")
        return Response(self._html, 200, self._headers)

    async def _state(self, request: Request) -> Response:
        state = await self._calls.look(self._parts.state)
        offered = self._parts.catalogue
        titles = {tool["name"]: tool["title"] for tool in offered.listing()}
        tools = [
            {"name": row.name, "title": titles[row.name], "set": row.toolset, "writes": row.writes}
            for row in offered.rows()
        ]
        can = self._calls.offers(UNDO)
        may = can and self._is_paired(request)
        return _json({"version": __version__, **state, "tools": tools, "undo": {"on": can, "allowed": may}})

    async def _news(self, request: Request) -> Response:
        return _json({"seen": await self._calls.look(self._parts.changes.newest)})

    async def _changes(self, request: Request) -> Response:
        asked = request.query_params
        most = min(_number(asked.get("limit", str(LISTED))), MOST)
        vault, words = asked.get("vault", ""), asked.get("search", "")
        call = CallContext(PATIENCE)
        return _json(await self._looked(lambda: self._parts.changes.listed(call, vault, words, most)))

    async def _change(self, request: Request) -> Response:
        asked = request.query_params
        vault, id = asked.get("vault", ""), asked.get("id", "")
        call = CallContext(PATIENCE)
        return _json(await self._looked(lambda: self._parts.changes.shown(call, vault, id)))

    async def _looked(self, look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            return await self._calls.look(look)
        except Failure as failure:
            raise _problem(failure) from None

    async def _enter(self, request: Request) -> Response:
        cookie, key = self._parts.guard.enter((await _body(request)).get("secret"))
        return _json({"key": key}, {"set-cookie": page_guard.cookie(_port(request), cookie)})

    async def _undo(self, request: Request) -> Response:
        if not self._is_paired(request):
            raise page_guard.forbidden(
                "only the browser that was opened with the link from the server's start may undo", "NOT_PAIRED"
            )
        body = await _body(request)
        vault = {"vault": body.get("vault")} if self._parts.changes.several else {}
        asked = {"id": body.get("id"), "merge": body.get("merge", False), **vault}
        try:
            return _json(await self._called(asked, request))
        except Conflict as refused:
            if not asked["merge"] and await self._could(asked, request):
                refused.hint = LATER_EDITS_CAN_STAY
                raise _problem(refused, {"merge": True}) from None
            raise _problem(refused) from None
        except Failure as failure:
            raise _problem(failure) from None

    async def _called(self, asked: dict[str, Any], request: Request) -> dict[str, Any]:
        return await self._calls.run(UNDO, asked, lambda data: data, request, page=COMMAND_LINE, client=CLIENT)

    async def _could(self, asked: dict[str, Any], request: Request) -> bool:
        """Whether it could be undone so that later edits stay."""
        try:
            await self._called({**asked, "merge": True, "dry_run": True}, request)
        except Failure:
            return False
        return True

    def _is_paired(self, request: Request) -> bool:
        return self._parts.guard.is_paired(request.scope["headers"], _port(request))


def _guarded(answer: Answer) -> Answer:
    async def guarded(request: Request) -> Response:
        page_guard.require_own_page(request.method, request.scope["headers"])
        response: Response = await answer(request)
        return response

    return guarded


def _headers(html: str) -> dict[str, str]:
    """No script and no style but those of the file, no request but to this server, no frame around it."""
    hashes = {tag: _hash(re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)) for tag in ("script", "style")}
    policy = (
        f"default-src 'none'; connect-src 'self'; script-src {hashes['script']}; style-src {hashes['style']}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
    }


def _hash(parts: list[str]) -> str:
    (text,) = parts
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(body: dict[str, Any], more: dict[str, str] | None = None) -> Response:
    safe = {"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"}
    return messages.response(200, body, {**safe, **(more or {})})


async def _body(request: Request) -> dict[str, Any]:
    try:
        found = await messages.read_json(request)
    except messages.TooLarge:
        raise bridge.too_large(messages.MOST) from None
    except ParseError as failure:
        raise bridge.invalid_body(failure.message) from None
    if not isinstance(found, dict):
        raise bridge.invalid_body("The body must be an object.")
    return found


def _problem(failure: Failure, details: dict[str, Any] | None = None) -> bridge.Problem:
    statuses = {InternalError: 500, UnknownTool: 403, BadArguments: 400}
    status = next((number for kind, number in statuses.items() if isinstance(failure, kind)), 409)
    return bridge.Problem(status, "Refused", failure.told_to(SHELL), spec_of(failure).error_code, details)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 7 and int(text)):
        raise bridge.invalid_body("limit must be a number from 1.")
    return int(text)


def _port(request: Request) -> int:
    server = request.scope.get("server")
    return int(server[1]) if server and server[1] else 0
