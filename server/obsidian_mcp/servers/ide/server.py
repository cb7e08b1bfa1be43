"""What answers Claude Code: the IDE's own methods and tools, over one desk."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from obsidian_mcp import logs
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Failure, InternalError, InvalidParams, UnknownTool, spec_of
from obsidian_mcp.protocol import jsonrpc
from obsidian_mcp.scheduler import Access
from obsidian_mcp.servers.ide import messages
from obsidian_mcp.servers.ide.tools import TOOLS, IdeContext
from obsidian_mcp.servers.ide.watcher import Watcher
from obsidian_mcp.servers.ide.workspace import IdeWorkspace
from obsidian_mcp.servers.notes import ToolCall, bug_of, call_of

LIMIT = 30.0  # seconds for one call
QUICK: dict[str, dict[str, Any]] = {
    "ping": {},
    "prompts/list": {"prompts": []},
    "resources/list": {"resources": []},
}
# What asks the app goes one after another, and nothing else waits for it.
ASKING = ("openFile", "getCurrentSelection", "workspace/selection")
ONE_QUEUE = frozenset({"the app"})


class Ide:
    calls: tuple[str, ...] = messages.CALLS

    def __init__(self, desk: IdeWorkspace, watcher: Watcher, mention: Callable[[bytes], int]) -> None:
        self._desk = desk
        self._watcher = watcher
        self._mention = mention
        self._tools = jsonrpc.encode({"tools": [tool.listing() for tool in TOOLS.values()]})

    def quick_result(self, request: jsonrpc.Request, modern: bool, revision: str | None) -> bytes:
        if request.method == "initialize":
            return jsonrpc.encode(messages.initialize(revision or ""))
        if request.method == "tools/list":
            return self._tools
        return jsonrpc.encode(QUICK[request.method])

    def tool_call(self, request: jsonrpc.Request, modern: bool) -> ToolCall:
        name, arguments = request.method, request.params
        if name == "tools/call":
            name, arguments = call_of(request)
            if name not in TOOLS:
                raise UnknownTool(f"There is no tool {name!r}. Tools: {', '.join(TOOLS)}.")
        turn = Access(ONE_QUEUE if name in ASKING else frozenset(), writes=name in ASKING, chained=False)
        return ToolCall(request.id, name, arguments, modern, LIMIT, turn)

    def answer(self, tool: ToolCall, call: CallContext) -> bytes:
        """Never raises."""
        started = time.perf_counter()
        try:
            call.begin()
            with self._watcher.quiet() if tool.name in ASKING else contextlib.nullcontext():
                result = self._run(tool, call)
            logs.log("info", "call", tool=tool.name, ms=_ms(started))
        except Failure as failure:
            logs.log("warning", "call failed", tool=tool.name, code=spec_of(failure).error_code, ms=_ms(started))
            if tool.name not in TOOLS:
                return jsonrpc.error_reply(tool.id, failure)
            result = messages.text(failure.message, failed=True)
        except Exception as bug:  # noqa: BLE001  # whatever it is, the client must hear of it and the loop go on
            return jsonrpc.error_reply(tool.id, self.bug(bug, tool.name))
        return jsonrpc.reply(tool.id, jsonrpc.encode(result))

    def _run(self, tool: ToolCall, call: CallContext) -> dict[str, Any]:
        if tool.name in TOOLS:
            return messages.text(TOOLS[tool.name].run(tool.arguments, IdeContext(self._desk, self._watcher, call)))
        if tool.name == "files/read":
            return {"content": self._read(tool.arguments.get("path"))}
        if tool.name == "workspace/selection":
            found = self._watcher.ask(call)
            return messages.workspace_selection(found, self._desk.file(found.path) if found else "")
        named, lines = messages.mentioned(tool.arguments)
        path = self._desk.existing(named)
        return {"clients": self._mention(messages.at_mentioned(self._desk.file(path), lines))}

    def _read(self, named: Any) -> str:
        if not isinstance(named, str):
            raise InvalidParams("files/read needs params.path, as a string.")
        return self._desk.read(self._desk.path(named))

    def bug(self, bug: Exception, doing: str) -> InternalError:
        return bug_of(bug, doing)


def _ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
