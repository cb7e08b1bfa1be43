"""Who may come in, and what can't be done to the door: the ids are those of specs/ide-door.md."""

from __future__ import annotations

import contextlib
import os
import socket
import time

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.support.ide import AUTHORIZATION, LIMIT, DoorProcess, Talk, talking
from tests.support.world import World

MIB = 1024 * 1024
BEGINNING = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"


def status(port: int, headers: dict[str, str]) -> tuple[int, bytes]:
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(f"ws://127.0.0.1:{port}/", additional_headers=headers, proxy=None),
    ):
        pass
    return refused.value.response.status_code, bytes(refused.value.response.body or b"")


def closed_with(talk: Talk) -> int | None:
    while True:
        try:
            talk.hear()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None


def test_i6_any_path_will_do(door: DoorProcess, token: str) -> None:
    with talking(door.port, token, path="/what/ever?x=1") as talk:
        assert talk.result("ping") == {}


def test_i7_the_subprotocol_is_echoed_if_it_is_offered(door: DoorProcess, token: str) -> None:
    with talking(door.port, token) as talk:
        assert talk.websocket.subprotocol == "mcp"
    with connect(f"ws://127.0.0.1:{door.port}/", additional_headers={AUTHORIZATION: token}, proxy=None) as plain:
        assert plain.subprotocol is None


@pytest.mark.parametrize("offered", [{}, {AUTHORIZATION: "wrong"}, {AUTHORIZATION: ""}, {"Authorization": "token"}])
def test_i8_without_the_token_nobody_comes_in_and_nothing_is_hinted(door: DoorProcess, offered: dict[str, str]) -> None:
    assert status(door.port, offered) == (401, b"Unauthorized\n")


def test_i8_a_token_that_is_only_begun_or_in_another_case_is_wrong(door: DoorProcess, token: str) -> None:
    for wrong in (token[:-1], token.upper(), f"{token}x"):
        assert status(door.port, {AUTHORIZATION: wrong})[0] == 401


def test_i9_the_eleventh_is_refused_until_one_of_the_ten_leaves(own_door: DoorProcess, own_token: str) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(9):
            stack.enter_context(talking(own_door.port, own_token))
        with talking(own_door.port, own_token) as tenth:
            assert status(own_door.port, {AUTHORIZATION: own_token})[0] == 503
            assert tenth.result("ping") == {}
        with talking(own_door.port, own_token) as next_one:
            assert next_one.result("ping") == {}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.5:1", ""])
def test_i30_another_host_cannot_come_in_with_the_token_either(door: DoorProcess, token: str, host: str) -> None:
    assert handshake(door.port, f"Host: {host}\r\n{AUTHORIZATION}: {token}\r\n") == b"HTTP/1.1 403 Forbidden"


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST:7", "[::1]:7"])
def test_i30_this_machine_may_be_called_by_each_of_its_names(door: DoorProcess, token: str, host: str) -> None:
    assert handshake(door.port, f"Host: {host}\r\n{AUTHORIZATION}: {token}\r\n").startswith(b"HTTP/1.1 101")


def handshake(port: int, headers: str) -> bytes:
    """The status line that a handshake with these headers gets."""
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    with socket.create_connection(("127.0.0.1", port), LIMIT) as raw:
        raw.sendall(f"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{key}{headers}\r\n".encode())
        return raw.makefile("rb").readline().rstrip(b"\r\n")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost", "app://obsidian.md"])
def test_i10_a_web_page_cannot_come_in_with_the_token_either(door: DoorProcess, token: str, origin: str) -> None:
    assert status(door.port, {AUTHORIZATION: token, "Origin": origin}) == (403, b"Forbidden\n")


def test_i11_a_frame_of_2_mib_ends_the_connection(talk: Talk) -> None:
    with contextlib.suppress(ConnectionClosed):
        talk.websocket.send("x" * (2 * MIB))
    assert closed_with(talk) == 1009


def test_i11_a_message_of_11_mib_in_pieces_ends_the_connection(talk: Talk) -> None:
    with contextlib.suppress(ConnectionClosed):
        talk.websocket.send(["x" * (MIB // 2)] * 22)
    assert closed_with(talk) == 1009


def test_i11_a_message_of_9_mib_in_pieces_is_taken(talk: Talk) -> None:
    talk.websocket.send(["x" * (MIB // 2)] * 18)
    while (heard := talk.hear()).get("error") is None:
        pass
    assert heard["error"]["code"] == -32700


def test_i13_at_the_end_everybody_is_told(own_door: DoorProcess, own_talk: Talk) -> None:
    assert own_door.stop() == 0
    assert closed_with(own_talk) == 1001


def test_i14_a_client_that_does_not_read_is_cut_off_and_nobody_else_notices(
    own_door: DoorProcess, own_token: str, own_world: World, own_talk: Talk
) -> None:
    own_world.put("Large.md", "x" * 3 * MIB)
    with talking(own_door.port, own_token, max_queue=1, max_size=None) as deaf:
        deaf.introduce()
        with contextlib.suppress(ConnectionClosed, OSError):
            for number in range(60):
                deaf.say({"jsonrpc": "2.0", "id": number, "method": "files/read", "params": {"path": "Large.md"}})
        while "cut off" not in own_door.stderr.readline():
            pass
        assert own_talk.result("ping") == {}
        assert closed_with(deaf) is None


@pytest.mark.parametrize(
    "said",
    [
        b"\x00" * 5000,
        b"\r\n" * 100,
        BEGINNING.encode(),
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 500,
        b"POST / HTTP/1.1\r\n\r\n",
    ],
)
def test_i14_garbage_instead_of_a_handshake_changes_nothing(door: DoorProcess, talk: Talk, said: bytes) -> None:
    with socket.create_connection(("127.0.0.1", door.port), LIMIT) as raw:
        raw.sendall(said)
        raw.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while raw.recv(65536):
                pass
    assert talk.result("ping") == {}


def test_i14_a_thousand_connections_leave_nothing_behind(door: DoorProcess, talk: Talk) -> None:
    def descriptors() -> int:
        return len(os.listdir(f"/proc/{door.process.pid}/fd"))

    before = descriptors()
    for number in range(1000):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", door.port), LIMIT) as raw:
            raw.sendall((b"", BEGINNING.encode(), b"\xff\xfe")[number % 3])
    deadline = time.monotonic() + LIMIT
    while descriptors() > before and time.monotonic() < deadline:
        assert talk.result("ping") == {}
    assert descriptors() <= before
