"""The notes around a note."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import ToolFailed
from tests.support.memory import Files, Session, session

VAULT = {
    "A.md": b"[[B]] [[A]] [[nowhere]] ![[pic.png]] [[B]]",
    "B.md": b"[[Sub/C]]",
    "Sub/C.md": b"[[D]]",
    "D.md": b"",
    "Z.md": b"[[A]]",
    "Alone.md": b"",
    "pic.png": b"",
}


def shown(client: Session, **more: Any) -> tuple[list[tuple[str, int]], list[list[str]], dict[str, Any]]:
    data = client.call("show_graph", **more)
    nodes = [(node["path"], node["distance"]) for node in data["nodes"]]
    return nodes, [[nodes[start][0], nodes[end][0]] for start, end in data["edges"]], data


def test_links_in_both_directions_are_shown() -> None:
    nodes, edges, data = shown(session(Files(VAULT)), name="A")
    assert nodes == [("A.md", 0), ("B.md", 1), ("Z.md", 1)]
    assert sorted(edges) == [["A.md", "B.md"], ["Z.md", "A.md"]]
    assert data["total"] == 3
    assert data["mermaid"].splitlines() == ["graph LR", 'n0["A"]', 'n1["B"]', 'n2["Z"]', "n0 --> n1", "n2 --> n0"]


@pytest.mark.parametrize(("depth", "count"), [(1, 3), (2, 4), (3, 5)])
def test_depth_is_how_far_it_goes(depth: int, count: int) -> None:
    nodes, _, data = shown(session(Files(VAULT)), name="A", depth=depth)
    assert len(nodes) == data["total"] == count
    assert max(distance for _, distance in nodes) == depth


def test_the_nearest_and_most_linked_are_kept() -> None:
    nodes, edges, data = shown(session(Files({**VAULT, "Z.md": b"[[A]] [[B]]"})), name="A", depth=3, limit=3)
    assert [path for path, _ in nodes] == ["A.md", "B.md", "Z.md"]
    assert data["total"] == 5
    assert ["Z.md", "B.md"] in edges


def test_a_result_fits_its_page() -> None:
    many = {f"A note with a rather long name, number {number}.md": b"[[Hub]]" for number in range(400)}
    _, edges, data = shown(session(Files({"Hub.md": b"", **many})), name="Hub", limit=500)
    assert (data["total"], len(edges)) == (401, len(data["nodes"]) - 1)
    assert 20 < len(edges) < 400


def test_names_that_a_diagram_cannot_hold_are_coded() -> None:
    files = Files({'Say "hi" [x].md': b"[[Sub/A]] [[A]]", "A.md": b"", "Sub/A.md": b""})
    _, _, data = shown(session(files), name='Say "hi" [x].md')
    assert 'n0["Say #34;hi#34; #91;x#93;"]' in data["mermaid"]
    assert 'n2["Sub/A"]' in data["mermaid"]


def test_a_note_alone_is_a_graph_of_one() -> None:
    nodes, edges, _ = shown(session(Files(VAULT)), name="Alone")
    assert (nodes, edges) == ([("Alone.md", 0)], [])


@pytest.mark.parametrize("depth", [0, 4])
def test_it_goes_at_most_three_links_far(depth: int) -> None:
    with pytest.raises(ToolFailed) as caught:
        session(Files(VAULT)).call("show_graph", name="A", depth=depth)
    assert caught.value.code == -32602
