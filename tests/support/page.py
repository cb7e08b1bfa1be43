"""The page of a running server, as its own script asks for it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tests.support.web import Reply, Web

JSON = {"Content-Type": "application/json"}


def link(web: Web) -> str:
    """As it was shown at start."""
    return str(next(entry["url"] for entry in web.log if entry["event"] == "page"))


class Visitor:
    """A browser that came without the link, until it enters with it."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.cookie: dict[str, str] = {}
        self.key: dict[str, str] = {}

    def enter(self) -> Reply:
        reply = self.post("enter", secret=link(self.web).partition("#")[2])
        if reply.status == 200:
            self.cookie = {"Cookie": reply.headers["set-cookie"].partition(";")[0]}
            self.key = {"X-Page-Key": reply.json["key"]}
        return reply

    def get(self, what: str, **asked: Any) -> Reply:
        return self.web.ask("GET", f"/page/{what}?{urlencode(asked)}", headers={**self.cookie, **self.key})

    def post(self, what: str, **body: Any) -> Reply:
        return self.web.ask("POST", f"/page/{what}", body, {**JSON, **self.cookie, **self.key})

    def changes(self, **asked: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("changes", **asked).json["changes"]
        return found

    def undo(self, change: dict[str, Any], **more: Any) -> Reply:
        return self.post("undo", vault=change["vault"], id=change["id"], **more)
