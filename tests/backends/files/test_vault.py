"""The vault without the app: links, trash, several servers, kills, and what chooses it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import Server, ToolFailed
from tests.support.world import SERVER, World

FRONT = "---\nrelated: '[[Old]]'\n---\n"


@contextlib.contextmanager
def serving(world: World, *options: str, command: tuple[str, ...] = ()) -> Iterator[Server]:
    arguments = ("--vault", str(world.vault), "--backend", "embedded", *options)
    more: dict[str, Any] = {"command": command} if command else {}
    with Server(world.environment(), *arguments, **more) as server:
        yield server.initialize()


@pytest.fixture
def vault(own_world: World) -> World:
    """A note with links of every kind to it, and a file that only looks as if it had some."""
    own_world.put("Old.md", "# Old\n[[Other]] ![[Pic.png]]\n")
    own_world.put("Other.md", FRONT + "[[Old|x]] ![[Old#Part]] [y](Old.md) `[[Old]]`\r\n")
    own_world.put("Sub/Third.md", "| [[Old\\|t]] |\n[z](../Old.md 'title')\n\n[ref]: Old.md\n")
    own_world.put("Board.canvas", '{"nodes":[{"type":"file","file":"Old.md"}]}')
    own_world.put("Code.md", "```\n[[Old]]\n```\n")
    own_world.put("Pic.png", b"\x89PNG\xff")
    own_world.put("Latin1.md", b"\xe9 [[Old]]\n")
    (own_world.vault / ".obsidian").mkdir()
    return own_world


RENAMED = {
    "Vault/New.md": b"# Old\n[[Other]] ![[Pic.png]]\n",
    "Vault/Other.md": b"---\nrelated: '[[New]]'\n---\n[[New|x]] ![[New#Part]] [y](New.md) `[[Old]]`\r\n",
    "Vault/Sub/Third.md": b"| [[New\\|t]] |\n[z](New.md 'title')\n\n[ref]: New.md\n",
    "Vault/Board.canvas": b'{"nodes":[{"type":"file","file":"New.md"}]}',
    "Vault/Code.md": b"```\n[[Old]]\n```\n",
    "Vault/Pic.png": b"\x89PNG\xff",
    "Vault/Latin1.md": b"\xe9 [[New]]\n",
}


def test_a_rename_mends_every_link_and_nothing_else(vault: World) -> None:
    with serving(vault) as server:
        done = server.call("rename_note", name="Old", new_name="New")
    assert vault.tree() == RENAMED
    assert done["links_updated"] == 9
    assert sorted(done["notes_changed"]) == ["Board.canvas", "Latin1.md", "Other.md", "Sub/Third.md"]


def test_there_and_back_restores_every_byte(vault: World) -> None:
    before = vault.tree()
    with serving(vault) as server:
        server.call("move_note", name="Old", to="Deep/Er")
        server.call("move_note", name="Old", to="/")
    after = vault.tree()
    assert set(after) == set(before)
    assert after["Vault/Other.md"] == before["Vault/Other.md"]
    assert after["Vault/Old.md"] == before["Vault/Old.md"]


def test_a_dry_run_returns_the_plan(vault: World) -> None:
    before = vault.tree()
    with serving(vault) as server:
        plan = server.call("rename_note", name="Old", new_name="New", dry_run=True)
    assert vault.tree() == before
    assert (plan["renamed"], plan["links_updated"], len(plan["plan"])) == (False, 9, 9)
    assert {"note": "Sub/Third.md", "from": "../Old.md", "to": "New.md"} in plan["plan"]


def test_a_second_note_of_a_name_captures_no_link(own_world: World) -> None:
    own_world.put("A/Note.md", "old")
    own_world.put("Links.md", "[[Note]] [x](Note.md)")
    with serving(own_world) as server:
        server.call("create_note", name="Note", content="new")
    assert own_world.get("Links.md") == b"[[A/Note]] [x](A/Note.md)"


@pytest.mark.parametrize(
    ("style", "expected"), [("shortest", "[[N]]"), ("relative", "[[../B/N]]"), ("absolute", "[[B/N]]")]
)
def test_links_are_mended_in_the_vaults_own_format(own_world: World, style: str, expected: str) -> None:
    own_world.put(".obsidian/app.json", json.dumps({"newLinkFormat": style}))
    own_world.put("A/N.md", "x")
    own_world.put("C/S.md", "[[A/N]]")
    with serving(own_world) as server:
        server.call("move_note", name="N", to="B")
    assert own_world.get("C/S.md").decode() == expected


def test_in_a_plain_folder_markdown_links_stay_paths(own_world: World) -> None:
    own_world.put("A.md", "[[B]] [b](Sub/B.md) ![p](Sub/p.png)")
    own_world.put("Sub/B.md", "[a](../A.md) ![p](p.png)")
    own_world.put("Sub/p.png", b"x")
    with serving(own_world) as server:
        server.call("move_note", name="B", to="New/Deep")
    assert own_world.get("A.md") == b"[[B]] [b](New/Deep/B.md) ![p](Sub/p.png)"
    assert own_world.get("New/Deep/B.md") == b"[a](../../A.md) ![p](../../Sub/p.png)"


def test_an_edit_made_a_moment_ago_is_seen(own_world: World) -> None:
    own_world.put("Old.md", "x")
    own_world.put("Links.md", "nothing")
    with serving(own_world) as server:
        server.call("rename_note", name="Old", new_name="Mid")
        own_world.put("Links.md", "[[Mid]]")
        own_world.put("New folder/More.md", "[[Mid]]")
        assert server.call("rename_note", name="Mid", new_name="New")["links_updated"] == 2
        os.rename(own_world.vault / "New.md", own_world.vault / "Renamed outside.md")
        assert server.call("read_note", name="renamed outside")["content"] == "x"
        with pytest.raises(ToolFailed) as caught:
            server.call("read_note", name="New")
        assert caught.value.code == -32003


def test_what_the_vault_excludes_is_found_but_not_suggested(own_world: World) -> None:
    own_world.put(".obsidian/app.json", '{"userIgnoreFilters": ["Archive/", "/secret/", "/[/", 7]}')
    for path in ("Archive/Plan.md", "Secret plans.md", "Planet.md"):
        own_world.put(path, "x")
    with serving(own_world) as server:
        assert server.call("read_note", name="Plan")["path"] == "Archive/Plan.md"
        with pytest.raises(ToolFailed) as caught:
            server.call("read_note", name="Plans")
        assert caught.value.data["nearest"] == ["Planet.md"]


@pytest.mark.parametrize("broken", ["{", "", "[" * 100_000])
def test_settings_that_are_not_json_are_told(own_world: World, broken: str) -> None:
    for name in ("app.json", "types.json", "daily-notes.json"):
        own_world.put(f".obsidian/{name}", broken)
    own_world.put("A.md", "x")
    with serving(own_world) as server:
        assert server.call("read_note", name="A")["content"] == "x"
        with pytest.raises(ToolFailed, match=r"daily-notes\.json are not JSON"):
            server.call("append_note", name="@daily", content="x")


def test_progress_comes_while_many_notes_are_changed(own_world: World) -> None:
    """Every thousand files, and each further on."""
    for number in range(2_100):
        own_world.put(f"N{number}.md", "#old word\n" if number % 700 == 0 else "word\n")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("rename_term", {"kind": "tag", "old": "old", "new": "new"}),
        ("replace_in_notes", {"query": "word", "old_text": "word", "new_text": "term", "expected": 2_100}),
    ]
    with serving(own_world, "--toolsets", "all") as server:
        for token, (tool, arguments) in enumerate(calls):
            server.end_call(server.begin_call(tool, {"progressToken": token}, **arguments))
            told = [said["params"] for said in server.said if said.get("method") == "notifications/progress"]
            told = [params for params in told if params["progressToken"] == token]
            values = [params["progress"] for params in told]
            assert values == sorted(set(values))
            assert any("of 2100" in params["message"] or "2100 notes" in params["message"] for params in told)
    assert own_world.get("N700.md") == b"#new term\n"


# Trash


def test_the_vaults_own_trash_is_used_and_names_get_numbers(own_world: World) -> None:
    own_world.put(".obsidian/app.json", '{"trashOption": "local"}')
    with serving(own_world) as server:
        for folder in ("A", "B"):
            own_world.put(f"{folder}/Note.md", folder)
            assert server.call("delete_note", name=f"{folder}/Note.md")["trashed"] is True
    assert own_world.get(".trash/Note.md") == b"A"
    assert own_world.get(".trash/Note 2.md") == b"B"
    assert (own_world.vault / "A").is_dir()


def test_the_systems_trash_is_used_where_the_vault_says_so(own_world: World) -> None:
    own_world.put("Note.md", "text")
    with serving(own_world) as server:
        server.call("delete_note", name="Note")
    assert not own_world.has("Note.md")
    trashed = [*(own_world.folder / "home").rglob("Note.md"), *(own_world.vault / ".trash").glob("Note.md")]
    assert [file.read_text() for file in trashed] == ["text"]
    assert not (own_world.vault / ".trash").exists()


def test_a_vault_that_names_no_trash_loses_nothing(own_world: World) -> None:
    own_world.put(".obsidian/app.json", '{"trashOption": "none"}')
    own_world.put("Note.md", "text")
    with serving(own_world) as server:
        assert server.call("delete_note", name="Note")["trashed"] is True
    assert own_world.get(".trash/Note.md") == b"text"


def test_a_trash_that_is_a_link_is_not_followed(own_world: World) -> None:
    own_world.put(".obsidian/app.json", '{"trashOption": "local"}')
    own_world.put("Note.md", "x")
    (own_world.vault / ".trash").symlink_to(own_world.outside)
    with serving(own_world) as server:
        with pytest.raises(ToolFailed) as caught:
            server.call("delete_note", name="Note")
        assert caught.value.code == -32005
    assert own_world.get("Note.md") == b"x"


def test_a_note_is_moved_under_its_own_path_not_that_of_a_link(own_world: World) -> None:
    own_world.put("Sub/Note.md", "x")
    own_world.put("Links.md", "[[Sub/Note]]")
    (own_world.vault / "Alias").symlink_to(own_world.vault / "Sub")
    (own_world.vault / "Link.md").symlink_to(own_world.vault / "Sub" / "Note.md")
    with serving(own_world) as server:
        with pytest.raises(ToolFailed) as caught:
            server.call("move_note", name="Link.md", to="Deep")
        assert caught.value.code == -32005
        server.call("move_note", name="Alias/Note.md", to="Deep/Moved.md")
    assert own_world.get("Links.md") == b"[[Moved]]"


def test_a_linking_note_that_no_path_of_ours_can_name_is_mended_too(own_world: World) -> None:
    own_world.put("Old.md", "x")
    own_world.put("Q: what.md", "[[Old]]")
    with serving(own_world) as server:
        assert server.call("rename_note", name="Old", new_name="New")["links_updated"] == 1
    assert own_world.get("Q: what.md") == b"[[New]]"


def test_reads_need_no_state(own_world: World) -> None:
    own_world.put("Note.md", "x")
    (own_world.folder / "home" / ".local").mkdir(parents=True)
    (own_world.folder / "home" / ".local" / "state").symlink_to("state")  # which leads round in a circle
    with serving(own_world) as server:
        assert server.call("read_note", name="Note")["content"] == "x"
        with pytest.raises(ToolFailed) as caught:
            server.call("append_note", name="Note", content="y")
        assert caught.value.error_code == "FILE_FAILED"


PATTERNS = [
    "/(a+)+$/",
    "/(((a{1,60000}){1,60000}){1,60000})b/",
    "/a{99999999999999999999}/",
    f"/{'(' * 5000}{')' * 5000}/",
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("pattern", PATTERNS, ids=["nested", "counted", "huge", "deep"])
def test_a_pattern_that_could_take_for_ever_excludes_nothing(own_world: World, pattern: str) -> None:
    own_world.put(".obsidian/app.json", json.dumps({"userIgnoreFilters": [pattern]}))
    own_world.put(f"{'a' * 40}!.md", "x")
    with serving(own_world) as server, pytest.raises(ToolFailed) as caught:
        server.call("read_note", name="aaab")
    assert caught.value.code == -32003


# Choosing


def test_without_a_command_a_folder_is_served_from_its_files(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.command.unlink()
    for vault in (str(own_world.vault), "Vault"):
        with Server(own_world.environment(), "--vault", vault) as server:
            assert server.initialize().call("read_note", name="Note")["content"] == "x"
            with pytest.raises(ToolFailed) as caught:
                server.call("open_note", name="Note")
            assert caught.value.code == -32001
            server.finish()
        first = json.loads(server.log.splitlines()[0])
        assert (first["backend"], "no Obsidian command" in first["why"]) == ("embedded", True)


def test_with_a_command_the_app_is_asked_even_if_it_is_closed(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("not-running")
    with Server(own_world.environment(), "--vault", str(own_world.vault)) as server:
        with pytest.raises(ToolFailed) as caught:
            server.initialize().call("read_note", name="Note")
        assert caught.value.code == -32001
        assert "--backend embedded" in caught.value.message


def test_a_plain_folder_needs_no_obsidian_at_all(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), "PYTHONPATH": str(SERVER)}
    with Server(environment, "--vault", str(notes)) as server:
        server.initialize()
        assert server.call("create_note", name="A/New", content="x")["path"] == "A/New.md"
    assert (notes / "A" / "New.md").read_text() == "x"


@pytest.mark.parametrize("vault", ["Nowhere", "/no/such/folder"])
def test_a_folder_that_is_not_there_is_a_vault_not_found(own_world: World, vault: str) -> None:
    with Server(own_world.environment(), "--vault", vault, "--backend", "embedded") as server:
        with pytest.raises(ToolFailed) as caught:
            server.initialize().call("read_note", name="Note")
        assert (caught.value.code, caught.value.error_code) == (-32002, "VAULT_NOT_FOUND")
