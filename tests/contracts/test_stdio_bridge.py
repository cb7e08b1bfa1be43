"""The stdio bridge between a server of Bridge Protocol v1 and a strict client of MCP, as specs/http.md has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.contracts.shapes import TEXT_CONTENT, fits, schema, text
from tests.contracts.test_mcp_stdio import INITIALIZE, StdioClient
from tests.support.foreign import Foreign
from tests.support.web import Web
from tests.support.world import World

INITIALIZED = {
    "protocolVersion": "2024-11-05",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "obsidian-mcp", "version": text},
    "instructions": text,
}
# As its document configures it: the command, without arguments, and this environment.
CONFIGURED = {"OBSIDIAN_MCP_HOST": "127.0.0.1"}


@contextmanager
def bridged(world: World, port: int) -> Iterator[StdioClient]:
    with StdioClient(world.environment(**CONFIGURED, OBSIDIAN_MCP_PORT=str(port))) as client:
        fits(client.ask("initialize", INITIALIZE)["result"], INITIALIZED)
        yield client


def called(client: StdioClient, tool: str, **arguments: Any) -> dict[str, Any]:
    reply = client.ask("tools/call", {"name": tool, "arguments": arguments})
    found: dict[str, Any] = fits(reply["result"], {"content": [TEXT_CONTENT], "isError": bool})
    return found


def test_a_server_of_ours_is_bridged(own_world: World) -> None:
    own_world.put("note.md", "across the bridge")
    with Web(own_world.environment(), "--backend", "embedded") as web, bridged(own_world, web.port) as client:
        tools = client.ask("tools/list", {})["result"]["tools"]
        fits(tools, [{"name": text, "description": text, "inputSchema": schema}])
        assert "obsidian_read_note" in {tool["name"] for tool in tools}
        assert "across the bridge" in called(client, "obsidian_read_note", name="note.md")["content"][0]["text"]
        assert called(client, "obsidian_read_note", name="gone.md")["isError"] is True
        assert client.end() == 0


def test_a_server_with_the_documents_tool_is_bridged(own_world: World) -> None:
    listed = {"name": "read_note", "description": "Read a note by path", "inputSchema": {
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}  # fmt: skip
    error = {"success": False, "content": [{"type": "text", "text": "Error: Note not found"}], "isError": True}
    with Foreign() as foreign:
        foreign.answers |= {"/tools": {"tools": [listed], "hash": "0"}, "/tools/read_note/call": error}
        with bridged(own_world, foreign.port) as client:
            assert client.ask("tools/list", {})["result"] == {"tools": [listed]}
            assert called(client, "read_note", path="note.md") == {"content": error["content"], "isError": True}
            assert client.end() == 0
        assert foreign.asked[-1] == ("/tools/read_note/call", {"arguments": {"path": "note.md"}})
