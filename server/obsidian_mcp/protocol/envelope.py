"""The HTTP envelope: one JSON object around every answer. The contract is specs/http.md."""

from __future__ import annotations

from obsidian_mcp import __version__
from obsidian_mcp.errors import Failure, InternalError, InvalidArguments, ObsidianNotRunning, TimedOut, spec_of
from obsidian_mcp.protocol.results import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

METHODS = "['list_tools', 'call_tool']"
CONFIRM = "_confirm"
SERVER_NAME = "obsidian-mcp"
EXIT_CODE = "exitCode"  # in the data of a failure: with what the Obsidian command ended


class Refused(Exception):
    """A request that is answered before anything runs."""

    def __init__(self, summary: str, error: str, data: dict[str, Any] | None = None, confirm: bool = False) -> None:
        super().__init__(error)
        self.fields: dict[str, Any] = {"ok": False, "summary": summary, "error": error}
        if confirm:
            self.fields["need_confirm"] = True
        if data:
            self.fields["data"] = data


def malformed(why: str) -> Refused:
    return Refused("Request processing failed", f"HTTP bridge error: {why}")


def wanted(body: Any) -> tuple[str, dict[str, Any]] | None:
    """The tool and its arguments; None for the list of tools. Raises Refused for anything else."""
    if not isinstance(body, dict):
        raise malformed("The body must be a JSON object")
    if "id" in body and (isinstance(body["id"], bool) or not isinstance(body["id"], str | int | float | None)):
        raise malformed("id must be a string or a number")
    if body.get("method") not in ("list_tools", "call_tool"):
        raise malformed(f"Method must be one of: {METHODS}")
    if body["method"] == "list_tools":
        return None
    source = body if "name" in body else body.get("params")
    if not isinstance(source, dict) or not isinstance(source.get("name"), str):
        raise malformed("call_tool needs the name of a tool")
    arguments = source.get("args", {})
    if not isinstance(arguments, dict):
        raise malformed("args must be an object")
    return source["name"], arguments


def unknown(name: str, available: list[str]) -> Refused:
    return Refused(f"Unknown tool: {name}", f"Tool '{name}' not found", {"available_tools": available})


def unconfirmed(name: str) -> Refused:
    return Refused(
        f"{name} requires confirmation",
        "Confirmation required for mutating operation",
        {
            "required_arg": CONFIRM,
            "required_value": True,
            "suggestion": f"Add '{CONFIRM}': true to {name} arguments",
        },
        confirm=True,
    )


def confirmed(arguments: dict[str, Any]) -> bool:
    """A dry run changes nothing and needs no confirmation."""
    return arguments.get(CONFIRM) is True or arguments.get("dry_run") is True


def without_confirmation(arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key != CONFIRM}


def tools(listing: list[dict[str, Any]]) -> dict[str, Any]:
    offered = [_offered(tool) for tool in listing]
    return {"ok": True, "summary": f"Available tools: {len(offered)} tools found", "data": {"tools": offered}}


def _offered(tool: dict[str, Any]) -> dict[str, Any]:
    schema = tool["inputSchema"]
    if not tool["annotations"]["readOnlyHint"]:
        confirm = {"type": "boolean", "description": "Must be true for the tool to run, unless it is a dry run."}
        schema = {**schema, "properties": {**schema["properties"], CONFIRM: confirm}}
    return {"name": tool["name"], "description": tool["description"], "inputSchema": schema}


def success(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """With what is beside the data, such as images, as MCP has it."""
    beside = {"content": data.blocks} if isinstance(data, Shown) and data.blocks else {}
    return {"ok": True, "summary": f"{name} completed", "data": {**data, **beside}}


def failure(name: str, failed: Failure) -> dict[str, Any]:
    if isinstance(failed, TimedOut):
        return {"ok": False, "summary": "MCP engine timeout", "error": failed.message}
    data: dict[str, Any] = {"tool": name, "errorCode": spec_of(failed).error_code, **failed.data}
    if EXIT_CODE in failed.data:
        return {"ok": False, "summary": "MCP engine process failed", "error": failed.message, "data": data}
    if isinstance(failed, ObsidianNotRunning):
        data |= {"reason": failed.fact.removesuffix("."), "suggestion": failed.hint.model}
        return {"ok": False, "summary": f"{name} unavailable", "error": failed.message, "data": data}
    summary = f"Invalid arguments for {name}" if isinstance(failed, InvalidArguments) else f"{name} failed"
    return {"ok": False, "summary": summary, "error": failed.message, "data": data}


def bug(failed: InternalError) -> dict[str, Any]:
    """One that no tool can be blamed for."""
    data = {"errorCode": spec_of(failed).error_code, **failed.data}
    return {"ok": False, "summary": "Request processing failed", "error": failed.message, "data": data}


def exit_code(failed: Failure) -> int:
    """The Obsidian command's own, if it died; otherwise the one of this kind of failure."""
    code: int = failed.data.get(EXIT_CODE, spec_of(failed).envelope)
    return code


def measured(fields: dict[str, Any], elapsed_ms: int, code: int) -> dict[str, Any]:
    return {**fields, "metrics": {"elapsed_ms": elapsed_ms, "exit_code": code}}


def health(state: dict[str, Any], tools: int, uptime: int) -> dict[str, Any]:
    return {
        **state,
        "server_name": SERVER_NAME,
        "version": __version__,
        "tools_available": tools,
        "notifications_enabled": False,
        "docker_available": False,
        "strict_security_mode": True,
        "policy_loaded": tools > 0,
        "uptime_seconds": uptime,
    }
