"""A vault answered by the official Obsidian CLI, which asks the running app."""
