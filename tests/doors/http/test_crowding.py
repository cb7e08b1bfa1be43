"""Connections that take room and say nothing. The ids are those of specs/http.md."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest

from tests.support.client import PATIENCE
from tests.support.web import MCP, Web
from tests.support.world import World

HEALTH = b"GET /bridge/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /bridge/v1/tools/obsidian_read_note/call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"


def serving(world: World, *options: str, **limits: float) -> Web:
    """With other limits than there are."""
    first = "from obsidian_mcp.doors.http import connections, server\n"
    for name, limit in limits.items():
        first += f"{'server' if name == 'KEEP_ALIVE' else 'connections'}.{name} = {limit}\n"
    return Web(world.environment(), *options, "--log-level", "info", first=first)


@contextlib.contextmanager
def crowd(web: Web, size: int) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(socket.create_connection(("127.0.0.1", web.port), PATIENCE)) for _ in range(size)]


def answer(connection: socket.socket, said: bytes = HEALTH) -> bytes:
    """Whatever comes; nothing if it was closed."""
    try:
        connection.sendall(said)
        return connection.recv(65536)
    except ConnectionError:
        return b""


def until_closed(connection: socket.socket) -> bytes:
    said = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            said += part
    return said


def test_d14_connections_that_say_nothing_lock_nobody_out(own_world: World) -> None:
    """More of them than the process has descriptors."""
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))"
    with Web(own_world.environment(), "--token", "secret", "--log-level", "info", first=few, forked=False) as web:
        with crowd(web, 250):
            for _ in range(3):
                assert web.ask("GET", "/bridge/v1/health", Authorization="Bearer secret").status == 200
        assert web.stop() == 0


def test_d14_the_longest_idle_makes_way_and_first_what_never_sent_a_request(own_world: World) -> None:
    with serving(own_world, MOST=3, HEAD_WITHIN=600, KEEP_ALIVE=600) as web, crowd(web, 1) as (known,):
        assert b"200 OK" in answer(known)
        with crowd(web, 3) as (first, second, third):
            assert until_closed(first) == b""
            for still in (known, second, third):
                assert b"200 OK" in answer(still)
            with crowd(web, 1) as (last,):
                assert b"200 OK" in answer(last)
                assert answer(known) == b""  # of those that have been heard it is the longest silent


def test_d14_a_request_under_way_is_not_closed_for_another(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang", commands=["open"])
    body = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidian_open_note",'
        '"arguments":{"name":"Note.md"},"_meta":{"progressToken":1}}}'
    )
    heads = "".join(f"{name}: {value}\r\n" for name, value in MCP.items())
    stream = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{heads}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    web = serving(own_world, "--timeout", "600", MOST=1, BODY_WITHIN=0.1, KEEP_ALIVE=0.1)
    with web, crowd(web, 1) as (streaming,):
        streaming.sendall(stream)
        assert b"text/event-stream" in streaming.recv(65536)
        with crowd(web, 1) as (excess,):
            refused = until_closed(excess)
        assert b"503" in refused.partition(b"\r\n")[0]
        assert b"TOO_MANY_CONNECTIONS" in refused
        assert b"notifications/progress" in streaming.recv(65536)  # it goes on, past every limit


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    world = World(tmp_path_factory.mktemp("hasty") / "world")
    with serving(world, HEAD_WITHIN=0.5, BODY_WITHIN=0.5, KEEP_ALIVE=0.5) as web:
        yield web


LATE = {
    "nothing": (b"", b""),
    "half a head": (b"GET /bridge/v1/health HTTP/1.1\r\nHost:", b"408 Request Timeout"),
    "half a body": (POST + b"{", b""),
    "one request": (HEALTH, b"200 OK"),
    "half a head after a request": (HEALTH + b"GET", b"200 OK"),
}


@pytest.mark.parametrize(("said", "heard"), LATE.values(), ids=LATE)
def test_d13_what_does_not_arrive_in_time_is_not_waited_for(hasty: Web, said: bytes, heard: bytes) -> None:
    """Several times: on a busy machine what is said may itself come too late."""

    def found() -> bytes:
        with crowd(hasty, 1) as (slow,), contextlib.suppress(ConnectionError):
            slow.sendall(said)
            return until_closed(slow)
        return b""

    assert any(heard in found() for _ in range(10))


@pytest.mark.parametrize("first", [b"", HEALTH], ids=["the first request", "a later one"])
def test_d13_a_byte_now_and_then_does_not_start_the_clock_anew(hasty: Web, first: bytes) -> None:
    with crowd(hasty, 1) as (slow,):
        with contextlib.suppress(ConnectionError):
            slow.sendall(first + b"GET / HTTP/1.1\r\nX: ")
        slow.settimeout(0.05)
        while True:
            with contextlib.suppress(TimeoutError):
                if not answer(slow, b"x"):
                    return
