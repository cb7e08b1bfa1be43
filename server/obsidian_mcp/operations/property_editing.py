"""Changing the properties of a note: what is asked for, and what is told when it can't be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.property_edits import Uneditable, edited


@dataclass(frozen=True, slots=True)
class Properties:
    """Values by name: to be set, to be added to lists, to be taken from them."""

    set: Mapping[str, Any]
    add: Mapping[str, Any]
    remove: Mapping[str, Any]


def require_some(wanted: Properties) -> None:
    """Raise if nothing is asked for."""
    if not (wanted.set or wanted.add or wanted.remove):
        raise InvalidArguments(
            "None of set, add and remove says what is to be changed.",
            'Give for example set={"status": "done"} or add={"tags": ["x"]}.',
        )
    _require_plain(wanted)


MOST_NAMES, DEEPEST = 100, 32  # in one call, and of values in values


def _require_plain(wanted: Properties) -> None:
    names = [*wanted.set, *wanted.add, *wanted.remove]
    if len(names) > MOST_NAMES:
        raise InvalidArguments(f"{len(names)} properties are too many for one call.", f"Give {MOST_NAMES} at a time.")
    for name in names:
        if not name.strip() or "\n" in name or "\r" in name:
            raise InvalidArguments(f"{name!r} is not the name of a property.")
    level: list[Any] = [*wanted.set.values(), *wanted.add.values(), *wanted.remove.values()]
    for _ in range(DEEPEST):
        lists = (
            value.values() if isinstance(value, dict) else value for value in level if isinstance(value, dict | list)
        )
        level = [inner for values in lists for inner in values]
    if level:
        raise InvalidArguments(f"A value has more than {DEEPEST} levels of lists or objects.")


def with_properties(path: VaultPath, text: str, wanted: Properties, types: Mapping[str, str]) -> str:
    try:
        return edited(text, wanted.set, _lists(wanted.add), _lists(wanted.remove), types)
    except Uneditable as problem:
        where = f" (line {problem.line})" if problem.line else ""
        raise InvalidArguments(
            f"The properties of {path} were left as they are: {problem.reason}{where}.",
            "Mend that line with obsidian_edit_note first." if problem.line else "",
            path=path.value,
        ) from None


def _lists(values: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: value if isinstance(value, list) else [value] for name, value in values.items()}
