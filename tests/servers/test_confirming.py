"""The person is asked before what can't be taken back: over stdio in both eras, and over HTTP in the newer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import MODERN_META, Server, ToolFailed
from tests.support.web import Web
from tests.support.world import World

YES = {"action": "accept", "content": {"confirm": True}}
NO: dict[str, Any] = {
    "no": {"action": "accept", "content": {"confirm": False}},
    "declined": {"action": "decline"},
    "cancelled": {"action": "cancel"},
    "nonsense": "yes",
}
ASKS = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
DELETE = {"name": "obsidian_delete_note", "arguments": {"name": "Note", "permanent": True}}


@pytest.fixture
def vault(own_world: World) -> World:
    own_world.put("Note.md", "0123456789")
    own_world.put("Other.md", "[[Note]]")
    return own_world


@pytest.fixture(params=["embedded", "obsidian"])
def server(request: pytest.FixtureRequest, vault: World) -> Iterator[Server]:
    options = ("--vault", "Vault", "--backend", request.param, "--toolsets", "all")
    with Server(vault.environment(), *options) as server:
        yield server


def begin(server: Server, revision: str = "2025-11-25", **elicitation: Any) -> Server:
    capabilities = {"elicitation": elicitation}
    server.request("initialize", {"protocolVersion": revision, "capabilities": capabilities})
    return server


def answer(server: Server, asked: dict[str, Any], result: Any) -> None:
    server.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})


# Under the older revisions


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_a_yes_deletes_it_for_good(server: Server, vault: World, revision: str) -> None:
    begin(server, revision)
    call = server.begin("tools/call", DELETE)
    asked = server.wait("elicitation/create")
    assert vault.has("Note.md")
    message = asked["params"]["message"]
    assert "Note.md" in message
    assert "10 bytes" in message
    assert "undone" in message
    assert ("mode" in asked["params"]) == (revision != "2025-06-18")
    answer(server, asked, YES)
    assert server.end_call(call)["trashed"] is False
    assert not vault.has("Note.md")


def test_without_the_app_the_links_to_it_are_told(vault: World) -> None:
    with Server(vault.environment(), "--vault", "Vault", "--backend", "embedded") as server:
        begin(server).begin("tools/call", DELETE)
        assert "1 note links to it" in server.wait("elicitation/create")["params"]["message"]


@pytest.mark.parametrize("said", NO.values(), ids=NO)
def test_anything_else_changes_nothing(server: Server, vault: World, said: Any) -> None:
    before = vault.tree()
    call = begin(server).begin("tools/call", DELETE)
    answer(server, server.wait("elicitation/create"), said)
    with pytest.raises(ToolFailed) as caught:
        server.end_call(call)
    assert (caught.value.code, caught.value.error_code) == (-32000, "NOT_CONFIRMED")
    assert "Nothing was changed." in caught.value.message
    assert "leave permanent out" in caught.value.message
    assert vault.tree() == before


def test_an_error_for_an_answer_is_no_yes(server: Server, vault: World) -> None:
    call = begin(server).begin("tools/call", DELETE)
    asked = server.wait("elicitation/create")
    server.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}})
    with pytest.raises(ToolFailed):
        server.end_call(call)
    assert vault.has("Note.md")


def test_while_a_person_thinks_others_write_and_no_clock_runs(vault: World) -> None:
    options = ("--vault", "Vault", "--backend", "embedded", "--timeout", "1")
    with Server(vault.environment(), *options) as server:
        call = begin(server).begin("tools/call", DELETE)
        asked = server.wait("elicitation/create")
        server.call("append_note", name="Other", content="x")
        assert server.call("read_note", name="Note")["content"] == "0123456789"
        server.request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Nowhere"}})
        answer(server, asked, YES)
        assert server.end_call(call)["deleted"] is True


def test_a_note_that_changes_meanwhile_stays(server: Server, vault: World) -> None:
    call = begin(server).begin("tools/call", DELETE)
    asked = server.wait("elicitation/create")
    vault.put("Note.md", "something new")
    answer(server, asked, YES)
    with pytest.raises(ToolFailed) as caught:
        server.end_call(call)
    assert caught.value.error_code == "CONFLICT"
    assert vault.get("Note.md") == b"something new"


def test_a_cancelled_call_takes_its_question_back(server: Server, vault: World) -> None:
    call = begin(server).begin("tools/call", DELETE)
    asked = server.wait("elicitation/create")
    server.notify("notifications/cancelled", {"requestId": call})
    assert server.wait("notifications/cancelled")["params"]["requestId"] == asked["id"]
    answer(server, asked, YES)
    assert server.request("ping")["result"] == {}
    assert vault.has("Note.md")
    assert all(message.get("id") != call for message in server.said)
    assert server.finish() == 0


def test_where_the_input_ends_no_answer_can_come(server: Server, vault: World) -> None:
    call = begin(server).begin("tools/call", DELETE)
    server.wait("elicitation/create")
    assert server.finish() == 0
    assert server.wait(call)["error"]["data"]["errorCode"] == "NOT_CONFIRMED"
    assert vault.has("Note.md")


def test_a_question_after_the_end_of_the_input_is_not_put(vault: World) -> None:
    with Server(vault.environment(), "--vault", "Vault", "--backend", "embedded", forked=False) as server:
        begin(server)
        message = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": DELETE}
        server.write(json.dumps(message).encode() + b"\n")
        assert server.finish() == 0
        assert server.wait(9)["error"]["data"]["errorCode"] == "NOT_CONFIRMED"
    assert vault.has("Note.md")


def test_two_questions_have_their_own_answers(server: Server, vault: World) -> None:
    begin(server)
    second = {**DELETE, "arguments": {"name": "Other", "permanent": True}}
    calls = [server.begin("tools/call", each) for each in (DELETE, second)]
    asked = [server.wait("elicitation/create") for _ in calls]
    for each in asked:
        answer(server, each, YES if "Other.md" in each["params"]["message"] else NO["no"])
    assert server.end_call(calls[1])["deleted"] is True
    with pytest.raises(ToolFailed):
        server.end_call(calls[0])
    assert (vault.has("Note.md"), vault.has("Other.md")) == (True, False)


CANNOT_ASK: dict[str, tuple[str, Any]] = {
    "no capability": ("2025-11-25", None),
    "addresses alone": ("2025-11-25", {"url": {}}),
    "a revision that has no questions": ("2025-03-26", {}),
}


@pytest.mark.parametrize(("revision", "elicitation"), CANNOT_ASK.values(), ids=CANNOT_ASK)
def test_a_client_that_cannot_ask_is_served_without(
    server: Server, vault: World, revision: str, elicitation: Any
) -> None:
    capabilities = {} if elicitation is None else {"elicitation": elicitation}
    server.request("initialize", {"protocolVersion": revision, "capabilities": capabilities})
    assert server.request("tools/call", DELETE)["result"]["isError"] is False
    assert not vault.has("Note.md")


def test_nothing_is_asked_for_the_trash_or_a_mistake(server: Server) -> None:
    begin(server)
    assert server.call("delete_note", name="Other")["trashed"] is True
    for wrong in ({"name": "Nowhere"}, {"name": "Note", "if_match": "0" * 16}):
        with pytest.raises(ToolFailed) as caught:
            server.call("delete_note", permanent=True, **wrong)
        assert caught.value.error_code in ("FILE_NOT_FOUND", "CONFLICT")


# In the stateless era


def modern(server: Server, **more: Any) -> dict[str, Any]:
    reply = server.request("tools/call", {**DELETE, **more, "_meta": ASKS})
    found: dict[str, Any] = reply.get("result") or reply
    return found


def test_a_call_that_has_to_ask_is_sent_again_with_the_answer(server: Server, vault: World) -> None:
    asked = modern(server)
    assert asked["resultType"] == "input_required"
    request = asked["inputRequests"]["confirm"]
    assert (request["method"], request["params"]["mode"]) == ("elicitation/create", "form")
    assert vault.has("Note.md")
    done = modern(server, inputResponses={"confirm": YES}, requestState=asked["requestState"])
    assert (done["resultType"], done["isError"]) == ("complete", False)
    assert not vault.has("Note.md")


@pytest.mark.parametrize("said", NO.values(), ids=NO)
def test_in_the_stateless_era_too_anything_else_changes_nothing(server: Server, vault: World, said: Any) -> None:
    state = modern(server)["requestState"]
    done = modern(server, inputResponses={"confirm": said, "other": YES}, requestState=state)
    assert (done["isError"], done["_meta"]["obsidian-mcp/error"]["errorCode"]) == (True, "NOT_CONFIRMED")
    assert vault.has("Note.md")


def test_an_answer_without_its_question_is_no_answer(server: Server, vault: World) -> None:
    for more in (
        {"inputResponses": {"confirm": YES}},
        {"requestState": modern(server)["requestState"]},
        {"requestState": modern(server)["requestState"], "inputResponses": {"else": YES}},
    ):
        assert modern(server, **more)["resultType"] == "input_required"
    assert vault.has("Note.md")


def test_a_state_that_is_not_ours_or_of_another_call_is_refused(server: Server, vault: World) -> None:
    other = {"name": "obsidian_delete_note", "arguments": {"name": "Other", "permanent": True}}
    of_other = server.request("tools/call", {**other, "_meta": ASKS})["result"]["requestState"]
    for state in ("x", of_other, of_other[:-1] + "!"):
        reply = modern(server, inputResponses={"confirm": YES}, requestState=state)
        assert reply["error"]["code"] == -32602
    assert vault.has("Note.md")


def test_in_the_stateless_era_too_a_note_that_changes_meanwhile_stays(server: Server, vault: World) -> None:
    state = modern(server)["requestState"]
    vault.put("Note.md", "something new")
    done = modern(server, inputResponses={"confirm": YES}, requestState=state)
    assert done["_meta"]["obsidian-mcp/error"]["errorCode"] == "CONFLICT"
    assert vault.get("Note.md") == b"something new"


def test_in_the_stateless_era_too_who_cannot_ask_is_served_without(server: Server, vault: World) -> None:
    result = server.request("tools/call", {**DELETE, "_meta": MODERN_META})["result"]
    assert result["resultType"] == "complete"
    assert not vault.has("Note.md")


def test_in_the_stateless_era_it_asks_over_http_too(vault: World) -> None:
    mirrors = {
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "obsidian_delete_note",
    }  # fmt: skip

    def message(params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    with Web(vault.environment(), "--vault", str(vault.vault), "--backend", "embedded") as web:
        asked = web.rpc(message({**DELETE, "_meta": ASKS}), mirrors).json["result"]
        again = {**DELETE, "inputResponses": {"confirm": YES}, "requestState": asked["requestState"], "_meta": ASKS}
        assert web.rpc(message(again), mirrors).json["result"]["isError"] is False
        assert not vault.has("Note.md")


# Many notes at once


ACTS: dict[str, tuple[str, dict[str, Any]]] = {
    "replace": ("replace_in_notes", {"query": "", "old_text": "word", "new_text": "W", "expected": 21}),
    "rename a tag": ("rename_term", {"kind": "tag", "old": "old", "new": "new"}),
    "rename a property": ("rename_term", {"kind": "property", "old": "p", "new": "q"}),
    "move": ("move_notes", {"names": ["Many/"], "to": "Elsewhere"}),
    "repair": ("repair_links", {"sure": True}),
}


@pytest.mark.parametrize(("tool", "arguments"), ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("count", [20, 21])
def test_more_than_twenty_notes_are_asked_for(
    own_world: World, tool: str, arguments: dict[str, Any], count: int
) -> None:
    own_world.put("Projects/Target.md", "")
    for number in range(count):
        own_world.put(f"Many/{number}.md", "---\np: 1\n---\nword #old [[Targt]]")
    if "expected" in arguments:
        arguments = {**arguments, "expected": count}
    before = own_world.tree()
    options = ("--vault", "Vault", "--backend", "embedded", "--toolsets", "all")
    with Server(own_world.environment(), *options) as server:
        params = {"name": f"obsidian_{tool}", "arguments": arguments, "_meta": ASKS}
        result = server.request("tools/call", params)["result"]
        if count == 20:
            assert result["resultType"] == "complete"
            assert own_world.tree() != before
            return
        assert "21 notes" in result["inputRequests"]["confirm"]["params"]["message"]
        assert own_world.tree() == before
        dry = {**params, "arguments": {**arguments, "dry_run": True}}
        assert server.request("tools/call", dry)["result"]["resultType"] == "complete"
        again = {**params, "inputResponses": {"confirm": YES}, "requestState": result["requestState"]}
        assert server.request("tools/call", again)["result"]["isError"] is False
    assert own_world.tree() != before


@pytest.mark.parametrize("agrees", [True, False])
def test_under_the_older_revisions_they_are_asked_for_too(own_world: World, agrees: bool) -> None:
    for number in range(21):
        own_world.put(f"{number}.md", "#old")
    before = own_world.tree()
    options = ("--vault", "Vault", "--backend", "embedded", "--toolsets", "all")
    with Server(own_world.environment(), *options) as server:
        call = begin(server).begin_call("rename_term", kind="tag", old="old", new="new")
        asked = server.wait("elicitation/create")
        assert "21 notes" in asked["params"]["message"]
        assert own_world.tree() == before
        answer(server, asked, YES if agrees else NO["declined"])
        if agrees:
            server.end_call(call)
        else:
            with pytest.raises(ToolFailed):
                server.end_call(call)
    assert (own_world.tree() == before) is not agrees


def test_a_vault_that_changes_meanwhile_is_left_alone(own_world: World) -> None:
    for number in range(21):
        own_world.put(f"{number}.md", "#old")
    options = ("--vault", "Vault", "--backend", "embedded", "--toolsets", "all")
    with Server(own_world.environment(), *options) as server:
        params = {"name": "obsidian_rename_term", "arguments": ACTS["rename a tag"][1], "_meta": ASKS}
        state = server.request("tools/call", params)["result"]["requestState"]
        own_world.put("another.md", "#old")
        again = {**params, "inputResponses": {"confirm": YES}, "requestState": state}
        assert server.request("tools/call", again)["result"]["isError"] is True
    assert own_world.get("0.md") == b"#old"


# Never


def test_the_argument_can_be_taken_away_altogether(vault: World) -> None:
    with Server(vault.environment(), "--vault", "Vault", "--permanent-delete", "never") as server:
        begin(server)
        tools = {tool["name"]: tool for tool in server.request("tools/list")["result"]["tools"]}
        delete = tools["obsidian_delete_note"]
        assert list(delete["inputSchema"]["properties"]) == ["name", "if_match"]
        assert "permanent" not in json.dumps(delete)
        with pytest.raises(ToolFailed) as caught:
            server.call("delete_note", name="Note", permanent=True)
        assert caught.value.code == -32602
        assert "--permanent-delete never" in caught.value.message
        assert vault.has("Note.md")
        assert server.call("delete_note", name="Note")["trashed"] is True
