"""The tools as stored bytes, so that they can be listed and scheduled before anything heavy is loaded.

`python -m obsidian_mcp.tools.catalogue` writes `catalogue.json` and `listings.json` anew from the declarations; a test
fails when they differ. The first is read at the start, the second when the tools are listed or one is called. A tool's
module is imported when the tool is called.
"""

from __future__ import annotations

import os.path

from obsidian_mcp.errors import UnknownTool
from obsidian_mcp.protocol import quickjson
from obsidian_mcp.tools import toolsets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from obsidian_mcp.tools.tool import Tool

STORED = os.path.join(os.path.dirname(__file__), "catalogue.json")
LISTINGS = os.path.join(os.path.dirname(__file__), "listings.json")
PACKAGE = "obsidian_mcp.tools"


class Row:
    """One tool, as far as it is known without its module."""

    __slots__ = ("effect", "module", "name", "toolset", "touches", "whole_vault", "with_sets")

    def __init__(self, stored: dict[str, Any]) -> None:
        self.name: str = stored["name"]
        self.module: str = stored["module"]
        self.toolset: str = stored["toolset"]
        self.effect: str = stored["effect"]
        self.touches: list[str] = stored["touches"]
        self.whole_vault: bool = stored.get("whole_vault", False)
        self.with_sets: dict[str, str] = stored.get("with_sets", {})

    @property
    def writes(self) -> bool:
        return self.effect not in ("READS", "SHOWS")


class Catalogue:
    """The tools that are offered, and why another is not; with `vault` where there are several vaults."""

    def __init__(
        self, rows: Sequence[Row], off: dict[str, str], vaults: tuple[str, ...] = (), on: frozenset[str] = frozenset()
    ) -> None:
        self._off = off
        self._rows = {row.name: row for row in rows if row.name not in off}
        self._hidden = {
            row.name: {name: f"without the toolset {set}" for name, set in row.with_sets.items() if set not in on}
            for row in rows
        }
        self._vaults = vaults if len(vaults) > 1 else ()
        self.shows_changes = any(row.toolset == toolsets.HISTORY.name for row in self._rows.values())
        self._described: dict[str, str] = {}
        self._listed: dict[str, dict[str, Any]] = {}
        self._arguments: dict[str, frozenset[str]] = {}
        self._loaded: dict[str, Tool] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    @property
    def names(self) -> list[str]:
        return list(self._rows)

    @property
    def names_vaults(self) -> bool:
        """Whether the schemas hold the names of the user's vaults."""
        return bool(self._vaults)

    def unknown(self, name: str) -> UnknownTool:
        """Why a tool that is asked for isn't there."""
        offered = f"Tools: {', '.join(self.names)}."
        if name in self._off:
            return UnknownTool(f"{name} is switched off: {self._off[name]}.", offered)
        return UnknownTool(f"There is no tool {name!r}.", offered)

    def writes(self, name: str) -> bool:
        return self._rows[name].writes

    def touches(self, name: str) -> list[str]:
        """The arguments by which a call names notes."""
        return self._rows[name].touches

    def is_whole_vault(self, name: str) -> bool:
        return self._rows[name].whole_vault

    def arguments(self, name: str) -> frozenset[str]:
        """The names of a tool's arguments."""
        found = self._arguments.get(name)
        if found is None:
            found = self._arguments[name] = frozenset(self.listed(name)["inputSchema"]["properties"])
        return found

    def tool(self, name: str) -> Tool:
        """The tool itself. Imports its module, and no other's: pydantic is slow to load."""
        found = self._loaded.get(name)
        if found is None:
            from importlib import import_module

            found = self._loaded[name] = getattr(import_module(f"{PACKAGE}.{self._rows[name].module}"), name)
        return found

    def hidden(self, name: str) -> dict[str, str]:
        """The arguments that a tool does not have here, and how the server was started for that."""
        return self._hidden[name]

    def hide(self, name: str, argument: str, why: str, described: str) -> None:
        """Take an argument away from a tool, which is then described so."""
        if name in self._rows:
            self._described[name] = described
            self._hidden[name] = {**self._hidden[name], argument: why}
            self._arguments.pop(name, None)

    def rows(self) -> list[Row]:
        return list(self._rows.values())

    def listing(self) -> list[dict[str, Any]]:
        """What `tools/list` shows."""
        return [self.listed(name) for name in self._rows]

    def listed(self, name: str) -> dict[str, Any]:
        """A tool as it is listed."""
        if not self._listed:
            self._listed = _stored(LISTINGS)
        tool = _without(self._listed[name], self._hidden[name])
        if name in self._described:
            tool = {**tool, "description": self._described[name]}
        if self.shows_changes and self.writes(name):
            tool = _with_change(tool)
        return _with_vault(tool, self._vaults) if self._vaults else tool


