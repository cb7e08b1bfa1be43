"""The bundle's entry: the form that a person has filled in, as a command line; then the package."""

import os
import sys

from obsidian_mcp.__main__ import main
from obsidian_mcp.hosts import extension

if __name__ == "__main__":
    sys.argv[1:] = extension.words(sys.argv[1:], os.environ)
    main()
