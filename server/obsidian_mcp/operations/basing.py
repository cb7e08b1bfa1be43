"""The rows of a base, from the files themselves: which files a view chooses, in which order."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.operations.graphing import all_links
from obsidian_mcp.vault.bases import values
from obsidian_mcp.vault.bases.evaluating import Row, Scope, require_known, value_of
from obsidian_mcp.vault.bases.expressions import Node, NotUnderstood, parse, parts
from obsidian_mcp.vault.bases.views import Base, Filter, View
from obsidian_mcp.vault.contents import Contents
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import Vault

UNSORTED = "The view shows its first {}; which those are, without a sort, is the app's to say, so all rows are here."


@dataclass(frozen=True, slots=True)
class Rows:
    """Paths with the values of the columns, and what should be said of them."""

    rows: list[tuple[str, dict[str, Any]]]
    note: str | None = None


def queried(
    base: Base,
    view: View,
    vault: Vault,
    contents: Contents,
    call: CallContext,
    now: datetime,
    this: VaultPath | None = None,
) -> Rows:
    """Raises NotUnderstood, with the expression, before any row is looked at or for a row that can't be judged.

    `this` is the note that the base stands in.
    """
    there = contents.resolver(call)
    standing = None if this is None else Row(this.value, 0, now, {})
    scope = Scope(base.formulas, now, vault.types(), lambda text, source: there.resolve(text, source), standing)
    keys = [(_known(order.property, scope), order.descending) for order in view.sort]
    columns, left_out = _columns(view, scope)
    used = [*_nodes(view.filter, scope), *(node for node, _ in keys), *columns.values()]
    rows = list(_every_row(used, scope, vault, contents, call))
    scope = replace(scope, this=next((row for row in rows if this is not None and row.path == this.value), standing))
    excluded, test = vault.settings().is_excluded(), _test(view.filter, scope)
    found = [row for row in rows if not excluded(row.path) and test(row)]
    found.sort(key=lambda row: row.path)
    for node, descending in reversed(keys):
        found = _sorted(found, node, descending, scope)
    found, note = _limited(found, view, keys, scope)
    notes = [note, f"Columns left out: {', '.join(left_out)}." if left_out else None]
    shown = [
        (row.path, {name: values.shown(_cell(node, row, scope)) for name, node in columns.items()}) for row in found
    ]
    return Rows(shown, " ".join(each for each in notes if each) or None)


def _cell(node: Node, row: Row, scope: Scope) -> Any:
    try:
        return value_of(node, row, scope)
    except NotUnderstood:
        return None


def _known(property: str, scope: Scope) -> Node:
    """A property's id, which is an expression of its own; a name with a space in it is a property's."""
    try:
        node = parse(property)
    except NotUnderstood:
        node = parse(f"note[{_quoted(property.removeprefix('note.'))}]")
    return _required(node, property, scope)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _required(node: Node, text: str, scope: Scope) -> Node:
    try:
        require_known(node, scope)
    except NotUnderstood as problem:
        raise NotUnderstood(problem.what, problem.expression or text) from None
    return node


def _columns(view: View, scope: Scope) -> tuple[dict[str, Node], list[str]]:
    """Those that can be told; a column is no reason to refuse the rows."""
    known: dict[str, Node] = {}
    left_out: list[str] = []
    for name in view.columns:
        try:
            known[name] = _known(name, scope)
        except NotUnderstood:
            left_out.append(name)
    return known, left_out


def _nodes(filter: Filter, scope: Scope) -> Iterator[Node]:
    if filter.expression:
        yield _required(parse(filter.expression), filter.expression, scope)
    for each in filter.of:
        yield from _nodes(each, scope)


def _test(filter: Filter, scope: Scope) -> Callable[[Row], bool]:
    """Every expression of it is known before the first row."""
    if not filter.kind:
        (node,) = _nodes(filter, scope)
        return functools.partial(_holds, node, filter.expression, scope)
    tests = [_test(each, scope) for each in filter.of]
    if filter.kind == "and":
        return lambda row: all(test(row) for test in tests)
    if filter.kind == "or":
        return lambda row: any(test(row) for test in tests)
    negated = [each.expression for each in filter.of]
    return lambda row: not any(_sure(test, row, text, scope) for test, text in zip(tests, negated, strict=True))


def _holds(node: Node, text: str, scope: Scope, row: Row) -> bool:
    try:
        return values.is_true(value_of(node, row, scope))
    except NotUnderstood as problem:
        raise NotUnderstood(f"{problem.what} (for {row.path})", text) from None


def _sure(test: Callable[[Row], bool], row: Row, text: str, scope: Scope) -> bool:
    """What is negated must be a plain yes or no."""
    if text and value_of(parse(text), row, scope) is values.UNSURE:
        raise NotUnderstood(f"the opposite of what a missing property contains (for {row.path})", text)
    return test(row)


def _every_row(used: list[Node], scope: Scope, vault: Vault, contents: Contents, call: CallContext) -> Iterator[Row]:
    """Every file. Links are looked at only if something asks for them."""
    properties = dict(contents.properties(call)[0])
    tags = dict(contents.tags(call)[0])
    links, backlinks = _links(contents, call) if _asks_for_links(used, scope) else ({}, {})
    for file in contents.survey(call).files:
        path = file.path
        yield Row(
            path,
            file.size,
            datetime.fromtimestamp(file.modified / 1e9),
            properties.get(path, {}),
            tuple(tag.removeprefix("#") for tag in tags.get(path, ())),
            frozenset(links.get(path, ())),
            frozenset(backlinks.get(path, ())),
            functools.partial(_created, path, vault),
        )


def _created(path: str, vault: Vault) -> datetime | None:
    created = vault.created(VaultPath(path))
    return None if created is None else datetime.fromtimestamp(created)


def _asks_for_links(used: list[Node], scope: Scope) -> bool:
    nodes = [*used, *(scope.node(text) for text in scope.formulas.values() if _parses(text))]
    names = {getattr(part, "name", "") for node in nodes for part in parts(node)}
    return bool(names & {"links", "backlinks", "hasLink"}) or any("[" in text for text in scope.formulas.values())


def _parses(text: str) -> bool:
    try:
        parse(text)
    except NotUnderstood:
        return False
    return True


def _links(contents: Contents, call: CallContext) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    links, _ = all_links(contents, call)
    back: dict[str, set[str]] = defaultdict(set)
    for path, goals in links.items():
        for goal in goals:
            back[goal].add(path)
    return links, back


def _sorted(rows: list[Row], node: Node, descending: bool, scope: Scope) -> list[Row]:
    """Null comes last, whichever way."""
    found = {row.path: value_of(node, row, scope) for row in rows}

    def compared(one: Row, other: Row) -> int:
        return _compared(found[one.path], found[other.path])

    full = [row for row in rows if found[row.path] is not None]
    full.sort(key=functools.cmp_to_key(compared), reverse=descending)
    return full + [row for row in rows if found[row.path] is None]


def _compared(one: Any, other: Any) -> int:
    if isinstance(one, str) and isinstance(other, str):
        one, other = one.lower(), other.lower()
    if isinstance(one, bool) and isinstance(other, bool):
        return one - other
    return -1 if values.less(one, other) else 1 if values.less(other, one) else 0


def _limited(rows: list[Row], view: View, keys: list[tuple[Node, bool]], scope: Scope) -> tuple[list[Row], str | None]:
    """The view's own limit; those that are equal to the last stay."""
    if not view.limit or len(rows) <= view.limit:
        return rows, None
    if not keys:
        return rows, UNSORTED.format(view.limit)

    def key(row: Row) -> list[Any]:
        return [value_of(node, row, scope) for node, _ in keys]

    last = key(rows[view.limit - 1])
    kept = rows[: view.limit] + [row for row in rows[view.limit :] if key(row) == last]
    more = f"The view shows {view.limit}; those that are equal to the last are here too."
    return kept, more if len(kept) > view.limit else None
