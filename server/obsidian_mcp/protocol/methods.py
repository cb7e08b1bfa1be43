"""What a client may ask now. Remembers one thing: the revision that was agreed on."""

from __future__ import annotations

from obsidian_mcp.errors import InvalidParams, InvalidRequest, MethodNotFound
from obsidian_mcp.protocol import revisions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from obsidian_mcp.protocol.jsonrpc import Request


class Session:
    """`more` are methods beyond MCP's; `silent` ones are never answered, whatever they carry."""

    def __init__(self, revision: str | None = None, more: tuple[str, ...] = (), silent: tuple[str, ...] = ()) -> None:
        self.revision = revision
        self._more = more
        self.silent = silent

    @property
    def takes_batches(self) -> bool:
        return self.revision in revisions.WITH_BATCHES

    def agree(self, params: dict[str, Any]) -> None:
        """Settle on the client's revision, or on ours where its own is unknown."""
        self.revision = revisions.negotiated(params.get("protocolVersion"))

    def admit(self, request: Request) -> bool:
        """Raise if the request may not be answered; say whether the stateless rules hold for it."""
        modern = revisions.is_modern(request)
        methods = (*(revisions.MODERN_METHODS if modern else revisions.LEGACY_METHODS), *self._more)
        if request.method not in methods:
            raise MethodNotFound(f"There is no method {request.method!r}. Methods: {', '.join(methods)}.")
        if not isinstance(request.params, dict):
            raise InvalidParams(f"The params of {request.method} must be an object, not an array.")
        if not modern and self.revision is None and request.method not in revisions.BEFORE_INITIALIZE:
            raise InvalidRequest(f"{request.method} came before initialize. Send initialize first.")
        return modern