def _without(tool: dict[str, Any], hidden: dict[str, str]) -> dict[str, Any]:
    if not hidden:
        return tool
    schema = tool["inputSchema"]
    kept = {name: field for name, field in schema["properties"].items() if name not in hidden}
    return {**tool, "inputSchema": {**schema, "properties": kept}}


def _with_change(tool: dict[str, Any]) -> dict[str, Any]:
    """A result of what changes something has the id by which it can be undone."""
    schema = tool["outputSchema"]
    data = schema["properties"]["data"]
    with_id = {**data, "properties": {**data["properties"], "change": {"type": "string"}}}
    return {**tool, "outputSchema": {**schema, "properties": {**schema["properties"], "data": with_id}}}


def _with_vault(tool: dict[str, Any], vaults: tuple[str, ...]) -> dict[str, Any]:
    schema = tool["inputSchema"]
    choice = {"type": "string", "enum": list(vaults)}  # the first is the default
    return {**tool, "inputSchema": {**schema, "properties": {**schema["properties"], "vault": choice}}}


def load(
    read_only: bool = False,
    vaults: tuple[str, ...] = (),
    sets: Sequence[str] = (toolsets.ALL,),
    tools: Sequence[str] = (),
    history: bool = True,
) -> Catalogue:
    """Raises UsageError for a set or a tool that does not exist."""
    rows = [Row(stored) for stored in _stored(STORED)]
    on = toolsets.chosen(sets)
    more, fewer = toolsets.adjusted(tools, [row.name for row in rows])
    off: dict[str, str] = {}
    for row in rows:
        if row.name in fewer or (row.toolset not in on and row.name not in more):
            off[row.name] = f"the server was started without it (toolset {row.toolset})"
        elif row.toolset == toolsets.HISTORY.name and not history:
            off[row.name] = "the server was started with --history off"
        elif read_only and row.writes:
            off[row.name] = "the server was started with --read-only"
    return Catalogue(rows, off, vaults, on)


def _stored(file: str) -> Any:
    with open(file, "rb") as stored:
        return quickjson.decode(stored.read().decode())


def declared() -> dict[str, tuple[str, Tool]]:
    """Every declared tool with its module's name: those of one set together, in the order of declaration."""
    from importlib import import_module
    from pkgutil import iter_modules

    from obsidian_mcp import tools
    from obsidian_mcp.tools.tool import Tool

    found: dict[str, tuple[str, Tool]] = {}
    for module in sorted(entry.name for entry in iter_modules(tools.__path__)):
        for value in vars(import_module(f"{PACKAGE}.{module}")).values():
            if isinstance(value, Tool):
                found.setdefault(value.name, (module, value))
    order = list(toolsets.TOOLSETS)
    return dict(sorted(found.items(), key=lambda item: order.index(item[1][1].toolset.name)))


def generated() -> dict[str, str]:
    """The text of each file."""
    import json

    tools = declared()
    rows = (
        {
            "name": tool.name,
            "module": module,
            "toolset": tool.toolset.name,
            "effect": tool.effect.name,
            "touches": tool.touches,
            **({"whole_vault": True} if tool.whole_vault else {}),
            **({"with_sets": tool.with_sets} if tool.with_sets else {}),
        }
        for module, tool in tools.values()
    )
    listings = (
        f"{json.dumps(name)}: {json.dumps(tool.listing(), ensure_ascii=False)}" for name, (_, tool) in tools.items()
    )
    return {
        STORED: "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n",
        LISTINGS: "{\n" + ",\n".join(listings) + "\n}\n",
    }


if __name__ == "__main__":
    for file, text in generated().items():
        with open(file, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
