"""One property of a note's YAML given another value, another name, or taken out, by changing its own lines alone.

All functions take and give YAML without the `---` lines. Whether the result means what it should is for the caller to
check, by reading it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from obsidian_mcp.vault import yaml_writing
from obsidian_mcp.vault.property_places import ListLines, Property, Root, items, line_end, require_plain, scalar
from obsidian_mcp.vault.simple_yaml import Value
from obsidian_mcp.vault.yaml_brackets import Brackets, Edit
from obsidian_mcp.vault.yaml_writing import as_json, same, written


def with_value(yaml: str, root: Root, found: Property, old: Value, new: Value) -> str:
    """A list stays in brackets or in lines, and its items that stay are left alone."""
    require_plain(yaml, found)
    if isinstance(old, list) and isinstance(new, list) and new:
        places = items(yaml, found)
        if old and places and len(places.items) == len(old):
            return applied(yaml, _list_edits(yaml, root, places, old, new))
    if root.braces:
        return applied(yaml, [_edit_in_braces(found, as_json(new))])
    inline, lines = _form(new, root.indent, line_end(yaml, found.start), _source(yaml, found, old))
    if inline[:1] == "|" and lines and found.below[1] < found.end:  # a comment there would become part of the text
        inline, lines = written(new), ""
    return applied(yaml, [_inline_edit(yaml, found, inline), (*found.below, lines)])


def with_texts(yaml: str, root: Root, found: Property, old: Value, new: Sequence[Any]) -> str:
    """Texts in a list, or a single one, changed into others in their own style; `...` takes out an item."""
    require_plain(yaml, found)
    was = old if isinstance(old, list) else [old]
    places = items(yaml, found) if isinstance(old, list) else None
    spans = [scalar(yaml, places.begin(at), item.end) for at, item in enumerate(places.items)] if places else []
    if not isinstance(old, list) and found.first == found.inline[0] and found.below[0] == found.below[1]:
        spans = [found.inline]
    if len(spans) != len(new):
        whole = [text for text in new if text is not ...]
        return with_value(yaml, root, found, old, whole if isinstance(old, list) else whole[0])
    in_brackets = bool(root.braces) or isinstance(places, Brackets)
    edits = [
        (start, end, _in_style(yaml[start:end], before, after, in_brackets))
        for (start, end), before, after in zip(spans, was, new, strict=True)
        if isinstance(after, str) and after != before
    ]
    drops = [number for number, after in enumerate(new) if after is ...]
    return applied(yaml, [*edits, *(places.edits(yaml, drops, len(was), []) if places and drops else [])])


def with_name(yaml: str, root: Root, found: Property, name: str) -> str:
    """In quotes if it was in quotes."""
    quote = yaml[found.key[0] : found.key[1]][:1]
    text = as_json(name) if root.braces or quote == '"' else yaml_writing.key(name)
    if quote == "'" and text == name and "'" not in name:
        text = f"'{name}'"
    return applied(yaml, [(*found.key, text)])


def with_new(yaml: str, root: Root, name: str, value: Value, line_end: str) -> str:
    """After all others."""
    if root.braces:
        text = f"{as_json(name)}: {as_json(value)}"
        return applied(yaml, root.braces.edits(yaml, [], len(root.braces.items), [text]))
    inline, lines = _form(value, root.indent, line_end)
    return f"{yaml}{root.indent}{yaml_writing.key(name)}:{inline and ' '}{inline}{line_end}{lines}"


def without(yaml: str, root: Root, found: Property) -> str:
    if not root.braces:
        return applied(yaml, [(found.start, found.end, "")])
    if len(root.properties) == 1:
        return applied(yaml, [(root.braces.start, root.braces.end, "")])
    return applied(yaml, root.braces.edits(yaml, [root.properties.index(found)], len(root.properties), []))


def applied(yaml: str, edits: Iterable[Edit]) -> str:
    """Edits that don't overlap."""
    parts, at = [], 0
    for start, end, text in sorted(edits, key=lambda edit: edit[:2]):
        parts += [yaml[at:start], text]
        at = end
    return "".join([*parts, yaml[at:]])


# A value in place of another


def _form(value: Value, indent: str, line_end: str, source: tuple[Value, str] | None = None) -> tuple[str, str]:
    """What stands on the line of the name, and the lines below it. `source` is how a text is written already."""
    if isinstance(value, list) and value:
        texts = [written(item) for item in value]
        if source and same(source[0], value[0]):
            texts[0] = source[1]
        return "", "".join(f"{indent}  - {text}{line_end}" for text in texts)
    block = yaml_writing.block(value, indent, line_end) if isinstance(value, str) else None
    return block or (written(value), "")


def _source(yaml: str, found: Property, old: Value) -> tuple[Value, str] | None:
    text = yaml[slice(*found.inline)]
    is_one_line = bool(text) and "\n" not in text and text[0] not in "|>"
    return (old, text) if is_one_line else None


def _inline_edit(yaml: str, found: Property, inline: str) -> Edit:
    """What follows the value stays: a comment, and the blanks before it."""
    start, end = found.inline
    colon = found.colon or start
    if not inline:
        return colon, end, ""
    if start < end and found.first == start:
        return start, end, inline
    rest = yaml[colon : yaml.find("\n", colon)]
    return colon, colon + (0 if rest.strip() else len(rest.rstrip("\r"))), f" {inline}"


def _edit_in_braces(found: Property, text: str) -> Edit:
    if found.first is not None:
        return (*found.inline, text)
    return (*found.inline, f": {text}" if found.colon is None else f" {text}")


def _in_style(source: str, before: str, after: str, in_brackets: bool) -> str:
    """In the quotes that it had, if nothing in it has to be escaped."""
    quote = source[:1]
    is_bare = as_json(after) == f'"{after}"' and "'" not in after
    if quote in ("'", '"') and source == quote + before + quote and is_bare:
        return quote + after + quote
    return written(after, in_brackets=in_brackets)


# Items of a list


def _list_edits(yaml: str, root: Root, places: Brackets | ListLines, old: list[Any], new: list[Any]) -> list[Edit]:
    drops, at, added = _difference(old, new)
    if root.braces:
        return places.edits(yaml, drops, at, [as_json(item) for item in added])
    return places.edits(yaml, drops, at, [written(item, in_brackets=isinstance(places, Brackets)) for item in added])


def _difference(old: Sequence[Any], new: Sequence[Any]) -> tuple[list[int], int, list[Any]]:
    """Which of the old items go, before which one of them others come, and those.

    What both begin with and end with is left alone first. Linear: a list may have thousands of items.
    """
    most = min(len(old), len(new))
    head = next((at for at in range(most) if not same(old[at], new[at])), most)
    tail = next((at for at in range(most - head) if not same(old[-1 - at], new[-1 - at])), most - head)
    drops, kept = [], head
    for number in range(head, len(old) - tail):
        if kept < len(new) - tail and same(old[number], new[kept]):
            kept += 1
        else:
            drops.append(number)
    return drops, len(old) - tail, list(new[kept : len(new) - tail])
