"""The doctor, in worlds that are broken in one way each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp import doctor
from obsidian_mcp.backends.files import atomic as disk
from obsidian_mcp.backends.files import read
from obsidian_mcp.doctor import app as app_checks
from obsidian_mcp.doctor.app import sandboxes
from obsidian_mcp.state import State
from tests.support.client import PATIENCE, run
from tests.support.inside import run_inside
from tests.support.world import World


def examine(world: World, *options: str, **more: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the worst check of each id."""
    done = run_inside(world.environment(**more), "doctor", "--json", *options)
    assert done.stderr == b""
    report = json.loads(done.stdout)
    worst: dict[str, dict[str, Any]] = {}
    order = ["skip", "ok", "warn", "fail"]
    for check in report["checks"]:
        assert set(check) == {"id", "status", "cause", "remedy"}
        assert check["cause"]
        assert bool(check["remedy"]) or check["status"] in ("ok", "skip"), check
        if check["id"] not in worst or order.index(check["status"]) > order.index(worst[check["id"]]["status"]):
            worst[check["id"]] = check
    assert report["ok"] is (done.returncode == 0)
    return done.returncode, worst


def test_a_good_world_passes_every_check(own_world: World) -> None:
    own_world.put(".obsidian/app.json", '{"alwaysUpdateLinks": true, "trashOption": "local"}')
    before = own_world.tree()
    code, checks = examine(own_world)
    assert code == 0
    wanted = "python settings backend executable app cli version latency sandbox vault folder place notes folders links"
    assert list(checks) == [*wanted.split(), "trash", "state", "index", "history", "hosts", "toolsets"]
    assert {name for name, check in checks.items() if check["status"] != "ok"} == {"hosts"}
    assert own_world.tree() == before
    assert not (own_world.folder / "home").exists()


def test_it_asks_the_app_for_its_version_and_the_vault_and_nothing_else(own_world: World) -> None:
    examine(own_world)
    asked = [record["argv"] for record in own_world.records() if record["phase"] == "begin"]
    assert asked == [["version"]] * 6 + [["vault=Vault", "vault", "info=path"]]


BROKEN = {
    "the app is closed": ("not-running", "app", "Start Obsidian"),
    "an old app is closed": ("not-running-old", "app", "Start Obsidian"),
    "the command line is switched off": ("disabled", "cli", "Settings > General > Advanced"),
    "the command crashes": ("crash", "app", "restart"),
    "the app talks nonsense": ("type-error", "app", "restart"),
}


