"""What answers Claude Code: the IDE's own methods and tools, over one vault."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import InvalidParams, UnknownTool
from obsidian_mcp.features.tools import call_of
from obsidian_mcp.protocol import jsonrpc, methods
from obsidian_mcp.protocol.methods import BOTH, LEGACY, Method, Peer
from obsidian_mcp.running import Job
from obsidian_mcp.scheduler import Access
from obsidian_mcp.servers.ide import messages
from obsidian_mcp.servers.ide.tools import TOOLS, IdeContext
from obsidian_mcp.servers.ide.watcher import Watcher
from obsidian_mcp.servers.ide.workspace import IdeWorkspace

LIMIT = 30.0  # seconds for one call
# What asks the app goes one after another, and nothing else waits for it.
ASKING = ("openFile", "getCurrentSelection", "workspace/selection")
ONE_QUEUE = frozenset({"the app"})


class IdeServer:
    def __init__(
        self, workspace: IdeWorkspace, watcher: Watcher, mention: Callable[[jsonrpc.Notification], int]
    ) -> None:
        self._workspace = workspace
        self._watcher = watcher
        self._mention = mention
        self._tools = jsonrpc.Encoded(jsonrpc.encode({"tools": [tool.listing() for tool in TOOLS.values()]}))
        self.methods: Mapping[str, Method] = {
            "initialize": Method(self._initialize, (LEGACY,), before_initialize=True),
            "ping": Method(lambda request, peer: {}, (LEGACY,), before_initialize=True),
            "tools/list": Method(lambda request, peer: self._tools, BOTH, before_initialize=True, capability="tools"),
            "tools/call": Method(self._call_tool, named_by="name"),
            "prompts/list": Method(lambda request, peer: {"prompts": []}, capability="prompts"),
            "resources/list": Method(lambda request, peer: {"resources": []}, capability="resources"),
            "files/read": Method(self._read_file),
            "workspace/selection": Method(self._selection),
            messages.MENTION: Method(self._point),
            # Notifications; the contract's document counts one among the requests, so one that has an id is answered.
            **dict.fromkeys(messages.INTRODUCING, Method(lambda request, peer: {}, before_initialize=True)),
        }

    def _initialize(self, request: jsonrpc.Request, peer: Peer) -> dict[str, Any]:
        return messages.initialize(peer.revision or "", methods.capabilities(self.methods, modern=False))

    def _job(self, name: str, run: Callable[[CallContext], dict[str, Any]]) -> Job:
        asks = name in ASKING

        def quietly(call: CallContext) -> dict[str, Any]:
            with self._watcher.suspended() if asks else contextlib.nullcontext():
                return run(call)

        access = Access(ONE_QUEUE if asks else frozenset(), writes=asks, chained=False)
        as_text = name in TOOLS
        return Job(
            name,
            access,
            LIMIT,
            quietly,
            failed=(lambda failure: messages.text(failure.message, failed=True)) if as_text else None,
        )

    def _call_tool(self, request: jsonrpc.Request, peer: Peer) -> Job:
        name, arguments = call_of(request)
        if name not in TOOLS:
            raise UnknownTool(f"There is no tool {name!r}.", f"Tools: {', '.join(TOOLS)}.")
        tool = TOOLS[name]
        return self._job(
            name,
            lambda call: messages.text(tool.run(arguments, IdeContext(self._workspace, self._watcher, call))),
        )

    def _read_file(self, request: jsonrpc.Request, peer: Peer) -> Job:
        def run(call: CallContext) -> dict[str, Any]:
            named = request.params.get("path")
            if not isinstance(named, str):
                raise InvalidParams("files/read needs params.path, as a string.")
            return {"content": self._workspace.read(self._workspace.path(named))}

        return self._job(request.method, run)

    def _selection(self, request: jsonrpc.Request, peer: Peer) -> Job:
        def run(call: CallContext) -> dict[str, Any]:
            found = self._watcher.ask(call)
            return messages.workspace_selection(found, self._workspace.file(found.path) if found else "")

        return self._job(request.method, run)

    def _point(self, request: jsonrpc.Request, peer: Peer) -> Job:
        def run(call: CallContext) -> dict[str, Any]:
            named, lines = messages.mentioned(request.params)
            path = self._workspace.existing(named)
            return {"clients": self._mention(messages.at_mentioned(self._workspace.file(path), lines))}

        return self._job(request.method, run)
