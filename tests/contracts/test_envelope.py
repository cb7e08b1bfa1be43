"""A strict client of the envelope, from specs/http.md alone; it runs the contract's own examples with our tools."""

from __future__ import annotations

from typing import Any

from tests.contracts.shapes import count, fits, one_of, schema, text
from tests.support.web import Web
from tests.support.world import World

HEALTH = {
    "status": one_of("ok", "degraded", "error"),
    "server_name": "obsidian-mcp",
    "version": text,
    "tools_available": count,
    "notifications_enabled": False,
    "docker_available": False,
    "strict_security_mode": True,
    "policy_loaded": bool,
    "uptime_seconds": count,
    "backend": one_of("obsidian", "embedded"),
    "vaults": [text],
}
ENVELOPE = {
    "ok": bool,
    "summary": text,
    "need_confirm?": bool,
    "data?": lambda data: isinstance(data, dict) and data,
    "error?": text,
    "metrics": {"elapsed_ms": count, "exit_code": count},
}
TOOL = {"name": text, "description": text, "inputSchema": schema}


class EnvelopeClient:
    def __init__(self, web: Web) -> None:
        self._web = web

    def health(self) -> dict[str, Any]:
        reply = self._web.ask("GET", "/health")
        assert reply.status == 200
        found: dict[str, Any] = fits(reply.json, HEALTH)
        return found

    def post(self, request: Any) -> dict[str, Any]:
        reply = self._web.ask("POST", "/mcp", request, {"Content-Type": "application/json"})
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
        found: dict[str, Any] = fits(reply.json, ENVELOPE)
        assert found["ok"] is (found["metrics"]["exit_code"] == 0) is ("error" not in found)
        return found

    def direct(self, tool: str, **args: Any) -> dict[str, Any]:
        return self.post({"id": "request-1", "method": "call_tool", "name": tool, "args": args})

    def params(self, tool: str, **args: Any) -> dict[str, Any]:
        return self.post({"id": "request-1", "method": "call_tool", "params": {"name": tool, "args": args}})


def test_the_examples_of_the_envelope(web: Web, world: World) -> None:
    world.put("Note.md", "text")
    client = EnvelopeClient(web)
    listed = client.post({"id": "list-1", "method": "list_tools", "params": {}})
    tools = fits(listed["data"], {"tools": [TOOL]})["tools"]
    assert listed["summary"] == f"Available tools: {len(tools)} tools found"
    assert client.health()["tools_available"] == len(tools)
    for call in (client.direct, client.params):
        assert call("file_info", name="Note")["data"]["path"] == "Note.md"


def test_a_note_may_be_named_by_path_here_too(web: Web, world: World) -> None:
    world.put("Notes/Example.md", "An example")
    assert EnvelopeClient(web).direct("file_info", path="Notes/Example.md")["data"]["path"] == "Notes/Example.md"


def test_the_confirmation_of_the_envelope(web: Web, world: World) -> None:
    world.put("Note.md", "text")
    client = EnvelopeClient(web)
    asked = client.direct("delete_note", name="Note")
    del asked["metrics"]["elapsed_ms"]
    assert asked == {
        "ok": False,
        "need_confirm": True,
        "summary": "delete_note requires confirmation",
        "error": "Confirmation required for mutating operation",
        "data": {
            "required_arg": "_confirm",
            "required_value": True,
            "suggestion": "Add '_confirm': true to delete_note arguments",
        },
        "metrics": {"exit_code": 1},
    }
    assert world.has("Note.md")
    assert client.direct("delete_note", name="Note", _confirm=True)["ok"] is True
    assert not world.has("Note.md")


def test_the_errors_of_the_envelope(web: Web) -> None:
    client = EnvelopeClient(web)
    wrong = client.post({"id": 1, "method": "initialize"})
    assert wrong["summary"] == "Request processing failed"
    assert wrong["error"] == "HTTP bridge error: Method must be one of: ['list_tools', 'call_tool']"
    unknown = client.direct("docker_ps")
    assert (unknown["summary"], unknown["error"]) == ("Unknown tool: docker_ps", "Tool 'docker_ps' not found")
    fits(unknown["data"], {"available_tools": [text]})
    gone = client.direct("read_note", name="Gone")
    assert (gone["data"]["tool"], gone["data"]["errorCode"]) == ("read_note", "FILE_NOT_FOUND")
    for body in (b"", b"{", b"7", b"x" * 1024 * 1024 * 2):
        assert client.post(body)["summary"] == "Request processing failed"


def test_what_the_envelope_says_of_an_app_that_is_closed_or_has_died(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Web(own_world.environment()) as web:
        client = EnvelopeClient(web)
        own_world.mood("not-running")
        closed = client.direct("open_note", name="Note.md")
        assert (closed["summary"], closed["metrics"]["exit_code"]) == ("open_note unavailable", 127)
        fits(
            closed["data"],
            {"tool": "open_note", "errorCode": "OBSIDIAN_NOT_RUNNING", "reason": text, "suggestion": text},
        )
        assert client.health()["status"] == "degraded"
        own_world.mood("crash")
        died = client.direct("open_note", name="Note.md")
        assert (died["summary"], died["metrics"]["exit_code"]) == ("MCP engine process failed", 139)
        assert "exit code 139: Segmentation fault" in died["error"]
