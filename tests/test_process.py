"""The process itself: its pipes, its end, and bytes that are no messages."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any

import pytest

from tests.support.client import PATIENCE, Server, ToolFailed, run
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
    with Server(own_world.environment(), "--vault", "Vault") as server:
        number = server.initialize().begin_call("read_note", name="Note.md")
        server.notify("exit")
        assert server.end_call(number)["content"] == "x"
        assert server.process.wait(PATIENCE) == 0


def test_nothing_that_comes_behind_exit_is_done(own_world: World) -> None:
    create = {"name": "obsidian_create_note", "arguments": {"name": "Late", "content": "x"}}
    messages = ({"method": "exit"}, {"id": 9, "method": "tools/call", "params": create})
    with Server(own_world.environment(), "--vault", str(own_world.vault), "--backend", "embedded") as server:
        server.initialize()
        server.write(b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in messages))
        assert server.process.wait(PATIENCE) == 0
    assert not own_world.has("Late.md")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_and_its_children(own_world: World, number: signal.Signals) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang-with-child")
    with Server(own_world.environment(), "--vault", "Vault", "--timeout", "600") as server:
        server.initialize().begin_call("append_note", TOKEN, name="Note.md", content="y")
        server.wait("notifications/progress")
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == 128 + number
        own_world.wait_until_all_are_gone()


def test_an_idle_server_ends_by_a_signal(own_world: World) -> None:
    with Server(own_world.environment(), "--vault", "Vault") as server:
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
        process.stdin.write(lines(INITIALIZE, call(1, "append_note", name="Note.md", content="\\nu")))
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
        "from obsidian_mcp.doors import streams\n"
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


# Lines that are no messages

BAD_LINES: dict[str, tuple[bytes, int, Any]] = {
    "not JSON": (b"hello", -32700, None),
    "half an object": (b'{"jsonrpc":"2.0","id":1', -32700, None),
    "invalid UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None),
    "deep nesting": (b"[" * 100_000 + b"]" * 100_000, -32700, None),
    "deep objects": (b'{"a":' * 100_000, -32700, None),
    "NaN": (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700, None),
    "Infinity": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}', -32700, None),
    "an exponent out of range": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}', -32700, None),
    "a number of 5,000 digits": (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', -32700, None),
    "a number": (b"7", -32600, None),
    "null": (b"null", -32600, None),
    "a string": (b'"ping"', -32600, None),
    "an empty object": (b"{}", -32600, None),
    "no version": (b'{"id":7,"method":"ping"}', -32600, 7),
    "another version": (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
    "no method": (b'{"jsonrpc":"2.0","id":7}', -32600, 7),
    "a method of another type": (b'{"jsonrpc":"2.0","id":7,"method":7}', -32600, 7),
    "null as id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    "true as id": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    "a fraction as id": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
    "an object as id": (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
    "an array": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
}


@pytest.mark.parametrize(("line", "code", "id"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_line_that_is_no_message_gets_its_error_and_the_loop_goes_on(
    server: Server, line: bytes, code: int, id: Any
) -> None:
    server.write(line + b"\n")
    reply = server.wait(id)
    assert (reply["error"]["code"], reply["id"]) == (code, id)
    assert reply["error"]["data"]["errorCode"]
    assert server.request("ping")["result"] == {}


UNANSWERED = {
    "an empty line": b"",
    "white space": b" \t\r",
    "an unknown notification": b'{"jsonrpc":"2.0","method":"notifications/whatever"}',
    "a call without id": b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"obsidian_create_note",'
    b'"arguments":{"name":"Made","content":"x"}}}',
    "a reply": b'{"jsonrpc":"2.0","id":1,"result":{}}',
    "an error reply": b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
}


@pytest.mark.parametrize("line", UNANSWERED.values(), ids=UNANSWERED)
def test_what_needs_no_answer_gets_none(server: Server, world: World, line: bytes) -> None:
    before = len(server.said)
    server.write(line + b"\n")
    server.request("ping")
    assert len(server.said) == before + 1
    with pytest.raises(ToolFailed):  # a look at the note waits for every write to it
        server.call("file_info", name="Made")
    assert world.tree() == {}


GOOD_IDS = [0, -1, 2**53, 10**200, "", "x", "é\u2028", "\ud800"]


@pytest.mark.parametrize("id", GOOD_IDS, ids=repr)
def test_an_id_comes_back_as_it_was(server: Server, id: Any) -> None:
    server.send({"jsonrpc": "2.0", "id": id, "method": "ping"})
    assert server.wait(id)["id"] == id


def test_a_message_may_end_in_crlf_and_begin_with_a_byte_order_mark(server: Server) -> None:
    server.write(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"w","method":"ping"}\r\n')
    assert server.wait("w")["result"] == {}


def test_a_line_over_the_limit_is_dropped_without_being_held(own_world: World) -> None:
    with Server(own_world.environment(), "--vault", "Vault") as server:
        server.initialize()
        piece = b"x" * (1 << 20)
        for _ in range(200):
            server.write(piece)
        server.write(b"\n")
        assert server.wait(None)["error"]["code"] == -32700
        assert server.request("ping")["result"] == {}
        assert server.peak_mb() < 150  # 200 were sent


def test_a_line_just_under_the_limit_is_read(server: Server, world: World) -> None:
    content = "x" * (15 * 1024 * 1024)
    done = server.call("create_note", name="Big", content=content)
    assert done["size"] == len(content)
    assert world.get("Big.md") == content.encode()


# Bugs of ours, and the log


def test_a_bug_is_an_internal_error_whose_id_is_in_the_log(own_world: World) -> None:
    broken = (
        "import obsidian_mcp.operations.finding as finding\n"
        "def existing(name, vault): raise RuntimeError('the secret text of a note')\n"
        "finding.existing = existing\n"
        "from obsidian_mcp.__main__ import main\n"
        "main()\n"
    )
    with Server(own_world.environment(), "--vault", "Vault", command=(sys.executable, "-c", broken)) as server:
        with pytest.raises(ToolFailed) as caught:
            server.initialize().call("read_note", name="Note")
        assert (caught.value.code, caught.value.error_code) == (-32603, "INTERNAL_ERROR")
        assert "secret" not in caught.value.message
        assert server.request("ping")["result"] == {}
        assert server.finish() == 0
    assert caught.value.data["incident"] in caught.value.message
    assert caught.value.data["incident"].encode() in server.log
    assert b"RuntimeError" in server.log
    assert b"secret" not in server.log


@pytest.mark.parametrize("format", ["json", "console"])
def test_the_log_names_tools_codes_and_paths_but_never_text(own_world: World, format: str) -> None:
    own_world.put("Note.md", "SECRET body")
    options = ("--vault", "Vault", "--log-level", "debug", "--log-format", format)
    with Server(own_world.environment(), *options) as server:
        server.initialize()
        server.call("read_note", name="Note")
        server.call("append_note", name="Note", content="SECRET more")
        server.call("create_note", name="New", content="SECRET \\nu")
        with pytest.raises(ToolFailed):
            server.call("read_note", name="Missing")
        assert server.finish() == 0
    log = server.log.decode()
    assert "SECRET" not in log
    for word in ("obsidian_read_note", "Note.md", "FILE_NOT_FOUND", "serving"):
        assert word in log
    if format == "json":
        events = [json.loads(line) for line in log.splitlines()]
        assert events[0]["event"] == "serving"
        assert events[0]["backend"] == "obsidian"
        assert str(own_world.command) in events[0]["why"]


def test_the_log_level_is_obeyed(own_world: World) -> None:
    with Server(own_world.environment(), "--vault", "Vault", "--log-level", "error") as server:
        server.initialize()
        with pytest.raises(ToolFailed):
            server.call("read_note", name="Missing")
        server.finish()
    assert server.log == b""
