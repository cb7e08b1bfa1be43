"""What is more than a note by its name: searches, the history, resources, prompts, pictures and bases."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.client import Server, ToolFailed
from tests.support.world import World

FOLDER = "Sub/Ünï 笔记"
ROOT = "obsidian://vault/Vault/"
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def result(server: Server, method: str, **params: Any) -> Any:
    return server.request(method, params)["result"]


def test_a_note_is_found_edited_taken_back_and_read_by_its_address(world: World, server: Server) -> None:
    before = b"# Head\r\n\r\nthe zork is here\r\n"
    world.put(f"{FOLDER}/Note.md", before)
    (found,) = server.call("search_notes", query="zork path:Sub")["notes"]
    assert found["path"] == f"{FOLDER}/Note.md"
    done = server.call("edit_note", name=found["path"], old_text="zork", new_text="grue")
    (listed,) = server.call("list_changes", name=found["path"], limit=1)["changes"]
    assert (listed["id"], listed["paths"]) == (done["change"], [found["path"]])
    assert server.call("search_notes", query="zork")["notes"] == []
    server.call("undo_change", id=done["change"])
    assert world.get(f"{FOLDER}/Note.md") == before
    (resource,) = result(server, "resources/list")["resources"]
    assert resource["name"] == found["path"]
    (contents,) = result(server, "resources/read", uri=resource["uri"])["contents"]
    assert contents["text"].encode() == before


def test_a_persons_own_prompt_is_offered_from_a_folder_in_the_folder(world: World, server: Server) -> None:
    world.put("Prompts/For work/Weekly review.md", "Look at {{week}}.")
    offered = {prompt["title"]: prompt["name"] for prompt in result(server, "prompts/list")["prompts"]}
    got = result(server, "prompts/get", name=offered["Weekly review"], arguments={"week": "the 3rd"})
    assert got["messages"][0]["content"]["text"] == "Look at the 3rd."


def test_a_picture_in_a_folder_is_shown(world: World, server: Server) -> None:
    world.put(f"{FOLDER}/red.png", PICTURE)
    arguments = {"name": f"{FOLDER}/red.png"}
    shown = result(server, "tools/call", name="obsidian_view_file", arguments=arguments)["content"]
    assert [base64.b64decode(each["data"]) for each in shown if each["type"] == "image"] == [PICTURE]


def test_a_base_in_a_folder_has_its_rows(world: World, server: Server) -> None:
    world.put(f"{FOLDER}/Note.md", "---\nstatus: open\n---\n")
    world.put("Note.md", "---\nstatus: done\n---\n")
    world.put(f"{FOLDER}/All.base", f"filters: file.inFolder('{FOLDER}')\nviews: [{{type: table, name: A}}]\n")
    rows = server.call("query_base", name=f"{FOLDER}/All.base")["rows"]
    assert [row["path"] for row in rows] == [f"{FOLDER}/All.base", f"{FOLDER}/Note.md"]


def test_notes_of_several_folders_are_moved_and_moved_back(world: World, server: Server) -> None:
    world.put(f"{FOLDER}/One.md", "[[Two]]")
    world.put("Two.md", f"[x](<{FOLDER}/One.md>)")
    before = world.tree()
    done = server.call("move_notes", names=[f"{FOLDER}/One.md", "Two.md"], to="New/Place")
    assert world.has("New/Place/One.md")
    assert world.has("New/Place/Two.md")
    server.call("undo_change", id=done["change"])
    assert world.tree() == before


def test_a_deleted_note_comes_back_from_the_trash(world: World, server: Server) -> None:
    world.put(f"{FOLDER}/Note.md", "text")
    done = server.call("delete_note", name=f"{FOLDER}/Note.md")
    assert world.has(".trash/Note.md")
    server.call("undo_change", id=done["change"])
    assert world.get(f"{FOLDER}/Note.md") == b"text"


# A secret lies outside the vault: {drive} is its place.
HOSTILE = {
    "a way up": "..\\outside\\secret.md",
    "a way up from a folder": "Sub\\..\\..\\outside\\secret.md",
    "a mixed way up": "Sub/..\\../outside/secret.md",
    "a drive": "{drive}",
    "a drive with slashes": "{slashes}",
    "a drive's current folder": "Z:secret.md",
    "an extended path": "\\\\?\\{drive}",
    "a device's path": "\\\\.\\{drive}",
    "a share": "\\\\localhost\\c$\\secret.md",
    "the drive's root": "\\secret.md",
    "a stream": "Note.md::$DATA",
    "a device": "CON",
    "a device in a folder": "Sub/NUL.md",
    "a short name of a hidden folder": "_OBS~PTE/secret.md",
}
REFUSED = ("INVALID_ARGUMENTS", "FILE_NOT_FOUND", "PERMISSION_DENIED")
TAKING_NAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "view_file": ("name", {}),
    "query_base": ("name", {}),
    "outline_note": ("name", {}),
    "show_graph": ("name", {}),
    "edit_note": ("name", {"new_text": "x", "old_text": "treasure"}),
    "set_properties": ("name", {"set": {"a": 1}}),
    "set_task": ("name", {"task": "treasure", "mark": "x"}),
    "create_note": ("template", {"name": "Made"}),
    "move_notes": ("to", {"names": ["Note.md"]}),
    "list_folder": ("folder", {}),
    "list_changes": ("name", {}),
}


@pytest.mark.parametrize("written", HOSTILE.values(), ids=HOSTILE)
def test_no_argument_leads_out_of_the_vault_or_into_what_is_hidden(world: World, server: Server, written: str) -> None:
    world.put("Note.md", "text")
    world.put("Sub/Other.md", "text")
    world.put(".obsidian/secret.md", "- [ ] treasure")
    outside = world.outside / "secret.md"
    outside.write_text("- [ ] treasure", encoding="utf-8")
    drive = "Z:" + str(outside).replace("/", "\\")
    name = written.replace("{drive}", drive).replace("{slashes}", drive.replace("\\", "/"))
    before, told = world.tree(), len(server.said)
    for tool, (argument, more) in TAKING_NAMES.items():
        with pytest.raises(ToolFailed) as failed:
            server.call(tool, **{argument: name}, **more)
        assert failed.value.error_code in REFUSED, (tool, failed.value.message)
    for uri in (f"{ROOT}{name}", f"{ROOT}{quote(name, safe='')}", f"obsidian://vault/{quote(name, safe='')}/Note.md"):
        assert server.request("resources/read", {"uri": uri})["error"]["code"] == -32002, uri
    completed = {
        "ref": {"type": "ref/resource", "uri": f"{ROOT}{{+path}}"},
        "argument": {"name": "path", "value": name},
    }
    server.request("completion/complete", completed)
    assert world.tree() == before
    assert "[ ] treasure" not in json.dumps(server.said[told:])


def test_a_prompts_folder_outside_the_vault_has_no_prompts(world: World, second_server: Server) -> None:
    """It was started with such a one: see conftest."""
    (world.outside / "Stranger.md").write_text("secret", encoding="utf-8")
    titles = [prompt["title"] for prompt in result(second_server, "prompts/list")["prompts"]]
    assert titles
    assert "Stranger" not in titles