@pytest.mark.parametrize(("mood", "id", "remedy"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_named_with_a_remedy(own_world: World, mood: str, id: str, remedy: str) -> None:
    own_world.mood(mood)
    code, checks = examine(own_world)
    assert code == 1
    assert checks[id]["status"] == "fail"
    assert remedy in checks[id]["remedy"]
    assert {name for name, check in checks.items() if check["status"] == "fail"} == {id}
    assert checks["vault"]["status"] == "ok"  # it stops at nothing


def test_an_old_installer_is_a_warning(own_world: World) -> None:
    own_world.install("installer 1.12.7", "installer 1.8.4")
    code, checks = examine(own_world)
    assert (code, checks["version"]["status"]) == (0, "warn")
    assert "1.8.4" in checks["version"]["cause"]


def test_noise_of_an_old_installer_is_no_failure(own_world: World) -> None:
    own_world.mood("noise")
    assert examine(own_world)[0] == 0


def test_no_command_where_one_is_asked_for(own_world: World) -> None:
    own_world.command.unlink()
    code, checks = examine(own_world, "--backend", "obsidian")
    assert (code, checks["executable"]["status"], checks["app"]["status"]) == (1, "fail", "skip")
    assert "obsidian.md" in checks["executable"]["remedy"]


def test_the_files_alone_need_no_app(own_world: World) -> None:
    own_world.command.unlink()
    code, checks = examine(own_world, "--vault", str(own_world.vault))
    assert code == 0
    assert {checks[id]["status"] for id in ("executable", "app", "cli", "version", "latency")} == {"skip"}
    assert "files" in checks["backend"]["cause"]


VAULTS = {
    "a name that nobody knows": ("Nope", "Vault (id"),
    "a folder that is no vault": ("/", "--backend embedded"),
}


@pytest.mark.parametrize(("wanted", "remedy"), VAULTS.values(), ids=VAULTS)
def test_a_vault_that_is_not_there_is_told_with_those_that_are(own_world: World, wanted: str, remedy: str) -> None:
    code, checks = examine(own_world, "--vault", wanted)
    assert (code, checks["vault"]["status"]) == (1, "fail")
    assert remedy in checks["vault"]["remedy"]


def test_a_vault_whose_folder_is_gone(own_world: World) -> None:
    own_world.vault.rmdir()
    code, checks = examine(own_world)
    assert (code, checks["folder"]["status"]) == (1, "fail")
    assert "not mounted" in checks["folder"]["cause"]


@pytest.mark.parametrize(
    ("options", "status"), [((), "fail"), (("--read-only",), "warn"), (("--backend", "obsidian"), "warn")]
)
def test_a_folder_that_may_not_be_listed_is_found_before_it_stops_a_move(
    own_world: World, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], status: str
) -> None:
    def refuse(path: str) -> Any:
        if path.endswith("Closed"):
            raise PermissionError(13, "Permission denied")
        return allowed(path)

    allowed = os.scandir
    own_world.put("Sub/Closed/Note.md", "x")
    own_world.put("Sub/Open/Note.md", "x")
    monkeypatch.setattr(os, "scandir", refuse)
    code, checks = examine(own_world, "--vault", str(own_world.vault), *(options or ("--backend", "embedded")))
    found = checks["folders"]
    assert (code, found["status"]) == (int(status == "fail"), status)
    assert f"{own_world.vault}/Sub/Closed (Permission denied)" in found["cause"]
    assert "Open" not in found["cause"]
    assert found["remedy"] == f"chmod u+rwX {own_world.vault}/Sub/Closed"


def test_no_vault_at_all(own_world: World) -> None:
    own_world.register({})
    code, checks = examine(own_world)
    assert (code, checks["vault"]["status"]) == (1, "fail")


def test_without_a_vault_of_its_own_it_looks_at_those_of_the_hosts(own_world: World) -> None:
    own_world.register({})
    file = own_world.folder / "home" / ".cursor" / "mcp.json"
    file.parent.mkdir(parents=True)
    entry = {"command": sys.executable, "args": ["-m", "obsidian_mcp", "--vault", str(own_world.vault)]}
    file.write_text(json.dumps({"mcpServers": {"obsidian": entry}}), encoding="utf-8")
    done = run_inside(own_world.environment(), "doctor", "--json", "--backend", "embedded")
    causes = [check["cause"] for check in json.loads(done.stdout)["checks"] if check["id"] == "vault"]
    assert causes[0] == f"None was named here; the hosts' own are looked at: {own_world.vault}."
    assert (len(causes), done.returncode) == (2, 0)


def test_settings_that_cannot_be_read_are_a_failure_and_the_rest_is_checked(
    own_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(file: str) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(disk, "read_path", broken)
    given = {"vault": [str(own_world.vault)], "backend": ["embedded"]}
    checks = {check.id: check for check in doctor.examine(given, own_world.environment())}
    assert checks["trash"].status == "fail"
    assert ".obsidian/app.json could not be used: Input/output error" in checks["trash"].cause
    assert checks["state"].status == "ok"


def test_a_vault_that_only_the_app_knows(own_world: World) -> None:
    done = run_inside(own_world.far_environment(), "doctor", "--json", "--vault", "Vault")
    checks = {check["id"]: check for check in json.loads(done.stdout)["checks"]}
    assert (done.returncode, checks["vault"]["status"]) == (0, "ok")
    assert "known to the app" in checks["vault"]["cause"]


def test_wrong_settings_are_told_and_the_rest_is_checked(own_world: World) -> None:
    code, checks = examine(own_world, OBSIDIAN_MCP_TIMEOUT="soon")
    assert (code, checks["settings"]["status"], checks["app"]["status"]) == (1, "fail", "ok")
    assert "OBSIDIAN_MCP_TIMEOUT" in checks["settings"]["cause"]


def test_settings_are_shown_with_where_they_came_from(own_world: World) -> None:
    cause = examine(own_world, "--timeout", "5", OBSIDIAN_MCP_READ_ONLY="true")[1]["settings"]["cause"]
    assert "timeout 5 (--timeout)" in cause
    assert "read-only true (OBSIDIAN_MCP_READ_ONLY)" in cause
    assert "backend auto (default)" in cause


def test_settings_of_the_vault_that_can_cost_links_or_notes_are_warnings(own_world: World) -> None:
    own_world.put(".obsidian/app.json", '{"trashOption": "none"}')
    code, checks = examine(own_world)
    assert (code, checks["links"]["status"], checks["trash"]["status"]) == (0, "warn", "warn")
    _, checks = examine(own_world, "--backend", "embedded")
    assert (checks["links"]["status"], checks["trash"]["status"]) == ("ok", "ok")


def test_a_state_folder_that_cannot_be_made_is_a_failure(own_world: World) -> None:
    (own_world.folder / "file").write_text("")
    code, checks = examine(own_world, XDG_STATE_HOME=str(own_world.folder / "file"))
    assert (code, checks["state"]["status"]) == (1, "fail")


def test_hosts_that_have_us_are_named_and_a_command_that_is_gone_is_told(own_world: World) -> None:
    home = own_world.folder / "home"
    for name, command in ((".cursor/mcp.json", sys.executable), (".codeium/windsurf/mcp_config.json", "/gone/python")):
        file = home / name
        file.parent.mkdir(parents=True)
        entry = {"command": command, "args": ["-m", "obsidian_mcp", "--vault", "Vault"]}
        file.write_text(json.dumps({"mcpServers": {"obsidian": entry}}), encoding="utf-8")
    (home / ".claude.json").write_text("{", encoding="utf-8")
    done = run_inside(own_world.environment(), "doctor", "--json", "--backend", "embedded")
    hosts = [check for check in json.loads(done.stdout)["checks"] if check["id"] == "hosts"]
    causes = " ".join(check["cause"] for check in hosts)
    assert "Configured in Cursor." in causes
    assert "/gone/python" in causes
    assert "broken" in causes
    assert done.returncode == 0


ENTRIES = {
    "a bare command": ({"command": "obsidian-mcp"}, "without its folder"),
    "an argument that is none": ({"args": ["-m", "obsidian_mcp", "--valut", "x"]}, "unknown option"),
    "a vault that is not there": ({"args": ["-m", "obsidian_mcp", "--vault", "/gone"]}, "there is no vault"),
    "another command": ({"args": ["-m", "obsidian_mcp", "demo"]}, "starts no server"),
    "arguments that are a text": ({"command": "/usr/bin/obsidian-mcp", "args": "--vault x"}, "not there"),
    "switched off": ({"disabled": True}, "switched off"),
    "no command at all": ({"command": "/a\0b"}, "no command that could be run"),
}


@pytest.mark.parametrize(("changes", "why"), ENTRIES.values(), ids=ENTRIES)
def test_a_host_that_could_not_start_us_is_told(own_world: World, changes: dict[str, Any], why: str) -> None:
    entry = {"command": sys.executable, "args": ["-m", "obsidian_mcp", "--vault", "Vault"], **changes}
    file = own_world.folder / "home" / ".cursor/mcp.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mcpServers": {"obsidian": entry}}), encoding="utf-8")
    code, checks = examine(own_world, "--backend", "embedded")
    assert (code, checks["hosts"]["status"]) == (0, "warn")
    assert why in checks["hosts"]["cause"]


