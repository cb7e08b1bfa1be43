"""What an attack on the door has found, and must not find again: the ids are those of specs/ide-door.md."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from obsidian_mcp.doors.ide.websocket import HANDSHAKES
from obsidian_mcp.servers.ide import mention as pointing
from tests.doors.ide.conftest import token_of
from tests.doors.ide.test_lock_file import run
from tests.support.client import peak_mb
from tests.support.ide import LIMIT, DoorProcess, Talk, lock_folder, locks, mention, talking
from tests.support.world import World

MIB = 1024 * 1024


def request(method: str, id: object, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def asking(id: object) -> dict[str, object]:
    return request("tools/call", id, name="getCurrentSelection", arguments={})


def test_i14_a_batch_that_is_too_much_holds_up_nobody(own_door: DoorProcess, own_token: str, own_talk: Talk) -> None:
    with talking(own_door.port, own_token) as greedy:
        greedy.result("initialize", {"protocolVersion": "2025-03-26", "capabilities": {}})
        batch = json.dumps([{**asking(number), "padding": "x" * 9000} for number in range(1000)])
        greedy.websocket.send([batch[at : at + MIB // 2] for at in range(0, len(batch), MIB // 2)])
        assert own_talk.result("ping") == {}
        assert own_talk.call("getDiagnostics") == "[]"


@pytest.mark.parametrize("calls", [50, 150])
def test_i13_a_signal_is_heard_however_much_a_client_has_asked(
    own_door: DoorProcess, own_world: World, own_talk: Talk, calls: int
) -> None:
    own_world.mood("hang")
    with contextlib.suppress(ConnectionClosed):
        for number in range(calls):
            own_talk.say(asking(f"x{number}"))
    own_world.wait_for_a_hanging_call()
    assert own_door.stop() == 0
    assert locks(lock_folder(own_world)) == []
    own_world.wait_until_all_are_gone()


def test_i14_connections_that_say_nothing_keep_no_client_out(own_door: DoorProcess, own_token: str) -> None:
    """More of them than handshakes may be under way, twice: also once a client is in, which is not cut for them."""
    with ExitStack() as stack:
        for _ in range(2):
            silent = [socket.create_connection(("127.0.0.1", own_door.port), LIMIT) for _ in range(HANDSHAKES + 1)]
            for one in silent:
                stack.callback(one.close)
            talks = [stack.enter_context(talking(own_door.port, own_token)) for _ in range(2)]
            assert [talk.result("ping") for talk in talks] == [{}, {}]
            assert silent[0].recv(1) == b""  # the oldest made way


def test_i14_a_client_that_leaves_with_much_unanswered_is_noticed(
    own_world: World,
) -> None:
    """With so much that its leaving is not read: what a call may take is then what it takes to notice."""
    own_world.put("Note.md", "x")
    own_world.editor(path="Note.md")
    own_world.mood("hang")
    shorter = "from obsidian_mcp.servers.ide import server; server.LIMIT = 1.0"
    with DoorProcess(own_world.environment(), "--vault", "Vault", first=shorter) as door:
        (lock,) = locks(lock_folder(own_world))
        with talking(door.port, lock["authToken"], close_timeout=0) as leaving:
            leaving.introduce()
            for number in range(130):
                leaving.say(asking(f"x{number}"))
            own_world.wait_for_a_hanging_call()
        while '"Client disconnected"' not in door.stderr.readline():
            pass
        own_world.mood(None)
        own_world.wait_until_all_are_gone()
        with talking(door.port, lock["authToken"]) as next_one:
            assert json.loads(next_one.introduce().call("getCurrentSelection"))["success"] is True


def test_i13_a_client_that_does_not_read_does_not_hold_up_the_end(
    own_door: DoorProcess, own_token: str, own_world: World
) -> None:
    own_world.put("Large.md", "x" * 3 * MIB)
    with talking(own_door.port, own_token, max_queue=1, max_size=None, close_timeout=0) as deaf:
        deaf.introduce()
        for number in range(5):
            deaf.say(request("files/read", f"x{number}", path="Large.md"))
        with talking(own_door.port, own_token) as other:
            other.introduce().notice("selection_changed")
        assert own_door.stop() == 0


def test_i14_pings_whose_answers_nobody_reads_are_not_kept(own_world: World) -> None:
    with DoorProcess(own_world.environment(), "--vault", "Vault", forked=False) as door:
        assert _peak_after_pings(door, token_of(own_world)) < 150


def _peak_after_pings(door: DoorProcess, token: str) -> float:
    from tests.servers.ide.test_watcher import raw_client

    with raw_client(door.port, token) as raw:
        ping = b"\x89\xfd"[:1] + bytes([0x80 | 125]) + bytes(4) + b"x" * 125
        raw.settimeout(LIMIT)
        with contextlib.suppress(OSError):
            for _ in range(6000):
                raw.sendall(ping * 100)
        with contextlib.suppress(OSError):
            raw.shutdown(socket.SHUT_WR)
    return peak_mb(door.process.pid)


def test_i14_a_client_that_reads_gets_more_than_may_wait_for_it(own_talk: Talk, own_world: World) -> None:
    own_world.put("Large.md", "x" * 900_000)
    for _ in range(45):
        assert len(own_talk.result("files/read", {"path": "Large.md"})["content"]) == 900_000


def test_i27_what_needs_no_app_does_not_wait_for_it(
    own_door: DoorProcess, own_token: str, own_world: World, own_talk: Talk
) -> None:
    own_world.mood("hang")
    own_talk.say(asking("slow"))
    own_world.wait_for_a_hanging_call()
    with talking(own_door.port, own_token) as other:
        other.introduce()
        assert other.call("getDiagnostics") == "[]"
        assert other.result("files/read", {"path": "Note.md"})["content"]
    mentioned = mention(own_world, "Note")
    assert mentioned.returncode == 0


def test_i3_many_signals_at_once_leave_no_more_behind_than_one(own_world: World) -> None:
    for _ in range(3):
        with DoorProcess(own_world.environment(), "--vault", "Vault") as door:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) * 10:
                with contextlib.suppress(ProcessLookupError):
                    door.process.send_signal(number)
            assert door.process.wait(LIMIT) == 0
            assert "Traceback" not in door.stderr.read()
        assert locks(lock_folder(own_world)) == []


def test_i3_a_signal_before_it_listens_leaves_nothing(own_world: World) -> None:
    words = [sys.executable, "-m", "obsidian_mcp", "ide", "--vault", "Vault"]
    folder = lock_folder(own_world)
    process = subprocess.Popen(words, env=own_world.environment(), stderr=subprocess.DEVNULL)
    while not list(folder.glob("*")) and process.poll() is None:
        pass
    process.send_signal(signal.SIGTERM)
    process.wait(LIMIT)
    assert list(folder.iterdir()) == []


def test_i29_a_signal_while_the_command_starts_is_not_lost(own_world: World) -> None:
    words = [sys.executable, "-m", "obsidian_mcp", "ide", "--vault", "Vault", "--log-level", "info", "--"]
    for _ in range(3):
        process = subprocess.Popen(
            [*words, "sleep", "1000"], env=own_world.environment(), stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        while "listening" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == 143
        process.stderr.close()
        assert locks(lock_folder(own_world)) == []


def test_i29_a_command_that_is_killed_is_told_as_a_shell_would(own_world: World) -> None:
    assert run(own_world, "ide", "--vault", "Vault", "--", "sh", "-c", "kill -9 $$").returncode == 137


def test_i29_the_command_finds_a_lock_file_whose_folder_was_named_relatively(own_world: World) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "obsidian_mcp",
            "ide",
            "--vault",
            "Vault",
            "--",
            "sh",
            "-c",
            'ls "$CLAUDE_CONFIG_DIR/ide"',
        ],
        env=own_world.environment(CLAUDE_CONFIG_DIR="claude"),
        cwd=own_world.folder,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=True,
    )
    assert done.stdout.endswith(".lock\n")


def test_i1_without_a_home_it_says_what_is_missing(own_world: World) -> None:
    environment = own_world.environment()
    del environment["HOME"]
    done = subprocess.run(
        [sys.executable, "-m", "obsidian_mcp", "ide", "--vault", "Vault"],
        env=environment, cwd=own_world.folder, capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "set HOME or CLAUDE_CONFIG_DIR" in done.stderr
    assert not (own_world.folder / ".claude").exists()


def test_i24_a_door_to_a_folder_that_obsidian_does_not_know_can_be_named(own_world: World) -> None:
    plain = own_world.folder / "plain"
    plain.mkdir()
    (plain / "Note.md").write_text("x")
    with DoorProcess(own_world.environment(), "--backend", "embedded", "--vault", str(plain)):
        for named in (str(plain), "plain"):
            assert mention(own_world, "Note", "--vault", named).returncode == 0
        assert mention(own_world, "Note", "--vault", "Vault").returncode == 2


def test_i24_a_door_that_has_stopped_keeps_a_mention_from_no_other(
    own_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_world.put("Note.md", "x")
    with ExitStack() as stack:
        doors = [stack.enter_context(DoorProcess(own_world.environment(), "--vault", "Vault")) for _ in range(2)]
        os.kill(doors[0].process.pid, signal.SIGSTOP)
        stopped = f"ws://127.0.0.1:{doors[0].port}/"
        for_ever = {"open_timeout": LIMIT}
        at_once = {"open_timeout": 0.1}  # it will not answer, however long it is waited for
        monkeypatch.setattr(
            pointing,
            "connect",
            lambda url, **more: connect(url, **{**more, **(at_once if url == stopped else for_ever)}),
        )
        assert mention(own_world, "Note").returncode == 0
        os.kill(doors[0].process.pid, signal.SIGCONT)


def test_i26_mentions_that_nobody_hears_do_not_pile_up(own_door: DoorProcess, own_token: str) -> None:
    with talking(own_door.port, own_token, headers={"x-obsidian-mcp-command": "mention"}) as pointing:
        pointing.introduce()
        for number in range(250):
            pointing.result("obsidian-mcp/mention", {"filePath": "Note.md", "lines": [number, number]})
    with talking(own_door.port, own_token) as talk:
        talk.introduce()
        lines = [talk.notice("at_mentioned")["lineStart"] for _ in range(100)]
        assert lines == list(range(150, 250))
    with talking(own_door.port, own_token) as second:
        second.introduce().notice("selection_changed")
        assert second.result("ping") == {}
        assert "at_mentioned" not in json.dumps(second.kept)


def test_i27_an_odd_answer_of_the_app_does_not_end_the_watching(talk: Talk, world: World) -> None:
    world.editor(path="Note.md", base="/nul\x00/x")
    assert json.loads(talk.call("getCurrentSelection"))["success"] is False
    world.editor(path="Deep/Ä b.md")
    while not talk.notice("selection_changed")["filePath"].endswith("Ä b.md"):
        pass
