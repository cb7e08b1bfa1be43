"""Whole sessions through a real process: both eras, order, cancelling, progress."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import MODERN_META, Server, ToolFailed
from tests.support.world import World

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
TOKEN = {"progressToken": "p"}


@pytest.fixture
def fresh(own_world: World) -> Any:
    """A server that has not been spoken to."""
    with Server(own_world.environment(), "--vault", "Vault") as server:
        yield server


def modern(server: Server, method: str, **params: Any) -> dict[str, Any]:
    return server.request(method, {**params, "_meta": MODERN_META})


# The era with a handshake


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_known_revision_is_agreed_on(fresh: Server, revision: str) -> None:
    result = fresh.request("initialize", {"protocolVersion": revision, "capabilities": {}})["result"]
    assert result["protocolVersion"] == revision
    assert result["capabilities"] == {"tools": {}}
    assert result["serverInfo"]["name"] == "obsidian-mcp"


@pytest.mark.parametrize("params", [{"protocolVersion": "1999-01-01"}, {"protocolVersion": 7}, {}])
def test_an_unknown_revision_is_answered_with_our_newest(fresh: Server, params: Any) -> None:
    assert fresh.request("initialize", params)["result"]["protocolVersion"] == "2025-11-25"


def test_before_initialize_only_harmless_questions_are_answered(fresh: Server) -> None:
    assert fresh.request("ping")["result"] == {}
    assert len(fresh.request("tools/list")["result"]["tools"]) == 9
    call = {"name": "obsidian_read_note", "arguments": {"name": "x"}}
    assert fresh.request("tools/call", call)["error"]["code"] == -32600
    assert fresh.request("server/discover")["error"]["code"] == -32602
    assert fresh.request("resources/list")["error"]["code"] == -32601


def test_a_legacy_session_lists_and_calls(server: Server, world: World) -> None:
    world.put("Note.md", "hello")
    tools = server.request("tools/list")["result"]["tools"]
    assert len(tools) == 9
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
    assert found["capabilities"] == {"tools": {"listChanged": False}}
    listed = modern(fresh, "tools/list")["result"]
    assert len(listed["tools"]) == 9
    made = modern(fresh, "tools/call", name="obsidian_create_note", arguments={"name": "N", "content": "x"})["result"]
    assert made["structuredContent"]["data"]["created"] is True
    for result in (found, listed, made):
        assert result["resultType"] == "complete"
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "obsidian-mcp"
    for result in (found, listed):
        assert (result["ttlMs"] > 0, result["cacheScope"]) == (True, "public")


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
        assert replies["b"]["result"]["structuredContent"]["data"]["content"] == "x"
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


# Side by side, and in order


def test_a_slow_call_delays_neither_a_ping_nor_another_note(server: Server, world: World) -> None:
    world.put("Slow.md", "slow")
    world.put("Quick.md", "quick")
    world.mood("hang", commands=["append"])
    slow = server.begin_call("append_note", TOKEN, name="Slow.md", content="x")
    server.wait("notifications/progress")
    assert server.request("ping")["result"] == {}
    assert server.call("read_note", name="Quick.md")["content"] == "quick"
    server.notify("notifications/cancelled", {"requestId": slow})
    world.wait_until_all_are_gone()


def test_a_read_sees_the_writes_that_came_before_it_and_none_that_came_after(server: Server, world: World) -> None:
    world.mood("slow", seconds=0.2, commands=["create", "append", "delete"])
    steps: list[tuple[str, dict[str, Any]]] = [
        ("create_note", {"name": "Log", "content": "one"}),
        ("read_note", {"name": "Log"}),
        ("append_note", {"name": "log.md", "content": "two"}),
        ("read_note", {"name": "Log.md"}),
        ("rename_note", {"name": "Log", "new_name": "Diary"}),
        ("read_note", {"name": "Diary"}),
        ("delete_note", {"name": "Diary"}),
        ("file_info", {"name": "Diary"}),
    ]
    numbers = [server.begin_call(tool, **arguments) for tool, arguments in steps]
    done = [server.end_call(number) for number in numbers[:-1]]
    assert [step.get("content") for step in done[1::2]] == ["one", "one\ntwo", "one\ntwo"]
    with pytest.raises(ToolFailed) as caught:
        server.end_call(numbers[-1])
    assert caught.value.code == -32003


def test_writes_run_one_after_another_in_the_order_in_which_they_came(server: Server, world: World) -> None:
    for number in range(8):
        world.put(f"N{number}.md", "")
    world.mood("slow", seconds=0.05, commands=["append"])
    numbers = [server.begin_call("append_note", name=f"N{number}.md", content="x") for number in range(8)]
    for number in numbers:
        server.end_call(number)
    acts = [(record["phase"], record["argv"][2]) for record in world.records() if record["argv"][1] == "append"]
    assert acts == [(phase, f"path=N{number}.md") for number in range(8) for phase in ("begin", "end")]


def test_two_hundred_requests_in_flight_are_all_answered(server: Server, world: World) -> None:
    for number in range(10):
        world.put(f"N{number}.md", f"text {number}")
    numbers = [server.begin_call("read_note", name=f"N{number % 10}.md") for number in range(200)]
    pings = [server.begin("ping") for _ in range(50)]
    assert [server.end_call(number)["content"] for number in numbers] == [f"text {at % 10}" for at in range(200)]
    assert all(server.wait(ping)["result"] == {} for ping in pings)


# Cancelling and progress


def test_a_cancelled_call_is_ended_and_not_answered(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("hang-with-child", commands=["append"])
    number = server.begin_call("append_note", TOKEN, name="Note.md", content="y")
    server.wait("notifications/progress")
    server.notify("notifications/cancelled", {"requestId": number, "reason": "changed my mind"})
    world.wait_until_all_are_gone()
    world.mood(None)
    assert server.call("append_note", name="Note.md", content="z")
    assert not any(isinstance(said, dict) and said.get("id") == number for said in server.said)
    assert world.get("Note.md") == b"x\nz"


def test_a_call_cancelled_before_its_turn_never_runs(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("hang", commands=["append"])
    first = server.begin_call("append_note", TOKEN, name="Note.md", content="y")
    server.wait("notifications/progress")
    second = server.begin_call("create_note", name="Never", content="y")
    for number in (second, first):
        server.notify("notifications/cancelled", {"requestId": number})
    world.mood(None)
    assert server.call("create_note", name="After", content="y")["created"] is True
    assert not world.has("Never.md")


@pytest.mark.parametrize("target", [12345, "nope", None, True, [1], {}])
def test_cancelling_what_does_not_run_does_nothing(server: Server, target: Any) -> None:
    server.notify("notifications/cancelled", {"requestId": target})
    server.notify("notifications/cancelled", [target])
    assert server.request("ping")["result"] == {}


def test_true_does_not_cancel_the_call_with_id_one(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("slow", seconds=1.5)
    with Server(own_world.environment(), "--vault", "Vault") as server:
        server.initialize()
        call = {"name": "obsidian_read_note", "arguments": {"name": "Note.md"}, "_meta": TOKEN}
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        server.wait("notifications/progress")
        server.notify("notifications/cancelled", {"requestId": True})
        assert server.wait(1)["result"]["structuredContent"]["data"]["content"] == "x"


def test_progress_grows_and_ends_with_the_reply(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("slow", seconds=2.5, commands=["read"])
    number = server.begin_call("read_note", {"progressToken": 77}, name="Note.md")
    server.end_call(number)
    assert server.request("ping")
    ours = [said for said in server.said if said.get("params", {}).get("progressToken") == 77]
    steps = [said["params"]["progress"] for said in ours]
    assert len(steps) >= 2
    assert steps == sorted(set(steps))
    reply = next(at for at, said in enumerate(server.said) if said.get("id") == number)
    assert all(server.said.index(said) < reply for said in ours)
    assert "Note.md" in ours[0]["params"]["message"]


def test_nobody_hears_of_progress_unasked(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("slow", seconds=1.5, commands=["read"])
    before = len(server.said)
    server.call("read_note", name="Note.md")
    assert [said for said in server.said[before:] if said.get("method")] == []


def test_an_id_still_in_flight_is_refused_without_using_it(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("slow", seconds=1.5, commands=["read"])
    number = server.begin_call("read_note", TOKEN, name="Note.md")
    server.wait("notifications/progress")
    server.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
    assert server.wait(None)["error"]["code"] == -32600
    assert server.end_call(number)["content"] == "x"
    assert [said.get("id") for said in server.said].count(number) == 1
    server.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
    assert server.wait(number)["result"] == {}


# What may be served


def test_read_only_offers_what_changes_nothing(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Server(own_world.environment(), "--vault", "Vault", "--read-only") as server:
        server.initialize()
        names = [tool["name"] for tool in server.request("tools/list")["result"]["tools"]]
        assert names == ["obsidian_read_note", "obsidian_open_note", "obsidian_file_info"]
        before = own_world.tree()
        for tool in ("create_note", "append_note", "delete_note"):
            with pytest.raises(ToolFailed) as caught:
                server.call(tool, name="Note", content="x")
            assert caught.value.code == -32602
            assert "--read-only" in caught.value.message
        with pytest.raises(ToolFailed):
            server.call("open_note", name="Missing")
        assert server.call("read_note", name="Note")["content"] == "x"
    assert own_world.tree() == before


def test_with_several_vaults_every_tool_can_be_told_which(own_world: World) -> None:
    other = own_world.folder / "Other"
    other.mkdir()
    (other / "Note.md").write_text("other")
    own_world.put("Note.md", "first")
    own_world.register({"0" * 16: own_world.vault, "1" * 16: other})
    with Server(own_world.environment(), "--vault", "Vault", "--vault", str(other)) as server:
        server.initialize()
        for tool in server.request("tools/list")["result"]["tools"]:
            assert tool["inputSchema"]["properties"]["vault"]["enum"] == ["Vault", "Other"]
            assert "vault" not in tool["inputSchema"]["required"]
        assert server.call("read_note", name="Note")["content"] == "first"
        assert server.call("read_note", name="Note", vault="Other")["content"] == "other"
        for wrong in ("Third", "", 7, None, ["Other"]):
            with pytest.raises(ToolFailed) as caught:
                server.call("read_note", name="Note", vault=wrong)
            assert caught.value.code == -32602


def test_two_vaults_of_one_name_are_told_apart_by_id(own_world: World) -> None:
    twin = own_world.folder / "twin" / "Vault"
    twin.mkdir(parents=True)
    (twin / "Note.md").write_text("twin")
    own_world.put("Note.md", "first")
    own_world.register({"0" * 16: own_world.vault, "1" * 16: twin})
    for chosen in ("1" * 16, str(twin)):
        with Server(own_world.environment(), "--vault", chosen) as server:
            assert server.initialize().call("read_note", name="Note")["content"] == "twin"
            server.call("append_note", name="Note", content=" more", inline=True)
            server.call("create_note", name="Note", content="twin", overwrite=True)
    assert {record["argv"][0] for record in own_world.records()} == {"vault=" + "1" * 16}
    assert own_world.get("Note.md") == b"first"
    with Server(own_world.environment(), "--vault", "Vault") as server:
        with pytest.raises(ToolFailed) as caught:
            server.initialize().call("read_note", name="Note")
        assert caught.value.code == -32002
        assert "1" * 16 in caught.value.message


@pytest.mark.parametrize("vault", ["Nowhere", "/no/such/folder", "f" * 16])
def test_a_vault_that_nobody_knows_does_not_stop_the_server(own_world: World, vault: str) -> None:
    with Server(own_world.environment(), "--vault", vault) as server:
        server.initialize()
        for tool, arguments in (("read_note", {"name": "Note"}), ("create_note", {"name": "N", "content": "x"})):
            with pytest.raises(ToolFailed) as caught:
                server.call(tool, **arguments)
            assert (caught.value.code, caught.value.error_code) == (-32002, "VAULT_NOT_FOUND")
            assert str(own_world.vault) in caught.value.message


def test_a_vault_registered_meanwhile_is_found(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.register({})
    with Server(own_world.environment(), "--vault", str(own_world.vault)) as server:
        with pytest.raises(ToolFailed):
            server.initialize().call("read_note", name="Note")
        own_world.register({"0" * 16: own_world.vault})
        assert server.call("read_note", name="Note")["content"] == "x"


def test_a_missing_executable_is_answered_with_how_to_get_it(own_world: World) -> None:
    own_world.put("Note.md", "x")
    for named in (str(own_world.folder / "nope"), str(own_world.config / "obsidian.json")):
        with Server(own_world.environment(), "--vault", "Vault", "--obsidian-bin", named) as server:
            with pytest.raises(ToolFailed) as caught:
                server.initialize().call("read_note", name="Note")
            assert (caught.value.code, caught.value.error_code) == (-32001, "OBSIDIAN_NOT_RUNNING")
            assert "Install" in caught.value.message


def test_a_tool_can_have_a_limit_of_its_own(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("slow", seconds=1.5)
    options = ("--vault", "Vault", "--timeout-for", "obsidian_read_note=0.5")
    with Server(own_world.environment(), *options) as server:
        server.initialize()
        with pytest.raises(ToolFailed) as caught:
            server.call("read_note", name="Note.md")
        assert caught.value.code == -32006
        assert server.call("open_note", name="Note.md")["opened"] is True
