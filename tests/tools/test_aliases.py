from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.errors import BadArguments
from obsidian_mcp.features.tools import Tools
from obsidian_mcp.settings import load
from obsidian_mcp.tools import catalogue
from obsidian_mcp.tools.aliases import ALIASES, understood

KNOWN = ("name", "to", "start_line")
MEANT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "as the schema has it": ({"name": "A", "start_line": 2}, {"name": "A", "start_line": 2}),
    "another word": ({"path": "A", "folder": "F"}, {"name": "A", "to": "F"}),
    "null": ({"name": "A", "start_line": None}, {"name": "A"}),
    "null for what is required": ({"name": None}, {}),
    "another word, and null": ({"path": "A", "name": None, "file": None}, {"name": "A"}),
    "null inside": ({"name": {"a": None}}, {"name": {"a": None}}),
    "a word that is no argument": ({"name": "A", "bogus": None}, {"name": "A", "bogus": None}),
    "a word for an argument that is not there": ({"text": "x"}, {"text": "x"}),
    "two words": ({"name": "A", "path": "B"}, {"name": "A", "path": "B"}),
    "two other words": ({"file": "A", "path": "B"}, {"file": "A", "path": "B"}),
}


@pytest.mark.parametrize(("given", "meant"), MEANT.values(), ids=MEANT)
def test_arguments_are_understood(given: dict[str, Any], meant: dict[str, Any]) -> None:
    assert understood(given, KNOWN) == meant


def test_a_tools_own_argument_is_never_taken_for_another() -> None:
    assert understood({"folder": "F"}, ("folder", "to")) == {"folder": "F"}


def test_these_words_are_taken_and_stand_in_no_schema() -> None:
    words = {
        "name": "path file filename note",
        "content": "text body",
        "to": "destination folder directory",
        "folder": "path directory",
        "query": "q search text",
        "section": "heading",
        "old_text": "old_string old_str find",
        "new_text": "new_string new_str replace text content body",
        "set": "properties",
        "all": "replace_all",
        "modified_after": "since",
        "kind": "type",
    }
    pairs = {(other, own) for own, others in words.items() for other in others.split()}
    assert pairs == {(other, own) for other, meant in ALIASES.items() for own in meant}
    listed = catalogue.load()
    for name in listed.names:
        known = listed.arguments(name)
        assert not [other for other, own in pairs if other in known and own in known]


def test_the_first_argument_that_a_tool_has_is_meant() -> None:
    assert understood({"path": "F"}, ("folder", "depth")) == {"folder": "F"}
    assert understood({"path": "F"}, ("folder", "name")) == {"name": "F"}


def test_a_note_that_is_named_by_another_word_is_touched_all_the_same() -> None:
    context: Any = None
    tools = Tools(load({"vault": ["V"]}, {}), catalogue.load(), ("V",), context, lambda name: None)
    assert tools.job("obsidian_read_note", {"path": "A/Note.md"}, lambda data: data).access.keys == {"note"}


def test_what_is_given_twice_is_said_so() -> None:
    with pytest.raises(BadArguments, match="path is another word for name"):
        catalogue.load().tool("obsidian_read_note").parse({"name": "A", "path": "B"})


def test_a_note_that_is_named_by_what_it_is_for_may_be_any() -> None:
    context: Any = None
    tools = Tools(load({"vault": ["V"]}, {}), catalogue.load(), ("V",), context, lambda name: None)
    for name, whole in (("@daily", True), (" @active", True), ("Note", False)):
        assert tools.job("obsidian_read_note", {"name": name}, lambda data: data).access.whole is whole