WORLDS = {
    "a list of vaults that is no JSON": (b"{", "vaults", "warn"),
    "a vault whose path is no text": (b'{"vaults": {"a": {"path": "/\\ud800"}}}', "vault", "fail"),
    "two vaults of one name": (
        b'{"vaults": {"a": {"path": "/x/V"}, "b": {"path": "/y/V"}}}',
        "vault",
        "fail",
    ),
}


@pytest.mark.parametrize(("listed", "id", "status"), WORLDS.values(), ids=WORLDS)
def test_a_strange_world_is_told(own_world: World, listed: bytes, id: str, status: str) -> None:
    (own_world.config / "obsidian.json").write_bytes(listed)
    _, checks = examine(own_world, "--vault", "V", "--backend", "embedded")
    assert checks[id]["status"] == status


def test_a_folder_that_may_not_be_read_or_written_is_a_failure(
    own_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a stand-in for the system's answer: whoever runs the tests may be root."""
    given = {"vault": [str(own_world.vault)], "backend": ["embedded"]}

    def folder(**more: list[str]) -> tuple[str, str]:
        found = {check.id: check for check in doctor.examine({**given, **more}, own_world.environment())}
        return found["folder"].status, found["folder"].remedy

    assert folder()[0] == "ok"
    monkeypatch.setattr(read, "access", lambda root: (True, False))
    assert folder() == ("fail", f"chmod u+rwx {own_world.vault}")
    assert folder(**{"read-only": ["true"]})[0] == "ok"
    monkeypatch.setattr(read, "access", lambda root: (False, False))
    assert folder(**{"read-only": ["true"]}) == ("fail", f"chmod u+rx {own_world.vault}")


def test_an_interrupted_move_is_told_and_left_to_the_next_call(own_world: World) -> None:
    environment = own_world.environment()
    state = State(str(own_world.vault), environment)
    os.makedirs(state.folder)
    state.write_journal({"old": "a.md", "new": "b.md", "inode": None, "rewrites": []})
    _, checks = examine(own_world)
    assert checks["state"]["status"] == "warn"
    assert state.has_journal


def test_a_command_that_answers_slowly_is_a_warning(own_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_checks, "SLOW", 0.0)
    found = {check.id: check for check in doctor.examine({}, own_world.environment())}
    assert found["latency"].status == "warn"


COMMANDS = {
    "one that hangs": ("#!/bin/sh\nexec sleep 60\n", "limit of 0.2 s"),
    "one without an interpreter": ("#!/no/such/thing\n", "gone"),
    "one that is no program": ("\x7fnonsense", "could not be started"),
    "one that says nothing": ("#!/bin/sh\n", "says: nothing"),
    "one whose version is endless": ("#!/bin/sh\nprintf '%05000d.1.1'\n", "does not tell its version"),
}


@pytest.mark.parametrize(("body", "why"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_is_none_is_told(own_world: World, body: str, why: str) -> None:
    own_world.command.write_text(body, encoding="utf-8")
    code, checks = examine(own_world, "--timeout", "0.2" if "limit" in why else "60")
    assert (code, checks["app"]["status"]) == (1, "fail")
    assert why in checks["app"]["cause"]
    assert "obsidian-mcp doctor" not in checks["app"]["cause"]


def test_a_vault_that_the_app_does_not_serve_is_a_failure(own_world: World) -> None:
    own_world.mood("type-error", commands=["vault"])
    code, checks = examine(own_world)
    assert (code, checks["vault"]["status"]) == (1, "fail")


def test_a_limit_for_a_tool_that_is_none_is_a_failure(own_world: World) -> None:
    code, checks = examine(own_world, "--timeout-for", "fly=3")
    assert (code, checks["settings"]["status"]) == (1, "fail")


def test_a_pipe_where_a_configuration_should_be_stops_nothing(own_world: World) -> None:
    file = own_world.folder / "home" / ".cursor/mcp.json"
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    code, checks = examine(own_world, "--backend", "embedded")
    assert (code, checks["hosts"]["status"]) == (0, "warn")
    assert "not a regular file" in checks["hosts"]["cause"]


SIGNS = {
    "Flatpak": ({"FLATPAK_ID": "md.obsidian.Obsidian"}, "", ""),
    "Snap": ({}, "", "/snap/bin/obsidian"),
    "WSL": ({"WSL_DISTRO_NAME": "Ubuntu"}, "", ""),
    "a container": ({}, "/.dockerenv", ""),
    "the macOS sandbox": ({"APP_SANDBOX_CONTAINER_ID": "x"}, "", ""),
}


@pytest.mark.parametrize(("sign", "found"), SIGNS.items())
def test_each_sandbox_has_its_sign(sign: str, found: tuple[dict[str, str], str, str]) -> None:
    environ, file, command = found
    assert [name for name, there in sandboxes(environ, lambda path: path == file, command) if there] == [sign]


def test_a_sandbox_is_suspected_when_the_app_is_not_reached(own_world: World) -> None:
    own_world.mood("not-running")
    _, checks = examine(own_world, FLATPAK_ID="x")
    assert checks["sandbox"]["status"] == "warn"
    assert "Flatpak" in checks["sandbox"]["cause"]


def test_what_matters_comes_first_and_defaults_are_one_short_line(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.put(".obsidian/app.json", '{"trashOption": "none"}')
    own_world.mood("not-running")
    shown = run_inside(own_world.environment(), "doctor").stdout.decode().splitlines()
    ids = [line.split()[1] for line in shown if line.startswith(("✗", "!", "✓", "–")) and "sandbox" not in line]
    assert ids[:7] == ["app", "links", "trash", "hosts", "vault", "notes", "toolsets"]
    assert "✓ settings    All 16 settings have their defaults." in shown
    assert "– cli, version The app does not answer." in shown


def test_people_see_marks_remedies_and_a_verdict(own_world: World) -> None:
    own_world.mood("not-running")
    done = run(own_world.environment(), "doctor")
    text = done.stdout.decode()
    assert done.returncode == 1
    assert "✗ app" in text
    assert "→ Start Obsidian" in text
    assert text.endswith("The tools would not work: see app.\n")
    assert "\x1b" not in text


def test_a_terminal_gets_colours(own_world: World) -> None:
    leader, follower = os.openpty()
    environment = own_world.environment(TERM="xterm-256color")
    process = subprocess.Popen(
        [sys.executable, "-m", "obsidian_mcp", "doctor"], env=environment, stdout=follower, stderr=follower
    )
    os.close(follower)
    said = b""
    try:
        while part := os.read(leader, 4096):
            said += part
    except OSError:  # Linux says so at the end of a terminal
        pass
    os.close(leader)
    assert process.wait(PATIENCE) == 0
    assert b"\x1b[32m" in said


def test_errors_that_users_meet_in_a_host_name_the_doctor(own_world: World, tmp_path: Path) -> None:
    for mood in ("not-running", "disabled"):
        own_world.mood(mood)
        done = run_inside(own_world.environment(), "call", "read_note", "name=Note")
        assert b"obsidian-mcp doctor" in done.stderr
    own_world.mood(None)
    for options in (("--vault", str(tmp_path)), ("--vault", "Nope"), ("--obsidian-bin", "/nope")):
        done = run_inside(own_world.environment(), "call", "read_note", "name=Note", *options)
        assert b"obsidian-mcp doctor" in done.stderr, options
