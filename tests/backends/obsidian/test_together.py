"""Several notes at once, with the app: by the files in one transaction, after the app has answered."""

from __future__ import annotations

import pytest

from obsidian_mcp.backends.files.journal import Act, Journal, Text, digest
from obsidian_mcp.state import State
from tests.support.client import Server, ToolFailed
from tests.support.world import World

RENAMED = {"kind": "tag", "old": "old", "new": "new"}


@pytest.fixture
def vault(world: World) -> World:
    for number in range(6):
        world.put(f"Note {number}.md", "#old\r\n")
    return world


def journal(vault: World, *acts: Act) -> State:
    """What a server leaves that is killed when the first of two texts is in place."""
    state = State(str(vault.vault), vault.environment())
    names = ["Note 0.md", "Note 1.md"]
    texts = [Text(name, name, digest(b"#old\r\n"), "#other\r\n", "#old\r\n") for name in names]
    state.write_journal(Journal("renaming #old", acts, tuple(texts)).stored())
    vault.put("Note 0.md", "#other\r\n")
    return state


def test_all_are_written_and_the_app_is_asked_before_and_after_and_not_for_each(vault: World, server: Server) -> None:
    assert server.call("rename_term", **RENAMED)["total"] == 6
    assert {vault.get(f"Note {number}.md") for number in range(6)} == {b"#new\r\n"}
    asked = [words[0] for words in vault.commands()]
    assert 2 <= len(asked) < 6
    assert set(asked) == {"file"}


@pytest.mark.parametrize("mood", ["not-running", "disabled"])
def test_nothing_is_written_without_the_app(vault: World, server: Server, mood: str) -> None:
    before = vault.tree()
    vault.mood(mood)
    with pytest.raises(ToolFailed):
        server.call("rename_term", **RENAMED)
    assert vault.tree() == before


def test_what_was_interrupted_is_finished_by_the_next_write(vault: World, server: Server) -> None:
    state = journal(vault)
    server.call("append_note", name="Note 5", content="more")
    assert [vault.get(f"Note {number}.md") for number in range(3)] == [b"#other\r\n", b"#other\r\n", b"#old\r\n"]
    assert not state.has_journal


def test_an_interrupted_move_of_a_server_without_the_app_is_left_to_such_a_server(vault: World, server: Server) -> None:
    state = journal(vault, Act("rename", "Gone.md", "Note 2.md"))
    server.call("append_note", name="Note 5", content="more")  # one note has not to wait for it
    with pytest.raises(ToolFailed) as failed:
        server.call("rename_term", **RENAMED)
    assert (failed.value.error_code, "--backend embedded" in failed.value.message) == ("FILE_FAILED", True)
    assert state.has_journal
    state.clear_journal()
