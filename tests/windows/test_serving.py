"""A whole session over pipes."""

from __future__ import annotations

import pytest

from tests.support.client import Server, ToolFailed
from tests.support.world import World


def test_notes_are_made_read_and_added_to(world: World, server: Server) -> None:
    made = server.call("create_note", name="Sub/Ünïcode 笔记", content="one\r\ntwo\n")
    assert made["path"] == "Sub/Ünïcode 笔记.md"
    server.call("append_note", name="Ünïcode 笔记", content="three")
    assert world.get("Sub/Ünïcode 笔记.md") == b"one\r\ntwo\nthree"
    assert server.call("read_note", name="Ünïcode 笔记")["content"] == "one\r\ntwo\nthree"


def test_a_renamed_note_keeps_its_links(world: World, server: Server) -> None:
    world.put("A/Old.md", "text")
    world.put("B/Linking.md", "[[Old]] and [x](../A/Old.md)")
    server.call("rename_note", name="Old", new_name="New")
    assert world.get("B/Linking.md") == b"[[New]] and [x](../A/New.md)"
    assert world.has("A/New.md")
    assert not world.has("A/Old.md")


def test_a_deleted_note_is_in_the_vaults_own_trash(world: World, server: Server) -> None:
    world.put("Note.md", "kept")
    assert server.call("delete_note", name="Note")["trashed"]
    assert world.get(".trash/Note.md") == b"kept"


def test_a_note_that_is_not_there_is_told(server: Server) -> None:
    with pytest.raises(ToolFailed) as failed:
        server.call("read_note", name="Nowhere")
    assert failed.value.error_code == "FILE_NOT_FOUND"


def test_the_end_of_the_input_ends_the_server(own_world: World) -> None:
    with Server(own_world.environment(), "--vault", str(own_world.vault), "--backend", "embedded") as server:
        assert server.initialize().finish() == 0
