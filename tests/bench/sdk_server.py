"""The yardstick: a bare server on the Python MCP SDK. `sdk_server.py` on stdio, `sdk_server.py PORT` on HTTP."""

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


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]), json_response=True)
    else:
        server.run()
