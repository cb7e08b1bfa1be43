"""One request → one reply; what an exception looks like as one is decided here."""

from __future__ import annotations

import os
import time

from obsidian_mcp.errors import Failure, InternalError, InvalidArguments, InvalidParams, spec_of
from obsidian_mcp.protocol import jsonrpc, results
from obsidian_mcp.scheduler import Access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from obsidian_mcp.call import CallContext
    from obsidian_mcp.settings import Settings
    from obsidian_mcp.tools.catalogue import Catalogue
    from obsidian_mcp.vault.port import Vault

    T = TypeVar("T")


class ToolCall:
    """A well-formed call of a tool that exists. Its arguments have not been looked at yet."""

    __slots__ = ("arguments", "id", "limit", "modern", "name", "turn")

    def __init__(
        self, id: str | int, name: str, arguments: dict[str, Any], modern: bool, limit: float, turn: Access
    ) -> None:
        self.id = id
        self.name = name
        self.arguments = arguments
        self.modern = modern
        self.limit = limit
        self.turn = turn


class Dispatcher:
    calls: tuple[str, ...] = ("tools/call",)

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        open_vault: Callable[[str, CallContext], Vault],
        vault_labels: tuple[str, ...],
        wake: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._open_vault = open_vault
        self._labels = vault_labels
        self._wake = wake
        self._results: dict[tuple[str, bool], bytes] = {}

    def quick_result(self, request: jsonrpc.Request, modern: bool, revision: str | None) -> bytes:
        """The encoded result of everything that is not a call of a tool."""
        if request.method == "initialize":
            return jsonrpc.encode(results.initialize(revision or ""))
        if request.method == "tools/list" and request.params.get("cursor") is not None:
            raise InvalidParams("There is one page of tools and so no cursor. Leave it out.")
        key = (request.method, modern)
        if key not in self._results:
            self._results[key] = jsonrpc.encode(self._constant(request.method, modern))
        return self._results[key]

    def _constant(self, method: str, modern: bool) -> dict[str, Any]:
        if method == "tools/list":
            return results.tool_list(self._catalogue.listing(), modern)
        if method == "server/discover":
            return results.discover()
        return {}

    def tool_call(self, request: jsonrpc.Request, modern: bool) -> ToolCall:
        name, arguments = call_of(request)
        return self.ticket(name, arguments, request.id, modern)

    def ticket(self, name: str, arguments: dict[str, Any], id: str | int = 0, modern: bool = False) -> ToolCall:
        """What a call needs to wait for its turn; raises if there is no such tool."""
        if name not in self._catalogue:
            raise self._catalogue.unknown(name)
        turn = Access(touched(arguments), writes=self._catalogue.writes(name))
        return ToolCall(id, name, arguments, modern, self._settings.limit_for(name), turn)

    def answer(self, tool: ToolCall, call: CallContext) -> bytes:
        """Run the tool and say how it went. Never raises."""
        try:
            result = self.attempt(tool, call, lambda data: results.success(data, tool.modern))
            return jsonrpc.reply(tool.id, result)
        except Failure as failure:
            return self._failed(tool, failure)

    def attempt(self, tool: ToolCall, call: CallContext, shape: Callable[[dict[str, Any]], T]) -> T:
        """Run the tool and give its data a shape. Raises nothing but a Failure."""
        started = time.perf_counter()
        try:
            self._wake()
            call.begin()
            data = self.run(tool.name, tool.arguments, call)
            shaped = shape(data)
            _log("info", "call", tool=tool.name, path=data.get("path"), ms=_ms(started))
            return shaped
        except Failure as failure:
            _log("warning", "call failed", tool=tool.name, code=spec_of(failure).error_code, ms=_ms(started))
            raise
        except Exception as bug:  # noqa: BLE001  # whatever it is, the client must hear of it and the loop go on
            raise self.bug(bug, tool.name) from None

    def check(self, tool: ToolCall) -> None:
        """Raise what is wrong with the arguments as such; nothing runs. Raises nothing but a Failure."""
        try:
            self._wake()
            from obsidian_mcp.tools.declared import TOOLS

            TOOLS[tool.name].parse(self._vault_of(tool.arguments)[1])
        except Failure:
            raise
        except Exception as bug:  # noqa: BLE001  # whatever it is, the client must hear of it
            raise self.bug(bug, tool.name) from None

    def bug(self, bug: Exception, doing: str) -> InternalError:
        return bug_of(bug, doing)

    def run(self, name: str, arguments: Mapping[str, Any], call: CallContext) -> dict[str, Any]:
        """Validate, then act: the data of a success, or a Failure."""
        from obsidian_mcp.tools.declared import TOOLS  # not before the first call: pydantic is slow to load

        tool = TOOLS[name]
        label, arguments = self._vault_of(arguments)
        params = tool.parse(arguments)
        return tool.run(params, self._open_vault(label, call))

    def _vault_of(self, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        if len(self._labels) < 2 or "vault" not in arguments:
            return self._labels[0], arguments
        label = arguments["vault"]
        if label not in self._labels:
            raise InvalidArguments(f"vault must be one of {', '.join(self._labels)}, not {label!r}.")
        return label, {key: value for key, value in arguments.items() if key != "vault"}

    def _failed(self, tool: ToolCall, failure: Failure) -> bytes:
        if tool.modern or self._settings.errors == "result":
            return jsonrpc.reply(tool.id, jsonrpc.encode(results.failure(failure, tool.modern)))
        return jsonrpc.error_reply(tool.id, failure)


def call_of(request: jsonrpc.Request) -> tuple[str, dict[str, Any]]:
    """The tool's name and its arguments; raises if the call is malformed."""
    name = request.params.get("name")
    arguments = request.params.get("arguments")
    if not isinstance(name, str):
        raise InvalidParams("tools/call needs params.name, the name of a tool, as a string.")
    if not isinstance(arguments, dict | None):
        raise InvalidParams(f"The arguments of {name} must be an object.")
    return name, arguments or {}


def bug_of(bug: Exception, doing: str) -> InternalError:
    """A bug of ours as a failure: an id that leads to the log, and nothing of what went wrong.

    Where it happened is logged, not what the exception says: that may quote a note.
    """
    incident = os.urandom(4).hex()
    where, frame = [], bug.__traceback__
    while frame is not None:
        where.append(f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}")
        frame = frame.tb_next
    _log("error", "bug", incident=incident, kind=type(bug).__name__, doing=doing, where=where)
    return InternalError(f"{doing} failed by a bug of obsidian-mcp; the log has it as {incident}.", incident=incident)


def touched(arguments: Mapping[str, Any]) -> frozenset[str]:
    """Keys for the notes that a call may touch: the base name up to its first dot, folded.

    Two spellings of one note (a name, a path, another case) share a key; that
    two different notes may share one costs a wait and nothing else.
    """
    from obsidian_mcp.vault.folding import fold

    keys = set()
    for argument in ("name", "to", "new_name"):
        value = arguments.get(argument)
        if isinstance(value, str):
            keys.add(fold(value.rsplit("/", 1)[-1].split(".", 1)[0]))
    return frozenset(keys)


def _log(level: str, event: str, **fields: Any) -> None:
    from obsidian_mcp import logs  # not before the first call: structlog is slow to load

    logs.log(level, event, **fields)


def _ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
