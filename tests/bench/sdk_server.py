"""The yardstick: a bare server on the Python MCP SDK, with one tool. Run in an environment of its own."""

from mcp.server import MCPServer

server = MCPServer("bare")


@server.tool()
def echo(text: str) -> str:
    """Say it back."""
    return text


if __name__ == "__main__":
    server.run()
