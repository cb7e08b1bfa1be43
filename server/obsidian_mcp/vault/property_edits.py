"""A note's properties changed by line surgery: what is not wanted to change stays the same, byte for byte.

Printing the YAML anew, as Obsidian and every YAML library do, loses comments, quotes, brackets and `007`. So only the
lines of the wanted property are touched (`yaml_edits`), and the result is read again: if anything else has changed, or
the wanted value isn't there as Obsidian would read it, the edit is refused. A wrong result is never given.

Names are compared as they are written, and else without case, as Obsidian has it; a property keeps its spelling. A
list that `remove` empties goes with its name: an empty `tags:` would be noise. `set` to `[]` keeps it as `[]`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any

from obsidian_mcp.vault import yaml_edits
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.frontmatter import Frontmatter, place, read
from obsidian_mcp.vault.property_places import Property, Root, line_at, line_end, root
from obsidian_mcp.vault.property_places import Uneditable as Uneditable
from obsidian_mcp.vault.property_types import (
    identity,
    is_tag,
    normal_value,
    require_list,
    require_tag,
    typed,
    typed_items,
)
from obsidian_mcp.vault.simple_yaml import Value
from obsidian_mcp.vault.yaml_writing import same

_BOM = "\ufeff"


def edited(
    text: str,
    set: Mapping[str, Any],
    add: Mapping[str, Sequence[Any]],
    remove: Mapping[str, Sequence[Any]],
    types: Mapping[str, str],
) -> str:
    """The note with those properties set (None removes one), and with items added to and removed from lists.

    `types` are those of the vault. Raises Uneditable; an edit that changes nothing gives the text itself.
    """
    front = _read(text)
    names = _names([*set, *add, *remove], front.values)
    changes: dict[str, Value | EllipsisType] = {}
    for name, value in set.items():
        changes[names[name]] = _set(names[name], value, front.values, types)
    for name, items in add.items():
        changes[names[name]] = _added(names[name], items, front.values, types)
    for name, items in remove.items():
        changes[names[name]] = _removed(names[name], items, front.values)
    wanted = {name: value for name, value in changes.items() if value is not ...}
    return _with(text, front, wanted) if wanted else text


def renamed_key(text: str, old: str, new: str) -> str:
    """The property under another name, in its place; the text itself if there is no such property."""
    front = _read(text)
    name = _names([old], front.values)[old]
    if name not in front.values or name == new:
        return text
    there = next((key for key in front.values if key != name and fold(key) == fold(new)), None)
    if there is not None:
        raise Uneditable(f"there is a property `{there}` already", _line(text, front, there))
    yaml = text[front.start : front.end]
    found = _root(yaml, front.values)
    after = yaml_edits.with_name(yaml, found, _property(found, name), new)
    expected = {new if key == name else key: value for key, value in front.values.items()}
    return _checked(text, front, after, expected, name)


def renamed_tags(text: str, rename: Callable[[str], str | None]) -> str:
    """The tags among the properties renamed in their places, in their own quotes; one that would be there twice goes.

    `rename` is given each tag without `#`, and gives another, or None or the same one for those that stay.
    """
    front = _read(text)
    name = next((name for name in front.values if name.lower() == "tags"), None)
    old = front.values[name] if name is not None else None
    if name is None or old is None:
        return text
    listed = old if isinstance(old, list) else [old]
    new = _renamed(listed, rename)
    if new == listed:
        return text
    yaml = text[front.start : front.end]
    found = _root(yaml, front.values)
    after = yaml_edits.with_texts(yaml, found, _property(found, name), old, new)
    kept = [tag for tag in new if tag is not ...]
    expected = {**front.values, name: kept if isinstance(old, list) else kept[0]}
    return _checked(text, front, after, expected, name)


# What is wanted


def _names(asked: Sequence[str], values: Mapping[str, Value]) -> dict[str, str]:
    """For each name asked for, the one that is there, or itself. No property may be asked for twice."""
    names = {name: _name(name, values) for name in asked}
    once: dict[str, str] = {}
    for name in asked:
        key = names[name] if names[name] in values else fold(name)
        if key in once:
            raise Uneditable(f"`{name}` is named twice: a property can be set, added to or removed from, one at a time")
        once[key] = name
    return names


def _name(name: str, values: Mapping[str, Value]) -> str:
    if name in values:
        return name
    alike = [key for key in values if fold(key) == fold(name)]
    if len(alike) > 1:
        raise Uneditable(
            f"`{name}` could be {' or '.join(f'`{key}`' for key in alike)}: give the name as it is written"
        )
    return alike[0] if alike else name


def _set(name: str, given: Any, values: Mapping[str, Value], types: Mapping[str, str]) -> Value | EllipsisType:
    """`...` where nothing changes: the value is there, or what is to be removed isn't."""
    value = normal_value(name, given)
    if value is None:
        return None if name in values else ...
    if name in values and same(values[name], value):
        return ...
    value = typed(name, value, types)
    return ... if name in values and same(values[name], value) else value


