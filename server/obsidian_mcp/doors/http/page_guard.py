"""Who may see the page's data, and which browser may press Undo.

The link that is shown at start has a secret in its fragment, which no browser sends to a server and no log of one has.
The page posts it, once; that browser gets a cookie and a key, and needs both. The cookie is HttpOnly and SameSite, but
cookies are for a machine, whatever the port: another program's pages on 127.0.0.1 would get it sent. The key is kept by
the page in its origin's storage, which is for this port alone, and comes in a header, which no form can send.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable

from obsidian_mcp.protocol import addresses
from obsidian_mcp.protocol.bridge import Problem

PREFIX = "/page/"
ENTER = "/page/enter"
COOKIE = "obsidian-mcp-page"
KEY = "x-page-key"
_FORBIDDEN = "This was refused: {}."

Pairs = Iterable[tuple[bytes, bytes]]


def is_page(path: str) -> bool:
    return path == "/" or path.startswith(PREFIX)


class PageGuard:
    """On the event loop alone. Nothing of it outlives the process."""

    def __init__(self) -> None:
        self.secret = secrets.token_urlsafe(24)
        self._cookie, self._key = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._is_used = False

    def enter(self, secret: object) -> tuple[str, str]:
        """The cookie and the key, for the first that has the secret. Raises Problem for any other."""
        if not isinstance(secret, str) or not _equal(secret, self.secret):
            raise forbidden("the link is not the one that this server has shown", "WRONG_LINK")
        if self._is_used:
            raise forbidden(
                "the link was used before, and works once; start the server again for a new one", "LINK_USED"
            )
        self._is_used = True
        return self._cookie, self._key

    def is_paired(self, headers: Pairs, port: int) -> bool:
        """Whether this is the browser that has used the link."""
        cookies = _cookies(headers).get(cookie_name(port), "")
        return self._is_used and _equal(cookies, self._cookie) and _equal(_one(KEY, headers), self._key)

    def excuses(self, scope_path: str, method: str, headers: Pairs, port: int) -> bool:
        """What needs no token: the page itself, which holds nothing, the use of the link, and who has used it."""
        if scope_path == "/":
            return method in ("GET", "HEAD")
        return scope_path == ENTER or (scope_path.startswith(PREFIX) and self.is_paired(headers, port))


def require_own_page(method: str, headers: Pairs) -> None:
    """Raises Problem for what a page from elsewhere asks, whichever origins the other contracts admit."""
    every = list(headers)
    origins = [value.decode("latin-1") for name, value in every if name == b"origin"]
    host = _one("host", every)
    if not all(addresses.is_served_here(origin, host) for origin in origins):
        raise forbidden("only the page that this server has sent may ask this", "FORBIDDEN")
    allowed = ("", "same-origin", "none") if method in ("GET", "HEAD") else ("", "same-origin")
    if _one("sec-fetch-site", every) not in allowed:
        raise forbidden("only the page that this server has sent may ask this", "FORBIDDEN")
    if method == "POST" and _one("content-type", every).partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "Unsupported media type", "Send application/json.", "INVALID_REQUEST")


def cookie_name(port: int) -> str:
    """Two servers on one machine share a browser's cookies."""
    return f"{COOKIE}-{port}"


def cookie(port: int, value: str) -> str:
    return f"{cookie_name(port)}={value}; Path={PREFIX}; HttpOnly; SameSite=Strict"


def forbidden(why: str, code: str) -> Problem:
    return Problem(403, "Forbidden", _FORBIDDEN.format(why), code)


def _cookies(headers: Pairs) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in _one("cookie", headers).split(";"):
        name, _, value = part.strip().partition("=")
        found.setdefault(name, value)
    return found


def _one(name: str, headers: Pairs) -> str:
    """A header; empty if it is missing or there twice."""
    found = [value.decode("latin-1") for key, value in headers if key == name.encode()]
    return found[0] if len(found) == 1 else ""


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())
