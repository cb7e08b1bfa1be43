"""The language of filters and formulas: text → tree. A Pratt parser; the whole language is read, whatever of it can be
evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONGEST = 5_000  # characters
DEEPEST = 40


class NotUnderstood(Exception):
    """An expression that can't be read, or that is not evaluated here; `what` says which part."""

    def __init__(self, what: str, expression: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.expression = expression


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Member:
    of: Node
    name: str


@dataclass(frozen=True, slots=True)
class Item:
    of: Node
    key: Node


@dataclass(frozen=True, slots=True)
class Call:
    """`on` is what a method is called on; None for a function."""

    on: Node | None
    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    sign: str
    of: Node


@dataclass(frozen=True, slots=True)
class Binary:
    sign: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    text: str


Node = Literal | Name | Member | Item | Call | Unary | Binary | Items | Pattern

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?|\.\d+)|(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<name>[^\W\d][\w$]*)|(?P<sign>\|\||&&|==|!=|<=|>=|[-+*/%<>!().,\[\]]))",
    re.DOTALL,
)
_REGEX = re.compile(r"\s*(/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*)")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_POWERS = {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_WORDS = {"true": True, "false": False, "null": None}


def parse(text: str) -> Node:
    """Raises NotUnderstood."""
    if len(text) > LONGEST:
        raise NotUnderstood("it is too long", text[:100])
    parser = _Parser(text)
    found = parser.expression(0, 0)
    parser.require_end()
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def expression(self, power: int, depth: int) -> Node:
        if depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply", self._text)
        left = self._operand(depth + 1)
        while (sign := self._peek()) in _POWERS and _POWERS[sign] > power:
            self._take(sign)
            left = Binary(sign, left, self.expression(_POWERS[sign], depth + 1))
        return left

    def require_end(self) -> None:
        if self._text[self._at :].strip():
            raise self._unread()

    def _operand(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply", self._text)
        for sign in ("!", "-"):
            if self._peek() == sign:
                self._take(sign)
                return Unary(sign, self._operand(depth + 1))
        return self._followed(self._first(depth), depth)

    def _first(self, depth: int) -> Node:
        if self._peek() == "(":
            self._take("(")
            inner = self.expression(0, depth + 1)
            self._take(")")
            return inner
        if self._peek() == "[":
            return Items(tuple(self._listed("[", "]", depth)))
        if pattern := _REGEX.match(self._text, self._at):
            self._at = pattern.end()
            return Pattern(pattern[1])
        found = _TOKEN.match(self._text, self._at)
        if found is None or found["sign"]:
            raise self._unread()
        self._at = found.end()
        if found["number"]:
            return Literal(float(found["number"]) if "." in found["number"] else int(found["number"]))
        if found["string"]:
            return Literal(_ESCAPE.sub(lambda code: _ESCAPES.get(code[1], code[1]), found["string"][1:-1]))
        name = found["name"]
        if self._peek() == "(":
            return Call(None, name, tuple(self._listed("(", ")", depth)))
        return Literal(_WORDS[name]) if name in _WORDS else Name(name)

    def _followed(self, node: Node, depth: int) -> Node:
        while (sign := self._peek()) in (".", "["):
            self._take(sign)
            if sign == "[":
                node = Item(node, self.expression(0, depth + 1))
                self._take("]")
                continue
            found = _TOKEN.match(self._text, self._at)
            if found is None or not found["name"]:
                raise self._unread()
            self._at = found.end()
            name = found["name"]
            is_call = self._peek() == "("
            node = Call(node, name, tuple(self._listed("(", ")", depth))) if is_call else Member(node, name)
        return node

    def _listed(self, opening: str, closing: str, depth: int) -> Iterator[Node]:
        self._take(opening)
        while self._peek() != closing:
            yield self.expression(0, depth + 1)
            if self._peek() != closing:
                self._take(",")
        self._take(closing)

    def _peek(self) -> str:
        found = _TOKEN.match(self._text, self._at)
        return found["sign"] or "" if found else ""

    def _take(self, sign: str) -> None:
        if self._peek() != sign:
            raise self._unread(sign)
        found = _TOKEN.match(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _unread(self, wanted: str = "") -> NotUnderstood:
        rest = self._text[self._at :].strip()
        problem = f"{rest[:20]!r} can't be read" if rest else "it ends too soon"
        return NotUnderstood(f"{problem}{f', {wanted} was expected' if wanted else ''}", self._text)


def parts(node: Node) -> Iterator[Node]:
    """It and everything in it."""
    todo: list[Node] = [node]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, Member | Unary):
            todo.append(node.of)
        elif isinstance(node, Item):
            todo += [node.of, node.key]
        elif isinstance(node, Binary):
            todo += [node.left, node.right]
        elif isinstance(node, Items):
            todo += node.items
        elif isinstance(node, Call):
            todo += [*node.arguments, *([node.on] if node.on is not None else [])]
