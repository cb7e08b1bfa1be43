from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.protocol.clients import page_of
from obsidian_mcp.tools import catalogue

NINE = [
    "obsidian_create_note",
    "obsidian_read_note",
    "obsidian_append_note",
    "obsidian_prepend_note",
    "obsidian_delete_note",
    "obsidian_move_note",
    "obsidian_rename_note",
    "obsidian_open_note",
    "obsidian_file_info",
]
FIND = [
    "obsidian_search_notes",
    "obsidian_list_folder",
    "obsidian_outline_note",
    "obsidian_list_links",
    "obsidian_list_properties",
]
EDIT = ["obsidian_edit_note", "obsidian_set_properties"]
HISTORY = ["obsidian_list_changes", "obsidian_undo_change"]
TASKS = ["obsidian_list_tasks", "obsidian_set_task"]
TIDY = ["obsidian_move_notes", "obsidian_replace_in_notes", "obsidian_rename_term", "obsidian_repair_links"]
MEDIA, GRAPH, BASES = ["obsidian_view_file"], ["obsidian_show_graph"], ["obsidian_query_base"]
ARGUMENTS = {
    "obsidian_create_note": ["name", "content", "template", "overwrite", "if_match"],
    "obsidian_read_note": ["name", "section", "start_line", "start_char", "max_lines"],
    "obsidian_append_note": ["name", "content", "section", "inline", "if_match"],
    "obsidian_prepend_note": ["name", "content", "section", "inline", "if_match"],
    "obsidian_delete_note": ["name", "permanent", "if_match"],
    "obsidian_move_note": ["name", "to", "dry_run"],
    "obsidian_rename_note": ["name", "new_name", "dry_run"],
    "obsidian_open_note": ["name", "new_tab"],
    "obsidian_file_info": ["name"],
    "obsidian_search_notes": ["query", "modified_after", "sort", "show", "limit", "max_chars", "cursor"],
    "obsidian_list_folder": ["folder", "depth", "sort", "limit", "cursor"],
    "obsidian_outline_note": ["name", "cursor"],
    "obsidian_list_links": ["kind", "name", "limit", "cursor"],
    "obsidian_list_properties": ["property", "limit", "cursor"],
    "obsidian_edit_note": ["name", "new_text", "old_text", "section", "all", "if_match", "dry_run"],
    "obsidian_set_properties": ["name", "set", "add", "remove", "if_match", "dry_run"],
    "obsidian_list_changes": ["id", "name", "since", "limit", "cursor"],
    "obsidian_undo_change": ["id", "since", "client", "merge", "dry_run"],
    "obsidian_list_tasks": ["status", "within", "due_before", "words", "limit", "cursor"],
    "obsidian_set_task": ["name", "task", "mark", "if_match", "dry_run"],
    "obsidian_move_notes": ["names", "to", "dry_run"],
    "obsidian_replace_in_notes": ["query", "old_text", "new_text", "expected", "dry_run"],
    "obsidian_rename_term": ["kind", "old", "new", "name", "dry_run"],
    "obsidian_repair_links": ["name", "links", "sure", "limit", "dry_run"],
    "obsidian_view_file": ["name", "page"],
    "obsidian_show_graph": ["name", "depth", "limit"],
    "obsidian_query_base": ["name", "view", "limit", "cursor"],
}
REQUIRED = {
    "obsidian_search_notes": ["query"],
    "obsidian_list_folder": [],
    "obsidian_list_links": ["kind"],
    "obsidian_list_properties": [],
    "obsidian_list_changes": [],
    "obsidian_undo_change": [],
    "obsidian_list_tasks": [],
    "obsidian_move_notes": ["names"],
    "obsidian_replace_in_notes": ["query"],
    "obsidian_rename_term": ["kind"],
    "obsidian_repair_links": [],
}
#          read-only, destructive
HINTS = {
    "obsidian_create_note": (False, True),
    "obsidian_read_note": (True, False),
    "obsidian_append_note": (False, False),
    "obsidian_prepend_note": (False, False),
    "obsidian_delete_note": (False, True),
    "obsidian_move_note": (False, True),
    "obsidian_rename_note": (False, True),
    "obsidian_open_note": (True, False),
    "obsidian_file_info": (True, False),
    **dict.fromkeys(FIND, (True, False)),
    **dict.fromkeys(EDIT, (False, True)),
    "obsidian_list_changes": (True, False),
    "obsidian_undo_change": (False, True),
    "obsidian_list_tasks": (True, False),
    "obsidian_set_task": (False, True),
    **dict.fromkeys(TIDY, (False, True)),
    **dict.fromkeys((*MEDIA, *GRAPH, *BASES), (True, False)),
}
#                   visible, in all
BUDGETS = {
    ("notes",): (5_200, 10_200),
    ("default",): (11_000, 22_000),
    ("all",): (15_500, 32_000),
    ("history",): (1_200, 2_500),
}


