"""An expression and a file → a value.

What is evaluated is a named part of the language. An expression that uses anything else is found by `require_known`
before any row is looked at, so that an answer never depends on which rows there happen to be.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from obsidian_mcp.vault.bases import values
from obsidian_mcp.vault.bases.expressions import (
    Binary,
    Call,
    Item,
    Items,
    Literal,
    Member,
    Name,
    Node,
    NotUnderstood,
    Pattern,
    Unary,
    parse,
    parts,
)
from obsidian_mcp.vault.bases.values import UNSURE, Date, FileValue, Link, Tags
from obsidian_mcp.vault.frontmatter import kind

FILE_FIELDS = frozenset("name basename path folder ext size ctime mtime tags links backlinks file".split())
FUNCTIONS = frozenset("if list link date today now".split())
METHODS = frozenset("contains containsAny containsAll startsWith endsWith isEmpty lower".split())
FILE_METHODS = frozenset("hasTag inFolder hasLink hasProperty".split())
DATE_FIELDS = frozenset("year month day".split())
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}
_FILE, _THIS = Name("file"), Name("this")
_THIS_FILE = Member(_THIS, "file")
_FOLDERS = frozenset((Member(_FILE, "folder"), Member(_THIS_FILE, "folder")))
MOST_FORMULAS = 20  # one that leads to another


def _unknown() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a file. `created` is asked: few expressions want it, and each file has to be looked at."""

    path: str
    size: int
    modified: datetime
    properties: Mapping[str, Any]
    tags: tuple[str, ...] = ()
    links: frozenset[str] = frozenset()
    backlinks: frozenset[str] = frozenset()
    created: Callable[[], datetime | None] = _unknown


@dataclass(frozen=True, slots=True)
class Scope:
    """What holds for all rows: `resolve` tells where a link in a file leads, `this` is the note that the base stands
    in, if it stands in one."""

    formulas: Mapping[str, str]
    now: datetime
    types: Mapping[str, str]
    resolve: Callable[[str, str], str | None]
    this: Row | None = None
    parsed: dict[str, Node] = field(default_factory=dict)

    def node(self, text: str) -> Node:
        if text not in self.parsed:
            self.parsed[text] = parse(text)
        return self.parsed[text]


def require_known(node: Node, scope: Scope, depth: int = 0) -> None:
    """Raise NotUnderstood for the first thing in it that is not evaluated here."""
    if depth > MOST_FORMULAS:
        raise NotUnderstood("a formula leads to itself")
    inner = {id(each.of) for each in parts(node) if isinstance(each, Member | Item)}
    inner |= {id(each.on) for each in parts(node) if isinstance(each, Call) and each.on is not None}
    for each in parts(node):
        if isinstance(each, Pattern):
            raise NotUnderstood(f"the pattern {each.text}")
        if each == _THIS and scope.this is None:
            raise NotUnderstood("`this`, the note in which a base stands, which is not given here")
        if isinstance(each, Name) and each.name in ("note", "formula", "this") and id(each) not in inner:
            raise NotUnderstood(f"`{each.name}` by itself")
        if isinstance(each, Binary) and _is_folder_of_root(each):
            raise NotUnderstood("what file.folder is in the vault's own folder")
        if isinstance(each, Member):
            _require_field(each, scope, depth)
        elif isinstance(each, Call):
            _require_function(each)


def _is_folder_of_root(compared: Binary) -> bool:
    sides = (compared.left, compared.right)
    is_root = any(isinstance(node, Literal) and node.value in ("", "/") for node in sides)
    return is_root and any(isinstance(node, Member) and node in _FOLDERS for node in sides)


def _require_field(node: Member, scope: Scope, depth: int) -> None:
    if node.of in (_FILE, _THIS_FILE) and node.name not in FILE_FIELDS:
        raise NotUnderstood(f"file.{node.name}")
    if node.of == _THIS and node.name in ("note", "formula"):
        raise NotUnderstood(f"this.{node.name}")
    if node.of == Name("formula"):
        if node.name not in scope.formulas:
            raise NotUnderstood(f"formula.{node.name}, which the base does not have")
        require_known(scope.node(scope.formulas[node.name]), scope, depth + 1)
    elif node.of not in (_FILE, Name("note"), _THIS, _THIS_FILE) and node.name not in (*DATE_FIELDS, "length"):
        raise NotUnderstood(f".{node.name}")


def _require_function(call: Call) -> None:
    if call.on is None:
        known = call.name in FUNCTIONS
    else:
        is_file = call.on in (_FILE, Member(_FILE, "file"), _THIS_FILE)
        known = call.name in (FILE_METHODS if is_file else METHODS)
    if not known:
        raise NotUnderstood(f"{'.' if call.on is not None else ''}{call.name}()")


