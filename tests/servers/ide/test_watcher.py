"""The watcher by itself, and the door's clocks, with shorter times: the ids are those of specs/ide-door.md."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import queue
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from obsidian_mcp.call import CallContext
from obsidian_mcp.doors.ide.clients import Limits
from obsidian_mcp.doors.ide.server import make
from obsidian_mcp.doors.ide.websocket import bind
from obsidian_mcp.errors import CliFailed
from obsidian_mcp.servers.ide.watcher import Watcher
from obsidian_mcp.servers.ide.workspace import IdeWorkspace
from obsidian_mcp.settings import load
from obsidian_mcp.vault.active import Active
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vaults.behind import files_backend
from tests.support.ide import AUTHORIZATION, LIMIT, talking
from tests.support.world import World

NOTE, LEFT = Active(VaultPath("Note.md")), Active(VaultPath("Left.md"))


class App:
    """Answers looks, one after another, as the test says."""

    def __init__(self) -> None:
        self.looks: queue.SimpleQueue[CallContext] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[Active | Exception | None] = queue.SimpleQueue()
        self.told: queue.SimpleQueue[Active | None] = queue.SimpleQueue()
        self.watcher = Watcher(self.look, lambda: LEFT, self.tell, between=0.001, after_failures=3600)

    def tell(self) -> None:
        self.told.put(self.watcher.latest)

    def look(self, call: CallContext) -> Active | None:
        self.looks.put(call)
        answer = self.answers.get(timeout=LIMIT)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_i27_nobody_looks_until_somebody_listens_and_a_change_is_told_once() -> None:
    app = App()
    app.watcher.begin()
    assert app.looks.empty()
    app.watcher.listen()
    for answer in (NOTE, NOTE, None, LEFT):
        app.looks.get(timeout=LIMIT)
        app.answers.put(answer)
    assert [app.told.get(timeout=LIMIT) for _ in range(3)] == [NOTE, None, LEFT]
    app.watcher.end()
    app.answers.put(None)


def test_i27_after_three_failures_it_looks_more_seldom_and_says_what_is_left() -> None:
    app = App()
    app.watcher.listen()
    for _ in range(3):
        assert app.watcher.pause == 0.001
        app.answers.put(CliFailed("no"))
        app.watcher.poll()
    assert app.watcher.pause == 3600
    assert app.told.get(timeout=LIMIT) == LEFT
    app.answers.put(NOTE)
    app.watcher.poll()
    assert app.watcher.pause == 0.001
    assert app.told.get(timeout=LIMIT) == NOTE


def test_i27_a_call_takes_a_look_back_and_none_begins_before_it_is_over() -> None:
    app = App()
    app.watcher.listen()
    app.watcher.begin()
    running = app.looks.get(timeout=LIMIT)
    entered, may_leave = threading.Event(), threading.Event()

    def call() -> None:
        with app.watcher.suspended():
            entered.set()
            may_leave.wait(LIMIT)

    thread = threading.Thread(target=call)
    thread.start()
    while not running.cancelled:
        pass
    assert not entered.is_set()  # one at a time: the look is not over yet
    app.answers.put(NOTE)
    assert entered.wait(LIMIT)
    app.watcher.poll()
    assert app.looks.empty()
    may_leave.set()
    thread.join(LIMIT)
    app.looks.get(timeout=LIMIT)
    app.watcher.end()
    app.answers.put(None)


def test_i27_a_note_that_was_closed_is_no_longer_the_latest() -> None:
    app = App()
    app.watcher.listen()
    for answer, latest in ((NOTE, NOTE), (None, None)):
        app.answers.put(answer)
        app.watcher.poll()
        assert app.watcher.latest == latest


def test_i27_what_was_seen_long_ago_is_not_told_to_the_next_one() -> None:
    app = App()
    app.watcher.listen()
    app.answers.put(NOTE)
    app.watcher.poll()
    app.watcher.leave()
    seen = time.monotonic()
    while time.monotonic() < seen + 0.01:
        pass
    app.watcher.listen()
    assert app.watcher.latest is None


def test_i23_whoever_comes_back_at_once_hears_what_was_just_seen() -> None:
    app = App()
    watcher = Watcher(app.look, lambda: None, lambda: None, between=3600)
    watcher.listen()
    app.answers.put(NOTE)
    watcher.poll()
    watcher.leave()
    watcher.listen()
    assert watcher.latest == NOTE


def test_i27_a_bug_does_not_end_the_watching() -> None:
    app = App()
    app.watcher.listen()
    app.watcher.begin()
    for answer in (ValueError("odd"), NOTE):
        app.looks.get(timeout=LIMIT)
        app.answers.put(answer)
    assert app.told.get(timeout=LIMIT) == NOTE
    app.watcher.end()
    app.answers.put(None)


def test_i27_somebody_who_comes_wakes_a_watcher_that_nobody_listened_to() -> None:
    app = App()
    app.watcher.begin()
    for _ in range(3):
        app.watcher.listen()
        app.looks.get(timeout=LIMIT)
        app.answers.put(CliFailed("no"))
        app.watcher.leave()
    app.watcher.end()


READ = {"path": "Large.md"}


def frame(message: object) -> bytes:
    """A text frame, masked with nothing."""
    data = json.dumps(message).encode()
    return b"\x81\xfe" + struct.pack(">H", len(data)) + bytes(4) + data


@contextmanager
def raw_client(port: int, token: str = "token") -> Iterator[socket.socket]:
    """One that has come in, and does what the test does."""
    with socket.create_connection(("127.0.0.1", port), LIMIT) as raw:
        key = base64.b64encode(os.urandom(16)).decode()
        raw.sendall(
            "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{AUTHORIZATION}: {token}\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += raw.recv(1)
        assert head.startswith(b"HTTP/1.1 101 ")
        yield raw


def hear(raw: socket.socket) -> tuple[int, bytes]:
    """The next short frame: what it is, and what it holds."""
    first, length = raw.recv(2, socket.MSG_WAITALL)
    return first & 15, raw.recv(length, socket.MSG_WAITALL)


class Clock:
    """A loop's time, which passes when the test says so: nothing is too late because the machine is busy."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._now = 0.0
        self.loop.time = lambda: self._now  # type: ignore[method-assign]

    def advance(self, seconds: float) -> None:
        self._now += seconds
        self.loop.call_soon_threadsafe(lambda: None)  # so that it looks


