"""The tool that shows the notes around a note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from obsidian_mcp.operations import graphing, searching
from obsidian_mcp.operations.graphing import Graph
from obsidian_mcp.protocol import results
from obsidian_mcp.tools.notes import BareTarget
from obsidian_mcp.tools.tool import Context, Effect, plain, tool
from obsidian_mcp.tools.toolsets import GRAPH

ONLY_THE_NEXT = "From the Obsidian app, which tells the links of one note at a time: depth is 1."


class ShowGraph(BareTarget):
    depth: Annotated[int, Field(ge=1, le=3)] = 1
    limit: Annotated[int, Field(ge=1, le=500)] = 50


@dataclass(frozen=True, slots=True)
class GraphNode:
    path: str
    distance: int


@dataclass(frozen=True, slots=True)
class GraphShown:
    nodes: list[GraphNode]
    edges: list[list[int]]
    total: int
    mermaid: str
    note: str | None = None


@tool("Show a graph", Effect.READS, GRAPH, whole_vault=True)
def obsidian_show_graph(params: ShowGraph, it: Context) -> GraphShown:
    """The notes linked with a note, in both directions. Edges go from and to nodes by number, from 0."""
    path = params.path_in(it.vault).value
    if it.contents is None:
        links = graphing.told_by_app(path, it.asked, it.vault)
        found, note = graphing.around(path, 1, params.limit, links), ONLY_THE_NEXT if params.depth > 1 else None
    else:
        links, unread = graphing.all_links(it.contents, it.call)
        found, note = graphing.around(path, params.depth, params.limit, links), searching.not_looked_at(unread)
    return _told(graphing.fitted(found, lambda graph: results.size(plain(_told(graph, note))) <= it.page), note)


def _told(graph: Graph, note: str | None) -> GraphShown:
    nodes = [GraphNode(path, distance) for path, distance in graph.nodes]
    return GraphShown(nodes, [list(edge) for edge in graph.edges], graph.total, graphing.mermaid(graph), note)
