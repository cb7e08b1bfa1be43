"""A whole session over pipes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.client import Server, ToolFailed
from tests.support.world import World


@pytest.fixture
def embedded(own_world: World) -> Iterator[Server]:
    with Server(own_world.environment(), "--vault", str(own_world.vault), "--backend", "embedded") as server:
        yield server.initialize()


def test_notes_are_made_read_and_added_to(own_world: World, embedded: Server) -> None:
    made = embedded.call("create_note", name="Sub/Ünïcode 笔记", content="one\r\ntwo\n")
    assert made["path"] == "Sub/Ünïcode 笔记.md"
    embedded.call("append_note", name="Ünïcode 笔记", content="three")
    assert own_world.get("Sub/Ünïcode 笔记.md") == b"one\r\ntwo\nthree"
    assert embedded.call("read_note", name="Ünïcode 笔记")["content"] == "one\r\ntwo\nthree"


def test_a_renamed_note_keeps_its_links(own_world: World, embedded: Server) -> None:
    own_world.put("A/Old.md", "text")
    own_world.put("B/Linking.md", "[[Old]] and [x](../A/Old.md)")
    embedded.call("rename_note", name="Old", new_name="New")
    assert own_world.get("B/Linking.md") == b"[[New]] and [x](../A/New.md)"
    assert own_world.has("A/New.md")
    assert not own_world.has("A/Old.md")


def test_a_note_that_is_not_there_is_told(embedded: Server) -> None:
    with pytest.raises(ToolFailed) as failed:
        embedded.call("read_note", name="Nowhere")
    assert failed.value.error_code == "FILE_NOT_FOUND"


def test_the_end_of_the_input_ends_the_server(own_world: World, embedded: Server) -> None:
    assert embedded.finish() == 0