def value_of(node: Node, row: Row, scope: Scope) -> Any:
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Items):
        return [value_of(each, row, scope) for each in node.items]
    if isinstance(node, Name):
        return FileValue(row.path) if node == _FILE else _property(node.name, row, scope)
    if isinstance(node, Member):
        return _field(node, row, scope)
    if isinstance(node, Item):
        return _item(node, row, scope)
    if isinstance(node, Unary):
        return _unary(node.sign, value_of(node.of, row, scope))
    if isinstance(node, Binary):
        return _binary(node, row, scope)
    if isinstance(node, Call):
        return _called(node, row, scope)
    raise NotUnderstood("a pattern")


def _property(name: str, row: Row, scope: Scope) -> Any:
    """In any case of its name."""
    if name in row.properties:
        value = row.properties[name]
    else:
        lower = name.lower()
        value = next((each for key, each in row.properties.items() if key.lower() == lower), None)
    is_date = isinstance(value, str) and kind(name, value, scope.types) in ("date", "datetime")
    return (values.date_of(value) if is_date else None) or _read(value, row, scope)


def _read(value: Any, row: Row, scope: Scope) -> Any:
    if isinstance(value, list):
        return [_read(each, row, scope) for each in value]
    text = values.link_text(value) if isinstance(value, str) else None
    return value if text is None else Link(text, scope.resolve(text, row.path))


def _field(node: Member, row: Row, scope: Scope) -> Any:
    if node.of == Name("note"):
        return _property(node.name, row, scope)
    if node.of == Name("formula"):
        return value_of(scope.node(scope.formulas[node.name]), row, scope)
    if node.of == _FILE:
        return _of_file(node.name, row)
    if node.of in (_THIS, _THIS_FILE):
        return _of_this(node, scope)
    of = value_of(node.of, row, scope)
    if of is None:
        return None
    if node.name == "length" and isinstance(of, str | list):
        return len(of)
    if isinstance(of, Date) and node.name in DATE_FIELDS:
        return getattr(of.at, node.name)
    raise NotUnderstood(f".{node.name} of {values.kind(of)}")


def _of_this(node: Member, scope: Scope) -> Any:
    assert scope.this is not None  # by `require_known`
    if node.of == _THIS_FILE:
        return _of_file(node.name, scope.this)
    return FileValue(scope.this.path) if node == _THIS_FILE else _property(node.name, scope.this, scope)


def _of_file(name: str, row: Row) -> Any:
    folder, _, filename = row.path.rpartition("/")
    stem, dot, extension = filename.rpartition(".")
    plain: dict[str, Any] = {
        "name": filename,
        "basename": stem if dot else filename,
        "ext": extension if dot else "",
        "path": row.path,
        "folder": folder,
        "size": row.size,
    }
    if name in plain:
        return plain[name]
    if name == "ctime":
        return _created(row)
    if name in ("links", "backlinks"):
        return [Link(path, path) for path in sorted(row.links if name == "links" else row.backlinks)]
    return {"mtime": Date(row.modified), "tags": Tags(row.tags), "file": FileValue(row.path)}[name]


def _created(row: Row) -> Date:
    created = row.created()
    if created is None:
        raise NotUnderstood(f"file.ctime of {row.path}: when it was made is not kept here")
    return Date(created)


def _item(node: Item, row: Row, scope: Scope) -> Any:
    key = value_of(node.key, row, scope)
    if node.of == Name("note") and isinstance(key, str):
        return _property(key, row, scope)
    if node.of in (Name("formula"), _FILE, _THIS, _THIS_FILE) and isinstance(key, str):
        whole = Member(node.of, key)
        require_known(whole, scope)
        return _field(whole, row, scope)
    of = value_of(node.of, row, scope)
    if isinstance(of, list) and isinstance(key, int) and key >= 0:
        return of[key] if key < len(of) else None
    if of is None:
        return None
    raise NotUnderstood(f"[{key!r}] of {values.kind(of)}")


def _unary(sign: str, value: Any) -> Any:
    if value is UNSURE:
        raise NotUnderstood("the opposite of what a missing property contains is the app's to say")
    if value is None:
        return None
    if sign == "!":
        return not values.is_true(value)
    if values.is_number(value):
        return -value
    raise NotUnderstood(f"-{values.kind(value)}")


