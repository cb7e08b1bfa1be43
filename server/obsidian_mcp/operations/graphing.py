"""The notes around a note: what is linked with it, and with what, as a graph and as Mermaid text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from obsidian_mcp.call import CallContext
from obsidian_mcp.operations.linking import links_of
from obsidian_mcp.vault.contents import AppAnswers, Contents, Unread
from obsidian_mcp.vault.links.link import Link
from obsidian_mcp.vault.links.link_rewrites import leads_to
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import Vault

SHOWN = (".md", ".canvas", ".base")  # the others, such as images, are no places to go on from
_PLAIN = re.compile(r"[^\w .,()/+-]")


@dataclass(frozen=True, slots=True)
class Graph:
    """Paths with their distance from the first, and edges between them by number; `total` are all within reach."""

    nodes: list[tuple[str, int]]
    edges: list[tuple[int, int]]
    total: int
    unread: Unread = field(default_factory=list)

    def first(self, count: int) -> Graph:
        """The nearest of it."""
        edges = [edge for edge in self.edges if max(edge) < count]
        return Graph(self.nodes[:count], edges, self.total, self.unread)


Links = dict[str, set[str]]  # from which file to which


def around(path: str, depth: int, limit: int, links: Links, unread: Unread | None = None) -> Graph:
    """The nearest come first; of those equally near, the ones with more links to what is shown already."""
    beside = _undirected(links)
    order = {path: 0}
    level = [path]
    for distance in range(1, depth + 1):
        found: dict[str, int] = defaultdict(int)
        for node in level:
            for other in beside[node]:
                if other not in order:
                    found[other] += 1
        level = sorted(found, key=lambda other: (-found[other], other))
        order.update(dict.fromkeys(level, distance))
    nodes = list(order.items())[:limit]
    number = {node: at for at, (node, _) in enumerate(nodes)}
    edges = sorted((number[node], number[goal]) for node in number for goal in links.get(node, ()) if goal in number)
    return Graph(nodes, edges, len(order), unread or [])


def _undirected(links: Links) -> Links:
    beside: Links = defaultdict(set)
    for node, goals in links.items():
        for goal in goals:
            beside[node].add(goal)
            beside[goal].add(node)
    return beside


def all_links(contents: Contents, call: CallContext) -> tuple[Links, Unread]:
    """From every file to those that it links to, as far as they are there."""
    there = contents.resolver(call)
    links: Links = {}

    def follow(path: str, found: list[Link]) -> list[Link]:
        if path.endswith(SHOWN):
            links[path] = _goals(path, (leads_to(there, link, path) for link in found))
        return []

    _, unread = contents.links(call, choose=follow)
    return links, unread


def told_by_app(path: str, app: AppAnswers, vault: Vault) -> Links:
    """The links of one note and to it, where only the app can be asked."""
    own = links_of(path, vault.read(VaultPath(path)), Resolver(vault.paths()))
    links = {path: _goals(path, (each.target for each in own))}
    for other in app.backlinks(VaultPath(path)):
        if other != path:
            links.setdefault(other, set()).add(path)
    return links


def _goals(path: str, goals: Iterable[str | None]) -> set[str]:
    return {goal for goal in goals if goal is not None and goal != path and goal.endswith(SHOWN)}


def mermaid(graph: Graph) -> str:
    """Names that a diagram can't hold are written as codes."""
    labels = [path.rpartition("/")[2].removesuffix(".md") for path, _ in graph.nodes]
    shown = [
        label if labels.count(label) == 1 else path.removesuffix(".md")
        for label, (path, _) in zip(labels, graph.nodes, strict=True)
    ]
    nodes = [f'n{at}["{_coded(label)}"]' for at, label in enumerate(shown)]
    return "\n".join(["graph LR", *nodes, *(f"n{start} --> n{end}" for start, end in graph.edges)])


def _coded(label: str) -> str:
    return _PLAIN.sub(lambda found: f"#{ord(found[0])};", label)


def fitted(graph: Graph, fits: Callable[[Graph], bool]) -> Graph:
    """As much of it as fits, the nearest first: found by halving."""
    if fits(graph):
        return graph
    least, most = 1, len(graph.nodes)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if fits(graph.first(middle)) else (least, middle)
    return graph.first(least)
