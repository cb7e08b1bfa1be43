"""Obsidian's search language: read from text, and asked of a note."""
