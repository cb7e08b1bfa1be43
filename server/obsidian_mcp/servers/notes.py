"""The notes server: the methods by which a client reaches the features."""

from __future__ import annotations

from obsidian_mcp.errors import InvalidParams
from obsidian_mcp.protocol import jsonrpc, methods, results, revisions
from obsidian_mcp.protocol.methods import LEGACY, MODERN, Method

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from obsidian_mcp.call import CallContext
    from obsidian_mcp.errors import Failure
    from obsidian_mcp.features.tools import Tools
    from obsidian_mcp.protocol.methods import Handler, Peer
    from obsidian_mcp.running import Job
    from obsidian_mcp.servers.offered import Offered
    from obsidian_mcp.settings import Settings
    from obsidian_mcp.tools.catalogue import Catalogue


class NotesServer:
    """`instructions` says what a model should know of the server as a whole; it is asked when a client comes.

    `tools` makes the tools when one is first called, `offered` what is offered beside them when it is first asked for.
    """

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        tools: Callable[[], Tools],
        instructions: Callable[[], str],
        offered: Callable[[], Offered] | None = None,
    ) -> None:
        self._errors_are_results = settings.errors == "result"
        self._catalogue = catalogue
        self._tools = tools
        self._instructions = instructions
        self._kept: dict[tuple[str, bool, str | None], jsonrpc.Encoded] = {}
        self.methods: Mapping[str, Method] = {
            "initialize": Method(self._initialize, (LEGACY,), before_initialize=True),
            "ping": Method(lambda request, peer: {}, (LEGACY,), before_initialize=True),
            "server/discover": Method(self._discover, (MODERN,)),
            "tools/list": Method(self._list_tools, before_initialize=True, capability="tools"),
            "tools/call": Method(self._call_tool, capability="tools", named_by="name"),
            **(_rows(offered) if offered is not None else {}),
        }

    @property
    def tools(self) -> Tools:
        return self._tools()

    def _initialize(self, request: jsonrpc.Request, peer: Peer) -> dict[str, Any]:
        capabilities = methods.capabilities(self.methods, modern=False)
        if peer.revision in revisions.WITHOUT_COMPLETIONS:
            capabilities.pop("completions", None)
        return results.initialize(peer.revision or "", capabilities, self._instructions())

    def _discover(self, request: jsonrpc.Request, peer: Peer) -> jsonrpc.Encoded:
        capabilities = methods.capabilities(self.methods, modern=True)
        return self._constant(
            request,
            peer,
            lambda: results.discover(capabilities, instructions=self._instructions(), scope=results.PRIVATE),
        )

    def _list_tools(self, request: jsonrpc.Request, peer: Peer) -> jsonrpc.Encoded:
        if request.params.get("cursor") is not None:
            raise InvalidParams("There is one page of tools and so no cursor.", "Leave it out.")
        catalogue = self._catalogue
        scope = results.PRIVATE if catalogue.names_vaults else results.PUBLIC
        return self._constant(
            request,
            peer,
            lambda: results.tool_list(catalogue.listing(), peer.modern, revision=peer.revision, scope=scope),
        )

    def _call_tool(self, request: jsonrpc.Request, peer: Peer) -> Job:
        from obsidian_mcp.features.tools import call_of  # not before the first call

        name, arguments = call_of(request)
        params = request.params
        if not peer.asks:
            return self._job(name, arguments, peer)
        if peer.modern:
            job = self._job(name, arguments, peer, lambda call: call.ask_by(_confirming().of_request(name, params)))
            job.asked = lambda question: _confirming().required(name, params, question)
            return job

        def again(begin: Callable[[CallContext], None]) -> Job:
            return self._job(name, arguments, peer, begin)

        job = again(lambda call: call.ask_by(_confirming().not_yet))
        job.asked = lambda question: _confirming().asking(question, peer.revision, again)
        return job

    def _job(
        self,
        name: str,
        arguments: dict[str, Any],
        peer: Peer,
        begin: Callable[[CallContext], None] | None = None,
    ) -> Job:
        """A call of a tool; `begin` is called when it runs, with the call."""
        from obsidian_mcp.protocol import clients

        modern = peer.modern

        def failed(failure: Failure) -> jsonrpc.Result | None:
            return None if isinstance(failure, InvalidParams) else results.failure(failure, modern)

        as_result = modern or self._errors_are_results
        job = self.tools.job(
            name,
            arguments,
            lambda data: results.Success(data, modern, peer.revision),
            failed if as_result else None,
            clients.page_of(peer.client),
            peer.client,
        )
        if begin is not None:
            job.run = _after(begin, job.run)
        return job

    def _constant(self, request: jsonrpc.Request, peer: Peer, make: Callable[[], dict[str, Any]]) -> jsonrpc.Encoded:
        """What is the same for every client of a revision, encoded once."""
        key = (request.method, peer.modern, peer.revision)
        if key not in self._kept:
            self._kept[key] = jsonrpc.Encoded(jsonrpc.encode(make()))
        return self._kept[key]


def _after(begin: Callable[[CallContext], None], run: Callable[[CallContext], Any]) -> Callable[[CallContext], Any]:
    def both(call: CallContext) -> Any:
        begin(call)
        return run(call)

    return both


def _confirming() -> Any:
    from obsidian_mcp.servers import confirming

    return confirming


def _rows(offered: Callable[[], Offered]) -> dict[str, Method]:
    """The rows beside tools. Their handlers are loaded by the first request for one of them."""
    made: list[Offered] = []

    def later(name: str) -> Handler:
        def handle(request: jsonrpc.Request, peer: Peer) -> Any:
            if not made:
                made.append(offered())
            return getattr(made[0], name)(request, peer)

        return handle

    return {
        "resources/list": Method(later("list_resources"), capability="resources"),
        "resources/templates/list": Method(later("list_templates"), capability="resources"),
        "resources/read": Method(later("read_resource"), capability="resources", named_by="uri"),
        "prompts/list": Method(later("list_prompts"), capability="prompts"),
        "prompts/get": Method(later("get_prompt"), capability="prompts", named_by="name"),
        "completion/complete": Method(later("complete"), capability="completions", lists=False),
    }
