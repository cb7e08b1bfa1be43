"""A server in use: many clients, slow calls, clients that leave, the end. The ids are those of specs/http.md."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.client import PATIENCE
from tests.support.web import Web, send
from tests.support.world import World

READ = "/bridge/v1/tools/obsidian_read_note/call"
OPEN = "/bridge/v1/tools/obsidian_open_note/call"


def test_d9_a_client_that_leaves_cancels_its_call(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang", commands=["open"])
    with Web(own_world.environment(), "--timeout", "600") as web:
        for path, body in (
            (OPEN, '{"arguments": {"name": "Note.md"}}'),
            ("/mcp", '{"method": "call_tool", "name": "obsidian_open_note", "args": {"name": "Note.md"}}'),
        ):
            connection = socket.create_connection(("127.0.0.1", web.port), PATIENCE)
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall((head + body).encode())
            own_world.wait_for_a_hanging_call()
            connection.close()
            own_world.wait_until_all_are_gone()
        assert web.ask("GET", "/bridge/v1/health").status == 200


def test_d9_over_streamable_http_too(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang", commands=["open"])
    call = '"method":"tools/call","params":{"name":"obsidian_open_note","arguments":{"name":"Note.md"}'
    bodies = (
        '{"jsonrpc":"2.0","id":1,' + call + "}}",
        '{"jsonrpc":"2.0","id":1,' + call + ',"_meta":{"progressToken":1}}}',
    )
    with Web(own_world.environment(), "--timeout", "600") as web:
        for body, stream in zip(bodies, (False, True), strict=True):
            connection = socket.create_connection(("127.0.0.1", web.port), PATIENCE)
            head = (
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            connection.sendall((head + body).encode())
            own_world.wait_for_a_hanging_call()
            if stream:
                assert b"text/event-stream" in connection.recv(4096)
            connection.close()
            own_world.wait_until_all_are_gone()


def test_d10_a_slow_call_blocks_nobody(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.put("Other.md", "y")
    own_world.mood("hang", commands=["open"])
    with Web(own_world.environment(), "--timeout", "600") as web:
        slow = [web.connect() for _ in range(10)]
        for connection in slow:
            connection.request("POST", OPEN, b'{"arguments": {"name": "Note.md"}}')
        own_world.wait_for_a_hanging_call()
        assert web.call("read_note", name="Other.md")["success"] is True
        assert web.ask("GET", "/health").status == 200
        for connection in slow:
            connection.close()


@pytest.mark.timeout(900)
def test_a_hundred_clients_with_ten_thousand_calls_leave_no_memory_behind(own_world: World) -> None:
    for number in range(100):
        own_world.put(f"Note {number}.md", f"text {number}")

    def client(number: int, calls: int) -> int:
        connection = web.connect()
        good = 0
        for _ in range(calls):
            body = {"arguments": {"name": f"Note {number}.md"}}
            reply = send(connection, "POST", READ, body, {"Content-Type": "application/json"})
            good += reply.status == 200 and f"text {number}".encode() in reply.body
        connection.close()
        return good

    options = ("--backend", "embedded", "--vault", str(own_world.vault), "--log-level", "info")
    with Web(own_world.environment(), *options, forked=False) as web:
        with ThreadPoolExecutor(100) as pool:
            assert sum(pool.map(client, range(100), [10] * 100)) == 1_000
        first = memory(web)
        with ThreadPoolExecutor(100) as pool:
            assert sum(pool.map(client, range(100), [100] * 100)) == 10_000
        assert memory(web) < first * 1.2 + 5
        assert threads(web) < 100
        assert web.stop() == 0


def memory(web: Web) -> float:
    with open(f"/proc/{web.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def threads(web: Web) -> int:
    with open(f"/proc/{web.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("Threads"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_d11_the_end_answers_what_runs_and_refuses_what_comes(own_world: World, number: signal.Signals) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("slow", seconds=1, commands=["open"])
    with Web(own_world.environment()) as web:
        answers: list[bool] = []
        running = threading.Thread(target=lambda: answers.append(web.call("open_note", name="Note.md")["success"]))
        running.start()
        while not [words for words in own_world.commands() if words[:1] == ["open"]]:
            web.ask("GET", "/bridge/v1/health")
        web.process.send_signal(number)
        running.join(PATIENCE)
        assert answers == [True]
        assert web.process.wait(PATIENCE) == 0
        with pytest.raises(ConnectionRefusedError):
            web.ask("GET", "/health")


def test_d11_a_signal_before_the_server_listens_to_signals_ends_it(own_world: World) -> None:
    program = (
        "import signal, sys\n"
        "from types import SimpleNamespace\n"
        "from obsidian_mcp.doors.http import server\n"
        "early = lambda: signal.raise_signal(signal.SIGINT)\n"
        "server.gc = SimpleNamespace(freeze=early, set_threshold=lambda most: None)\n"
        "from obsidian_mcp.__main__ import main\n"
        "sys.argv[1:] = ['serve', '--port', '0', '--vault', 'Vault']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=own_world.environment(), capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr


def test_d11_an_idle_server_ends_although_a_client_is_connected(own_world: World) -> None:
    with Web(own_world.environment()) as web:
        connection = web.connect()
        assert send(connection, "GET", "/bridge/v1/health", None, {}).status == 200
        assert web.stop() == 0
        connection.close()


BROKEN = {
    "in the tool": "import obsidian_mcp.operations.finding as place; name = 'existing'",
    "in its validation": "from obsidian_mcp.tools.tool import Tool as place; name = 'parse'",
}


@pytest.mark.parametrize("where", BROKEN.values(), ids=BROKEN)
def test_d12_a_bug_is_told_without_its_insides(own_world: World, tmp_path: Path, where: str) -> None:
    """A server that is broken on purpose."""
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        f"{where}\n"
        "def fails(*_):\n    raise ZeroDivisionError('the secret of the note')\n"
        "setattr(place, name, fails)\n",
        encoding="utf-8",
    )
    environment = own_world.environment()
    environment["PYTHONPATH"] = f"{broken}:{environment['PYTHONPATH']}"
    with Web(environment, "--backend", "embedded", forked=False) as web:
        reply = web.ask("POST", READ, b'{"arguments": {"name": "Note"}}')
        assert (reply.status, reply.json["code"]) == (500, "EXECUTION_ERROR")
        assert reply.json["error"] == "Internal server error"
        assert "secret" not in reply.body.decode()
        assert "Traceback" not in reply.body.decode()
        assert web.ask("GET", "/bridge/v1/health").status == 200
    assert any(entry["event"] == "bug" for entry in web.log)


def test_a_vault_that_is_not_there_is_told_at_once_and_served_when_it_comes(own_world: World) -> None:
    folder = own_world.folder / "Later"
    with Web(own_world.environment(), "--backend", "embedded", "--vault", str(folder)) as web:
        (warning,) = [entry for entry in web.log if entry["event"] == "this vault cannot be used"]
        assert "not a folder" in warning["why"]
        assert web.ask("GET", "/health").json["status"] == "error"
        folder.mkdir()
        (folder / "Note.md").write_text("here now")
        assert "here now" in web.ask("POST", READ, b'{"arguments": {"name": "Note"}}').body.decode()
