"""A strict client of Bridge Protocol v1, from specs/http.md alone; it runs the protocol's own examples."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any
from urllib.parse import quote

from tests.contracts.shapes import TEXT_CONTENT, fits, schema, text
from tests.support.web import Reply, Web
from tests.support.world import World

BASE = "/bridge/v1"
TOOL = {"name": text, "description": text, "inputSchema": schema}
ERROR = {"error": text, "message": text, "code": lambda code: bool(re.fullmatch("[A-Z_]+", code))}
WRONG = {"name": text, "problem": text}
CALLED = {"success": True, "content": [TEXT_CONTENT]}
FAILED = {"success": False, "content": [TEXT_CONTENT], "isError": True}


class BridgeClient:
    def __init__(self, web: Web) -> None:
        self._web = web

    def health(self) -> dict[str, Any]:
        shape = {"status": "ok", "version": text, "protocolVersion": "1"}
        found: dict[str, Any] = fits(self._get("/health"), shape)
        return found

    def tools(self) -> list[dict[str, Any]]:
        """Checked against their hash: keys sorted, no spaces, UTF-8, SHA-256 in hex."""
        found = fits(self._get("/tools"), {"tools": [TOOL], "hash": str})
        canonical = json.dumps(found["tools"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert found["hash"] == hashlib.sha256(canonical.encode()).hexdigest()
        assert [tool["name"] for tool in found["tools"]] == sorted(tool["name"] for tool in found["tools"])
        tools: list[dict[str, Any]] = found["tools"]
        return tools

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        reply = self.post(tool, {"arguments": arguments})
        assert reply.status == 200, reply.body
        found: dict[str, Any] = fits(reply.json, CALLED if reply.json["success"] else FAILED)
        return found

    def post(self, tool: str, body: Any) -> Reply:
        reply = self._web.ask("POST", f"{BASE}/tools/{quote(tool, safe='')}/call", body, {"Content-Type": JSON})
        return as_json(reply)

    def _get(self, path: str) -> Any:
        reply = as_json(self._web.ask("GET", BASE + path))
        assert reply.status == 200
        return reply.json


JSON = "application/json"


def as_json(reply: Reply) -> Reply:
    assert reply.headers["content-type"] == JSON
    return reply


def refusal(reply: Reply, status: int, error: str, code: str) -> dict[str, Any]:
    assert reply.status == status
    details = {"missing?": [text], "invalid?": [WRONG]}
    found: dict[str, Any] = fits(as_json(reply).json, {**ERROR, "details?": details})
    assert (found["error"], found["code"]) == (error, code)
    return found


def test_the_examples_of_bridge_protocol_v1(web: Web, world: World) -> None:
    world.put("Notes/Example.md", "An example")
    client = BridgeClient(web)
    client.health()
    assert "obsidian_read_note" in {tool["name"] for tool in client.tools()}
    read = client.call("read_note", name="Notes/Example.md")
    assert json.loads(read["content"][0]["text"])["success"] is True
    assert "An example" in read["content"][0]["text"]
    gone = client.call("read_note", name="Notes/Gone.md")
    assert gone["isError"] is True
    assert gone["content"][0]["text"].startswith("Error: ")


def test_the_documents_call_names_its_note_by_path(web: Web, world: World) -> None:
    world.put("Notes/Example.md", "An example")
    read = BridgeClient(web).call("read_note", path="Notes/Example.md")
    assert read["success"] is True
    assert "An example" in read["content"][0]["text"]


def test_the_errors_of_bridge_protocol_v1(web: Web) -> None:
    client = BridgeClient(web)
    unknown = refusal(client.post("unknown_tool", {"arguments": {}}), 404, "Tool not found", "TOOL_NOT_FOUND")
    assert unknown["message"] == "Tool 'unknown_tool' not found"
    missing = refusal(client.post("read_note", {"arguments": {}}), 400, "Invalid arguments", "INVALID_ARGUMENTS")
    assert missing["details"] == {"missing": ["name"]}
    for body in (b"{", b"[]", b"{}", b'{"arguments": null}', b'{"arguments": []}'):
        refusal(client.post("read_note", body), 400, "Invalid request body", "INVALID_REQUEST")
    large = b'{"arguments": "' + b"x" * 1024 * 1024 + b'"}'
    refusal(client.post("read_note", large), 413, "Request body too large", "BODY_TOO_LARGE")
    refusal(web.ask("GET", f"{BASE}/nothing"), 404, "Not found", "NOT_FOUND")
    wrong_method = web.ask("GET", f"{BASE}/tools/read_note/call")
    refusal(wrong_method, 405, "Method not allowed", "METHOD_NOT_ALLOWED")
    assert wrong_method.headers["allow"] == "POST"


def test_the_cors_of_bridge_protocol_v1(web: Web) -> None:
    headers = web.ask("OPTIONS", f"{BASE}/tools", Origin="app://obsidian.md").headers
    fits(
        {name: value for name, value in headers.items() if name.startswith("access-control-")},
        {
            "access-control-allow-origin": "*",
            "access-control-allow-methods": "GET, POST, OPTIONS",
            "access-control-allow-headers": "Content-Type",
        },
    )
