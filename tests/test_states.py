"""Every failure of a call that could have changed something says how the vault was left."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from obsidian_mcp.errors import CHANGED, UNKNOWN, UNTOUCHED
from obsidian_mcp.tools import catalogue
from tests.support.client import Server, ToolFailed
from tests.support.world import World

ARGUMENTS: dict[str, dict[str, Any]] = {
    "create_note": {"name": "Folder/New", "content": "x"},
    "append_note": {"name": "Note", "content": "x"},
    "prepend_note": {"name": "Note", "content": "x"},
    "delete_note": {"name": "Note"},
    "move_note": {"name": "Note", "to": "Folder"},
    "rename_note": {"name": "Note", "new_name": "Other"},
}
EDITS: dict[str, dict[str, Any]] = {  # which the app's command line has no command for
    "edit_note": {"name": "Note", "old_text": "text", "new_text": "x"},
    "set_properties": {"name": "Note", "set": {"a": 1}},
    "set_task": {"name": "Note", "task": "x"},
}
MANY: dict[str, dict[str, Any]] = {  # by arguments that are refused
    "undo_change": {"id": "nosuch"},
    "move_notes": {"names": ["Note", "../x"], "to": "Folder"},
    "replace_in_notes": {"query": "text", "old_text": "text", "new_text": "x", "expected": 7},
    "rename_term": {"kind": "tag", "old": "a", "new": "not a tag"},
    "repair_links": {"links": [{"path": "../x", "link": "[[a]]", "target": "Note"}]},
}
ALL = ("--toolsets", "all")
SENTENCES = tuple(state.sentence for state in (UNTOUCHED, UNKNOWN, CHANGED))


def test_no_tool_that_writes_is_forgotten_here() -> None:
    offered = catalogue.load()
    assert {name for name in offered.names if offered.writes(name)} == {
        f"obsidian_{tool}" for tool in (*ARGUMENTS, *EDITS, *MANY)
    }


@pytest.fixture(scope="module")
def hasty(shared_world: World) -> Iterator[Server]:
    """Through the app, with little patience."""
    with Server(shared_world.environment(), "--vault", "Vault", "--timeout", "3", *ALL) as server:
        yield server.initialize()


@pytest.fixture(scope="module")
def on_files(shared_world: World) -> Iterator[Server]:
    options = ("--vault", str(shared_world.vault), "--backend", "embedded", *ALL)
    with Server(shared_world.environment(), *options) as server:
        yield server.initialize()


def failure(server: Server, tool: str, arguments: dict[str, Any]) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        server.call(tool, **arguments)
    return caught.value


def state_of(failed: ToolFailed) -> str:
    """The one sentence about the vault that it says."""
    said = [sentence for sentence in SENTENCES if sentence in failed.message]
    assert len(said) == 1, failed.message
    return said[0]


def _vault(world: World) -> dict[str, bytes]:
    world.put("Note.md", "text\n")
    world.put("Folder/Note 2.md", "other\n")
    return world.tree()


Provoke = Callable[[World, dict[str, Any]], dict[str, Any]]


WRONG: dict[str, Provoke] = {
    "a name that leads out": lambda world, arguments: {**arguments, "name": "../x"},
    "an argument that is unknown": lambda world, arguments: {**arguments, "colour": "red"},
    "a link out of the vault": lambda world, arguments: {**arguments, "name": "Linked/Secret"},
    "a name that two notes have": lambda world, arguments: {**arguments, "name": "twin.md"},
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("tool", [*ARGUMENTS, *EDITS])
@pytest.mark.parametrize("through", ["hasty", "on_files"])
def test_a_refused_write_says_that_nothing_was_changed(
    request: pytest.FixtureRequest, world: World, through: str, tool: str, wrong: str
) -> None:
    server: Server = request.getfixturevalue(through)
    world.put("Twin.md", "a")
    world.put("TWIN.md", "b")
    (world.outside / "Secret.md").write_text("secret")
    (world.vault / "Linked").symlink_to(world.outside)
    before = _vault(world)
    arguments = WRONG[wrong](world, {**ARGUMENTS, **EDITS}[tool])
    if wrong == "a name that two notes have" and tool == "create_note":
        arguments["overwrite"] = True
    assert state_of(failure(server, tool, arguments)) == UNTOUCHED.sentence
    assert world.tree() == before


@pytest.mark.parametrize("tool", MANY)
def test_a_refused_change_of_many_notes_says_that_nothing_was_changed(
    world: World, on_files: Server, tool: str
) -> None:
    before = _vault(world)
    assert state_of(failure(on_files, tool, MANY[tool])) == UNTOUCHED.sentence
    assert world.tree() == before


MOODS = {
    "not-running": UNTOUCHED,
    "disabled": UNTOUCHED,
    "denied": UNTOUCHED,
    "lying": UNKNOWN,
    "die-after": UNKNOWN,
    "hang-after": UNKNOWN,
    "chatty": UNKNOWN,
}


@pytest.mark.parametrize("mood", MOODS)
@pytest.mark.parametrize("tool", ARGUMENTS)
def test_a_write_that_the_app_failed_says_what_is_known(world: World, hasty: Server, tool: str, mood: str) -> None:
    before = _vault(world)
    world.mood(mood, commands=[tool.partition("_")[0]])
    failed = failure(hasty, tool, ARGUMENTS[tool])
    assert state_of(failed) == MOODS[mood].sentence
    if MOODS[mood] is UNTOUCHED:
        assert world.tree() == before


@pytest.mark.parametrize("through", ["hasty", "on_files"])
def test_a_read_that_failed_says_nothing_of_changes(request: pytest.FixtureRequest, world: World, through: str) -> None:
    server: Server = request.getfixturevalue(through)
    for tool, name in (("read_note", "../x"), ("read_note", "Missing"), ("file_info", "Missing"), ("open_note", "..")):
        message = failure(server, tool, {"name": name}).message
        assert not any(sentence in message for sentence in SENTENCES), message


def test_every_message_is_whole_sentences(world: World, on_files: Server) -> None:
    for tool, arguments in ARGUMENTS.items():
        message = failure(on_files, tool, {**arguments, "name": "Missing/../x"}).message
        assert re.fullmatch(r"[^\n]+[.]", message), message
        assert ".." not in message.replace("'..'", "").replace("/../", ""), message
