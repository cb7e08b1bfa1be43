"""Bases: their files, the language of their filters, and which files that chooses."""
