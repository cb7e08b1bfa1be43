"""The envelope, over a real socket. The ids are those of specs/http.md."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from obsidian_mcp import __version__
from tests.support.client import READING, TOOLS
from tests.support.web import Web
from tests.support.world import DOT, World


def checked(envelope: dict[str, Any]) -> dict[str, Any]:
    """E2: what is always there, and of which kind."""
    assert isinstance(envelope["ok"], bool)
    assert envelope["summary"]
    assert isinstance(envelope["metrics"]["elapsed_ms"], int)
    assert envelope["metrics"]["elapsed_ms"] >= 0
    assert set(envelope["metrics"]) == {"elapsed_ms", "exit_code"}
    assert set(envelope) <= {"ok", "summary", "need_confirm", "data", "error", "metrics"}
    assert all(value not in (None, "", {}, []) for value in envelope.values())
    return envelope


def call(web: Web, tool: str, /, **args: Any) -> dict[str, Any]:
    return checked(web.envelope({"method": "call_tool", "name": f"obsidian_{tool}", "args": args}))


MALFORMED = {
    "no JSON": b"{",
    "nothing": b"",
    "not UTF-8": b"\xff",
    "an array": b"[]",
    "no method": b"{}",
    "another method": b'{"method": "initialize"}',
    "a method that is no text": b'{"method": ["call_tool"]}',
    "no name": b'{"method": "call_tool"}',
    "a name that is no text": b'{"method": "call_tool", "name": 7}',
    "params that are no object": b'{"method": "call_tool", "params": []}',
    "args that are no object": b'{"method": "call_tool", "name": "obsidian_read_note", "args": []}',
    "an id that is an object": b'{"method": "list_tools", "id": {}}',
    "too large": b'"' + b"x" * (1024 * 1024) + b'"',
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_e1_e2_e3_every_answer_is_200_and_an_envelope(web: Web, body: bytes) -> None:
    reply = web.ask("POST", "/mcp", body)
    assert reply.status == 200
    envelope = checked(reply.json)
    assert (envelope["ok"], envelope["summary"]) == (False, "Request processing failed")
    assert envelope["error"].startswith("HTTP bridge error: ")
    assert envelope["metrics"]["exit_code"] == 1


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_e1_another_http_method_is_200_too(web: Web, method: str) -> None:
    reply = web.ask(method, "/mcp")
    assert (reply.status, checked(reply.json)["ok"]) == (200, False)


def test_e4_an_unknown_method_is_told_in_the_contracts_words(web: Web) -> None:
    envelope = checked(web.envelope({"id": "x", "method": "tools/list"}))
    assert envelope["error"] == "HTTP bridge error: Method must be one of: ['list_tools', 'call_tool']"


def test_e5_tools_are_listed_and_advertise_their_confirmation(web: Web) -> None:
    envelope = checked(web.envelope({"id": "list-1", "method": "list_tools", "params": {}}))
    assert envelope["summary"] == f"Available tools: {len(TOOLS)} tools found"
    needing = {tool["name"] for tool in envelope["data"]["tools"] if "_confirm" in tool["inputSchema"]["properties"]}
    assert {tool["name"] for tool in envelope["data"]["tools"]} - needing == set(READING)


def test_e6_both_forms_of_a_call_work_and_the_direct_one_wins(web: Web, world: World) -> None:
    world.put("Note.md", "x")
    args = {"name": "Note"}
    direct = web.envelope({"method": "call_tool", "name": "obsidian_read_note", "args": args})
    params = web.envelope({"method": "call_tool", "params": {"name": "obsidian_read_note", "args": args}})
    both = web.envelope({"method": "call_tool", "name": "obsidian_read_note", "args": args, "params": {"name": "no"}})
    for envelope in (direct, params, both):
        assert checked(envelope)["data"]["content"] == "x"
        assert envelope["metrics"]["exit_code"] == 0
    empty = checked(web.envelope({"method": "call_tool", "name": "obsidian_read_note"}))
    assert "name is missing" in empty["error"]


@pytest.mark.parametrize("value", [None, False, 1, "true", [True]])
def test_e7_a_change_needs_json_true(web: Web, world: World, value: Any) -> None:
    world.put("Note.md", "x")
    args = {"name": "Note"} | ({} if value is None else {"_confirm": value})
    envelope = call(web, "delete_note", **args)
    assert envelope["need_confirm"] is True
    assert envelope["summary"] == "obsidian_delete_note requires confirmation"
    assert envelope["error"] == "Confirmation required for mutating operation"
    assert envelope["data"] == {
        "required_arg": "_confirm",
        "required_value": True,
        "suggestion": "Add '_confirm': true to obsidian_delete_note arguments",
    }
    assert envelope["metrics"]["exit_code"] == 1
    assert world.has("Note.md")


def test_e7_with_it_the_change_is_made(web: Web, world: World) -> None:
    world.put("Note.md", "x")
    assert call(web, "delete_note", name="Note", _confirm=True)["ok"] is True
    assert not world.has("Note.md")


def test_e7_reading_opening_and_a_dry_run_need_none(web: Web, world: World) -> None:
    world.put("Note.md", "x")
    assert call(web, "file_info", name="Note")["ok"] is True
    planned = call(web, "rename_note", name="Note", new_name="Other", dry_run=True)
    assert planned["ok"] is True
    assert world.has("Note.md")
    assert "need_confirm" not in call(web, "open_note", name="Note")
    assert call(web, "rename_note", name="Note", new_name="Other", dry_run=1)["need_confirm"] is True


def test_e8_the_order_is_tool_confirmation_validation(web: Web) -> None:
    assert "Unknown tool" in call(web, "fly", nonsense=1)["summary"]
    assert call(web, "create_note", nonsense=1)["need_confirm"] is True
    wrong = call(web, "create_note", nonsense=1, _confirm=True)
    assert "name is missing" in wrong["error"]
    assert "_confirm" not in wrong["error"]


def test_e9_an_unknown_tool_is_told_with_those_there_are(web: Web) -> None:
    envelope = call(web, "fly")
    assert (envelope["summary"], envelope["error"]) == (
        "Unknown tool: obsidian_fly",
        "Tool 'obsidian_fly' not found",
    )
    assert sorted(envelope["data"]["available_tools"]) == sorted(TOOLS)


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("60", {"not-running": (127, "unavailable"), "crash": (139, "process failed"), "die": (137, "process failed")}),
        ("0.2", {"hang": (124, "timeout")}),
    ],
)
def test_e3_e10_exit_codes_tell_a_timeout_a_closed_app_and_a_command_that_died(
    own_world: World, limit: str, told: dict[str, tuple[int, str]]
) -> None:
    own_world.put("Note.md", "x")
    with Web(own_world.environment(), "--timeout", limit) as web:
        for mood, (code, summary) in told.items():
            own_world.mood(mood)
            envelope = call(web, "open_note", name="Note.md")
            assert envelope["metrics"]["exit_code"] == code
            assert summary in envelope["summary"]
            assert (f"exit code {code}" in envelope["error"]) is (code > 127)


BROKEN = "from obsidian_mcp.protocol import envelope; envelope.wanted = None"


def test_e1_a_bug_is_an_envelope_too(own_world: World) -> None:
    with Web(own_world.environment(), first=BROKEN) as web:
        envelope = checked(web.envelope({"method": "list_tools"}))
        assert (envelope["ok"], envelope["summary"]) == (False, "Request processing failed")
        assert (envelope["data"]["errorCode"], envelope["metrics"]["exit_code"]) == ("INTERNAL_ERROR", 1)
        assert web.wait_for("bug")["incident"] == envelope["data"]["incident"]


def test_e17_a_tool_may_be_named_without_its_prefix(web: Web, world: World) -> None:
    world.put("Note.md", "x")
    read = checked(web.envelope({"method": "call_tool", "name": "read_note", "args": {"name": "Note"}}))
    assert (read["summary"], read["data"]["content"]) == ("read_note completed", "x")
    delete = {"method": "call_tool", "params": {"name": "delete_note", "args": {"name": "Note"}}}
    assert checked(web.envelope(delete))["data"]["suggestion"] == "Add '_confirm': true to delete_note arguments"
    assert world.has("Note.md")


def test_e18_images_are_beside_the_data(own_world: World) -> None:
    own_world.put("dot.png", DOT)
    with Web(own_world.environment(), "--toolsets", "all") as web:
        seen = checked(web.envelope({"method": "call_tool", "name": "view_file", "args": {"name": "dot.png"}}))
    (image,) = seen["data"]["content"]
    assert (seen["data"]["path"], image["type"], image["mimeType"]) == ("dot.png", "image", "image/png")
    assert base64.b64decode(image["data"]) == DOT


@pytest.mark.parametrize("id", ["x", 1, 1.5, None])
def test_e11_an_id_is_accepted_and_not_echoed(web: Web, id: Any) -> None:
    assert "id" not in checked(web.envelope({"id": id, "method": "list_tools"}))


HEALTH = "status server_name version tools_available notifications_enabled docker_available strict_security_mode"


def test_e12_health_has_every_key(web: Web) -> None:
    health = web.ask("GET", "/health").json
    assert set(health) == {*HEALTH.split(), "policy_loaded", "uptime_seconds", "backend", "vaults"}
    assert (health["backend"], health["vaults"]) == ("embedded", ["Vault"])
    assert (health["status"], health["server_name"], health["version"]) == ("ok", "obsidian-mcp", __version__)
    assert health["tools_available"] == len(TOOLS)
    assert (health["notifications_enabled"], health["docker_available"]) == (False, False)
    assert (health["strict_security_mode"], health["policy_loaded"]) == (True, True)
    assert isinstance(health["uptime_seconds"], int)


FORGETFUL = "from obsidian_mcp import health; health.GOOD_FOR = 0.0"


def status(web: Web) -> str:
    found: str = web.ask("GET", "/health").json["status"]
    return found


def test_e13_the_status_tells_what_is_missing(own_world: World) -> None:
    with Web(own_world.environment(), first=FORGETFUL) as web:
        for mood, told in ((None, "ok"), ("not-running", "degraded"), ("disabled", "degraded"), (None, "ok")):
            own_world.mood(mood)
            assert status(web) == told
        own_world.vault.rmdir()
        assert status(web) == "error"
    with Web(own_world.environment(), "--obsidian-bin", "/nope") as web:
        assert status(web) == "error"
    own_world.vault.mkdir()
    with Web(own_world.environment(), "--obsidian-bin", "/nope") as web:
        assert status(web) == "degraded"


def test_e13_on_the_files_alone_the_vault_is_all_that_can_be_missing(own_world: World) -> None:
    options = ("--backend", "embedded", "--vault", str(own_world.vault))
    with Web(own_world.environment(), *options, first=FORGETFUL) as web:
        assert status(web) == "ok"
        own_world.put("Note.md", "x")
        assert call(web, "open_note", name="Note")["metrics"]["exit_code"] == 127
        assert status(web) == "ok"
        (own_world.vault / "Note.md").unlink()
        own_world.vault.rmdir()
        assert status(web) == "error"


UNHEEDING = "from obsidian_mcp import health; health.GOOD_FOR = 1e9"  # what is seen once is good for ever


def test_e14_a_call_that_failed_is_told_at_once_until_one_is_answered(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Web(own_world.environment(), first=UNHEEDING) as web:
        assert status(web) == "ok"
        for mood in ("not-running", "crash", "disabled"):
            own_world.mood(mood)
            assert call(web, "open_note", name="Note.md")["ok"] is False
            own_world.mood(None)
            assert status(web) == "degraded"
            assert call(web, "open_note", name="No such note")["ok"] is False
            assert status(web) == "ok"
        own_world.mood("crash")
        web.rpc({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "obsidian_open_note",
                 "arguments": {"name": "Note.md"}}})  # fmt: skip
        assert status(web) == "degraded"


def test_e14_health_looks_once_in_a_while_and_never_starts_the_app(own_world: World) -> None:
    with Web(own_world.environment()) as web:
        for _ in range(5):
            web.ask("GET", "/health")
    assert [record["argv"] for record in own_world.records() if record["phase"] == "begin"] == [["version"]]
    before = own_world.records()
    app = own_world.folder / "opt" / "Obsidian" / "obsidian"  # where the app itself is the command
    app.parent.mkdir(parents=True)
    own_world.command.rename(app)
    with Web(own_world.environment(), "--obsidian-bin", str(app)) as web:
        assert web.ask("GET", "/health").json["status"] == "degraded"
    assert own_world.records() == before


def test_e15_the_versioned_names_are_the_same(web: Web) -> None:
    assert web.ask("GET", "/v1/health").json["server_name"] == "obsidian-mcp"
    reply = web.ask("POST", "/v1/mcp", {"method": "list_tools"})
    assert reply.json["data"] == web.envelope({"method": "list_tools"})["data"]


def test_e16_a_client_that_takes_a_stream_speaks_mcp(web: Web) -> None:
    reply = web.rpc({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert json.loads(reply.body) == {"jsonrpc": "2.0", "id": 1, "result": {}}
