"""A vault answered from its files, where there is no Obsidian."""
