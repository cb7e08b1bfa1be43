"""The bundle's entry: starts the package that lies beside this file."""

from obsidian_mcp.__main__ import main

if __name__ == "__main__":
    main()
