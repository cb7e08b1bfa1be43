"""Bridge Protocol v1, over a real socket. The ids are those of specs/http.md."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from typing import Any

import pytest

from obsidian_mcp import __version__
from tests.support.client import PATIENCE, READING, TOOLS
from tests.support.web import Reply, Web
from tests.support.world import World

BASE = "/bridge/v1"
READ = f"{BASE}/tools/obsidian_read_note/call"


def problem(reply: Reply, status: int, error: str, code: str) -> dict[str, Any]:
    """B8: what every error has, and nothing more."""
    body: dict[str, Any] = reply.json
    assert (reply.status, body["error"], body["code"]) == (status, error, code)
    assert set(body) - {"details"} == {"error", "message", "code"}
    assert body["message"]
    assert reply.headers["content-type"] == "application/json"
    return body


def test_b1_health_says_who_is_there(web: Web) -> None:
    reply = web.ask("GET", f"{BASE}/health")
    assert (reply.status, reply.json) == (200, {"status": "ok", "version": __version__, "protocolVersion": "1"})


def test_b2_tools_are_listed_by_name(web: Web) -> None:
    listed = web.ask("GET", f"{BASE}/tools").json
    names = [tool["name"] for tool in listed["tools"]]
    assert names == sorted(TOOLS)
    assert all(set(tool) == {"name", "description", "inputSchema"} for tool in listed["tools"])


HASH = """
const deepSort = (obj) => Array.isArray(obj) ? obj.map(deepSort)
  : obj !== null && typeof obj === "object"
    ? Object.keys(obj).sort().reduce((acc, key) => { acc[key] = deepSort(obj[key]); return acc; }, {}) : obj;
const { tools } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const sorted = tools.sort((a, b) => a.name.localeCompare(b.name))
  .map(t => deepSort({ name: t.name, description: t.description, inputSchema: t.inputSchema }));
