"""A `.base` file: its views, their filters and columns. Read only: whatever else stands in one is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.bases.expressions import NotUnderstood

DEEPEST = 20
FILTERS = ("and", "or", "not")


class Unreadable(ValueError):
    """It is not a base."""


@dataclass(frozen=True, slots=True)
class Filter:
    """`kind` is `and`, `or`, `not`, or empty for one expression."""

    kind: str
    of: tuple[Filter, ...] = ()
    expression: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    property: str
    descending: bool


@dataclass(frozen=True, slots=True)
class View:
    name: str
    type: str
    filter: Filter
    columns: tuple[str, ...]
    sort: tuple[Order, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class Base:
    views: tuple[View, ...]
    formulas: Mapping[str, str]

    def named(self, name: str | None) -> View | None:
        """The first, if none is named."""
        if name is None:
            return self.views[0]
        return next((view for view in self.views if view.name == name), None)


def read(text: str) -> Base:
    """Raises Unreadable, or NotUnderstood for a filter that is none."""
    found = frontmatter.read(f"---\n{text.removeprefix(chr(0xFEFF))}\n---\n")
    if found.problem is not None:
        raise Unreadable(found.problem.rstrip("."))
    values: Mapping[str, Any] = found.values
    shared = _filter(values.get("filters"))
    views = values.get("views") or [{"type": "table", "name": "Table"}]
    if not isinstance(views, list) or not all(isinstance(view, Mapping) for view in views):
        raise Unreadable("its views are not a list of views")
    formulas = values.get("formulas") or {}
    if not isinstance(formulas, Mapping):
        raise Unreadable("its formulas are not names with expressions")
    known = {str(name): str(text) for name, text in formulas.items()}
    return Base(tuple(_view(view, shared) for view in views), known)


def _view(view: Mapping[str, Any], shared: Filter) -> View:
    own, limit = _filter(view.get("filters")), view.get("limit")
    columns = view.get("order")
    return View(
        str(view.get("name") or view.get("type") or "Table"),
        str(view.get("type") or "table"),
        Filter("and", (shared, own)),
        tuple(each for each in columns if isinstance(each, str)) if isinstance(columns, list) else (),
        (*_orders([view.get("groupBy")]), *_orders(view.get("sort"))),
        limit if isinstance(limit, int) and limit > 0 else 0,
    )


def _orders(found: Any) -> tuple[Order, ...]:
    orders = []
    for each in found if isinstance(found, list) else []:
        property = each.get("property", each.get("column")) if isinstance(each, Mapping) else each
        if isinstance(property, str):
            direction = each.get("direction", "ASC") if isinstance(each, Mapping) else "ASC"
            orders.append(Order(property, str(direction).upper() == "DESC"))
    return tuple(orders)


def _filter(found: Any, depth: int = 0) -> Filter:
    if found is None or found == {} or found == "":
        return Filter("and")
    if isinstance(found, str):
        return Filter("", expression=found)
    if depth > DEEPEST:
        raise NotUnderstood("filters that are nested too deeply")
    if isinstance(found, Mapping) and len(found) == 1:
        kind, inner = next(iter(found.items()))
        if kind in FILTERS and isinstance(inner, list):
            return Filter(kind, tuple(_filter(each, depth + 1) for each in inner))
    raise NotUnderstood("a filter that is neither an expression nor and, or, not with a list", repr(found)[:100])
