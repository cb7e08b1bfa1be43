"""A dispatcher for a connection whose tools are another server's."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from obsidian_mcp import logs
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import BridgeFailed, Failure, InternalError, UnknownTool, spec_of
from obsidian_mcp.protocol import jsonrpc, results
from obsidian_mcp.scheduler import Access
from obsidian_mcp.servers.notes import ToolCall, bug_of, call_of, touched
from obsidian_mcp.servers.relay.client import CALL_LIMIT, Remote
from obsidian_mcp.servers.relay.poller import Poller

NOT_YET = "The bridge server has not been reached yet. Try again in a moment."
FRESH = 5000  # milliseconds that a list of tools is good for


class Relay:
    calls: tuple[str, ...] = ("tools/call",)

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self._lock = threading.Lock()
        self._tools: dict[str, dict[str, Any]] = {}
        self._why = NOT_YET
        self._connected = False
        self._greeted = False
        self._tell: Callable[[bytes], None] = lambda message: None

    def begin(self, tell: Callable[[bytes], None]) -> None:
        """Look for the server from now on; `tell` takes what the client should hear."""
        self._tell = tell
        poller = Poller(self._remote, self._adopt, self._despair, threading.Event().wait)
        threading.Thread(target=poller.run, daemon=True).start()

    def _adopt(self, tools: Sequence[dict[str, Any]]) -> None:
        logs.log("info", "tools", count=len(tools), url=self._remote.url)
        with self._lock:
            self._tools = {tool["name"]: _offered(tool) for tool in tools}
            self._connected = True
            greeted = self._greeted
        if greeted:
            self._tell(jsonrpc.notification("notifications/tools/list_changed", {}))

    def _despair(self, why: str) -> None:
        with self._lock:
            self._why = why

    def quick_result(self, request: jsonrpc.Request, modern: bool, revision: str | None) -> bytes:
        if request.method == "initialize":
            with self._lock:
                self._greeted = True
            return jsonrpc.encode(results.initialize(revision or "", changes=True))
        if request.method == "tools/list":
            with self._lock:
                tools = list(self._tools.values())
            return jsonrpc.encode(results.tool_list(tools, modern, FRESH))
        return jsonrpc.encode(results.discover(FRESH) if request.method == "server/discover" else {})

    def tool_call(self, request: jsonrpc.Request, modern: bool) -> ToolCall:
        name, arguments = call_of(request)
        with self._lock:
            unknown = self._connected and name not in self._tools
            offered = ", ".join(self._tools)
        if unknown:
            raise UnknownTool(f"There is no tool {name!r}. Tools: {offered or 'none'}.")
        # What a foreign tool does is not known: calls on one note keep their order, others run side by side.
        turn = Access(touched(arguments), writes=True, chained=False)
        return ToolCall(request.id, name, arguments, modern, CALL_LIMIT, turn)

    def answer(self, tool: ToolCall, call: CallContext) -> bytes:
        """Never raises. A failure of the way is told as the tool's own would be."""
        started = time.perf_counter()
        try:
            call.begin()
            with self._lock:
                problem = None if self._connected else self._why
            if problem is not None:
                raise BridgeFailed(problem)
            content, failed = self._remote.call(tool.name, tool.arguments, call)
            logs.log("info", "call", tool=tool.name, failed=failed, ms=_ms(started))
            result = results.relayed(content, failed, tool.modern)
        except Failure as failure:
            logs.log("warning", "call failed", tool=tool.name, code=spec_of(failure).error_code, ms=_ms(started))
            result = results.failure(failure, tool.modern)
        except Exception as bug:  # noqa: BLE001  # whatever it is, the client must hear of it and the loop go on
            result = results.failure(self.bug(bug, tool.name), tool.modern)
        return jsonrpc.reply(tool.id, jsonrpc.encode(result))

    def bug(self, bug: Exception, doing: str) -> InternalError:
        return bug_of(bug, doing)


def _offered(tool: dict[str, Any]) -> dict[str, Any]:
    """What MCP needs of a tool; without a type of its own, strict clients would lose the whole list."""
    description = tool.get("description")
    return {
        "name": tool["name"],
        "description": description if isinstance(description, str) else "",
        "inputSchema": {"type": "object", **tool["inputSchema"]},
    }


def _ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
