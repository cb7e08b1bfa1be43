"""How the bundle for Claude Desktop is made. Not part of the program."""
