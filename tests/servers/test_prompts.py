"""A person's own prompts, in a real vault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.client import Server
from tests.support.world import World


def names(server: Server) -> list[str]:
    found = [each["name"] for each in server.request("prompts/list")["result"]["prompts"]]
    return [name for name in found if name.endswith("own")]


def text(server: Server, name: str) -> str:
    found: str = server.request("prompts/get", {"name": name})["result"]["messages"][0]["content"]["text"]
    return found


@pytest.mark.parametrize("options", [("--backend", "embedded"), ()], ids=["files", "app"])
def test_they_are_read_anew_each_time(own_world: World, options: tuple[str, ...]) -> None:
    own_world.put("prompts/My own.md", "Say A.")
    with Server(own_world.environment(), "--vault", "Vault", *options) as server:
        server.initialize()
        assert names(server) == ["my_own"]
        call = server.begin_call("append_note", name="My own", content=" Say B.", inline=True)
        assert text(server, "my_own") == "Say A. Say B."
        assert server.end_call(call)


def test_another_folder_may_be_named(own_world: World) -> None:
    own_world.put("Prompts/Not own.md", "x")
    own_world.put("AI/Commands/My own.md", "y")
    with Server(own_world.environment(), "--vault", "Vault", "--prompts", "AI/Commands") as server:
        assert names(server.initialize()) == ["my_own"]


@pytest.mark.parametrize("name", ["Prompts", "Prompts.md"])
def test_a_file_in_the_place_of_the_folder_is_no_prompt(own_world: World, name: str) -> None:
    own_world.put(name, "Not my own.")
    with Server(own_world.environment(), "--vault", "Vault", "--backend", "embedded") as server:
        found = server.initialize().request("prompts/list")["result"]["prompts"]
        assert [each["name"] for each in found][:2] == ["daily_review", "weekly_review"]
        assert names(server) == []


def test_no_prompt_comes_from_outside_the_vault(own_world: World) -> None:
    (own_world.outside / "Not own.md").write_text("evil")
    own_world.put("Prompts/My own.md", "y")
    (own_world.vault / "Prompts" / "Other own.md").symlink_to(own_world.outside / "Not own.md")
    (own_world.vault / "Linked").symlink_to(own_world.outside)
    for folder, found in (("Prompts", ["my_own"]), ("Linked", []), ("../outside", []), (".obsidian", [])):
        with Server(own_world.environment(), "--vault", "Vault", "--prompts", folder) as server:
            assert names(server.initialize()) == found


def test_where_only_the_app_can_be_asked_they_are_there_too(own_world: World) -> None:
    own_world.put("Prompts/My own.md", "Say A.")
    own_world.mood(None, far=True)
    with Server(own_world.far_environment(), "--vault", "Vault") as server:
        assert names(server.initialize()) == ["my_own"]
        assert text(server, "my_own") == "Say A."


def test_without_a_vault_there_are_those_that_everyone_has(own_world: World, tmp_path: Path) -> None:
    for option in (("--vault", str(tmp_path / "gone"), "--backend", "embedded"), ()):
        own_world.register({})
        with Server(own_world.environment(), *option) as server:
            prompts = server.initialize().request("prompts/list")["result"]["prompts"]
            assert "daily_review" in [each["name"] for each in prompts]
