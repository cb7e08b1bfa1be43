from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.canvas import Unreadable, outline


def node(id: str, x: int, y: int, width: int = 10, height: int = 10, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "text", "x": x, "y": y, "width": width, "height": height, **more}


def test_cards_lie_in_their_groups_and_arrows_come_last() -> None:
    canvas = {
        "nodes": [
            node("c", 200, 0, text="Outside"),
            node("b", 20, 60, type="file", file="Notes/Kyoto.md", subpath="#Day 1"),
            node("a", 20, 20, text="# Plan\n\nfirst\nsecond"),
            node("g", 0, 0, 100, 100, type="group", label="Japan"),
            node("l", 300, 0, type="link", url="https://example.com"),
        ],
        "edges": [
            {"id": "1", "fromNode": "a", "toNode": "b", "label": "leads to"},
            {"id": "2", "fromNode": "b", "toNode": "c", "toEnd": "none"},
            {"id": "3", "fromNode": "a", "toNode": "nowhere"},
        ],
    }
    assert outline(json.dumps(canvas)).splitlines() == [
        "- Group: Japan",
        "  - # Plan",
        "",
        "    first",
        "    second",
        "  - File: Notes/Kyoto.md#Day 1",
        "- Outside",
        "- Link: https://example.com",
        "",
        "Arrows:",
        "- Plan → Notes/Kyoto.md#Day 1: leads to",
        "- Notes/Kyoto.md#Day 1 — Outside",
    ]


def test_a_group_may_lie_in_a_group() -> None:
    canvas = {
        "nodes": [
            node("o", 0, 0, 100, 100, type="group", label="outer"),
            node("i", 10, 10, 50, 50, type="group", label="inner"),
            node("t", 20, 20, text="card"),
        ]
    }
    assert outline(json.dumps(canvas)).splitlines() == ["- Group: outer", "  - Group: inner", "    - card"]


@pytest.mark.parametrize("text", ["", "{}", '{"nodes":[],"edges":[]}'])
def test_an_empty_canvas_says_so(text: str) -> None:
    assert outline(text) == "The canvas is empty."


@pytest.mark.parametrize("text", ["{", "[]", '{"nodes": 7}', "[" * 100_000])
def test_what_is_no_canvas_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        outline(text)


JSON = st.recursive(st.none() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3))
KEYS = st.sampled_from("id type x y width height text file url label fromNode toNode".split())
NODES = st.lists(st.dictionaries(KEYS, JSON | st.sampled_from(["group", "text", "a"])), max_size=6)


@given(NODES, NODES)
def test_any_canvas_has_an_outline(nodes: list[Any], edges: list[Any]) -> None:
    assert outline(json.dumps({"nodes": nodes, "edges": edges}))
