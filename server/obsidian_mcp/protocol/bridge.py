"""Bridge Protocol v1: what its endpoints say. The contract is specs/http.md."""

from __future__ import annotations

import hashlib
import json

from obsidian_mcp import __version__
from obsidian_mcp.errors import Failure, InvalidRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROTOCOL_VERSION = "1"
PREFIX = "/bridge/v1"


class Problem(Exception):
    """An HTTP error: status, the first document's words, the second's, and a code for programs."""

    def __init__(self, status: int, error: str, message: str, code: str, details: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": error, "message": message, "code": code}
        if details:
            self.body["details"] = details


def not_found(path: str) -> Problem:
    return Problem(404, "Not found", f"There is nothing at {path}.", "NOT_FOUND")


def tool_not_found(name: str) -> Problem:
    return Problem(404, "Tool not found", f"Tool '{name}' not found", "TOOL_NOT_FOUND")


def method_not_allowed(method: str, allowed: str) -> Problem:
    return Problem(405, "Method not allowed", f"{method} is not allowed here; use {allowed}.", "METHOD_NOT_ALLOWED")


def too_large(most: int) -> Problem:
    return Problem(413, "Request body too large", f"A body may have {most} bytes at most.", "BODY_TOO_LARGE")


def invalid_body(why: str) -> Problem:
    return Problem(400, "Invalid request body", why, "INVALID_REQUEST")


def invalid_arguments(failure: Failure) -> Problem:
    missing = failure.data.get("missing", [])
    invalid = [one for one in failure.data.get("invalid", []) if one["name"] not in missing]
    details = {key: value for key, value in (("missing", missing), ("invalid", invalid)) if value}
    return Problem(400, "Invalid arguments", failure.message, "INVALID_ARGUMENTS", details)


def late() -> Problem:
    return Problem(408, "Request timeout", "The request did not arrive in time.", "REQUEST_TIMEOUT")


def busy() -> Problem:
    why = "Too many connections are open, and all are in use. Close some, or try again later."
    return Problem(503, "Too many connections", why, "TOO_MANY_CONNECTIONS")


def internal(message: str) -> Problem:
    return Problem(500, "Internal server error", message, "EXECUTION_ERROR")


def health() -> dict[str, Any]:
    return {"status": "ok", "version": __version__, "protocolVersion": PROTOCOL_VERSION}


def tools(listing: list[dict[str, Any]]) -> dict[str, Any]:
    """Sorted by name, with a hash that changes when they do."""
    offered = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listing]
    offered.sort(key=lambda tool: tool["name"])
    return {"tools": offered, "hash": digest(offered)}


def digest(tools: list[dict[str, Any]]) -> str:
    """Over their JSON with every object's keys sorted; arrays keep their order."""
    text = json.dumps(tools, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def arguments(body: Any) -> dict[str, Any]:
    """Out of a call's body; raises if it has none."""
    if not isinstance(body, dict) or "arguments" not in body:
        raise invalid_body("The body must be an object with a field 'arguments'.")
    if not isinstance(body["arguments"], dict):
        raise invalid_body("'arguments' must be an object.")
    found: dict[str, Any] = body["arguments"]
    return found


def success(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"success": True, "content": content}


def failure(message: str) -> dict[str, Any]:
    return {"success": False, "content": [{"type": "text", "text": f"Error: {message}"}], "isError": True}


def understood(found: Any) -> tuple[list[dict[str, Any]], str]:
    """A server's tools and their hash, if it answers as the protocol says. Another's hash need not be ours."""
    tools = found.get("tools") if isinstance(found, dict) else None
    if not isinstance(tools, list) or not isinstance(found.get("hash"), str):
        raise InvalidRequest("the list of tools is not one")
    for tool in tools:
        named = isinstance(tool, dict) and isinstance(tool.get("name"), str) and tool["name"]
        if not named or not isinstance(tool.get("inputSchema"), dict):
            raise InvalidRequest("a tool in the list has no name or no inputSchema")
    return tools, found["hash"]
