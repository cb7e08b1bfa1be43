"""A value as the type of its property wants it: what is meant is taken, and what can't be meant is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.property_places import Uneditable
from obsidian_mcp.vault.simple_yaml import Value, resolve
from obsidian_mcp.vault.yaml_writing import as_json, normal

_LISTS = ("multitext", "tags", "aliases")
_WANTS = {
    "number": "a number",
    "checkbox": "true or false",
    "date": "a date like 2026-11-18",
    "datetime": "a date and time like 2026-11-18T09:30",
    "multitext": "a list of texts",
    "tags": "a list of tags",
    "aliases": "a list of texts",
}
_DATES = {
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "datetime": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?"),
}


def typed(name: str, given: Value, types: Mapping[str, str]) -> Value:
    """For a property as a whole. Raises Uneditable if the type can't have such a value."""
    kind = _declared(name, types)
    if kind in _LISTS and not isinstance(given, dict):
        return typed_items(name, given if isinstance(given, list) else [given], types)
    if kind is None or kind == "text":
        return given if kind is None else _text(given)
    value = _single(kind, given)
    if value is None:
        raise _unfit(name, kind, given)
    return value


def typed_items(name: str, given: Sequence[Any], types: Mapping[str, str]) -> list[Any]:
    """For the items of a list; no tag twice."""
    kind = _declared(name, types)
    if kind == "tags":
        return list({fold(tag): tag for tag in reversed([_tag(item) for item in given])}.values())[::-1]
    return [_text(item) for item in given] if kind == "aliases" else list(given)


def require_list(name: str, types: Mapping[str, str]) -> None:
    """Raises Uneditable if nothing can be added, because of the type."""
    kind = _declared(name, types)
    if kind in ("number", "checkbox", "date", "datetime"):
        raise Uneditable(f"`{name}` has the type {kind} in this vault, which is one value: set it instead")


def _declared(name: str, types: Mapping[str, str]) -> str | None:
    """The type, if it doesn't depend on the value."""
    kind = frontmatter.kind(name, None, types)
    return kind if kind == frontmatter.kind(name, [], types) else None


def normal_value(name: str, given: Any) -> Value:
    try:
        return normal(given)
    except ValueError as unfit:
        raise Uneditable(f"`{name}`: {unfit}") from None


def identity(name: str, item: Value) -> str:
    """Equal for two items that are one: tags are without case and `#`."""
    if name.lower() == "tags" and isinstance(item, str):
        return fold(item.strip().removeprefix("#"))
    return as_json(item)


def is_tag(text: str) -> bool:
    return bool(frontmatter.tags({"tags": [text]}))


def require_tag(tag: str) -> str:
    if is_tag(tag) and not tag.startswith("#"):
        return tag
    if any(map(str.isspace, tag)):
        raise Uneditable(f"`{tag[:80]}` can't be a tag: it has a blank in it; use - or _ instead")
    if tag.isdigit():
        raise Uneditable(f"`{tag[:80]}` can't be a tag: it needs a character that is not a digit")
    raise Uneditable(f"`{tag[:80]}` can't be a tag: it may have letters, digits, _, - and /, and not end with /")


def _tag(item: Value) -> str:
    return require_tag((item if isinstance(item, str) else as_json(item)).strip().removeprefix("#"))


def _text(value: Value) -> Value:
    return as_json(value) if isinstance(value, bool | int | float) else value


def _single(kind: str, given: Value) -> Value:
    """None if it is not of the kind."""
    if kind == "number":
        value = resolve(given.strip()) if isinstance(given, str) else given
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if kind == "checkbox":
        words = {"true": True, "false": False}
        return (
            given if isinstance(given, bool) else words.get(given.strip().lower()) if isinstance(given, str) else None
        )
    pattern = _DATES.get(kind)
    return given.strip() if pattern and isinstance(given, str) and _is_date(given.strip(), pattern) else None


def _is_date(text: str, pattern: re.Pattern[str]) -> bool:
    try:
        return bool(pattern.fullmatch(text) and datetime.fromisoformat(text))
    except ValueError:
        return False


def _unfit(name: str, kind: str, given: Value) -> Uneditable:
    shown = as_json(given)
    shown = shown if len(shown) <= 80 else f"{shown[:80]}…"
    return Uneditable(f"`{name}` has the type {kind} in this vault: it wants {_WANTS[kind]}, not {shown}")