process.stdout.write(require("crypto").createHash("sha256").update(JSON.stringify(sorted)).digest("hex"));
"""


def test_b3_the_hash_is_over_sorted_json(web: Web) -> None:
    listed = web.ask("GET", f"{BASE}/tools").json
    text = json.dumps(listed["tools"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert listed["hash"] == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.skipif(shutil.which("node") is None, reason="the contract's own code is JavaScript")
def test_b3_the_hash_is_what_the_contracts_javascript_makes_of_it(web: Web) -> None:
    body = web.ask("GET", f"{BASE}/tools").body
    made = subprocess.run(["node", "-e", HASH], input=body, capture_output=True, timeout=PATIENCE, check=True)
    assert made.stdout.decode() == json.loads(body)["hash"]


def test_b4_b5_a_call_returns_mcp_content(web: Web, world: World) -> None:
    world.put("Note.md", "$\\nabla$\n")
    reply = web.ask("POST", READ, {"arguments": {"name": "Note"}})
    assert reply.status == 200
    assert set(reply.json) == {"success", "content"}
    (content,) = reply.json["content"]
    assert content["type"] == "text"
    assert json.loads(content["text"])["data"]["content"] == "$\\nabla$\n"


def test_b4_a_name_is_url_encoded_and_may_hold_a_slash(web: Web) -> None:
    body = problem(web.ask("POST", f"{BASE}/tools/a%2Fb%20c/call", b"{}"), 404, "Tool not found", "TOOL_NOT_FOUND")
    assert body["message"] == "Tool 'a/b c' not found"
    encoded = READ.replace("_", "%5F")
    assert web.ask("POST", encoded, {"arguments": {"name": "Nope"}}).json["success"] is False


def test_b13_a_tool_may_be_named_without_its_prefix(web: Web, world: World) -> None:
    world.put("Notes/Example.md", "text")
    short = f"{BASE}/tools/read_note/call"
    assert web.ask("POST", short, {"arguments": {"name": "Notes/Example.md"}}).json["success"] is True
    problem(web.ask("POST", f"{BASE}/tools/note/call", {"arguments": {}}), 404, "Tool not found", "TOOL_NOT_FOUND")


def test_b6_a_failure_of_the_tool_is_a_200_that_says_so(web: Web) -> None:
    reply = web.ask("POST", READ, {"arguments": {"name": "Nope"}})
    assert reply.status == 200
    assert reply.json["success"] is False
    assert reply.json["isError"] is True
    assert reply.json["content"][0]["text"].startswith("Error: There is no note 'Nope'")


@pytest.mark.parametrize(
    ("mood", "limit", "said"), [("not-running", "60", "not running"), ("hang", "0.2", "limit of 0.2 s")]
)
def test_b6_an_app_that_is_closed_or_slow_is_one_too(own_world: World, mood: str, limit: str, said: str) -> None:
    own_world.put("Note.md", "x")
    own_world.mood(mood)
    with Web(own_world.environment(), "--timeout", limit) as web:
        reply = web.ask("POST", f"{BASE}/tools/obsidian_open_note/call", {"arguments": {"name": "Note.md"}})
    assert (reply.status, reply.json["isError"]) == (200, True)
    assert said in reply.json["content"][0]["text"]


TOO_LARGE = b'{"arguments": {"name": "' + b"x" * (1024 * 1024) + b'"}}'


def test_b7_the_checks_come_in_order(web: Web) -> None:
    """Each request is wrong in every way that comes after, and told the first."""
    problem(web.ask("POST", f"{BASE}/nope", TOO_LARGE), 404, "Not found", "NOT_FOUND")
    reply = web.ask("PUT", f"{BASE}/tools/nope/call", TOO_LARGE)
    problem(reply, 405, "Method not allowed", "METHOD_NOT_ALLOWED")
    assert reply.headers["allow"] == "POST"
    problem(web.ask("POST", f"{BASE}/tools/nope/call", TOO_LARGE), 404, "Tool not found", "TOOL_NOT_FOUND")
    problem(web.ask("POST", READ, TOO_LARGE + b"{"), 413, "Request body too large", "BODY_TOO_LARGE")
    problem(web.ask("POST", READ, b'{"arguments": {"nam": 1}'), 400, "Invalid request body", "INVALID_REQUEST")
    problem(web.ask("POST", READ, {"arguments": {"nam": 1}}), 400, "Invalid arguments", "INVALID_ARGUMENTS")


@pytest.mark.parametrize("path", ["health", "tools"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_b7_reading_endpoints_take_get(web: Web, path: str, method: str) -> None:
    reply = web.ask(method, f"{BASE}/{path}", b"{}")
    problem(reply, 405, "Method not allowed", "METHOD_NOT_ALLOWED")
    assert "GET" in reply.headers["allow"]


SHAPES = {
    "nothing": b"",
    "no JSON": b"hello",
    "no object": b"[]",
    "no arguments": b"{}",
    "null": b'{"arguments": null}',
    "an array": b'{"arguments": []}',
    "a text": b'{"arguments": "x"}',
    "not UTF-8": b'{"arguments": {"name": "\xff"}}',
    "NaN": b'{"arguments": {"name": NaN}}',
    "too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
def test_b7_a_body_must_be_an_object_with_arguments(web: Web, body: bytes) -> None:
    problem(web.ask("POST", READ, body), 400, "Invalid request body", "INVALID_REQUEST")


def test_b9_details_tell_what_is_missing_and_what_is_wrong(web: Web) -> None:
    path = f"{BASE}/tools/obsidian_append_note/call"
    body = problem(
        web.ask("POST", path, {"arguments": {"name": 1, "colour": "red"}}),
        400,
        "Invalid arguments",
        "INVALID_ARGUMENTS",
    )
    assert body["details"]["missing"] == ["content"]
    assert {one["name"] for one in body["details"]["invalid"]} == {"name", "colour"}
    assert all(one["problem"] for one in body["details"]["invalid"])


def test_b8_there_are_no_details_where_there_is_nothing_to_tell(web: Web) -> None:
    assert "details" not in web.ask("GET", f"{BASE}/nope").json


def test_b10_b11_a_tool_that_is_switched_off_is_unknown(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Web(own_world.environment(), "--read-only") as web:
        path = f"{BASE}/tools/obsidian_delete_note/call"
        body = problem(web.ask("POST", path, {"arguments": {"name": "Note"}}), 404, "Tool not found", "TOOL_NOT_FOUND")
        assert body["message"] == "Tool 'obsidian_delete_note' not found"
        assert [tool["name"] for tool in web.ask("GET", f"{BASE}/tools").json["tools"]] == sorted(READING)
    assert own_world.has("Note.md")


def test_b12_those_who_are_admitted_get_the_contracts_cors_headers(web: Web) -> None:
    for reply in (
        web.ask("GET", f"{BASE}/health"),
        web.ask("GET", f"{BASE}/nope", Origin="app://obsidian.md"),
        web.ask("OPTIONS", READ, Origin="app://obsidian.md"),
    ):
        assert reply.headers["access-control-allow-origin"] == "*"
        assert reply.headers["access-control-allow-methods"] == "GET, POST, OPTIONS"
        assert reply.headers["access-control-allow-headers"] == "Content-Type"
    assert web.ask("OPTIONS", READ).status == 204
