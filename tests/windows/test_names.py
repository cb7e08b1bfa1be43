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


def test_both_forms_of_a_path_are_one_vault_with_one_state(own_world: World) -> None:
    short = windows_path(own_world.vault)
    for number, vault in enumerate((short, f"\\\\?\\{short}", short.upper())):
        with Server(own_world.environment(), "--vault", vault, "--backend", "embedded") as server:
            server.initialize().call("create_note", name=f"Note {number}", content="text")
    kept = own_world.folder / "home" / "AppData" / "Local" / "obsidian-mcp"
    assert len([*kept.iterdir()]) == 1
