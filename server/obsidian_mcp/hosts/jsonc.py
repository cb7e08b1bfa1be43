"""JSON as hosts keep it, changed in one place and nowhere else. Pure: text in, text out.

Comments, order, indentation and trailing commas stay, because the text is not
written anew: one member is put in, replaced or taken out by its position.
"""

from __future__ import annotations

import json
import re
from typing import Any

from obsidian_mcp.hosts.tree import Broken, Member, Node, parse


def section(text: str, name: str, comments: bool = True) -> dict[str, Any]:
    """What a section holds; nothing if there is none, or no text at all."""
    if _is_empty(text):
        return {}
    there = _object(parse(text, comments), "it").member(name)
    found: dict[str, Any] = _object(there.value, f'"{name}"').value if there else {}
    return found


def members(text: str, comments: bool = True) -> dict[str, Any]:
    """What the whole holds; nothing if there is no text at all."""
    found: dict[str, Any] = {} if _is_empty(text) else _object(parse(text, comments), "it").value
    return found


def without_empty(text: str, section: str, comments: bool = True) -> str:
    """The text without a section in which nothing is left; unchanged if something is."""
    root = _object(parse(text, comments), "it")
    own = root.member(section)
    is_empty = own is not None and not re.sub(r"\s", "", text[own.value.start : own.value.end]).strip("{}")
    return _taken_out(text, root, own) if own is not None and is_empty else text


def with_entry(text: str, section: str, name: str, entry: dict[str, Any], comments: bool = True) -> str:
    """The text with `section.name` holding the entry. What else an entry of that name holds stays."""
    if _is_empty(text):
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
    within = own.value
    for key, value in entry.items():  # one by one, so that comments between them stay
        member = within.member(key)
        if member is not None and member.value.value == value:
            continue
        text = _replaced(text, within, member, value) if member else _inserted(text, within, key, value)
        within = parse(text, comments).at(section, name)
    return text


def without_entry(text: str, section: str, name: str, comments: bool = True) -> str:
    """The text without `section.name`; unchanged if it has none."""
    if _is_empty(text):
        return text
    there = _object(parse(text, comments), "it").member(section)
    inside = there.value if there else None
    own = inside.member(name) if inside else None
    if inside is None or own is None:
        return text
    return _taken_out(text, inside, own)


def _taken_out(text: str, inside: Node, own: Member) -> str:
    place = inside.members.index(own)
    before = inside.members[place - 1] if place else None
    text = _cut_out(text, own)
    if own.comma is None and before is not None and before.comma is not None:
        text = text[: before.comma] + text[before.comma + 1 :]  # the one before is the last now
    emptied = re.compile(r"\{[ \t\r\n]*\}").match(text, inside.start) if len(inside.members) == 1 else None
    return text[: inside.start] + "{}" + text[emptied.end() :] if emptied else text


def _cut_out(text: str, own: Member) -> str:
    """The member and the comma after it, but no comment between the two; its line, if nothing else is on it."""
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


def _is_empty(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n")


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
    """Where the line begins, if nothing but white space stands before. Looks no further back than that goes."""
    start = at
    while start and text[start - 1] in " \t":
        start -= 1
    return start if not start or text[start - 1] in "\r\n" else None


def _indent_of(text: str, at: int) -> str:
    """The white space at the head of the line."""
    start = _line_at(text, at)
    found = re.compile(r"[ \t]*").match(text, start)
    return found[0] if found else ""


def _unit(text: str, root: Node) -> str:
    """One step of indentation: that of the first member against what it is in."""
    outer = _indent_of(text, root.start)
    for member in root.members:
        line = _line_start(text, member.start)
        inner = text[line : member.start] if line is not None else ""
        if inner.startswith(outer) and inner != outer:
            return inner[len(outer) :]
    found = re.search(r"[\r\n]([ \t]+)\S", text)
    return found[1] if found else "  "
