"""What the Windows Python runs first: it makes the environment that a test wants, then `obsidian-mcp`.

Wine makes PATH, TEMP and the places of a user itself, so the wanted ones come in one variable. No other module of the
tests is imported here: this side has the server's libraries alone.
"""

from __future__ import annotations

import json
import os
import sys

KEPT = "COMSPEC NUMBER_OF_PROCESSORS OS PATHEXT PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT WINDIR".split()


def main() -> None:
    told = json.loads(os.environ["WINDOWS_BOOT"])
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    os.environ.clear()
    os.environ.update({**kept, **told["environ"]})
    sys.pycache_prefix = told["compiled"]
    sys.path.insert(0, told["server"])
    sys.argv[0] = "obsidian-mcp"
    exec(told["first"], {})  # what a test changes in the server before it starts
    from obsidian_mcp.__main__ import main

    main()


if __name__ == "__main__":
    main()
