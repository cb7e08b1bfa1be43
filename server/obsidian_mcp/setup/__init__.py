"""What `obsidian-mcp setup` does beside asking: it looks for vaults, and tries what it has set up."""
