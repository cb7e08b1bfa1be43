"""Who may come in at all. Stands before every route: what it turns away, nothing else has seen.

Without it any web page that the user opens could read and delete notes.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from obsidian_mcp.doors.http.messages import response
from obsidian_mcp.doors.http.page_guard import PageGuard, is_page
from obsidian_mcp.protocol import addresses
from obsidian_mcp.protocol.bridge import Problem
from obsidian_mcp.settings import Http

MCP_HEADERS = "Accept, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-Id"


Pairs = Iterable[tuple[bytes, bytes]]


class Gate:
    """`guard` says what of the page needs no token. `ending` is for the server to call when it takes no more."""

    def __init__(self, app: ASGIApp, http: Http, guard: PageGuard, ending: Callable[[], None] = lambda: None) -> None:
        self._app = app
        self.ending = ending
        self._guard = guard
        self._hosts = {host.lower() for host in (*addresses.LOOPBACK, *http.hosts)}
        self._origins = {addresses.OBSIDIAN, *http.origins}
        self._token = http.token.encode()
        self._cors = {is_mcp: self._granted(is_mcp) for is_mcp in (False, True)}
        self._raw = {is_mcp: _raw(headers) for is_mcp, headers in self._cors.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        problem = self._problem(scope)
        if problem is not None:
            extra = {"www-authenticate": "Bearer"} if problem.status == 401 else {}
            await response(problem.status, problem.body, extra)(scope, receive, send)
            return
        if is_page(scope["path"]):  # which no other page may ask, so there is nothing to grant
            await self._app(scope, receive, send)
            return
        is_mcp = scope["path"].endswith("/mcp")
        if scope["method"] == "OPTIONS":
            await response(204, None, self._cors[is_mcp])(scope, receive, send)
            return

        def with_cors(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._raw[is_mcp]]
            return send(message)

        await self._app(scope, receive, with_cors)

    def _problem(self, scope: Scope) -> Problem | None:
        method, headers = scope["method"], scope["headers"]
        hosts = _every(b"host", headers)
        if len(hosts) != 1 or addresses.without_port(hosts[0]) not in self._hosts:
            return _forbidden("the Host header names another machine than this server answers for")
        origins = _every(b"origin", headers)
        if len(origins) > 1 or not all(self._is_admitted(origin, hosts[0]) for origin in origins):
            return _forbidden("web pages from elsewhere may not use this server unless --allow-origin names them")
        asks_whether = method == "OPTIONS" and origins  # browsers never send a token with that, and nothing runs
        if self._token and not asks_whether and not self._has_token(headers) and not self._is_excused(scope):
            return Problem(
                401, "Unauthorized", "The token is missing or wrong. Send Authorization: Bearer TOKEN.", "UNAUTHORIZED"
            )
        return None

    def _is_excused(self, scope: Scope) -> bool:
        port = (scope.get("server") or ("", 0))[1]
        return self._guard.excuses(scope["path"], scope["method"], scope["headers"], port)

    def _is_admitted(self, origin: str, host: str) -> bool:
        """Another port of this machine is elsewhere too: what serves pages there is not known."""
        if addresses.ANY_ORIGIN in self._origins or origin in self._origins:
            return True
        return addresses.is_served_here(origin, host)

    def _has_token(self, headers: Pairs) -> bool:
        """Every one that is offered is compared, each in constant time."""
        offered = _every(b"x-api-key", headers)
        for value in _every(b"authorization", headers):
            scheme, _, token = value.partition(" ")
            if scheme.lower() == "bearer":
                offered.append(token)
        same = [hmac.compare_digest(token.strip().encode("latin-1"), self._token) for token in offered]
        return any(same)

    def _granted(self, is_mcp: bool) -> dict[str, str]:
        """The contract's headers, and those that a page needs for the token and for MCP."""
        wanted = ["Content-Type", *(["Authorization, X-Api-Key"] if self._token else []), *([MCP_HEADERS] * is_mcp)]
        headers = {
            "access-control-allow-origin": "*",
            "access-control-allow-methods": "GET, POST, DELETE, OPTIONS" if is_mcp else "GET, POST, OPTIONS",
            "access-control-allow-headers": ", ".join(wanted),
        }
        return {**headers, "access-control-expose-headers": "Mcp-Session-Id"} if is_mcp else headers


def _every(name: bytes, headers: Pairs) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _forbidden(why: str) -> Problem:
    return Problem(403, "Forbidden", f"This was refused: {why}.", "FORBIDDEN")
