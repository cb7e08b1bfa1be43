"""What the notes server offers beside tools: the methods for resources and completion.

Loaded by the first request for one of them. That is answered on the thread that reads requests, while another may
load what calls need: so nothing heavy is imported here, and what is needed is there when a job runs.
"""

from __future__ import annotations

from obsidian_mcp.errors import Failure, InvalidParams, NoSuchResource, ResourceNotFound
from obsidian_mcp.features.tools import touched
from obsidian_mcp.protocol import results
from obsidian_mcp.running import Job
from obsidian_mcp.scheduler import Access
from obsidian_mcp.vault.spelling import Unreadable, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from obsidian_mcp.call import CallContext
    from obsidian_mcp.features.completion import Completed
    from obsidian_mcp.features.offered import Features
    from obsidian_mcp.features.tools import Tools
    from obsidian_mcp.protocol.jsonrpc import Request
    from obsidian_mcp.protocol.methods import Peer

FRESH = 2_000  # milliseconds for which a list may be kept


class Offered:
    """`limit` is the time for one request in seconds, `ready` loads what they need; then there are `features`."""

    def __init__(self, tools: Tools, limit: float, ready: Callable[[], None], features: Callable[[], Features]) -> None:
        self._tools = tools
        self._limit = limit
        self._ready = ready
        self._features = features

    def list_resources(self, request: Request, peer: Peer) -> Job:
        _require_first_page(request)
        access = Access(frozenset(), False, whole=True)
        return self._job(request, peer, "resources", lambda call: self._features().resources.listed(call), access)

    def list_templates(self, request: Request, peer: Peer) -> Job:
        _require_first_page(request)
        return self._job(request, peer, "resourceTemplates", lambda call: self._features().resources.templates())

    def read_resource(self, request: Request, peer: Peer) -> Job:
        uri = request.params.get("uri")
        if not isinstance(uri, str):
            raise InvalidParams("resources/read needs params.uri, the address of a resource, as a string.")

        def read(call: CallContext) -> list[dict[str, Any]]:
            try:
                return [self._features().resources.read(uri, call)]
            except ResourceNotFound as missing:
                if peer.modern:
                    raise
                raise NoSuchResource(missing.fact, missing.hint, **missing.data) from None

        return self._job(request, peer, "contents", read, Access(_keys(uri), False), fresh=0)

    def complete(self, request: Request, peer: Peer) -> Job:
        ref, argument = request.params.get("ref"), request.params.get("argument")
        name, typed = _argument(argument)
        kind = ref.get("type") if isinstance(ref, dict) else None
        uri = ref.get("uri") if isinstance(ref, dict) else None
        if kind != "ref/resource" or not isinstance(uri, str):
            raise InvalidParams("completion/complete needs params.ref: ref/resource with a template's uri.")

        def run(call: CallContext) -> Completed:
            return self._features().completion.of_template(uri, name, typed, call)

        def shape(found: Completed) -> dict[str, Any]:
            told = {"values": found.values, "total": found.total, "hasMore": found.has_more}
            return results.found({"completion": told}, peer.modern)

        access = Access(frozenset(), False)
        return Job(request.method, access, self._limit, run, ready=self._ready, shape=shape)

    def _job(
        self,
        request: Request,
        peer: Peer,
        name: str,
        run: Callable[[CallContext], list[dict[str, Any]]],
        access: Access | None = None,
        fresh: int = FRESH,
    ) -> Job:
        """A list by that name."""

        def told(call: CallContext) -> list[dict[str, Any]]:
            try:
                return run(call)
            except Failure as failure:
                raise failure.among(self._tools.catalogue.names) from None

        return Job(
            request.method,
            access or Access(frozenset(), False),
            self._limit,
            told,
            ready=self._ready,
            shape=lambda items: results.listed(name, items, peer.modern, fresh, peer.revision),
        )


def _require_first_page(request: Request) -> None:
    if request.params.get("cursor") is not None:
        raise InvalidParams(f"There is one page of {request.method} and so no cursor.", "Leave it out.")


def _argument(argument: Any) -> tuple[str, str]:
    name = argument.get("name") if isinstance(argument, dict) else None
    value = argument.get("value") if isinstance(argument, dict) else None
    if not isinstance(name, str) or not isinstance(value, str):
        raise InvalidParams("completion/complete needs params.argument with name and value, both strings.")
    return name, value


def _keys(uri: str) -> frozenset[str]:
    """Of the notes that it can mean, however often it is encoded."""
    try:
        ways = [uri, decoded(uri)]
    except Unreadable:
        ways = [uri]
    return touched({"uri": ways}, ("uri",))
