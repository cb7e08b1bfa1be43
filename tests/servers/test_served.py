"""What may be served: tools, vaults, limits."""

from __future__ import annotations

import pytest

from tests.support.client import READING, Server, ToolFailed
from tests.support.world import World


def test_read_only_offers_what_changes_nothing(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Server(own_world.environment(), "--vault", "Vault", "--read-only") as server:
        server.initialize()
        names = [tool["name"] for tool in server.request("tools/list")["result"]["tools"]]
        assert names == READING
        before = own_world.tree()
        for tool in ("create_note", "append_note", "delete_note"):
            with pytest.raises(ToolFailed) as caught:
                server.call(tool, name="Note", content="x")
            assert caught.value.code == -32602
            assert "--read-only" in caught.value.message
        with pytest.raises(ToolFailed):
            server.call("open_note", name="Missing")
        assert server.call("read_note", name="Note")["content"] == "x"
    assert own_world.tree() == before


def test_with_several_vaults_every_tool_can_be_told_which(own_world: World) -> None:
    other = own_world.folder / "Other"
    other.mkdir()
    (other / "Note.md").write_text("other")
    own_world.put("Note.md", "first")
    own_world.register({"0" * 16: own_world.vault, "1" * 16: other})
    with Server(own_world.environment(), "--vault", "Vault", "--vault", str(other)) as server:
        server.initialize()
        for tool in server.request("tools/list")["result"]["tools"]:
            assert tool["inputSchema"]["properties"]["vault"]["enum"] == ["Vault", "Other"]
            assert "vault" not in tool["inputSchema"].get("required", [])
        assert server.call("read_note", name="Note")["content"] == "first"
        assert server.call("read_note", name="Note", vault="Other")["content"] == "other"
        assert server.call("read_note", name="Note", vault=None)["content"] == "first"
        for wrong in ("Third", "", 7, ["Other"]):
            with pytest.raises(ToolFailed) as caught:
                server.call("read_note", name="Note", vault=wrong)
            assert caught.value.code == -32602


def test_two_vaults_of_one_name_are_told_apart_by_id(own_world: World) -> None:
    twin = own_world.folder / "twin" / "Vault"
    twin.mkdir(parents=True)
    (twin / "Note.md").write_text("twin")
    own_world.put("Note.md", "first")
    own_world.register({"0" * 16: own_world.vault, "1" * 16: twin})
    for chosen in ("1" * 16, str(twin)):
        with Server(own_world.environment(), "--vault", chosen) as server:
            assert server.initialize().call("read_note", name="Note")["content"] == "twin"
            server.call("append_note", name="Note", content=" more", inline=True)
            server.call("create_note", name="Note", content="twin", overwrite=True)
    assert {record["argv"][0] for record in own_world.records()} == {"vault=" + "1" * 16}
    assert own_world.get("Note.md") == b"first"
    with Server(own_world.environment(), "--vault", "Vault") as server:
        with pytest.raises(ToolFailed) as caught:
            server.initialize().call("read_note", name="Note")
        assert caught.value.code == -32002
        assert "1" * 16 in caught.value.message


@pytest.mark.parametrize("vault", ["Nowhere", "/no/such/folder", "f" * 16])
def test_a_vault_that_nobody_knows_does_not_stop_the_server(own_world: World, vault: str) -> None:
    with Server(own_world.environment(), "--vault", vault) as server:
        server.initialize()
        for tool, arguments in (("read_note", {"name": "Note"}), ("create_note", {"name": "N", "content": "x"})):
            with pytest.raises(ToolFailed) as caught:
                server.call(tool, **arguments)
            assert (caught.value.code, caught.value.error_code) == (-32002, "VAULT_NOT_FOUND")
            assert str(own_world.vault) in caught.value.message


def test_a_vault_registered_meanwhile_is_found(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.register({})
    with Server(own_world.environment(), "--vault", str(own_world.vault)) as server:
        with pytest.raises(ToolFailed):
            server.initialize().call("read_note", name="Note")
        own_world.register({"0" * 16: own_world.vault})
        assert server.call("read_note", name="Note")["content"] == "x"


def test_a_missing_executable_is_answered_with_how_to_get_it(own_world: World) -> None:
    own_world.put("Note.md", "x")
    for named in (str(own_world.folder / "nope"), str(own_world.config / "obsidian.json")):
        with Server(own_world.environment(), "--vault", "Vault", "--obsidian-bin", named) as server:
            with pytest.raises(ToolFailed) as caught:
                server.initialize().call("read_note", name="Note")
            assert (caught.value.code, caught.value.error_code) == (-32001, "OBSIDIAN_NOT_RUNNING")
            assert "Install" in caught.value.message


def test_a_tool_can_have_a_limit_of_its_own(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("slow", seconds=1.5)
    options = ("--vault", "Vault", "--timeout-for", "obsidian_read_note=0.5")
    with Server(own_world.environment(), *options) as server:
        server.initialize()
        with pytest.raises(ToolFailed) as caught:
            server.call("read_note", name="Note.md")
        assert caught.value.code == -32006
        assert server.call("open_note", name="Note.md")["opened"] is True


def test_an_argument_of_a_set_that_is_off_is_refused(own_world: World) -> None:
    own_world.put("Note.md", "# A\n\n# B\n")
    with Server(own_world.environment(), "--vault", "Vault", "--toolsets", "notes") as server:
        server.initialize()
        for argument in ("section", "heading"):
            with pytest.raises(ToolFailed) as caught:
                server.call("read_note", name="Note", **{argument: "B"})
            assert caught.value.code == -32602
        assert server.call("read_note", name="Note")["content"] == "# A\n\n# B\n"
