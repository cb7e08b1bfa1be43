"""The note in front of a person: what the app says of it, and what it leaves on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.vault.path import VaultPath, is_path


@dataclass(frozen=True, slots=True)
class Place:
    """In a note: both from 0, characters in UTF-16 units, as editors count."""

    line: int
    character: int


START = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Active:
    """The active note and what is selected there; without a selection, where the cursor is."""

    path: VaultPath
    text: str = ""
    start: Place = START
    end: Place = START
    head: Place = START


@dataclass(frozen=True, slots=True)
class Workspace:
    """What the app last wrote down of its windows."""

    active: VaultPath | None
    opened: tuple[VaultPath, ...]


class Unreadable(ValueError):
    """Not what the app should have said."""


def from_app(said: str) -> tuple[str, Active | None]:
    """The vault's folder and the active note, from the JSON that the app was asked for."""
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        raise Unreadable("it is not JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("base"), str) or "\0" in found["base"]:
        raise Unreadable("it does not name the vault's folder")
    path = found.get("path")
    if path is None:
        return found["base"], None
    if not isinstance(path, str) or not is_path(path):
        raise Unreadable("it does not name a note")
    text = found.get("text", "")
    if not isinstance(text, str):
        raise Unreadable("the selection is not text")
    start, end, head = (_place(found.get(key)) for key in ("from", "to", "head"))
    return found["base"], Active(VaultPath(path), text, start, end, head)


def _place(value: Any) -> Place:
    if value is None:
        return START  # in reading mode there is neither cursor nor selection
    if not isinstance(value, dict):
        raise Unreadable("a place has no line")
    line, character = value.get("line"), value.get("character")
    if type(line) is not int or type(character) is not int or line < 0 or character < 0:
        raise Unreadable("a place has no line")
    return Place(line, character)


def from_workspace(found: Any) -> Workspace:
    """From `.obsidian/workspace.json`. What is not understood there is not there."""
    if not isinstance(found, dict):
        return Workspace(None, ())
    leaves = list(_leaves(found.get("main"), shown=True))
    files = [(id, VaultPath(path)) for id, path, _ in leaves]
    last = next((path for id, path in files if id == found.get("active")), None)
    if last is None:  # the person is in a side pane: the note is the one that is shown
        last = next((VaultPath(path) for _, path, shown in leaves if shown), None)
    return Workspace(last, tuple(dict.fromkeys(path for _, path in files)))


def _leaves(node: Any, shown: bool, depth: int = 0) -> Iterator[tuple[Any, str, bool]]:
    """Every tab with a file: its id, the file, and whether it is the one of its group that is shown."""
    if not isinstance(node, dict) or depth > 50:
        return
    if node.get("type") == "leaf":
        state = node.get("state")
        inner = state.get("state") if isinstance(state, dict) else None
        file = inner.get("file") if isinstance(inner, dict) else None
        if isinstance(file, str) and is_path(file):
            yield node.get("id"), file, shown
        return
    children = node.get("children")
    current = node.get("currentTab", 0) if node.get("type") == "tabs" else None
    for number, child in enumerate(children if isinstance(children, list) else ()):
        yield from _leaves(child, shown and current in (None, number), depth + 1)