def stored() -> list[dict[str, Any]]:
    return catalogue.load().listing()


def compact(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def test_the_stored_catalogue_is_what_the_declarations_say() -> None:
    for file, text in catalogue.generated().items():
        assert Path(file).read_text(encoding="utf-8") == text, "run make catalogue"


def test_these_tools_there_are() -> None:
    every = [*NINE, *FIND, *EDIT, *HISTORY, *TASKS, *TIDY, *MEDIA, *GRAPH, *BASES]
    assert list(catalogue.declared()) == every == [tool["name"] for tool in stored()]
    assert catalogue.load(sets=("notes",)).names == NINE
    assert catalogue.load(sets=("find",)).names == FIND


@pytest.mark.parametrize(("sets", "most"), BUDGETS.items(), ids=[",".join(sets) for sets in BUDGETS])
def test_the_list_costs_a_model_little(sets: tuple[str, ...], most: tuple[int, int]) -> None:
    tools = catalogue.load(sets=sets).listing()
    visible = sum(compact({key: tool[key] for key in ("name", "description", "inputSchema")}) for tool in tools)
    assert (visible <= most[0], compact({"tools": tools}) <= most[1]) == (True, True)


@pytest.mark.parametrize("tool", stored(), ids=lambda tool: tool["name"])
def test_a_tool_is_complete(tool: dict[str, Any]) -> None:
    name = tool["name"]
    assert len(name) <= 40
    assert tool["title"]
    assert len(tool["description"]) > 30
    assert list(tool["inputSchema"]["properties"]) == ARGUMENTS[name]
    assert tool["inputSchema"]["additionalProperties"] is False
    assert tool["inputSchema"].get("required", [])[:1] == REQUIRED.get(name, ["name"])
    if name in MEDIA:  # a host that finds a structure shows the model that alone, and not the images
        assert "outputSchema" not in tool
    else:
        assert tool["outputSchema"]["required"] == ["success", "data"]
    annotations = tool["annotations"]
    assert annotations["title"] == tool["title"]
    assert set(annotations) - {"title"} == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert (annotations["readOnlyHint"], annotations["destructiveHint"]) == HINTS[name]


@pytest.mark.parametrize("tool", stored(), ids=lambda tool: tool["name"])
def test_a_schema_is_one_that_strict_clients_take(tool: dict[str, Any]) -> None:
    for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
        assert schema["type"] == "object"
        text = json.dumps(schema)
        assert not any(f'"{word}"' in text for word in ("anyOf", "oneOf", "allOf", "$ref", "$defs", "null", "title"))
    for field in tool["inputSchema"]["properties"].values():
        assert field["type"] in ("string", "boolean", "integer", "array", "object")


def test_reading_and_searching_are_found_by_words_and_loaded_at_once_in_a_host_that_defers_tools() -> None:
    metas = {tool["name"]: tool["_meta"] for tool in stored() if "_meta" in tool}
    assert list(metas) == ["obsidian_read_note", "obsidian_search_notes"]
    for meta in metas.values():
        assert meta["anthropic/alwaysLoad"] is True
        assert {"wiki", "journal", "knowledge", "markdown"} <= set(meta["anthropic/searchHint"].split())
        assert page_of("claude-code") <= meta["anthropic/maxResultSizeChars"] <= 500_000


def test_read_only_leaves_out_what_changes_something() -> None:
    offered = catalogue.load(read_only=True)
    own = ["obsidian_read_note", "obsidian_open_note", "obsidian_file_info"]
    assert offered.names == [*own, *FIND, "obsidian_list_changes", "obsidian_list_tasks", *MEDIA, *GRAPH, *BASES]
    assert "obsidian_create_note" not in offered


def test_vault_exists_only_where_there_are_several() -> None:
    assert all("vault" not in tool["inputSchema"]["properties"] for tool in catalogue.load(vaults=("A",)).listing())
    for tool in catalogue.load(vaults=("A", "B")).listing():
        assert tool["inputSchema"]["properties"]["vault"]["enum"] == ["A", "B"]
