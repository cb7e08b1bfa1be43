"""The official Python client, in both eras, against a real server process.

It takes more than a second to load, so that is left to the tests: every worker imports every test module.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from tests.support.client import TOOLS
from tests.support.web import Web
from tests.support.world import World

if TYPE_CHECKING:
    from mcp import StdioServerParameters
    from mcp_types import CallToolResult, ListToolsResult

    Call = Callable[[str, dict[str, object]], Awaitable[CallToolResult]]


def parameters(world: World) -> StdioServerParameters:
    from mcp import StdioServerParameters

    return StdioServerParameters(
        command=sys.executable, args=["-m", "obsidian_mcp", "--vault", "Vault"], env=world.environment()
    )


async def use(listed: ListToolsResult, call: Call, world: World) -> None:
    """What every client must be able to do."""
    assert [tool.name for tool in listed.tools] == TOOLS
    assert all(tool.title and tool.output_schema for tool in listed.tools)
    made = await call("obsidian_create_note", {"name": "New", "content": "$\\nabla$ é"})
    assert made.is_error is False
    read = await call("obsidian_read_note", {"name": "New"})
    assert read.structured_content is not None
    assert read.structured_content["data"]["content"] == "$\\nabla$ é"
    await call("obsidian_delete_note", {"name": "New", "permanent": True})
    assert not world.has("New.md")


def test_the_client_stays_in_the_modern_era(own_world: World) -> None:
    from mcp import Client

    async def session() -> None:
        async with Client(parameters(own_world), read_timeout_seconds=60) as client:
            assert client.protocol_version == "2026-07-28"
            await use(await client.list_tools(), client.call_tool, own_world)
            missing = await client.call_tool("obsidian_read_note", {"name": "New"})
            assert missing.is_error is True
            assert "New" in missing.content[0].model_dump()["text"]

    anyio.run(session)


def test_over_http_in_both_eras(own_world: World) -> None:
    from mcp import Client

    async def session(url: str) -> None:
        async with Client(url, read_timeout_seconds=60) as client:
            assert client.protocol_version == "2026-07-28"
            await use(await client.list_tools(), client.call_tool, own_world)
        async with Client(url, read_timeout_seconds=60, mode="legacy") as client:
            assert client.protocol_version == "2025-11-25"
            await use(await client.list_tools(), client.call_tool, own_world)

    with Web(own_world.environment(), forked=False) as web:
        anyio.run(session, f"http://127.0.0.1:{web.port}/mcp")


def test_the_session_speaks_the_era_of_initialize(own_world: World, tmp_path: Path) -> None:
    from mcp import ClientSession, MCPError
    from mcp.client.stdio import stdio_client

    async def session() -> None:
        with open(tmp_path / "log", "w", encoding="utf-8") as log:
            async with (
                stdio_client(parameters(own_world), errlog=log) as (read, write),
                ClientSession(read, write, read_timeout_seconds=60) as client,
            ):
                assert (await client.initialize()).protocol_version == "2025-11-25"
                await use(await client.list_tools(), client.call_tool, own_world)
                with pytest.raises(MCPError) as failed:
                    await client.call_tool("obsidian_read_note", {"name": "New"})
                assert failed.value.error.code == -32003
                assert "New" in failed.value.error.message

    anyio.run(session)


@pytest.mark.parametrize("door", ["stdio", "http"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_it_attaches_a_note_whose_name_it_completes_and_gets_a_prompt(own_world: World, door: str, mode: str) -> None:
    from mcp import Client
    from mcp_types import PromptReference, ResourceTemplateReference, TextResourceContents

    own_world.put("Trips/Kyoto in spring.md", "cherries")
    own_world.put("Prompts/Pack.md", "Pack for {{trip}}.")

    async def session(how: StdioServerParameters | str) -> None:
        async with Client(how, read_timeout_seconds=60, mode=mode) as client:
            assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
            (template,) = (await client.list_resource_templates()).resource_templates
            ref = ResourceTemplateReference(type="ref/resource", uri=template.uri_template)
            completed = await client.complete(ref, {"name": "path", "value": "kyo"})
            assert completed.completion.values == ["Trips/Kyoto in spring.md"]
            listed = {each.name: each.uri for each in (await client.list_resources()).resources}
            (contents,) = (await client.read_resource(listed[completed.completion.values[0]])).contents
            assert isinstance(contents, TextResourceContents)
            assert contents.text == "cherries"
            prompt = PromptReference(type="ref/prompt", name="pack")
            completed = await client.complete(prompt, {"name": "trip", "value": "kyo"})
            assert completed.completion.values == ["Trips/Kyoto in spring"]
            said = await client.get_prompt("pack", {"trip": "Kyoto"})
            assert said.messages[0].content.model_dump()["text"] == "Pack for Kyoto."
            assert "daily_review" in [each.name for each in (await client.list_prompts()).prompts]

    if door == "stdio":
        anyio.run(session, parameters(own_world))
    else:
        with Web(own_world.environment(), forked=False) as web:
            anyio.run(session, f"http://127.0.0.1:{web.port}/mcp")


@pytest.mark.parametrize("door", ["stdio", "http"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("agrees", [True, False])
def test_its_user_is_asked_before_a_note_is_deleted_for_good(
    own_world: World, door: str, mode: str, agrees: bool
) -> None:
    from mcp import Client
    from mcp_types import ElicitRequestParams, ElicitResult

    own_world.put("Note.md", "x")
    asked: list[str] = []

    async def ask(context: object, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": agrees})

    async def session(how: StdioServerParameters | str) -> None:
        async with Client(how, read_timeout_seconds=60, mode=mode, elicitation_callback=ask) as client:
            done = await client.call_tool("obsidian_delete_note", {"name": "Note", "permanent": True})
            assert done.is_error is not agrees

    if door == "stdio":
        words = [*parameters(own_world).args, "--errors", "result"]
        anyio.run(session, parameters(own_world).model_copy(update={"args": words}))
    else:
        with Web(own_world.environment(), "--errors", "result", forked=False) as web:
            anyio.run(session, f"http://127.0.0.1:{web.port}/mcp")
    assert len(asked) == 1
    assert "Note.md" in asked[0]
    assert own_world.has("Note.md") is not agrees