def _added(
    name: str, given: Sequence[Any], values: Mapping[str, Value], types: Mapping[str, str]
) -> list[Value] | EllipsisType:
    """A single value becomes the first item of a list."""
    old = values.get(name)
    if isinstance(old, dict):
        raise Uneditable(f"`{name}` is a map, and nothing can be added to it: set it instead")
    items = [] if old is None else old if isinstance(old, list) else [old]
    there = {identity(name, item) for item in items}
    new = {identity(name, item): item for item in typed_items(name, _listed(name, given), types)}
    added = [item for key, item in new.items() if key not in there]
    if added and not isinstance(old, list):
        require_list(name, types)
    return [*items, *added] if added else ...


def _removed(name: str, given: Sequence[Any], values: Mapping[str, Value]) -> list[Value] | EllipsisType | None:
    old = values.get(name)
    items = [] if old is None else old if isinstance(old, list) else [old]
    gone = {identity(name, item) for item in _listed(name, given)}
    kept = [item for item in items if identity(name, item) not in gone]
    return ... if len(kept) == len(items) else kept or None


def _listed(name: str, given: Sequence[Any]) -> list[Any]:
    return [normal_value(name, item) for item in ([given] if isinstance(given, str) else given)]


def _renamed(listed: Sequence[Any], rename: Callable[[str], str | None]) -> list[Any]:
    """`...` in place of those that another one would repeat."""
    tags = [item.strip().removeprefix("#") if isinstance(item, str) and is_tag(item) else None for item in listed]
    names = [_new_tag(tag, rename) for tag in tags]
    there = {fold(tag) for tag, name in zip(tags, names, strict=True) if tag is not None and name is None}
    renamed: list[Any] = []
    for item, tag, name in zip(listed, tags, names, strict=True):
        if name is None:
            renamed.append(item)
        else:
            renamed.append(... if fold(name) in there else item.replace(tag, name, 1))
            there.add(fold(name))
    return renamed


def _new_tag(tag: str | None, rename: Callable[[str], str | None]) -> str | None:
    name = rename(tag) if tag is not None else None
    return require_tag(name.removeprefix("#")) if name is not None and name.removeprefix("#") != tag else None


# The text


def _read(text: str) -> Frontmatter:
    front = read(text)
    if front.problem is not None:
        raise Uneditable(front.problem.removeprefix(f"Line {front.line}: ").removesuffix("."), front.line)
    return front


def _with(text: str, front: Frontmatter, wanted: Mapping[str, Value]) -> str:
    yaml, values = text[front.start : front.end], dict(front.values)
    for name, value in wanted.items():
        places = _root(yaml, values)
        if name not in values:
            yaml = yaml_edits.with_new(yaml, places, name, value, line_end(text, 0))
        elif value is None:
            yaml = yaml_edits.without(yaml, places, _property(places, name))
        else:
            yaml = yaml_edits.with_value(yaml, places, _property(places, name), values[name], value)
        values[name] = value
        if value is None:
            del values[name]
    return _checked(text, front, yaml, values, next(iter(wanted)))


def _root(yaml: str, values: Mapping[str, Value]) -> Root:
    """The places of those properties."""
    places = root(yaml)
    if [found.name for found in places.properties] != list(values):
        raise Uneditable("the properties are written in a way that can't be edited here")
    return places


def _property(places: Root, name: str) -> Property:
    return next(found for found in places.properties if found.name == name)


def _checked(text: str, front: Frontmatter, yaml: str, expected: Mapping[str, Value], name: str) -> str:
    """The note with that YAML, if it says what it should and the body begins where it did."""
    body = text[front.body :] if front.body else text.removeprefix(_BOM)
    bom = _BOM if text.startswith(_BOM) else ""
    result = _joined(text, front, bom, yaml, body)
    if not expected and not yaml.strip() and not place(bom + body)[2]:
        return bom + body
    after = read(result)
    is_right = json.dumps(after.values) == json.dumps(expected) and len(result) - after.body == len(body)
    if after.problem is not None or not is_right:
        reason = f"`{name}` can't be written here so that Obsidian would read it as given and all else as before"
        raise Uneditable(reason, _line(text, front, name))
    return result


def _joined(text: str, front: Frontmatter, bom: str, yaml: str, body: str) -> str:
    if front.body:
        return text[: front.start] + yaml + text[front.end :]
    end = line_end(text, 0)
    return f"{bom}---{end}{yaml}---{end}{body}"


def _line(text: str, front: Frontmatter, name: str) -> int | None:
    """Where the property stands in the note."""
    yaml = text[front.start : front.end]
    return next((line_at(yaml, found.start) for found in root(yaml).properties if found.name == name), None)