def _binary(node: Binary, row: Row, scope: Scope) -> Any:
    left = value_of(node.left, row, scope)
    if node.sign == "&&":
        return values.is_true(left) and values.is_true(value_of(node.right, row, scope))
    if node.sign == "||":
        return values.is_true(left) or values.is_true(value_of(node.right, row, scope))
    right = value_of(node.right, row, scope)
    if node.sign in ("==", "!="):
        return values.equal(left, right) == (node.sign == "==")
    if node.sign in ("<", ">="):
        less = values.less(left, right)
        return less if less is None or node.sign == "<" else not less
    if node.sign in (">", "<="):
        less = values.less(right, left)
        return less if less is None or node.sign == ">" else not less
    return _computed(node.sign, left, right)


def _computed(sign: str, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if isinstance(left, Date) and sign in "+-" and isinstance(right, str):
        return values.moved(left, right, 1 if sign == "+" else -1)
    if isinstance(left, Date) and isinstance(right, Date) and sign == "-":
        return left.at - right.at
    if sign == "+" and isinstance(left, str) and isinstance(right, str):
        return left + right
    if values.is_number(left) and values.is_number(right):
        if sign in "/%" and not right:
            raise NotUnderstood("a division by zero")
        if sign == "%" and (left < 0 or right < 0):
            raise NotUnderstood("the remainder of a negative number")
        return _ARITHMETIC[sign](left, right)
    raise NotUnderstood(f"{values.kind(left)} {sign} {values.kind(right)}")


def _called(call: Call, row: Row, scope: Scope) -> Any:
    if call.on is None:
        return _function(call, row, scope)
    arguments = [value_of(each, row, scope) for each in call.arguments]
    if call.name in FILE_METHODS:
        of = scope.this if call.on == _THIS_FILE and scope.this is not None else row
        return _of_this_file(call.name, arguments, of, scope)
    on = value_of(call.on, row, scope)
    if call.name == "isEmpty":
        return values.is_empty(on)
    if call.name == "lower":
        if isinstance(on, str | None):
            return None if on is None else on.lower()
        raise NotUnderstood(f"{values.kind(on)}.lower()")
    if not arguments:
        raise NotUnderstood(f".{call.name}() without anything in it")
    if call.name in ("startsWith", "endsWith"):
        return values.begins(on, arguments[0], ends=call.name == "endsWith")
    found = [values.contains(on, each) for each in arguments]
    if UNSURE in found:
        return UNSURE
    return any(found) if call.name == "containsAny" else all(found)


def _function(call: Call, row: Row, scope: Scope) -> Any:
    if call.name == "if":
        if len(call.arguments) not in (2, 3):
            raise NotUnderstood("if() needs a condition and one or two values")
        condition = values.is_true(value_of(call.arguments[0], row, scope))
        chosen = call.arguments[1:2] if condition else call.arguments[2:3]
        return value_of(chosen[0], row, scope) if chosen else None
    arguments = [value_of(each, row, scope) for each in call.arguments]
    if call.name in ("today", "now") and not arguments:
        today = scope.now.replace(hour=0, minute=0, second=0, microsecond=0)
        return Date(scope.now) if call.name == "now" else Date(today, has_time=False)
    if len(arguments) < 1 or (len(arguments) > 1 and call.name != "link"):
        raise NotUnderstood(f"{call.name}() with {len(arguments)} values")
    value = arguments[0]
    if call.name == "list":
        return value if isinstance(value, list | None) else [value]
    if call.name == "date" and isinstance(value, Date | None):
        return value
    if call.name == "date" and isinstance(value, str) and (date := values.date_of(value)) is not None:
        return date
    if call.name == "link" and isinstance(value, str):
        text = values.link_text(value) or value
        return Link(text, scope.resolve(text, row.path))
    if call.name == "link" and isinstance(value, FileValue | Link):
        return Link(value.path or "", value.path)
    raise NotUnderstood(f"{call.name}() of {values.kind(value)}")


def _of_this_file(name: str, arguments: list[Any], row: Row, scope: Scope) -> bool:
    if name == "hasTag" and all(isinstance(each, str) for each in arguments):
        return any(Tags(row.tags).has(each) for each in arguments)
    if len(arguments) == 1 and isinstance(arguments[0], str) and name != "hasLink":
        wanted = arguments[0]
        if name == "hasProperty":
            return any(key.lower() == wanted.lower() for key in row.properties)
        folder = wanted.strip("/")
        return not folder or row.path.startswith(f"{folder}/")
    if name == "hasLink" and len(arguments) == 1:
        wanted = arguments[0]
        if isinstance(wanted, str):
            goal = scope.resolve(values.link_text(wanted) or wanted, row.path)
            return goal is not None and goal in row.links
        if isinstance(wanted, Link | FileValue):
            return wanted.path is not None and wanted.path in row.links
    raise NotUnderstood(f"file.{name}() of {', '.join(map(values.kind, arguments)) or 'nothing'}")
