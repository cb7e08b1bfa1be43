"""How a door is found, and what is left of it: the ids are those of specs/ide-door.md."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ide import LIMIT, DoorProcess, lock_folder, locks, talking
from tests.support.world import VAULT_ID, World

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def run(world: World, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "obsidian_mcp", *words],
        env=world.environment(**more),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def test_i1_the_folder_and_the_file_are_private(door: DoorProcess, world: World) -> None:
    folder = lock_folder(world)
    assert [file.name for file in folder.iterdir()] == [f"{door.port}.lock"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / f"{door.port}.lock").stat().st_mode) == 0o600


def test_i1_a_folder_that_others_could_read_is_closed_to_them(own_world: World) -> None:
    lock_folder(own_world).mkdir(parents=True, mode=0o755)
    with DoorProcess(own_world.environment(), "--vault", "Vault"):
        assert stat.S_IMODE(lock_folder(own_world).stat().st_mode) == 0o700


def test_i1_claudes_own_folder_can_be_elsewhere(own_world: World) -> None:
    elsewhere = own_world.folder / "claude"
    with DoorProcess(own_world.environment(CLAUDE_CONFIG_DIR=str(elsewhere)), "--vault", "Vault") as door:
        assert [lock["port"] for lock in locks(elsewhere / "ide")] == [door.port]
        assert not lock_folder(own_world).exists()


def test_i2_the_lock_file_says_what_the_contract_wants(own_world: World) -> None:
    link = own_world.folder / "link"
    link.symlink_to(own_world.vault)
    own_world.register({"fedcba9876543210": link}, opened="fedcba9876543210")
    with DoorProcess(own_world.environment(), "--vault", str(link)) as door:
        (lock,) = locks(lock_folder(own_world))
        assert UUID4.fullmatch(lock.pop("authToken"))
        assert lock == {
            "pid": door.process.pid,
            "workspaceFolders": [str(own_world.vault)],
            "ideName": "Obsidian",
            "transport": "ws",
            "runningInWindows": False,
            "port": door.port,
        }


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_i3_it_is_gone_after_every_signal_that_can_be_heard(
    own_door: DoorProcess, own_world: World, number: int
) -> None:
    assert own_door.stop(number) == 0
    assert list(lock_folder(own_world).iterdir()) == []
    assert list((own_world.folder / "home" / ".local").rglob("ide-*")) == []


def test_i3_it_is_gone_where_the_door_cannot_be_opened_after_all(own_world: World) -> None:
    done = run(own_world, "ide", "--vault", "Vault", "--", "/no/such/program")
    assert done.returncode == 1
    assert done.stderr == "obsidian-mcp: /no/such/program cannot be started: it is not installed, or not in the PATH\n"
    assert locks(lock_folder(own_world)) == []


def test_i3_a_lock_file_that_is_no_longer_ours_is_left_alone(own_door: DoorProcess, own_world: World) -> None:
    file = lock_folder(own_world) / f"{own_door.port}.lock"
    file.write_text(json.dumps({"authToken": "another's"}))
    assert own_door.stop() == 0
    assert json.loads(file.read_text()) == {"authToken": "another's"}


def test_i4_what_a_killed_door_leaves_the_next_one_clears(own_world: World) -> None:
    folder = lock_folder(own_world)
    folder.mkdir(parents=True)
    foreign = folder / "12345.lock"
    foreign.write_text(json.dumps({"pid": 999_999_999, "ideName": "Obsidian", "authToken": "x"}))
    with DoorProcess(own_world.environment(), "--vault", "Vault") as killed:
        killed.process.kill()
        killed.process.wait(LIMIT)
        assert (folder / f"{killed.port}.lock").exists()
    with DoorProcess(own_world.environment(), "--vault", "Vault") as door:
        assert {file.name for file in folder.iterdir()} == {"12345.lock", f"{door.port}.lock"}


def test_i4_a_living_door_to_the_same_vault_is_left_alone(own_world: World) -> None:
    with (
        DoorProcess(own_world.environment(), "--vault", "Vault") as one,
        DoorProcess(own_world.environment(), "--vault", "Vault") as two,
    ):
        assert {lock["port"] for lock in locks(lock_folder(own_world))} == {one.port, two.port}
        two.stop()
        assert [lock["port"] for lock in locks(lock_folder(own_world))] == [one.port]


def test_i4_a_port_for_which_another_has_a_lock_file_is_not_taken(own_world: World, port: int) -> None:
    lock_folder(own_world).mkdir(parents=True)
    foreign = lock_folder(own_world) / f"{port}.lock"
    foreign.write_text("{}")
    done = run(own_world, "ide", "--vault", "Vault", "--port", str(port))
    assert done.returncode == 1
    assert f"another program has left a lock file for port {port}" in done.stderr
    assert foreign.read_text() == "{}"


def test_i4_a_folder_that_cannot_be_written_is_told(own_world: World) -> None:
    (own_world.folder / "home").mkdir()
    (own_world.folder / "home" / ".claude").write_text("a file")
    done = run(own_world, "ide", "--vault", "Vault")
    assert done.returncode == 1
    assert re.match(r"obsidian-mcp: the lock file .*\.lock cannot be made: ", done.stderr.splitlines()[-1])


def test_i5_several_vaults_have_a_door_each(own_world: World) -> None:
    second = own_world.folder / "Second"
    second.mkdir()
    options = ("--backend", "embedded", "--vault", str(own_world.vault), "--vault", str(second))
    with DoorProcess(own_world.environment(), *options, doors=2) as door:
        found = {lock["workspaceFolders"][0]: lock for lock in locks(lock_folder(own_world))}
        assert set(found) == {str(own_world.vault), str(second)}
        for folder, lock in found.items():
            with talking(lock["port"], lock["authToken"]) as talk:
                talk.introduce()
                assert json.loads(talk.call("getWorkspaceFolders"))["rootPath"] == folder
        assert door.stop() == 0
        assert locks(lock_folder(own_world)) == []


def test_i5_several_vaults_cannot_share_a_port(own_world: World) -> None:
    done = run(own_world, "ide", "--vault", "Vault", "--vault", VAULT_ID, "--port", "4000")
    assert done.returncode == 2


def test_i6_it_listens_on_loopback_alone_and_on_the_port_that_was_asked_for(own_world: World, port: int) -> None:
    with DoorProcess(own_world.environment(), "--vault", "Vault", "--port", str(port)) as door:
        assert door.port == port
        listening = Path(f"/proc/{door.process.pid}/net/tcp").read_text()
        assert f"0100007F:{port:04X} 00000000:0000 0A" in listening
        assert f"00000000:{port:04X}" not in listening
        done = run(own_world, "ide", "--vault", "Vault", "--port", str(port))
        assert done.returncode == 1
        assert "cannot be used" in done.stderr


def test_i29_a_command_runs_in_the_vault_and_the_door_ends_with_it(own_world: World) -> None:
    shown = 'pwd; echo "$CLAUDE_CODE_SSE_PORT $ENABLE_IDE_INTEGRATION"; ls "$HOME/.claude/ide"; exit 7'
    done = run(own_world, "ide", "--vault", "Vault", "--", "sh", "-c", shown)
    assert done.returncode == 7
    folder, variables, lock = done.stdout.splitlines()
    assert folder == str(own_world.vault)
    assert variables == f"{lock.removesuffix('.lock')} true"
    assert done.stderr == ""
    assert locks(lock_folder(own_world)) == []


def test_i29_a_signal_is_passed_on_to_the_command(own_world: World) -> None:
    words = [sys.executable, "-m", "obsidian_mcp", "ide", "--vault", "Vault", "--"]
    loop = "trap 'echo heard; exit 3' TERM; echo ready; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        [*words, "sh", "-c", loop], env=own_world.environment(), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGINT)  # meant for the program, which gets it from a terminal
    os.kill(process.pid, signal.SIGTERM)
    assert process.communicate(timeout=LIMIT)[0] == "heard\n"
    assert process.returncode == 3
    assert locks(lock_folder(own_world)) == []
