"""What the door answers: the ids are those of specs/ide-door.md."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.ide import DoorProcess, Talk, talking
from tests.support.world import World

TOOLS = (
    "openFile getCurrentSelection getLatestSelection getOpenEditors getWorkspaceFolders getDiagnostics "
    "checkDocumentDirty saveDocument close_tab closeAllDiffTabs"
).split()


def test_i15_the_common_methods_are_answered(talk: Talk) -> None:
    assert talk.result("ping") == {}
    assert talk.result("prompts/list") == {"prompts": []}
    assert talk.result("resources/list") == {"resources": []}


def test_i15_a_client_gets_the_revision_that_it_asks_for(door: DoorProcess, token: str) -> None:
    with talking(door.port, token) as talk:
        hello = talk.result("initialize", {"protocolVersion": "2024-11-05", "capabilities": {}})
        assert hello["protocolVersion"] == "2024-11-05"
        assert hello["serverInfo"]["name"] == "obsidian-mcp"
        assert set(hello["capabilities"]) == {"tools", "prompts", "resources"}


@pytest.mark.parametrize("path", ["Note.md", "/Note.md", "{vault}/Note.md"])
def test_i16_a_file_is_read_by_any_of_its_three_names(talk: Talk, world: World, path: str) -> None:
    named = path.format(vault=world.vault)
    assert talk.result("files/read", {"path": named}) == {"content": "one\ntwo\nthree\n"}


@pytest.mark.parametrize(
    "path", ["../outside/secret.md", "/../outside/secret.md", "{vault}/../outside/secret.md", ".obsidian/app.json",
             "", "/", "{vault}", "a\x00b", "C:\\x", 7, None, ["Note.md"]],
)  # fmt: skip
def test_i16_anything_else_is_refused(talk: Talk, world: World, path: Any) -> None:
    (world.outside / "secret.md").write_text("secret")
    named = path.format(vault=world.vault) if isinstance(path, str) else path
    reply = talk.ask("files/read", {"path": named})
    assert reply["error"]["code"] == -32602
    assert "secret" not in json.dumps(reply["error"]["message"])


def test_i16_a_link_that_leads_out_of_the_vault_is_not_followed(talk: Talk, world: World) -> None:
    (world.outside / "secret.md").write_text("secret")
    (world.vault / "link.md").symlink_to(world.outside / "secret.md")
    assert talk.ask("files/read", {"path": "link.md"})["error"]["code"] == -32005
    assert talk.ask("files/read", {"path": "/etc/passwd"})["error"]["code"] == -32003


def test_i17_the_selection_is_told_with_its_cursor(talk: Talk, world: World) -> None:
    world.editor(path="Note.md", text="wo\nth", **{"from": [1, 1], "to": [2, 2]})
    assert talk.result("workspace/selection") == {
        "selection": "wo\nth",
        "cursor": {"line": 2, "ch": 2},
        "filePath": str(world.vault / "Note.md"),
        "range": {"start": {"line": 1, "character": 1}, "end": {"line": 2, "character": 2}},
    }
    world.editor()
    nothing = {"selection": "", "cursor": None, "filePath": None, "range": None}
    assert talk.result("workspace/selection") == nothing


@pytest.mark.parametrize("method", ["initialized", "notifications/initialized", "ide_connected"])
def test_i18_some_messages_are_notifications_and_with_an_id_get_an_empty_result(
    door: DoorProcess, token: str, method: str
) -> None:
    with talking(door.port, token) as talk:
        talk.say({"jsonrpc": "2.0", "method": method, "params": {"pid": 1}})
        assert talk.ask("ping")["result"] == {}
        assert [heard for heard in talk.kept if "method" not in heard] == []
    with talking(door.port, token) as talk:
        assert talk.ask(method, {"pid": 1})["result"] == {}
        assert talk.notice("selection_changed")["filePath"]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ('{"jsonrpc":"2.0","id":5,"method":"no/such"}', -32601),
        ('{"jsonrpc":"2.0","id":5,"method":"server/discover"}', -32601),
        ("{", -32700),
        ("\ud83d\ude00", -32700),
        ("[]", -32600),
        ("7", -32600),
        ('{"jsonrpc":"1.0","id":5,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"openDiff"}}', -32602),
    ],
)
def test_i19_what_is_wrong_with_a_message_is_told(talk: Talk, said: str, code: int) -> None:
    talk.say(said.encode("utf-16", "surrogatepass").decode("utf-16"))
    while (heard := talk.hear()).get("error") is None:
        pass
    assert heard["error"]["code"] == code
    assert talk.result("ping") == {}


def test_i20_it_lists_the_tools_of_an_ide_and_no_other(talk: Talk) -> None:
    tools = talk.result("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in tools)


def test_i21_a_note_is_opened_in_the_app(talk: Talk, world: World) -> None:
    file = str(world.vault / "Deep" / "Ä b.md")
    assert talk.call("openFile", filePath=file, startText="x", preview=True) == f"Opened file: {file}"
    assert ["open", "path=Deep/Ä b.md"] in world.commands()
    told = json.loads(talk.call("openFile", filePath="Note.md", makeFrontmost=False))
    expected = {"success": True, "languageId": "markdown", "lineCount": 3, "filePath": str(world.vault / "Note.md")}
    assert told == expected


@pytest.mark.parametrize("arguments", [{}, {"filePath": 7}, {"filePath": "../x"}, {"filePath": "Missing.md"}])
def test_i21_a_failure_of_a_tool_is_a_result_that_says_so(talk: Talk, arguments: dict[str, Any]) -> None:
    result = talk.result("tools/call", {"name": "openFile", "arguments": arguments})
    assert result["isError"] is True
    assert result["content"][0]["text"]


def test_i21_the_selection_and_the_tabs_are_told_as_json(talk: Talk, world: World) -> None:
    world.editor(path="Deep/Ä b.md", text="ex", **{"from": [0, 1], "to": [0, 3]})
    leaves = [{"id": name, "type": "leaf", "state": {"state": {"file": name}}} for name in ("Note.md", "Gone.md")]
    world.put(".obsidian/workspace.json", json.dumps({"main": {"type": "tabs", "children": leaves}}))
    while talk.notice("selection_changed")["text"] != "ex":
        pass
    uri = (world.vault / "Deep" / "Ä b.md").as_uri()
    for tool in ("getCurrentSelection", "getLatestSelection"):
        assert json.loads(talk.call(tool)) == {
            "success": True,
            "text": "ex",
            "filePath": str(world.vault / "Deep" / "Ä b.md"),
            "fileUrl": uri,
            "selection": {
                "start": {"line": 0, "character": 1},
                "end": {"line": 0, "character": 3},
                "isEmpty": False,
            },
        }
    tabs = json.loads(talk.call("getOpenEditors"))["tabs"]
    assert [(tab["label"], tab["isActive"]) for tab in tabs] == [("Ä b.md", True), ("Note.md", False)]
    assert tabs[0] == {"uri": uri, "isActive": True, "label": "Ä b.md", "languageId": "markdown", "isDirty": False}


def test_i21_without_an_active_note_the_selection_tools_say_so(talk: Talk, world: World) -> None:
    world.editor()
    assert json.loads(talk.call("getCurrentSelection")) == {"success": False, "message": "No active editor found"}


def test_i21_the_rest_of_the_tools_answer_as_an_ide_would(talk: Talk, world: World) -> None:
    note = str(world.vault / "Note.md")
    while talk.notice("selection_changed")["filePath"] != note:
        pass
    assert talk.call("getDiagnostics", uri="file:///x") == "[]"
    assert talk.call("close_tab", tab_name="x") == "TAB_CLOSED"
    assert talk.call("closeAllDiffTabs") == "CLOSED_0_DIFF_TABS"
    dirty = {"success": True, "filePath": note, "isDirty": False, "isUntitled": False}
    assert json.loads(talk.call("checkDocumentDirty", filePath=note)) == dirty
    assert json.loads(talk.call("saveDocument", filePath=note))["saved"] is True
    not_open = {"success": False, "message": "Document not open: Deep/Ä b.md"}
    for tool in ("checkDocumentDirty", "saveDocument"):
        assert json.loads(talk.call(tool, filePath="Deep/Ä b.md")) == not_open
    root = str(world.vault)
    folder = {"name": "Vault", "uri": world.vault.as_uri(), "path": root}
    assert json.loads(talk.call("getWorkspaceFolders")) == {"success": True, "folders": [folder], "rootPath": root}
