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
