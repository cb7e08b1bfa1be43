"""Whole sessions through a real process: both eras, and batches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.client import EVERY_TOOL, MODERN_META, TOOLS, Server
from tests.support.world import World

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


@pytest.fixture
def fresh(own_world: World) -> Any:
    """A server that has not been spoken to."""
    with Server(own_world.environment(), "--vault", "Vault") as server:
        yield server


def named(listed: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in listed["tools"]]


def modern(server: Server, method: str, **params: Any) -> dict[str, Any]:
    return server.request(method, {**params, "_meta": MODERN_META})


# The era with a handshake


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_known_revision_is_agreed_on_and_gets_what_it_knows(fresh: Server, revision: str) -> None:
    result = fresh.request("initialize", {"protocolVersion": revision, "capabilities": {}})["result"]
    assert result["protocolVersion"] == revision
    completions: dict[str, Any] = {} if revision == REVISIONS[0] else {"completions": {}}
    assert result["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}, **completions}
    assert result["serverInfo"]["name"] == "obsidian-mcp"
    assert "'Vault'" in result["instructions"]
    assert "cannot work" not in result["instructions"]
    create, read, *_ = fresh.request("tools/list")["result"]["tools"]
    made = fresh.request("tools/call", {"name": "obsidian_create_note", "arguments": {"name": "N"}})["result"]
    structured, annotated = revision not in REVISIONS[:2], revision != REVISIONS[0]
    keys = {"title": structured, "outputSchema": structured, "annotations": annotated}
    assert set(create) == {"name", "description", "inputSchema"} | {key for key, known in keys.items() if known}
    assert ("_meta" in read, "title" in result["serverInfo"]) == (structured, structured)
    assert ("structuredContent" in made) is structured
    assert json.loads(made["content"][0]["text"])["data"]["created"] is True
    fresh.request("initialize", {"protocolVersion": REVISIONS[-1], "capabilities": {}})  # over HTTP, another client
    assert "outputSchema" in fresh.request("tools/list")["result"]["tools"][0]


@pytest.mark.parametrize("params", [{"protocolVersion": "1999-01-01"}, {"protocolVersion": 7}, {}])
def test_an_unknown_revision_is_answered_with_our_newest(fresh: Server, params: Any) -> None:
    assert fresh.request("initialize", params)["result"]["protocolVersion"] == "2025-11-25"


def test_before_initialize_only_harmless_questions_are_answered(fresh: Server) -> None:
    assert fresh.request("ping")["result"] == {}
    assert named(fresh.request("tools/list")["result"]) == TOOLS
    call = {"name": "obsidian_read_note", "arguments": {"name": "x"}}
    assert fresh.request("tools/call", call)["error"]["code"] == -32600
    assert fresh.request("server/discover")["error"]["code"] == -32602
    assert fresh.request("resources/list")["error"]["code"] == -32600
    assert fresh.request("resources/subscribe")["error"]["code"] == -32601


def test_a_legacy_session_lists_and_calls(server: Server, world: World) -> None:
    world.put("Note.md", "hello")
    assert named(server.request("tools/list")["result"]) == EVERY_TOOL
    reply = server.request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Note"}})
    assert reply["result"]["structuredContent"]["data"]["content"] == "hello"
    assert reply["result"]["isError"] is False
    assert "resultType" not in reply["result"]


def test_a_failure_is_an_error_with_a_code_and_a_sentence(server: Server, world: World) -> None:
    reply = server.request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Nope"}})
    assert reply["error"]["code"] == -32003
    assert reply["error"]["data"]["errorCode"] == "FILE_NOT_FOUND"
    assert "Nope" in reply["error"]["message"]


MALFORMED: dict[str, tuple[str, Any, int]] = {
    "an unknown method": ("notes/list", {}, -32601),
    "an unknown tool": ("tools/call", {"name": "obsidian_format_disk", "arguments": {}}, -32602),
    "no tool": ("tools/call", {"arguments": {}}, -32602),
    "a tool of another type": ("tools/call", {"name": 7}, -32602),
    "arguments of another type": ("tools/call", {"name": "obsidian_read_note", "arguments": [1]}, -32602),
    "an array as params": ("tools/call", ["obsidian_read_note"], -32602),
    "a cursor": ("tools/list", {"cursor": "abc"}, -32602),
    "text as params": ("tools/list", "abc", -32600),
}


@pytest.mark.parametrize(("method", "params", "code"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_request_gets_the_right_error(server: Server, method: str, params: Any, code: int) -> None:
    reply = server.request(method, params)
    assert reply["error"]["code"] == code
    assert reply["error"]["data"]["errorCode"]


def test_errors_can_be_sent_as_results(own_world: World) -> None:
    own_world.put("A/Twin.md")
    own_world.put("B/Twin.md")
    with Server(own_world.environment(), "--vault", "Vault", "--errors", "result") as server:
        server.initialize()
        reply = server.request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Twin"}})
        bad = server.request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": 7}})
        unknown = server.request("tools/call", {"name": "nope"})
    result = reply["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert "A/Twin.md" in result["content"][0]["text"]
    assert result["_meta"]["obsidian-mcp/error"]["code"] == -32004
    assert result["_meta"]["obsidian-mcp/error"]["errorCode"] == "AMBIGUOUS_NAME"
    assert bad["result"]["_meta"]["obsidian-mcp/error"]["code"] == -32602
    assert unknown["error"]["code"] == -32602


# The era without one


def test_a_stateless_client_needs_no_handshake(fresh: Server) -> None:
    found = modern(fresh, "server/discover")["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    lists = {"listChanged": False}
    assert found["capabilities"] == {"tools": lists, "resources": lists, "prompts": lists, "completions": {}}
    listed = modern(fresh, "tools/list")["result"]
    assert named(listed) == TOOLS
    made = modern(fresh, "tools/call", name="obsidian_create_note", arguments={"name": "N", "content": "x"})["result"]
    assert made["structuredContent"]["data"]["created"] is True
    for result in (found, listed, made):
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "obsidian-mcp"
    assert (found["ttlMs"] > 0, found["cacheScope"]) == (True, "private")  # its instructions name the vault
    assert (listed["ttlMs"] > 0, listed["cacheScope"]) == (True, "public")


def test_a_list_with_the_names_of_vaults_is_not_for_shared_caches(own_world: World) -> None:
    vaults = ("--vault", str(own_world.vault), "--vault", str(own_world.folder))
    with Server(own_world.environment(), *vaults, "--backend", "embedded", "--read-only") as server:
        assert modern(server, "tools/list")["result"]["cacheScope"] == "private"
        found = modern(server, "server/discover")["result"]
        begun = server.request("initialize", {"protocolVersion": "2025-11-25"})["result"]
        missing = modern(server, "tools/call", name="obsidian_read_note", arguments={"name": "Nope"})["result"]
    assert "create_note" not in missing["content"][0]["text"]  # a tool that is switched off
    assert begun["instructions"] == found["instructions"]
    assert found["instructions"].startswith("Use these tools whenever the user means their notes")
    for told in (own_world.vault.name, "only read", "obsidian_open_note cannot work"):
        assert told in found["instructions"]


@pytest.mark.parametrize(
    ("arguments", "code"), [({"name": "Nope"}, -32003), ({"name": "../x"}, -32602), ({"nam": "x"}, -32602)]
)
def test_a_stateless_client_gets_failures_as_results(fresh: Server, arguments: Any, code: int) -> None:
    result = modern(fresh, "tools/call", name="obsidian_read_note", arguments=arguments)["result"]
    assert (result["isError"], result["resultType"]) == (True, "complete")
    assert result["_meta"]["obsidian-mcp/error"]["code"] == code
    assert "structuredContent" not in result


@pytest.mark.parametrize("method", ["ping", "initialize", "subscriptions/listen", "logging/setLevel", "nope"])
def test_what_the_stateless_era_has_not_is_not_found(fresh: Server, method: str) -> None:
    assert modern(fresh, method)["error"]["code"] == -32601


def test_an_unknown_tool_stays_an_error_in_the_stateless_era(fresh: Server) -> None:
    assert modern(fresh, "tools/call", name="nope")["error"]["code"] == -32602


def test_a_stateless_revision_that_is_not_spoken_is_refused_with_those_that_are(fresh: Server) -> None:
    meta = {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}
    error = fresh.request("tools/list", {"_meta": meta})["error"]
    assert error["code"] == -32022
    assert (error["data"]["supported"], error["data"]["requested"]) == (["2026-07-28"], "2027-01-01")


@pytest.mark.parametrize(
    "meta",
    [
        {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
        {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": []},
        {**MODERN_META, "io.modelcontextprotocol/protocolVersion": 7},
    ],
)
def test_an_incomplete_envelope_is_refused(fresh: Server, meta: Any) -> None:
    assert fresh.request("tools/list", {"_meta": meta})["error"]["code"] == -32602


def test_both_eras_can_share_a_process(fresh: Server) -> None:
    assert modern(fresh, "tools/list")["result"]["resultType"] == "complete"
    assert fresh.request("tools/call", {"name": "obsidian_read_note"})["error"]["code"] == -32600
    fresh.initialize()
    assert "resultType" not in fresh.request("tools/list")["result"]
    assert modern(fresh, "tools/list")["result"]["resultType"] == "complete"


# Batches


def test_a_batch_is_answered_as_a_batch(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Server(own_world.environment(), "--vault", "Vault") as server:
        server.initialize("2025-03-26")
        call = {"name": "obsidian_read_note", "arguments": {"name": "Note"}}
        server.send(
            [
                {"jsonrpc": "2.0", "id": "a", "method": "ping"},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": call},
                {"jsonrpc": "2.0", "id": "c", "method": "nope"},
                {"jsonrpc": "2.0", "id": "d", "method": "initialize", "params": {}},
                7,
            ]
        )
        server.wait("b")
        server.wait(None)
        batch = server.said[-1]
        replies = {reply["id"]: reply for reply in batch}
        assert len(batch) == 5
        assert replies["a"]["result"] == {}
        assert json.loads(replies["b"]["result"]["content"][0]["text"])["data"]["content"] == "x"
        assert replies["c"]["error"]["code"] == -32601
        assert replies["d"]["error"]["code"] == -32600
        assert replies[None]["error"]["code"] == -32600
        server.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
        server.send([])
        assert server.wait(None)["error"]["code"] == -32600
        assert server.said[-1]["error"]["code"] == -32600


def test_a_batch_in_any_other_revision_is_one_error(server: Server) -> None:
    server.send([{"jsonrpc": "2.0", "id": "a", "method": "ping"}])
    assert server.wait(None)["error"]["code"] == -32600
