"""The commands that show what was changed, and take it back."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path
from typing import Any

from tests.hosts.test_configure import SCRIPT
from tests.support.inside import run_inside
from tests.support.terminal import Terminal
from tests.support.world import World, measuring


def ran(world: World, *words: str) -> subprocess.CompletedProcess[bytes]:
    return run_inside(world.environment(COLUMNS="200"), *words, "--vault", str(world.vault), "--backend", "embedded")


def data(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)["data"]
    return found


def changed(world: World) -> str:
    world.put("A.md", "one\n")
    return str(data(ran(world, "call", "append_note", "name=A", "content=two", "--json"))["change"])


def test_what_was_changed_is_a_table_and_json(own_world: World) -> None:
    id = changed(own_world)
    shown = ran(own_world, "history").stdout.decode().splitlines()
    assert shown[0].split() == ["id", "time", "client", "what"]
    assert (shown[1].split()[0], shown[1].rstrip().endswith("Changed A.md")) == (id, True)
    (change,) = data(ran(own_world, "history", "--json", "--since", "today", "--note", "A"))["changes"]
    assert (change["id"], change["client"], change["paths"]) == (id, "obsidian-mcp", ["A.md"])
    assert data(ran(own_world, "history", "--json", "--since", "2999-01-01"))["changes"] == []


def test_a_change_is_shown_with_its_diff(own_world: World) -> None:
    id = changed(own_world)
    assert "+two" in ran(own_world, "history", id).stdout.decode().splitlines()
    missing = ran(own_world, "history", "nosuch")
    assert (missing.returncode, b"nosuch" in missing.stderr) == (2, True)


def test_the_latest_change_is_undone_whoever_made_it(own_world: World) -> None:
    id = changed(own_world)
    assert b"Would undo" in ran(own_world, "undo", "--dry-run").stdout
    assert own_world.get("A.md") == b"one\ntwo"
    done = ran(own_world, "undo")
    assert (done.returncode, f"Undid {id}".encode() in done.stdout) == (0, True)
    assert own_world.get("A.md") == b"one\n"
    assert ran(own_world, "undo").returncode == 2
    assert "(undone)" in ran(own_world, "history").stdout.decode()


def test_all_changes_of_a_client_are_undone(own_world: World) -> None:
    changed(own_world)
    ran(own_world, "call", "append_note", "name=A", "content=three")
    assert ran(own_world, "undo", "--since", "today").returncode == 2
    done = ran(own_world, "undo", "--since", "today", "--client", "obsidian-mcp", "--json")
    assert len(data(done)["id"].split()) == 2
    assert own_world.get("A.md") == b"one\n"


def test_a_note_that_was_changed_since_is_left_alone_unless_it_can_be_merged(own_world: World) -> None:
    id = changed(own_world)
    own_world.put("A.md", "one\ntwo\nmine\n")
    refused = ran(own_world, "undo", id)
    assert (refused.returncode, b"CONFLICT" in refused.stderr, b"merge" in refused.stderr) == (1, True, True)
    assert ran(own_world, "undo", id, "--merge").returncode == 0
    assert own_world.get("A.md") == b"one\nmine\n"


def test_a_change_is_found_in_the_vault_that_it_was_made_in(own_world: World, tmp_path: Path) -> None:
    id = changed(own_world)
    other = tmp_path / "Other"
    other.mkdir()
    words = ("--vault", str(other), "--vault", str(own_world.vault), "--backend", "embedded")
    shown = run_inside(own_world.environment(COLUMNS="200"), "history", *words).stdout.decode()
    assert shown.splitlines()[0].split() == ["id", "time", "vault", "client", "what"]
    done = run_inside(own_world.environment(), "undo", *words)
    assert (done.returncode, id.encode() in done.stdout) == (0, True)
    assert own_world.get("A.md") == b"one\n"
    assert run_inside(own_world.environment(), "history", id, *words).returncode == 0


def test_everything_is_forgotten_for_good(own_world: World) -> None:
    own_world.put("A.md", "a secret that nobody knows\n")
    ran(own_world, "call", "delete_note", "name=A", "permanent=true")
    (file,) = (own_world.folder / "home").rglob("history.sqlite")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    done = ran(own_world, "history", "--purge")
    assert (done.returncode, b"1 change forgotten" in done.stdout) == (0, True)
    assert ran(own_world, "history").stdout == b"No changes.\n"
    kept = b"".join(each.read_bytes() for each in file.parent.iterdir() if each.is_file())
    assert b"secret" not in kept


def test_a_note_that_was_deleted_for_good_comes_back_with_its_mode(own_world: World) -> None:
    own_world.put("Other.md")
    own_world.put("A.md", "secret").chmod(0o600)
    ran(own_world, "call", "delete_note", "name=A", "permanent=true")
    assert ran(own_world, "undo").returncode == 0
    assert stat.S_IMODE((own_world.vault / "A.md").stat().st_mode) == 0o600


def test_a_new_note_that_a_program_has_open_is_not_taken_back(own_world: World) -> None:
    own_world.put("Other.md")
    ran(own_world, "call", "create_note", "name=New", "content=x")
    with open(own_world.vault / "New.md", "rb"):
        refused = ran(own_world, "undo")
        assert (refused.returncode, b"open in another program" in refused.stderr) == (1, True)
        assert ran(own_world, "call", "delete_note", "name=New", "permanent=true").returncode == 0
    assert not own_world.has("New.md")


def test_without_a_history_there_is_none_to_show(own_world: World) -> None:
    own_world.put("A.md", "one\n")
    done = ran(own_world, "call", "append_note", "name=A", "content=two", "--json", "--history", "off")
    assert "change" not in data(done)
    assert not list((own_world.folder / "home").rglob("history.sqlite*"))
    assert ran(own_world, "history", "--history", "off").returncode == 2
    tools = json.loads(ran(own_world, "tools", "--json", "--history", "off").stdout)
    assert "obsidian_undo_change" not in [tool["name"] for tool in tools]
    refused = ran(own_world, "call", "undo_change", "--history", "off")
    assert b"--history off" in refused.stderr


def test_a_hostile_text_does_not_reach_the_terminal(own_world: World) -> None:
    own_world.put("A.md", "one\n")
    ran(own_world, "call", "append_note", "name=A", "content=\x1b]0;x\x07")
    id = data(ran(own_world, "history", "--json"))["changes"][0]["id"]
    for words in (("history",), ("history", id), ("undo", id)):
        assert b"\x1b" not in ran(own_world, *words).stdout


def test_nothing_is_forgotten_at_a_terminal_before_a_yes(own_world: World) -> None:
    id = changed(own_world)
    words = ["history", "--purge", "--vault", str(own_world.vault), "--backend", "embedded"]
    for answer, told in (("", "Nothing was forgotten"), ("yes", "1 change forgotten")):
        assert id in ran(own_world, "history").stdout.decode()
        with Terminal([str(SCRIPT), *words], own_world.environment(**measuring()), own_world.folder) as terminal:
            terminal.answer("Forget every change?", answer)
            terminal.wait_for(told)
            assert terminal.finish() == 0
    assert id not in ran(own_world, "history").stdout.decode()
