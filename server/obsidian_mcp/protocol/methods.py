"""What a client may ask: a table of methods, and the one conversation that it is asked in.

A server is such a table. A method without a row does not exist; what a server is capable of follows from its rows.
"""

from __future__ import annotations

from obsidian_mcp.errors import InvalidParams, InvalidRequest, MethodNotFound
from obsidian_mcp.protocol import revisions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from obsidian_mcp.protocol.jsonrpc import Request

    Handler = Callable[[Request, "Peer"], Any]

LEGACY, MODERN = "legacy", "modern"
BOTH = (LEGACY, MODERN)


class Method:
    """One row. The handler returns a result, or a job that will have one.

    `capability` is what a server with this row declares; `lists` whether that has a list, `changes` whether it tells
    when the list has changed; `named_by` is the param that the header Mcp-Name repeats.
    """

    __slots__ = ("before_initialize", "capability", "changes", "eras", "handler", "lists", "named_by")

    def __init__(
        self,
        handler: Handler,
        eras: tuple[str, ...] = BOTH,
        before_initialize: bool = False,
        capability: str = "",
        changes: bool = False,
        named_by: str = "",
        lists: bool = True,
    ) -> None:
        self.handler = handler
        self.eras = eras
        self.before_initialize = before_initialize
        self.capability = capability
        self.changes = changes
        self.named_by = named_by
        self.lists = lists


def capabilities(methods: Mapping[str, Method], modern: bool) -> dict[str, Any]:
    """What the rows of an era amount to."""
    found: dict[str, Any] = {}
    for method in methods.values():
        if method.capability and (MODERN if modern else LEGACY) in method.eras:
            changes = found.get(method.capability, {}).get("listChanged", False) or method.changes
            found[method.capability] = {"listChanged": changes} if method.lists and (modern or changes) else {}
    return found


class Peer:
    """Who asks, and by which rules: the stateless ones, or those of the revision that was agreed on; `asks` whether it
    can ask its user something."""

    __slots__ = ("asks", "client", "modern", "revision")

    def __init__(self, modern: bool, revision: str | None = None, client: str = "", asks: bool = False) -> None:
        self.modern = modern
        self.revision = revision
        self.client = client
        self.asks = asks


class Session:
    """What a conversation remembers: the revision that was agreed on, what the client calls itself, and whether it
    can ask its user something."""

    __slots__ = ("asks", "client", "revision")

    def __init__(self, revision: str | None = None, client: str = "", asks: bool = False) -> None:
        self.revision = revision
        self.client = client
        self.asks = asks

    @property
    def takes_batches(self) -> bool:
        return self.revision in revisions.WITH_BATCHES

    def agree(self, params: dict[str, Any]) -> None:
        """Settle on the client's revision, or on ours where its own is unknown."""
        self.revision = revisions.negotiated(params.get("protocolVersion"))
        self.client = _name(params.get("clientInfo"))
        known = self.revision in revisions.WITH_ELICITATION
        self.asks = known and revisions.takes_forms(params.get("capabilities"))

    def admit(self, request: Request, methods: Mapping[str, Method]) -> tuple[Method, Peer]:
        """The row of a request and who asks. Raises if it may not be answered."""
        modern = revisions.is_modern(request)
        method = methods.get(request.method)
        era = MODERN if modern else LEGACY
        if method is None or (era not in method.eras and not (era == LEGACY and method.eras == (MODERN,))):
            offered = [name for name, row in methods.items() if era in row.eras]
            raise MethodNotFound(f"There is no method {request.method!r}.", f"Methods: {', '.join(offered)}.")
        if era not in method.eras:  # it exists only with an envelope; without one the request is malformed
            raise InvalidParams(f"{request.method} needs params._meta with {revisions.ENVELOPE}.")
        if not isinstance(request.params, dict):
            raise InvalidParams(f"The params of {request.method} must be an object, not an array.")
        if not modern and self.revision is None and not method.before_initialize:
            raise InvalidRequest(f"{request.method} came before initialize.", "Send initialize first.")
        if modern:
            asks = revisions.takes_forms(request.meta.get(revisions.CAPABILITIES_KEY))
            return method, Peer(True, client=_name(request.meta.get(revisions.CLIENT_INFO_KEY)), asks=asks)
        return method, Peer(False, self.revision, self.client, self.asks)


def _name(client: Any) -> str:
    name = client.get("name") if isinstance(client, dict) else None
    return name if isinstance(name, str) else ""
