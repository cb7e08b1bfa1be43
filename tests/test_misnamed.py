"""Names in the settings that mean nothing."""

from __future__ import annotations

import json

import pytest

from obsidian_mcp import misnamed, settings
from tests.support.client import Server
from tests.support.world import World

VARIABLES = {
    "OBSIDIAN_MCP_VALUT": "OBSIDIAN_MCP_VAULT",
    "OBSIDIAN_MCP_VAULTS": "OBSIDIAN_MCP_VAULT",
    "OBSIDIAN_MCP_READONLY": "OBSIDIAN_MCP_READ_ONLY",
    "OBSIDIAN_MCP_HISTORY_DAY": "OBSIDIAN_MCP_HISTORY_DAYS",
    "OBSIDIAN_MCP_FLY": "",
}


@pytest.mark.parametrize(("name", "meant"), VARIABLES.items(), ids=VARIABLES)
def test_a_variable_that_means_nothing_is_told_with_the_nearest(name: str, meant: str) -> None:
    (said,) = misnamed.variables({name: "x", "PATH": "/bin", "OBSIDIAN_BIN": "x"})
    assert said.startswith(name)
    assert said.partition("did you mean ")[2] == (f"{meant}?" if meant else "")


def test_every_setting_is_known() -> None:
    assert misnamed.variables(dict.fromkeys(settings.variables(), "x")) == []
    assert {"OBSIDIAN_MCP_VAULT", "OBSIDIAN_MCP_TOKEN", "OBSIDIAN_MCP_IDE_PORT"} <= settings.variables()


def test_a_limit_for_a_tool_that_is_none_is_told_with_the_nearest() -> None:
    tools = ("obsidian_read_note", "obsidian_move_note")
    assert misnamed.limits(tools, tools) == []
    near, far = misnamed.limits(("obsidian_raed_note", "obsidian_fly"), tools)
    assert near.endswith("did you mean obsidian_read_note?")
    assert "did you mean" not in far


def test_a_hosts_server_starts_all_the_same_and_warns_in_its_log(own_world: World) -> None:
    own_world.put("Note.md", "x")
    environment = own_world.environment(OBSIDIAN_MCP_READ_OLNY="true")
    with Server(environment, "--vault", "Vault", "--timeout-for", "fly=3") as server:
        server.initialize()
        assert server.call("read_note", name="Note")["content"] == "x"
        assert server.finish() == 0
    entries = [json.loads(line) for line in server.log.splitlines()]
    told = [entry["why"] for entry in entries if entry["event"] == "a setting is ignored"]
    assert [name in why for name, why in zip(("READ_ONLY?", "obsidian_fly"), told, strict=True)] == [True, True]
