"""Resources of real vaults, by a real process: over stdio, on the disk and with the app."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import MODERN_META, Server
from tests.support.world import VAULT_ID, World

ROOT = "obsidian://vault/Vault/"
EMBEDDED = ("--backend", "embedded")


@pytest.fixture(params=[EMBEDDED, ()], ids=["files", "app"])
def served(request: pytest.FixtureRequest, own_world: World) -> Iterator[tuple[World, Server]]:
    with Server(own_world.environment(), "--vault", "Vault", *request.param) as server:
        yield own_world, server.initialize()


def names(server: Server) -> list[str]:
    return [each["name"] for each in server.request("resources/list")["result"]["resources"]]


def read(server: Server, uri: str) -> Any:
    return server.request("resources/read", {"uri": uri})


def test_the_latest_notes_are_listed_and_can_be_read(served: tuple[World, Server]) -> None:
    world, server = served
    for age, name in enumerate(("New.md", "Older one.md", "Oldest.md")):
        os.utime(world.put(f"Folder/{name}", name), (1_700_000_000 - age, 1_700_000_000 - age))
    world.put(".hidden/Secret.md", "x")
    world.put("pic.png", b"\x89PNG")
    resources = server.request("resources/list")["result"]["resources"]
    assert [each["title"] for each in resources] == ["New", "Older one", "Oldest"]
    assert resources[0]["annotations"] == {"lastModified": "2023-11-14T22:13:20Z"}
    for each in resources:
        (contents,) = read(server, each["uri"])["result"]["contents"]
        assert (contents["uri"], contents["text"]) == (each["uri"], each["name"].removeprefix("Folder/"))
        assert each["size"] == len(contents["text"])


def test_what_the_vault_excludes_is_not_offered_and_can_be_read(served: tuple[World, Server]) -> None:
    world, server = served
    world.put(".obsidian/app.json", '{"userIgnoreFilters": ["Archive/"]}')
    world.put("Archive/Old.md", "old")
    world.put("Note.md", "x")
    assert names(server) == ["Note.md"]
    assert read(server, f"{ROOT}Archive/Old.md")["result"]["contents"][0]["text"] == "old"


def test_what_is_no_file_or_far_too_large_is_not_read(served: tuple[World, Server]) -> None:
    world, server = served
    world.put("Folder.md/Note.md", "x")
    os.mkfifo(world.vault / "pipe.md")
    (world.vault / "loop.md").symlink_to(world.vault / "loop.md")
    os.truncate(world.put("huge.png", b""), 8 * 2**30)
    before = server.peak_mb()
    for path in ("Folder.md", "pipe.md", "pipe", "loop.md"):
        assert read(server, ROOT + path)["error"]["code"] == -32002
    error = read(server, f"{ROOT}huge.png")["error"]
    assert (error["code"], error["data"]["errorCode"]) == (-32602, "RESOURCE_TOO_LARGE")
    assert str(8 * 2**30) in error["message"]
    assert names(server) == ["Folder.md/Note.md"]
    assert server.peak_mb() < before + 50


def test_links_that_lead_out_of_the_vault_lead_nowhere(served: tuple[World, Server]) -> None:
    world, server = served
    (world.outside / "secret.md").write_text("secret")
    (world.vault / "link.md").symlink_to(world.outside / "secret.md")
    (world.vault / "folder").symlink_to(world.outside)
    assert names(server) == []
    for path in ("link.md", "folder/secret.md", "link"):
        assert read(server, ROOT + path)["error"]["code"] == -32002


def test_a_note_is_read_as_the_calls_before_have_left_it(served: tuple[World, Server]) -> None:
    world, server = served
    world.put("Note.md", "a")
    call = server.begin_call("append_note", name="Note", content="b", inline=True)
    asked = server.begin("resources/read", {"uri": f"{ROOT}N%256Fte.md"})
    made = server.begin_call("create_note", name="Second")
    listed = server.begin("resources/list")
    assert server.wait(asked)["result"]["contents"][0]["text"] == "ab"
    assert server.end_call(call)
    assert server.end_call(made)
    assert len(server.wait(listed)["result"]["resources"]) == 2


def test_a_revision_gets_what_it_knows(own_world: World) -> None:
    own_world.put("Note.md", "x")
    for revision, known in (
        ("2024-11-05", {"uri", "name", "mimeType", "size"}),
        ("2025-06-18", {"uri", "name", "mimeType", "size", "title", "annotations"}),
    ):
        with Server(own_world.environment(), "--vault", "Vault") as server:
            (resource,) = server.initialize(revision).request("resources/list")["result"]["resources"]
            (template,) = server.request("resources/templates/list")["result"]["resourceTemplates"]
        assert set(resource) == known
        assert ("title" in template) == ("title" in known)


def test_several_vaults_have_their_latest_notes_together(own_world: World) -> None:
    other = own_world.folder / "My notes"
    other.mkdir()
    for folder, name, age in ((other, "B", 1), (own_world.vault, "A", 2), (other, "A", 3)):
        file = folder / f"{name}.md"
        file.write_text(f"{name} of {folder.name}")
        os.utime(file, (1_700_000_000 - age, 1_700_000_000 - age))
    gone = own_world.folder / "Gone"
    options = [word for vault in (own_world.vault, other, gone) for word in ("--vault", str(vault))]
    with Server(own_world.environment(), *options, *EMBEDDED) as server:
        server.initialize()
        resources = server.request("resources/list")["result"]["resources"]
        assert [each["uri"] for each in resources] == [
            "obsidian://vault/My%20notes/B.md",
            f"{ROOT}A.md",
            "obsidian://vault/My%20notes/A.md",
        ]
        texts = [read(server, each["uri"])["result"]["contents"][0]["text"] for each in resources]
        assert texts == ["B of My notes", "A of Vault", "A of My notes"]
        assert len(server.request("resources/templates/list")["result"]["resourceTemplates"]) == 3
        assert read(server, "obsidian://vault/Third/A.md")["error"]["code"] == -32002


def test_vaults_of_one_name_have_addresses_of_their_own(own_world: World) -> None:
    twin = own_world.folder / "twin" / "Vault"
    twin.mkdir(parents=True)
    (twin / "Note.md").write_text("twin")
    own_world.put("Note.md", "first")
    with Server(own_world.environment(), "--vault", str(own_world.vault), "--vault", str(twin), *EMBEDDED) as server:
        resources = server.initialize().request("resources/list")["result"]["resources"]
        texts = {read(server, each["uri"])["result"]["contents"][0]["text"] for each in resources}
    assert texts == {"first", "twin"}


def test_without_a_vault_there_are_no_resources(own_world: World) -> None:
    own_world.register({})
    with Server(own_world.environment()) as server:
        assert names(server.initialize()) == []
        assert read(server, f"{ROOT}Note.md")["error"]["code"] == -32002


def test_a_vault_that_can_be_meant_later_has_resources_then(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.put("Prompts/My own.md", "x")
    own_world.register({})
    with Server(own_world.environment()) as server:
        assert names(server.initialize()) == []
        own_world.register({VAULT_ID: own_world.vault})
        assert sorted(names(server)) == ["Note.md", "Prompts/My own.md"]
        assert read(server, f"{ROOT}Note.md")["result"]["contents"][0]["text"] == "x"
        assert server.call("read_note", name="Note")["content"] == "x"
        assert "my_own" in [each["name"] for each in server.request("prompts/list")["result"]["prompts"]]
        template = server.request("resources/templates/list")["result"]["resourceTemplates"][0]["uriTemplate"]
        asked = {"ref": {"type": "ref/resource", "uri": template}, "argument": {"name": "path", "value": "no"}}
        assert server.request("completion/complete", asked)["result"]["completion"]["values"] == ["Note.md"]


def test_where_only_the_app_can_be_asked_it_tells_the_names(own_world: World) -> None:
    own_world.put("Folder/Note.md", "x")
    own_world.mood(None, far=True)
    with Server(own_world.far_environment(), "--vault", "Vault") as server:
        (resource,) = server.initialize().request("resources/list")["result"]["resources"]
        assert set(resource) == {"uri", "name", "title", "mimeType"}
        assert read(server, resource["uri"])["result"]["contents"][0]["text"] == "x"


def test_both_eras_declare_what_they_have_and_no_more(own_world: World) -> None:
    with Server(own_world.environment(), "--vault", "Vault") as server:
        old = server.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        new = server.request("server/discover", {"_meta": MODERN_META})
        for reply in (old, new):
            resources = reply["result"]["capabilities"]["resources"]
            assert not resources.get("subscribe")
            assert not resources.get("listChanged")
            assert reply["result"]["capabilities"]["completions"] == {}
        assert server.request("resources/subscribe", {"uri": f"{ROOT}Note.md"})["error"]["code"] == -32601
