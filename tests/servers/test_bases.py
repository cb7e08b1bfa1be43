"""Bases with the app, which answers itself; images and the graph where only the app can be asked."""

from __future__ import annotations

import os
from typing import Any

import pytest

from obsidian_mcp.backends.files.birth import birth_time
from tests.support.client import Server, ToolFailed
from tests.support.world import World

BASE = 'views: [{type: table, name: A}, {type: table, name: "B, b"}]\nfilters: file.ctime > now()\n'
ROWS = [{"path": "Note.md", "file name": "Note", "status": "open"}]


@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
def test_the_app_is_asked_for_a_view(own_world: World, far: bool) -> None:
    own_world.put("Tasks.base", BASE)
    own_world.mood(None, far=far)
    own_world.state(bases={"A": [], "B, b": ROWS})
    environment = own_world.far_environment() if far else own_world.environment()
    with Server(environment, "--vault", "Vault", "--toolsets", "all") as server:
        server.initialize()
        data = server.call("query_base", name="Tasks.base", view="B, b")
        assert (data["rows"], data["total"], data["views"]) == (ROWS, 1, ["A", "B, b"])
        assert server.call("query_base", name="Tasks.base")["rows"] == []
        with pytest.raises(ToolFailed) as caught:
            server.call("query_base", name="Tasks.base", view="C")
        assert caught.value.code == -32602
    asked = [command for command in own_world.commands() if command[0] == "base:query"]
    assert asked == [["base:query", "path=Tasks.base", f"view={view}", "format=json"] for view in ("B, b", "A")]


@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
def test_a_base_that_stands_in_a_note_is_answered_from_the_folder(own_world: World, far: bool) -> None:
    """The app is asked by `base:query`, which knows files alone."""
    own_world.put("Board.md", "```base\nfilters: file.hasLink(this.file)\n```\n")
    own_world.put("Note.md", "[[Board]]")
    own_world.mood(None, far=far)
    environment = own_world.far_environment() if far else own_world.environment()
    with Server(environment, "--vault", "Vault", "--toolsets", "all") as server:
        server.initialize()
        if not far:
            assert [row["path"] for row in server.call("query_base", name="Board")["rows"]] == ["Note.md"]
            return
        with pytest.raises(ToolFailed) as caught:
            server.call("query_base", name="Board")
        assert caught.value.error_code == "INVALID_ARGUMENTS"


def test_without_the_app_the_time_of_birth_is_that_of_the_file(own_world: World) -> None:
    own_world.put("All.base", 'filters: file.ext == "md" && file.ctime <= now()\n')
    own_world.put("Note.md", "x")
    note = own_world.vault / "Note.md"
    os.utime(note, (0, 0))
    with Server(own_world.environment(), "--vault", "Vault", "--backend", "embedded", "--toolsets", "all") as server:
        server.initialize()
        if birth_time(str(note), note.stat()) is None:
            with pytest.raises(ToolFailed):
                server.call("query_base", name="All.base")
            return
        assert [row["path"] for row in server.call("query_base", name="All.base")["rows"]] == ["Note.md"]


@pytest.mark.parametrize("said", [7, "rows", [{"name": "x"}], [7]], ids=str)
def test_an_answer_of_another_shape_is_not_believed(own_world: World, said: Any) -> None:
    own_world.put("Tasks.base", BASE)
    own_world.state(bases={"A": said})
    with Server(own_world.environment(), "--vault", "Vault", "--toolsets", "all") as server:
        with pytest.raises(ToolFailed) as caught:
            server.initialize().call("query_base", name="Tasks.base")
        assert caught.value.error_code == "CLI_FAILED"


def test_where_only_the_app_can_be_asked_the_graph_goes_one_link_far(own_world: World) -> None:
    own_world.put("A.md", "[[B]]")
    own_world.put("B.md", "[[C]]")
    own_world.put("C.md", "")
    own_world.put("Z.md", "[[A]]")
    own_world.mood(None, far=True)
    with Server(own_world.far_environment(), "--vault", "Vault", "--toolsets", "all") as server:
        data = server.initialize().call("show_graph", name="A", depth=2)
    assert [node["path"] for node in data["nodes"]] == ["A.md", "B.md", "Z.md"]
    assert "depth is 1" in data["note"]
