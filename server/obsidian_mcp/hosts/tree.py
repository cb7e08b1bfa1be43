"""JSON as hosts keep it, read into a tree that knows where everything stands. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
DEEPEST = 200


class Broken(ValueError):
    """Not JSON, or not of the form that is needed; says where and why."""


@dataclass(slots=True)
class Member:
    name: str
    start: int
    value: Node
    comma: int | None = None  # where the comma after it is


@dataclass(slots=True)
class Node:
    """A value and where it stands; `used` is where its last token or comment before the closing bracket ends."""

    start: int
    end: int = 0
    value: Any = None
    members: list[Member] = field(default_factory=list)
    used: int = 0

    def member(self, name: str) -> Member | None:
        found = [member for member in self.members if member.name == name]
        if len(found) > 1:
            raise Broken(f'it has "{name}" twice')
        return found[0] if found else None

    def at(self, *names: str) -> Node:
        """The value at a path of names that are there."""
        node = self
        for name in names:
            member = node.member(name)
            assert member is not None
            node = member.value
        return node


def parse(text: str, comments: bool = True) -> Node:
    """The whole text as a tree. `comments` allows them, and trailing commas."""
    return _Parser(text, comments).whole()


class _Parser:
    def __init__(self, text: str, comments: bool) -> None:
        self._text = text
        self._comments = comments
        self._at = 1 if text.startswith("\ufeff") else 0
        self._used = self._at
        self._depth = 0

    def whole(self) -> Node:
        self._skip()
        node = self._value()
        self._skip()
        if self._at != len(self._text):
            raise self._broken("something stands after the end")
        return node

    def _broken(self, why: str) -> Broken:
        line = self._text.count("\n", 0, self._at) + 1
        column = self._at - self._text.rfind("\n", 0, self._at)
        return Broken(f"line {line}, column {column}: {why}")

    def _skip(self) -> None:
        """White space and comments."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            begins = self._text.startswith("/", self._at)
            comment = _COMMENT.match(self._text, self._at) if begins else None
            if comment is None:
                return
            if not self._comments:
                raise self._broken("a comment, which the host does not allow there")
            self._at = self._used = comment.end()

    def _take(self, character: str) -> bool:
        if self._text[self._at : self._at + 1] != character:
            return False
        self._at = self._used = self._at + 1
        return True

    def _value(self) -> Node:
        node = Node(self._at)
        if self._depth >= DEEPEST:
            raise self._broken("nested too deeply")
        self._depth += 1
        if self._take("{"):
            self._object(node)
        elif self._take("["):
            self._array(node)
        else:
            node.value = self._scalar()
        self._depth -= 1
        node.end = self._used = self._at
        return node

    def _scalar(self) -> Any:
        found = _STRING.match(self._text, self._at) or _SCALAR.match(self._text, self._at)
        if found is None:
            raise self._broken("a value is missing or malformed")
        try:
            value = json.loads(found[0]) if "\\" in found[0] or found[0][0] != '"' else found[0][1:-1]
        except ValueError:
            raise self._broken("a malformed text") from None
        self._at = found.end()
        return value

    def _object(self, node: Node) -> None:
        while not self._ends(node, "}", bool(node.members)):
            start = self._at
            name = self._scalar()
            if not isinstance(name, str):
                self._at = start
                raise self._broken("a name in double quotes is missing")
            self._skip()
            if not self._take(":"):
                raise self._broken("a colon is missing")
            self._skip()
            member = Member(name, start, self._value())
            node.members.append(member)
            member.comma = self._comma("}")
        node.value = {member.name: member.value.value for member in node.members}

    def _array(self, node: Node) -> None:
        node.value = []
        while not self._ends(node, "]", bool(node.value)):
            node.value.append(self._value().value)
            self._comma("]")

    def _ends(self, node: Node, closing: str, after_comma: bool) -> bool:
        self._skip()
        node.used = self._used
        if self._text[self._at : self._at + 1] != closing:
            return False
        if after_comma and not self._comments and self._text.startswith(",", self._used - 1):
            raise self._broken("a comma stands before the end, which the host does not allow")
        return self._take(closing)

    def _comma(self, closing: str) -> int | None:
        self._skip()
        at = self._at
        if self._take(","):
            return at
        if self._text[self._at : self._at + 1] != closing:
            raise self._broken(f"a comma or {closing} is missing")
        return None
