"""Links: where they stand in a file, where they lead, and what becomes of them when a file moves."""
