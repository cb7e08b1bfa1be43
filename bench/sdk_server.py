"""The yardstick: bare servers on the Python MCP SDK.

`sdk_server.py` on stdio says back what it is told; `sdk_server.py PORT VAULT` on HTTP reads notes with the same
code as ours, and `sdk_server.py PORT` reads files as they are.
"""

import os
import sys
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("bare", log_level="ERROR")


@server.tool()
def echo(text: str) -> str:
    """Say it back."""
    return text


@server.tool()
def read(path: str) -> dict[str, str]:
    """Read a file."""
    return {"path": path, "content": Path(path).read_text(encoding="utf-8")}


def offer_notes(vault: str) -> None:
    from obsidian_mcp.app import App
    from obsidian_mcp.call import CallContext
    from obsidian_mcp.settings import load
    from obsidian_mcp.tools.notes import NoteRead

    options = {"backend": ["embedded"], "vault": [vault], "log-level": ["error"]}
    app = App(load(options, os.environ))
    app.wake()

    @server.tool()
    def read_note(name: str) -> NoteRead:
        """Read a note."""
        return NoteRead(**{"next_line": None, **app.tools.run("obsidian_read_note", {"name": name}, CallContext())})


if __name__ == "__main__":
    if len(sys.argv) > 2:
        offer_notes(sys.argv[2])
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]), json_response=True)
    else:
        server.run()
