"""Streamable HTTP, over a real socket. The ids are those of specs/http.md."""

from __future__ import annotations

import base64
import threading
from typing import Any

import pytest

from tests.support.client import MODERN_META, TOOLS
from tests.support.web import MCP, Web, WebSession
from tests.support.world import World

MODERN = {"MCP-Protocol-Version": "2026-07-28"}


def message(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def modern(method: str, **params: Any) -> dict[str, Any]:
    return message(method, {**params, "_meta": MODERN_META})


def mirrors(method: str, name: str | None = None) -> dict[str, str]:
    return {**MODERN, "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}


def begin(web: Web, revision: str = "2025-11-25") -> dict[str, str]:
    reply = web.rpc(message("initialize", {"protocolVersion": revision, "capabilities": {}}))
    assert reply.json["result"]["protocolVersion"] == revision
    return {"Mcp-Session-Id": reply.headers["mcp-session-id"], "MCP-Protocol-Version": revision}


def test_t1_one_message_one_json_reply(web: Web) -> None:
    reply = web.rpc(message("tools/list"), begin(web))
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert [tool["name"] for tool in reply.json["result"]["tools"]] == TOOLS


def test_t1_batches_are_spoken_in_one_revision_only(web: Web) -> None:
    batch = [message("ping", id=1), message("ping", id=2), {"jsonrpc": "2.0", "method": "notifications/x"}]
    reply = web.rpc(batch, begin(web, "2025-03-26"))
    assert [one["id"] for one in reply.json] == [1, 2]
    reply = web.rpc(batch, begin(web))
    assert (reply.status, reply.json["error"]["code"]) == (400, -32600)


def test_t1_a_batch_as_large_as_may_be_holds_up_nobody(web: Web, world: World) -> None:
    """Its bytes count once, not once for each call: else it would wait for room that only it could make."""
    world.put("Note.md", "x")
    call = {"name": "obsidian_read_note", "arguments": {"name": "Note.md"}}
    batch = [{**message("tools/call", call, id=number), "padding": "x" * 850} for number in range(1000)]
    reply = web.rpc(batch, begin(web, "2025-03-26"))
    assert len(reply.json) == 1000
    assert all("result" in one for one in reply.json)


def test_t1_a_batch_of_calls_is_answered_whole(web: Web, world: World) -> None:
    for name in "abc":
        world.put(f"{name}.md", name)
    headers = begin(web, "2025-03-26")
    for _ in range(20):
        calls = [
            message("tools/call", {"name": "obsidian_read_note", "arguments": {"name": name}}, id=name)
            for name in "abc"
        ]
        reply = web.rpc([*calls, message("ping", id="p")], headers)
        assert {one["id"] for one in reply.json} == {"a", "b", "c", "p"}


def test_t2_a_call_with_progress_is_a_stream_that_ends_with_the_reply(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("slow", seconds=2, commands=["open"])
    with Web(own_world.environment()) as web:
        call = {"name": "obsidian_open_note", "arguments": {"name": "Note.md"}, "_meta": {"progressToken": "t"}}
        reply = web.rpc(message("tools/call", call), begin(web))
    assert reply.headers["content-type"].startswith("text/event-stream")
    *notices, last = reply.events
    assert notices
    assert all(notice["params"]["progressToken"] == "t" for notice in notices)
    assert last["id"] == 1
    assert last["result"]["isError"] is False


def test_t2_without_progress_the_reply_is_json_even_if_it_was_asked_for(web: Web, world: World) -> None:
    world.put("Note.md", "x")
    call = {"name": "obsidian_read_note", "arguments": {"name": "Note"}, "_meta": {"progressToken": 1}}
    reply = web.rpc(message("tools/call", call), begin(web))
    assert reply.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "body", [{"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 9, "result": {}}]
)
def test_t3_what_needs_no_reply_is_accepted(web: Web, body: Any) -> None:
    for headers in (begin(web), {}):
        reply = web.rpc(body, headers)
        assert (reply.status, reply.body) == (202, b"")


def test_t3_a_modern_notification_is_accepted_too(web: Web) -> None:
    reply = web.rpc({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}, MODERN)
    assert (reply.status, reply.body) == (202, b"")


@pytest.mark.parametrize("id", ["nonsense", "2025-11-25.abc.def", "2026-07-28.a.b", ""])
def test_t4_a_session_that_is_not_ours_is_404(web: Web, id: str) -> None:
    reply = web.rpc(message("tools/list"), {"Mcp-Session-Id": id})
    assert reply.status == 404
    assert "initialize" in reply.json["error"]["message"]


def test_t4_a_session_does_not_outlive_the_server(own_world: World) -> None:
    with Web(own_world.environment()) as web:
        headers = begin(web)
    with Web(own_world.environment()) as web:
        assert web.rpc(message("tools/list"), headers).status == 404


def test_t4_a_client_without_a_session_is_served(web: Web, world: World) -> None:
    world.put("Note.md", "x")
    call = message("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Note"}})
    for headers in ({}, {"MCP-Protocol-Version": "2025-06-18"}):
        assert web.rpc(call, headers).json["result"]["isError"] is False


def test_t4_a_session_can_be_ended(web: Web) -> None:
    headers, other = begin(web), begin(web)
    assert web.ask("DELETE", "/mcp", headers=headers).status == 204
    assert web.rpc(message("tools/list"), headers).status == 404
    assert web.ask("DELETE", "/mcp", headers=headers).status == 404
    assert web.rpc(message("tools/list"), other).status == 200


def test_t4_ending_a_session_ends_its_calls(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang", commands=["open"])
    call = message("tools/call", {"name": "obsidian_open_note", "arguments": {"name": "Note.md"}})
    with Web(own_world.environment(), "--timeout", "600") as web:
        mine = begin(web)
        thread = threading.Thread(target=lambda: web.rpc(call, mine), daemon=True)
        thread.start()
        own_world.wait_for_a_hanging_call()
        assert web.ask("DELETE", "/mcp", headers=mine).status == 204
        own_world.wait_until_all_are_gone()
        thread.join(60)
        assert not thread.is_alive()


def test_t5_a_version_that_is_not_spoken_is_400(web: Web) -> None:
    reply = web.rpc(message("tools/list"), {"MCP-Protocol-Version": "1999-01-01"})
    assert (reply.status, reply.json["error"]["code"]) == (400, -32600)
    assert "2025-11-25" in reply.json["error"]["message"]


def test_t6_a_call_is_cancelled_in_its_own_session_alone(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang", commands=["open"])
    call = message("tools/call", {"name": "obsidian_open_note", "arguments": {"name": "Note.md"}}, id=7)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    with Web(own_world.environment(), "--timeout", "60") as web:
        mine, other = begin(web), begin(web)
        answers: list[int] = []
        thread = threading.Thread(target=lambda: answers.append(web.rpc(call, mine).status))
        thread.start()
        own_world.wait_for_a_hanging_call()
        assert web.rpc(cancel, other).status == 202
        assert web.rpc(message("ping"), mine).status == 200
        assert thread.is_alive()
        assert web.rpc(cancel, mine).status == 202
        thread.join(60)
        own_world.wait_until_all_are_gone()
    assert answers == [202]


def test_t7_what_is_not_offered_has_its_status(web: Web) -> None:
    for method in ("GET", "DELETE"):
        reply = web.ask(method, "/mcp", headers=MCP)
        assert (reply.status, reply.headers["allow"]) == (405, "POST")
        assert reply.json["error"]["message"]
    stream_only = {**MCP, "Accept": "text/event-stream"}
    assert web.ask("POST", "/mcp", message("ping"), stream_only).status == 406
    assert web.ask("POST", "/mcp", message("ping"), {**MCP, "Content-Type": "text/plain"}).status == 415
    assert web.rpc(b'"' + b"x" * (1024 * 1024) + b'"').status == 413
    reply = web.rpc(b"{")
    assert (reply.status, reply.json["error"]["code"], reply.json["id"]) == (400, -32700, None)


def test_t8_the_stateless_era_works_with_its_mirrors(web: Web, world: World) -> None:
    world.put("Note.md", "x")
    found = web.rpc(modern("server/discover"), mirrors("server/discover"))
    assert (found.status, found.json["result"]["supportedVersions"]) == (200, ["2026-07-28"])
    assert "mcp-session-id" not in found.headers
    call = modern("tools/call", name="obsidian_read_note", arguments={"name": "Note"})
    reply = web.rpc(call, mirrors("tools/call", "obsidian_read_note"))
    assert reply.json["result"]["structuredContent"]["data"]["content"] == "x"
    encoded = "=?base64?" + base64.b64encode(b"obsidian_read_note").decode() + "?="
    assert web.rpc(call, mirrors("tools/call", encoded)).status == 200


MISMATCHES = {
    "no version": {"Mcp-Method": "tools/call", "Mcp-Name": "obsidian_read_note"},
    "another version": {**mirrors("tools/call", "obsidian_read_note"), "MCP-Protocol-Version": "2025-11-25"},
    "no method": {**MODERN, "Mcp-Name": "obsidian_read_note"},
    "another method": mirrors("tools/list", "obsidian_read_note"),
    "no name": mirrors("tools/call"),
    "another name": mirrors("tools/call", "obsidian_delete_note"),
    "a name that is no base64": mirrors("tools/call", "=?base64?***?="),
}


@pytest.mark.parametrize("headers", MISMATCHES.values(), ids=MISMATCHES)
def test_t8_headers_that_say_something_else_are_told(web: Web, headers: dict[str, str]) -> None:
    call = modern("tools/call", name="obsidian_read_note", arguments={"name": "Note"})
    reply = web.rpc(call, headers)
    assert (reply.status, reply.json["error"]["code"], reply.json["id"]) == (400, -32020, 1)


def test_t8_a_header_twice_is_told(web: Web) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n"
        "Content-Type: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\nMCP-Protocol-Version: 2025-06-18\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    said = web.raw(head.encode() + body)
    assert said.startswith(b"HTTP/1.1 400")
    assert b"-32020" in said


def test_t9_errors_of_the_stateless_era_have_statuses(web: Web) -> None:
    reply = web.rpc(modern("ping"), mirrors("ping"))
    assert (reply.status, reply.json["error"]["code"]) == (404, -32601)
    reply = web.rpc(modern("tools/call", arguments={}), mirrors("tools/call"))
    assert (reply.status, reply.json["error"]["code"]) == (400, -32602)
    meta = {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}
    reply = web.rpc(
        message("tools/list", {"_meta": meta}), {"MCP-Protocol-Version": "2030-01-01", "Mcp-Method": "tools/list"}
    )
    assert (reply.status, reply.json["error"]["code"]) == (400, -32022)
    reply = web.rpc(message("tools/list"), mirrors("tools/list"))
    assert (reply.status, reply.json["error"]["code"]) == (400, -32602)
    reply = web.rpc(message("nope"), begin(web))
    assert (reply.status, reply.json["error"]["code"]) == (200, -32601)


def test_a_tools_failure_is_no_error_of_the_transport(web: Web) -> None:
    call = modern("tools/call", name="obsidian_read_note", arguments={"name": "Nope"})
    reply = web.rpc(call, mirrors("tools/call", "obsidian_read_note"))
    assert (reply.status, reply.json["result"]["isError"]) == (200, True)
    reply = web.rpc(message("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Nope"}}), begin(web))
    assert (reply.status, reply.json["error"]["code"]) == (200, -32003)


def test_a_session_from_beginning_to_end(web: Web, world: World) -> None:
    session = WebSession(web)
    session.call("create_note", name="New", content="x")
    assert session.call("read_note", name="New")["content"] == "x"
    assert world.has("New.md")


def test_t8_a_resource_is_named_in_the_header_too(web: Web, world: World) -> None:
    world.put("Täg/Note.md", "x")
    uri = "obsidian://vault/Vault/Täg/Note.md"
    encoded = "=?base64?" + base64.b64encode(uri.encode()).decode() + "?="
    asked = modern("resources/read", uri=uri)
    reply = web.rpc(asked, mirrors("resources/read", encoded))
    assert (reply.status, reply.json["result"]["contents"][0]["uri"]) == (200, uri)
    reply = web.rpc(asked, mirrors("resources/read", "obsidian://vault/Vault/Other.md"))
    assert (reply.status, reply.json["error"]["code"]) == (400, -32020)
    missing = "obsidian://vault/Vault/Nowhere.md"
    reply = web.rpc(modern("resources/read", uri=missing), mirrors("resources/read", missing))
    assert (reply.json["error"]["code"], reply.json["error"]["data"]["uri"]) == (-32602, missing)


def test_resources_are_there_in_a_session_too(web: Web, world: World) -> None:
    world.put("Note.md", "x")
    headers = begin(web)
    (resource,) = web.rpc(message("resources/list"), headers).json["result"]["resources"]
    reply = web.rpc(message("resources/read", {"uri": resource["uri"]}), headers)
    assert reply.json["result"]["contents"] == [{"uri": resource["uri"], "mimeType": "text/markdown", "text": "x"}]
    reply = web.rpc(message("resources/read", {"uri": f"{resource['uri']}x"}), headers)
    assert (reply.status, reply.json["error"]["code"]) == (200, -32002)


def test_t8_a_prompt_is_named_in_the_header_too(web: Web) -> None:
    asked = modern("prompts/get", name="capture")
    assert web.rpc(asked, mirrors("prompts/get", "capture")).json["result"]["messages"]
    assert web.rpc(asked, mirrors("prompts/get", "tidy")).json["error"]["code"] == -32020
