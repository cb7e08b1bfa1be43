"""Names and paths as Windows understands them."""

from __future__ import annotations

import pytest

from tests.support.client import Server, ToolFailed
from tests.support.world import World
from tests.windows.making import windows_path


def test_a_path_of_more_than_260_characters_is_read_moved_and_its_links_kept(world: World, server: Server) -> None:
    deep = "/".join(["a folder with a rather long name"] * 10)
    world.put(f"{deep}/Old.md", "text")
    world.put(f"{deep}/Linking.md", "[[Old]]")
    server.call("append_note", name="Old", content="and more")
    server.call("rename_note", name="Old", new_name="New")
    assert world.get(f"{deep}/New.md") == b"text\nand more"
    assert world.get(f"{deep}/Linking.md") == b"[[New]]"


def test_all_forms_of_a_path_are_one_vault_with_one_state(own_world: World) -> None:
    plain = windows_path(own_world.vault)
    for number, vault in enumerate((plain, f"\\\\?\\{plain.upper()}")):
        with Server(own_world.environment(), "--vault", vault, "--backend", "embedded") as server:
            server.initialize().call("create_note", name=f"Note {number}", content="text")
    kept = own_world.folder / "home" / "AppData" / "Local" / "obsidian-mcp"
    assert len([*kept.iterdir()]) == 1


@pytest.mark.parametrize("name", ["CON", "Sub/nul.md", "com1.txt", "lpt9.", "Note. ", "Note.md:stream", "Folder./Note"])
def test_no_device_stream_or_dropped_ending_is_made(world: World, server: Server, name: str) -> None:
    world.put("Note.md", "text")
    before = world.tree()
    with pytest.raises(ToolFailed) as failed:
        server.call("create_note", name=name, content="x")
    assert failed.value.error_code == "INVALID_ARGUMENTS"
    with pytest.raises(ToolFailed) as failed:
        server.call("read_note", name=name)
    assert failed.value.error_code in ("FILE_NOT_FOUND", "INVALID_ARGUMENTS")
    assert world.tree() == before


SHORT = "_OBS~PTE"  # what Wine calls `.obsidian`, as Windows calls it OBSIDI~1


@pytest.mark.parametrize("tool", ["read_note", "append_note", "delete_note"])
def test_a_short_name_does_not_lead_into_a_hidden_folder(world: World, server: Server, tool: str) -> None:
    world.put(".obsidian/plugin.md", "hidden")
    arguments = {"content": "x"} if tool == "append_note" else {}
    with pytest.raises(ToolFailed) as failed:
        server.call(tool, name=f"{SHORT}/plugin.md", **arguments)
    assert failed.value.error_code == "PERMISSION_DENIED"
    assert world.get(".obsidian/plugin.md") == b"hidden"


def test_nothing_is_made_in_a_hidden_folder_by_its_short_name(world: World, server: Server) -> None:
    world.put(".obsidian/app.json", "{}")
    with pytest.raises(ToolFailed):
        server.call("create_note", name=f"{SHORT}/plugin", content="x")
    assert not world.has(".obsidian/plugin.md")
