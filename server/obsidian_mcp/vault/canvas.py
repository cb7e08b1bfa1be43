"""A canvas as an outline: its cards, in the groups they lie in, and its arrows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

LONGEST_TITLE = 60
_WHAT = {"text": "text", "file": "file", "link": "url", "group": "label"}


class Unreadable(ValueError):
    """It is not a canvas."""


def outline(text: str) -> str:
    """Cards from top to bottom and left to right, each below the smallest group that holds it."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        raise Unreadable("it is not JSON") from None
    nodes = _objects(found, "nodes")
    lines = list(_level(nodes, {id(node): _group_of(node, nodes) for node in nodes}, None, 0))
    arrows = list(_arrows(nodes, _objects(found, "edges")))
    return "\n".join([*lines, *(["", "Arrows:", *arrows] if arrows else [])]) or "The canvas is empty."


def _objects(found: Any, name: str) -> list[Mapping[str, Any]]:
    items = found.get(name, []) if isinstance(found, Mapping) else None
    if not isinstance(items, list):
        raise Unreadable(f"it has no list of {name}")
    return [item for item in items if isinstance(item, Mapping)]


def _level(nodes: list[Mapping[str, Any]], groups: Mapping[int, Any], group: Any, depth: int) -> Iterator[str]:
    inside = [node for node in nodes if groups[id(node)] is group]
    for node in sorted(inside, key=lambda node: (_number(node, "y"), _number(node, "x"))):
        yield from _card(node, "  " * depth)
        if node.get("type") == "group":
            yield from _level(nodes, groups, node, depth + 1)


def _card(node: Mapping[str, Any], indent: str) -> Iterator[str]:
    first, *rest = _said(node).splitlines() or [""]
    kind = {"text": "", "file": "File: ", "link": "Link: ", "group": "Group: "}.get(str(node.get("type")), "")
    yield f"{indent}- {kind}{first}"
    yield from (f"{indent}  {line}" if line else "" for line in rest)


def _said(node: Mapping[str, Any]) -> str:
    value = node.get(_WHAT.get(str(node.get("type")), "text"))
    part = node.get("subpath") if node.get("type") == "file" else None
    return (value.strip() if isinstance(value, str) else "") + (part if isinstance(part, str) else "")


def _group_of(node: Mapping[str, Any], nodes: list[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The smallest group around it. A group of the same size as another can't be in it and around it at once."""
    around = [other for other in nodes if other.get("type") == "group" and other is not node and _holds(other, node)]
    return min(around, key=_area, default=None)


def _holds(group: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    if node.get("type") == "group" and _area(node) >= _area(group):
        return False
    x, y = _number(group, "x"), _number(group, "y")
    right, below = x + _number(group, "width"), y + _number(group, "height")
    middle = _number(node, "x") + _number(node, "width") / 2, _number(node, "y") + _number(node, "height") / 2
    return x <= middle[0] <= right and y <= middle[1] <= below


def _area(node: Mapping[str, Any]) -> float:
    return _number(node, "width") * _number(node, "height")


def _number(node: Mapping[str, Any], name: str) -> float:
    value = node.get(name)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e9 else 0.0


def _arrows(nodes: list[Mapping[str, Any]], edges: list[Mapping[str, Any]]) -> Iterator[str]:
    titles = {node["id"]: _title(node) for node in nodes if isinstance(node.get("id"), str)}
    for edge in edges:
        start, end = edge.get("fromNode"), edge.get("toNode")
        if isinstance(start, str) and isinstance(end, str) and start in titles and end in titles:
            label = edge.get("label")
            arrow = "—" if edge.get("toEnd") == "none" else "→"
            said = f": {' '.join(label.split())}" if isinstance(label, str) and label.strip() else ""
            yield f"- {titles[start]} {arrow} {titles[end]}{said}"


def _title(node: Mapping[str, Any]) -> str:
    first = (_said(node).splitlines() or [""])[0].lstrip("# ")
    return first if len(first) <= LONGEST_TITLE else f"{first[: LONGEST_TITLE - 1]}…"
