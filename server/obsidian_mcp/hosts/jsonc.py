"""JSON as hosts keep it, changed in one place and nowhere else. Pure: text in, text out.

Comments, order, indentation and trailing commas stay, because the text is not
written anew: one member is put in, replaced or taken out by its position.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
DEEPEST = 200


class Broken(ValueError):
    """Not JSON, or not of the form that is needed; says where and why."""


@dataclass(slots=True)
class Member:
    name: str
    start: int
    value: Node
    comma: int | None = None  # where the comma behind it is


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
        """The value behind a path of names that are there."""
        node = self
        for name in names:
            member = node.member(name)
            assert member is not None
            node = member.value
        return node


def parse(text: str, comments: bool = True) -> Node:
    """The whole text as a tree. `comments` allows them, and trailing commas."""
    return _Parser(text, comments).whole()


def with_entry(text: str, section: str, name: str, entry: dict[str, Any], comments: bool = True) -> str:
    """The text with `section.name` holding the entry. What else an entry of that name holds stays."""
    if not text.strip("\ufeff \t\r\n"):
        text = text.rstrip(" \t\r\n") + "{}\n"
    root = _object(parse(text, comments), "it")
    there = root.member(section)
    if there is None:
        return _inserted(text, root, section, {name: entry})
    inside = _object(there.value, f'"{section}"')
    own = inside.member(name)
    if own is None:
        return _inserted(text, inside, name, entry)
    if not isinstance(own.value.value, dict):
        return _replaced(text, inside, own, entry)
    for key, value in entry.items():  # one by one, so that comments between them stay
        within = parse(text, comments).at(section, name)
        member = within.member(key)
        if member is None:
            text = _inserted(text, within, key, value)
        elif member.value.value != value:
            text = _replaced(text, within, member, value)
    return text


def without_entry(text: str, section: str, name: str, comments: bool = True) -> str:
    """The text without `section.name`; unchanged if it has none."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    there = _object(parse(text, comments), "it").member(section)
    inside = there.value if there else None
    own = inside.member(name) if inside else None
    if inside is None or own is None:
        return text
    place = inside.members.index(own)
    before = inside.members[place - 1] if place else None
    text = _cut_out(text, own)
    if own.comma is None and before is not None and before.comma is not None:
        text = text[: before.comma] + text[before.comma + 1 :]  # the one before is the last now
    emptied = re.compile(r"\{[ \t\r\n]*\}").match(text, inside.start) if len(inside.members) == 1 else None
    return text[: inside.start] + "{}" + text[emptied.end() :] if emptied else text


def _cut_out(text: str, own: Member) -> str:
    """The member and the comma behind it, but no comment between the two; its line, if nothing else is on it."""
    start, end, kept = own.start, own.value.end, ""
    if own.comma is not None:
        kept = text[own.value.end : own.comma]
        end = own.comma + 1
    if kept.strip(" \t\r\n"):
        return text[:start] + kept + text[end:]
    line = _line_start(text, start)
    rest = re.compile(r"[ \t]*(?:\r\n|\r|\n|$)").match(text, end)
    if line is not None and rest:
        start, end = line, rest.end()
    elif text[start - 1] == " ":
        start -= 1
    return text[:start] + text[end:]


def _replaced(text: str, inside: Node, own: Member, value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False)
    if _is_many_lines(text[inside.start : inside.end]):
        written = _written(value, _indent_of(text, own.start), _unit(text, inside), _newline(text))
    return text[: own.value.start] + written + text[own.value.end :]


def _inserted(text: str, into: Node, name: str, value: Any) -> str:
    """A new last member."""
    newline = _newline(text)
    last = into.members[-1] if into.members else None
    if last is not None and not _is_many_lines(text[into.start : into.end]):
        comma = "" if last.comma is not None else ","
        member = f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        return f"{text[: into.used]}{comma} {member}{text[into.used :]}"
    unit = _unit(text, into)
    outer = _indent_of(text, into.start) if last is None else ""
    indent = _indent_of(text, last.start) if last is not None else outer + unit
    member = f"{indent}{json.dumps(name)}: {_written(value, indent, unit, newline)}"
    if last is None:
        kept = text[into.start + 1 : into.used]
        return f"{text[: into.start]}{{{kept}{newline}{member}{newline}{outer}{text[into.end - 1 :]}"
    trailing = "," if last.comma is not None else ""
    head = text[: into.used] if trailing else f"{text[: last.value.end]},{text[last.value.end : into.used]}"
    tail = text[into.used :]
    if not _is_many_lines(text[into.used : into.end]):
        tail = newline + _indent_of(text, into.start) + tail.lstrip(" \t")
    return f"{head}{newline}{member}{trailing}{tail}"


def _object(node: Node, what: str) -> Node:
    if not isinstance(node.value, dict):
        raise Broken(f"{what} is not an object")
    return node


def _written(value: Any, indent: str, unit: str, newline: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (newline + indent).join(lines)


def _newline(text: str) -> str:
    found = re.search(r"\r\n|\r|\n", text)
    return found[0] if found else "\n"


def _is_many_lines(text: str) -> bool:
    return "\n" in text or "\r" in text


def _line_at(text: str, at: int) -> int:
    """Where the line begins."""
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _line_start(text: str, at: int) -> int | None:
    """The same, if nothing but white space stands before."""
    start = _line_at(text, at)
    return start if not text[start:at].strip(" \t") else None


def _indent_of(text: str, at: int) -> str:
    """The white space at the head of the line."""
    start = _line_at(text, at)
    found = re.compile(r"[ \t]*").match(text, start)
    return found[0] if found else ""


def _unit(text: str, root: Node) -> str:
    """One step of indentation: that of the first member against what it is in."""
    for member in root.members:
        outer, inner = _indent_of(text, root.start), _indent_of(text, member.start)
        if _line_start(text, member.start) is not None and inner.startswith(outer) and inner != outer:
            return inner[len(outer) :]
    found = re.search(r"[\r\n]([ \t]+)\S", text)
    return found[1] if found else "  "


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
            raise self._broken("something stands behind the end")
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
            comment = _COMMENT.match(self._text, self._at)
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
            value = json.loads(found[0])
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
        if after_comma and not self._comments and self._text[: self._used].endswith(","):
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
