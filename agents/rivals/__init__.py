"""Other servers for the same vault, each by its best tools. What has no tool for a task says so."""

from agents.rivals.markdown_vault import MarkdownVault
from agents.rivals.mcpvault import McpVault
from agents.rivals.npm import ObsidianMcp
from agents.rivals.pypi import PyObsidianMcp

SERVERS = (McpVault, ObsidianMcp, MarkdownVault, PyObsidianMcp)
