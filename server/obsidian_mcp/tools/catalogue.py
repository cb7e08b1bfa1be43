"""The tools as stored bytes, so that they can be listed before anything heavy is loaded.

`python -m obsidian_mcp.tools.catalogue` writes `catalogue.json` anew from the
declarations; a test fails when the two differ.
"""

from __future__ import annotations

import os.path

from obsidian_mcp.errors import UnknownTool
from obsidian_mcp.protocol import quickjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STORED = os.path.join(os.path.dirname(__file__), "catalogue.json")


class Catalogue:
    """The tools that are offered: fewer when nothing may change, with `vault` where there are several."""

    def __init__(self, tools: list[dict[str, Any]], read_only: bool = False, vaults: tuple[str, ...] = ()) -> None:
        self._off = [tool["name"] for tool in tools if read_only and not _reads(tool)]
        self._tools = [tool for tool in tools if tool["name"] not in self._off]
        if len(vaults) > 1:
            self._tools = [_with_vault(tool, vaults) for tool in self._tools]
        self._by_name = {tool["name"]: tool for tool in self._tools}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    @property
    def names(self) -> list[str]:
        return list(self._by_name)

    def unknown(self, name: str) -> UnknownTool:
        """Why a tool that is asked for isn't there."""
        offered = f"Tools: {', '.join(self.names)}."
        if name in self._off:
            return UnknownTool(f"{name} is switched off: the server was started with --read-only. {offered}")
        return UnknownTool(f"There is no tool {name!r}. {offered}")

    def writes(self, name: str) -> bool:
        return not _reads(self._by_name[name])

    def listing(self) -> list[dict[str, Any]]:
        return self._tools


def _reads(tool: dict[str, Any]) -> bool:
    return bool(tool["annotations"]["readOnlyHint"])


def _with_vault(tool: dict[str, Any], vaults: tuple[str, ...]) -> dict[str, Any]:
    schema = tool["inputSchema"]
    choice = {"type": "string", "enum": list(vaults)}  # the first is the default
    return {**tool, "inputSchema": {**schema, "properties": {**schema["properties"], "vault": choice}}}


def load(read_only: bool = False, vaults: tuple[str, ...] = ()) -> Catalogue:
    with open(STORED, "rb") as file:
        return Catalogue(quickjson.decode(file.read().decode()), read_only, vaults)


def generated() -> str:
    import json

    from obsidian_mcp.tools.declared import TOOLS

    lines = (json.dumps(tool.listing(), ensure_ascii=False) for tool in TOOLS.values())
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    with open(STORED, "w", encoding="utf-8", newline="\n") as out:
        out.write(generated())
