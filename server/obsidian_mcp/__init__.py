"""An MCP server for Obsidian vaults."""

__version__ = "1.0.0"
