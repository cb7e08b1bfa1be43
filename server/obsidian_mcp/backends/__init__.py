"""The two ways out to a vault: the Obsidian app, and the files themselves."""
