"""The process itself: its streams, its children and its end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any

import pytest

from tests.support.client import PATIENCE, Server, run
from tests.support.world import World

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
TOKEN = {"progressToken": "p"}


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": f"obsidian_{tool}", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


# The end


@pytest.mark.parametrize("final_newline", [True, False])
def test_piping_a_file_of_requests_answers_them_all(own_world: World, final_newline: bool) -> None:
    requests = [INITIALIZE, call(1, "create_note", name="A", content="one")]
    requests += [call(number, "append_note", name="A", content=str(number)) for number in range(2, 8)]
    requests += [call(8, "read_note", name="A")]
    piped = lines(*requests)
    done = run(own_world.environment(), "--vault", "Vault", stdin=piped if final_newline else piped.rstrip(b"\n"))
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0
    assert sorted(replies) == list(range(9))
    assert replies[8]["result"]["structuredContent"]["data"]["content"] == "one\n2\n3\n4\n5\n6\n7"


def test_an_empty_input_is_a_quiet_end(own_world: World) -> None:
    done = run(own_world.environment(), "--vault", "Vault")
    assert (done.returncode, done.stdout) == (0, b"")


def test_exit_lets_what_runs_finish(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("slow", seconds=1)
    with Server(own_world.environment(), "--vault", "Vault", forked=False) as server:
        number = server.initialize().begin_call("read_note", name="Note.md")
        server.notify("exit")
        assert server.end_call(number)["content"] == "x"
        assert server.process.wait(PATIENCE) == 0


def test_nothing_that_comes_behind_exit_is_done(own_world: World) -> None:
    create = {"name": "obsidian_create_note", "arguments": {"name": "Late", "content": "x"}}
    messages = ({"method": "exit"}, {"id": 9, "method": "tools/call", "params": create})
    with Server(
        own_world.environment(), "--vault", str(own_world.vault), "--backend", "embedded", forked=False
    ) as server:
        server.initialize()
        server.write(b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages))
        assert server.process.wait(PATIENCE) == 0
    assert not own_world.has("Late.md")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_and_its_children(own_world: World, number: signal.Signals) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang-with-child")
    with Server(own_world.environment(), "--vault", "Vault", "--timeout", "600", forked=False) as server:
        server.initialize().begin_call("append_note", TOKEN, name="Note.md", content="y")
        server.wait("notifications/progress")
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == 128 + number
        own_world.wait_until_all_are_gone()


def test_an_idle_server_ends_by_a_signal(own_world: World) -> None:
    with Server(own_world.environment(), "--vault", "Vault", forked=False) as server:
        server.initialize()
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 128 + signal.SIGTERM


@pytest.mark.parametrize("busy", [False, True])
def test_a_closed_stdout_ends_it_and_its_children(own_world: World, busy: bool) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang-with-child" if busy else None)
    read_end, write_end = os.pipe()
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", "Vault", "--timeout", "600"]
    with subprocess.Popen(
        command, env=own_world.environment(), stdin=subprocess.PIPE, stdout=write_end, stderr=subprocess.DEVNULL
    ) as process:
        os.close(write_end)
        assert process.stdin
        process.stdin.write(lines(INITIALIZE, *([call(1, "read_note", name="Note.md")] if busy else [])))
        process.stdin.flush()
        with os.fdopen(read_end, "rb") as replies:
            assert json.loads(replies.readline())["id"] == 0
        assert process.wait(PATIENCE) == 1
        own_world.wait_until_all_are_gone()


@pytest.mark.parametrize("busy", [False, True])
def test_a_host_that_is_gone_is_noticed_on_sockets_too(own_world: World, busy: bool) -> None:
    """Some hosts give their servers sockets instead of pipes."""
    own_world.put("Note.md", "x")
    own_world.mood("hang-with-child" if busy else None)
    (ours_in, theirs_in), (ours_out, theirs_out) = socket.socketpair(), socket.socketpair()
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", "Vault", "--timeout", "600"]
    with subprocess.Popen(
        command,
        env=own_world.environment(),
        stdin=theirs_in.fileno(),
        stdout=theirs_out.fileno(),
        stderr=subprocess.DEVNULL,
    ) as process:
        theirs_in.close()
        theirs_out.close()
        ours_in.sendall(lines(INITIALIZE, *([call(1, "read_note", name="Note.md")] if busy else [])))
        assert ours_out.recv(10)
        ours_in.close()
        ours_out.close()
        assert process.wait(PATIENCE) in (0, 1)
        own_world.wait_until_all_are_gone()


def test_a_stdout_closed_after_the_input_ends_what_still_runs(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang-with-child")
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", "Vault", "--timeout", "600"]
    with subprocess.Popen(
        command, env=own_world.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(lines(INITIALIZE, call(1, "read_note", name="Note.md")))
        process.stdin.close()
        own_world.wait_for_a_hanging_call()
        process.stdout.close()
        assert process.wait(PATIENCE) == 1
        own_world.wait_until_all_are_gone()


def test_a_stdout_that_does_not_block_loses_nothing(own_world: World) -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", "Vault"]
    with subprocess.Popen(
        command, env=own_world.environment(), stdin=subprocess.PIPE, stdout=write_end, stderr=subprocess.DEVNULL
    ) as process:
        os.close(write_end)
        requests = [{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(40)]
        assert process.stdin
        process.stdin.write(lines(*requests))
        process.stdin.close()
        with os.fdopen(read_end, "rb") as replies:
            assert len(replies.readlines()) == 40
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_it_starts_without_one_of_its_streams(own_world: World, closed: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "{sys.executable}" -m obsidian_mcp --vault Vault {closed}'],
        env=own_world.environment(),
        input=b"",
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 1)


def test_a_signal_in_the_middle_of_a_write_leaves_no_temporary_file(own_world: World) -> None:
    own_world.put("Note.md", "x")
    slow = (
        "import os\n"
        "fsync = os.fsync\n"
        "def told(fd):\n"
        "    fsync(fd)\n"
        "    os.write(2, b'now\\n')\n"
        "    import threading; threading.Event().wait()\n"
        "os.fsync = told\n"
        "from obsidian_mcp.__main__ import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", slow, "--vault", "Vault", "--log-level", "error"]
    with subprocess.Popen(
        command,
        env=own_world.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(lines(INITIALIZE, call(1, "create_note", name="New.md", content="\\nu")))
        process.stdin.flush()
        assert process.stderr.readline() == b"now\n"
        process.terminate()
        process.wait(PATIENCE)
    assert list(own_world.tree()) == ["Vault/Note.md"]
    assert own_world.get("Note.md") == b"x"


# Nothing but messages on stdout


def test_whatever_prints_cannot_reach_stdout(own_world: World) -> None:
    own_world.put("Note.md", "x")
    noisy = (
        "import os, subprocess, sys\n"
        "from obsidian_mcp.doors.stdio import streams\n"
        "claim = streams.claim\n"
        "def noisy():\n"
        "    claimed = claim()\n"
        "    print('printed', flush=True)\n"
        "    os.write(1, b'written')\n"
        "    subprocess.run(['echo', 'echoed'])\n"
        "    return claimed\n"
        "streams.claim = noisy\n"
        "from obsidian_mcp.__main__ import main\n"
        "main()\n"
    )
    command = (sys.executable, "-c", noisy)
    with Server(own_world.environment(), "--vault", "Vault", command=command) as server:
        assert server.initialize().call("read_note", name="Note")["content"] == "x"
        assert server.finish() == 0
    assert all(word in server.log for word in (b"printed", b"written", b"echoed"))


def test_a_host_that_never_reads_stderr_costs_nothing_but_log_lines(own_world: World) -> None:
    read_end, write_end = os.pipe()
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", "Vault"]
    requests = [INITIALIZE, *(call(number, "read_note", name=7) for number in range(1, 3001))]
    try:
        done = subprocess.run(
            command,
            env=own_world.environment(),
            input=lines(*requests),
            stdout=subprocess.PIPE,
            stderr=write_end,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(write_end)
        os.close(read_end)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 3001
