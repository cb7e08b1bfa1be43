from __future__ import annotations

import pytest

from obsidian_mcp.settings import UsageError
from obsidian_mcp.tools import catalogue, toolsets

EVERY = catalogue.load().names


def test_the_default_is_the_sets_that_are_on_by_default() -> None:
    on = {name for name, toolset in toolsets.TOOLSETS.items() if toolset.on_by_default}
    assert toolsets.chosen(()) == toolsets.chosen(("default",)) == on
    assert toolsets.chosen(("all",)) == set(toolsets.TOOLSETS)


def test_a_set_that_does_not_exist_is_reported_with_those_that_do() -> None:
    with pytest.raises(
        UsageError,
        match=r"no toolset 'bogus'.*notes, find, edit, history, tasks, tidy, media, graph, bases, default, all",
    ):
        toolsets.chosen(("notes", "bogus"))


def test_every_tool_belongs_to_a_set_that_exists() -> None:
    assert {row.toolset for row in catalogue.load().rows()} <= set(toolsets.TOOLSETS)


def test_single_tools_are_left_out_with_or_without_their_prefix() -> None:
    offered = catalogue.load(tools=("-open_note", "-obsidian_file_info"))
    assert set(EVERY) - set(offered.names) == {"obsidian_open_note", "obsidian_file_info"}
    assert "switched off" in offered.unknown("obsidian_open_note").message


def test_a_tool_that_does_not_exist_is_reported() -> None:
    for name in ("fly", "-fly"):
        with pytest.raises(UsageError, match="no tool 'fly'"):
            catalogue.load(tools=(name,))


def test_read_only_filters_what_was_chosen() -> None:
    offered = catalogue.load(read_only=True, tools=("create_note",))
    assert "obsidian_create_note" not in offered
    assert "--read-only" in offered.unknown("obsidian_create_note").message


def test_an_argument_that_a_set_brings_is_there_only_with_the_set() -> None:
    for sets, is_there in ((("notes",), False), (("notes", "find"), True), ((), True)):
        offered = catalogue.load(sets=sets)
        (read,) = [tool for tool in offered.listing() if tool["name"] == "obsidian_read_note"]
        assert ("section" in read["inputSchema"]["properties"]) is is_there
        assert ("section" in offered.arguments("obsidian_read_note")) is is_there


def test_a_single_tool_can_be_added_to_no_set_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolsets, "chosen", lambda names: frozenset())
    assert catalogue.load(tools=("read_note",)).names == ["obsidian_read_note"]