@contextmanager
def running(
    world: World,
    limits: Limits,
    watchers: list[Watcher] | None = None,
    loop: asyncio.AbstractEventLoop | None = None,
) -> Iterator[int]:
    """A door of this process's, with other limits than a real one has."""
    loop = loop or asyncio.new_event_loop()
    settings = load({"vault": [str(world.vault)], "backend": ["embedded"]}, world.environment())
    desk = IdeWorkspace(str(world.vault), str(world.vault), files_backend(settings))
    door, watcher = make(desk, "token", limits, between=0.01)
    if watchers is not None:
        watchers.append(watcher)
    watcher.begin()
    listening = bind(0)
    ready, stop = threading.Event(), asyncio.Event()

    async def run() -> None:
        server = await door.open(listening)
        ready.set()
        await stop.wait()
        server.close()
        await server.wait_closed()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    assert ready.wait(LIMIT)
    try:
        yield listening.getsockname()[1]
    finally:
        watcher.end()
        loop.call_soon_threadsafe(stop.set)
        thread.join(LIMIT)
        loop.close()


def test_i12_a_client_that_has_vanished_is_dropped_after_two_pings_without_an_answer(own_world: World) -> None:
    with running(own_world, Limits(ping=0.05)) as port, raw_client(port) as raw:
        frames = b""
        try:
            while part := raw.recv(65536):
                frames += part
        except ConnectionResetError:
            pass
        assert frames.count(b"\x89\x04") == 2  # a ping with four bytes


def test_i12_a_client_that_takes_nothing_is_dropped_though_no_ping_can_go_out(own_world: World) -> None:
    own_world.put("Large.md", "x" * 4_000_000)
    seen: list[Watcher] = []
    with running(own_world, Limits(ping=0.2), seen) as port, raw_client(port) as raw:
        for number in range(6):
            raw.sendall(frame({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": {}}))
            raw.sendall(frame({"jsonrpc": "2.0", "id": -number - 1, "method": "files/read", "params": READ}))
        deadline = time.monotonic() + LIMIT
        while seen[0].listeners and time.monotonic() < deadline:
            pass
        assert seen[0].listeners == 0


def test_i12_a_client_that_answers_its_pings_stays(own_world: World) -> None:
    clock = Clock()
    with running(own_world, Limits(), loop=clock.loop) as port, raw_client(port) as raw:
        for number in range(10):
            raw.sendall(frame({"jsonrpc": "2.0", "id": number, "method": "ping"}))
            assert json.loads(hear(raw)[1]) == {"jsonrpc": "2.0", "id": number, "result": {}}
            clock.advance(Limits().ping)
            kind, data = hear(raw)
            assert (kind, len(data)) == (9, 4)
            raw.sendall(b"\x8a\x84" + bytes(4) + data)  # a pong


ACTIVE = '{"main":{"type":"leaf","id":1,"state":{"state":{"file":"Note.md"}}},"active":1}'


def test_i26_a_client_that_leaves_before_its_greeting_is_not_taken_for_one_that_listens(own_world: World) -> None:
    own_world.put("Note.md")
    own_world.put(".obsidian/workspace.json", ACTIVE)
    seen: list[Watcher] = []
    with running(own_world, Limits(hello=(0.2,)), seen) as port:
        with talking(port, "token") as leaving:
            leaving.introduce()
        with talking(port, "token") as staying:
            staying.introduce().notice("selection_changed")  # so the greeting of the first is due too
        deadline = time.monotonic() + LIMIT
        while seen[0].listeners and time.monotonic() < deadline:
            pass
        with talking(port, "token", headers={"x-obsidian-mcp-command": "mention"}) as pointing:
            pointing.introduce()
            assert pointing.result("obsidian-mcp/mention", {"filePath": "Note.md"}) == {"clients": 0}


def test_i26_a_mention_does_not_wait_for_ever(own_world: World) -> None:
    own_world.put("Note.md")
    command = {"headers": {"x-obsidian-mcp-command": "mention"}}
    with running(own_world, Limits(mention=0.0)) as port:
        with talking(port, "token", **command) as pointing:
            pointing.introduce()
            assert pointing.result("obsidian-mcp/mention", {"filePath": "Note.md"}) == {"clients": 0}
        with talking(port, "token") as talk, talking(port, "token", **command) as pointing:
            own_world.put(".obsidian/workspace.json", ACTIVE)
            talk.introduce().notice("selection_changed")
            pointing.introduce()
            pointing.result("obsidian-mcp/mention", {"filePath": "Note.md", "lines": [4, 5]})
            assert talk.notice("at_mentioned")["lineStart"] == 4
