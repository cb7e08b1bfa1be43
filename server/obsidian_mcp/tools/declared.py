"""Every declared tool, by name, in the order of declaration.

Slow to import (pydantic builds the models): until the first call, what is
known of the tools comes from the stored catalogue.
"""

from __future__ import annotations

from obsidian_mcp.tools import notes
from obsidian_mcp.tools.tool import Tool

MODULES = (notes,)

TOOLS: dict[str, Tool] = {
    value.name: value for module in MODULES for value in vars(module).values() if isinstance(value, Tool)
}
