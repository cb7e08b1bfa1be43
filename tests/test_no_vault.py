"""A server that was told of no vault, or of a wrong one: what its host, and a person, hear of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.client import COMMAND, PATIENCE, TOOLS, Server, ToolFailed
from tests.support.world import VAULT_ID, World


def register(world: World, count: int) -> list[Path]:
    """So many vaults, none of them open."""
    folders = [world.folder / f"Vault {number}" for number in range(count)]
    world.register({f"{number:016x}": folder for number, folder in enumerate(folders)}, opened="")
    return folders


@pytest.mark.parametrize("count", [0, 2])
def test_a_host_gets_the_tools_and_each_call_says_what_to_do(own_world: World, count: int) -> None:
    known = [str(folder) for folder in register(own_world, count)]
    with Server(own_world.environment()) as server:
        server.initialize()
        assert [tool["name"] for tool in server.request("tools/list")["result"]["tools"]] == TOOLS
        for _ in range(2):
            with pytest.raises(ToolFailed, match="--vault NAME") as caught:
                server.call("read_note", name="Note")
            assert caught.value.error_code == "VAULT_NOT_FOUND"
            assert all(folder in caught.value.message for folder in known)
        own_world.put("Note.md", "found now")
        own_world.register({VAULT_ID: own_world.vault})
        assert server.call("read_note", name="Note")["content"] == "found now"
        assert server.finish() == 0
    assert len(warnings(server)) == 1


def test_a_person_at_a_terminal_gets_one_line(own_world: World) -> None:
    register(own_world, 2)
    leader, follower = os.openpty()
    done = subprocess.run(
        COMMAND, env=own_world.environment(), stdin=follower, capture_output=True, timeout=PATIENCE, check=False
    )
    os.close(leader)
    os.close(follower)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert b"several are registered" in done.stderr


def test_each_wrong_vault_is_a_warning_in_the_log(own_world: World) -> None:
    outside = str(own_world.outside)
    with Server(own_world.environment(), "--vault", "Nope", "--vault", "Vault", "--vault", outside) as server:
        server.initialize()
        own_world.put("Note.md", "x")
        assert server.call("read_note", name="Note", vault="Vault")["content"] == "x"
        assert server.finish() == 0
    assert [warning["vault"] for warning in warnings(server)] == ["Nope", outside]


def warnings(server: Server) -> list[dict[str, str]]:
    entries = [json.loads(line) for line in server.log.splitlines()]
    return [entry for entry in entries if entry["event"] == "this vault cannot be used" and entry["why"]]
