"""What the notes server offers beside tools: the methods for resources, prompts and completion.

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

WHOLE = Access(frozenset(), False, whole=True)  # after every write that came before
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
        return self._job(request, peer, "resources", lambda call: self._features().resources.listed(call), WHOLE)

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

    def list_prompts(self, request: Request, peer: Peer) -> Job:
        _require_first_page(request)
        return self._job(request, peer, "prompts", lambda call: self._features().prompts.listed(call), WHOLE)

    def get_prompt(self, request: Request, peer: Peer) -> Job:
        name, values = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str):
            raise InvalidParams("prompts/get needs params.name, the name of a prompt, as a string.")
        given = {} if values is None else values
        if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
            raise InvalidParams(f"The arguments of the prompt {name} must be an object of strings.")

        def run(call: CallContext) -> dict[str, Any]:
            return self._features().prompts.got(name, given, call)

        def shape(found: dict[str, Any]) -> dict[str, Any]:
            return results.found(found, peer.modern)

        return Job(request.method, WHOLE, self._limit, run, ready=self._ready, shape=shape)

    def complete(self, request: Request, peer: Peer) -> Job:
        kind, of = _reference(request.params.get("ref"))
        name, typed = _argument(request.params.get("argument"))

        def run(call: CallContext) -> Completed:
            features = self._features()
            if kind == "ref/resource":
                return features.completion.of_template(of, name, typed, call)
            return features.completion.of_argument(features.prompts.named(of, call), name, typed, call)

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


def _reference(ref: Any) -> tuple[str, str]:
    """What is completed, and its name."""
    kind = ref.get("type") if isinstance(ref, dict) else None
    of = ref.get({"ref/resource": "uri", "ref/prompt": "name"}.get(kind)) if isinstance(kind, str) else None
    if not isinstance(of, str):
        raise InvalidParams(
            "completion/complete needs params.ref: ref/resource with a template's uri, or ref/prompt with a name."
        )
    assert isinstance(kind, str)
    return kind, of


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
