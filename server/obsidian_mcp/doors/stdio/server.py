"""MCP over stdin and stdout: one JSON-RPC message per line."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found, unused-ignore]  # `signal` loads `enum`, for names alone
import sys
from time import monotonic

from obsidian_mcp import running
from obsidian_mcp.connection import Connection
from obsidian_mcp.doors.stdio import streams
from obsidian_mcp.protocol.framing import Lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from obsidian_mcp.connection import Send, Server
    from obsidian_mcp.protocol.jsonrpc import Message
    from obsidian_mcp.scheduler import Access, Scheduler


MOST_GATHERED = 500  # calls
PATIENCE = 0.002  # seconds that the next line waits for a call: most are over by then
BEYOND_LIMIT = 10.0  # seconds that a call may take beyond its limit once the input has ended
BETWEEN_LOOKS = 0.25  # seconds between two looks whether the client still waits for the last answers


class _Stop(BaseException):
    """A signal asked us to end. Not an Exception: nothing on the way up may take it for a failure."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def serve(
    server: Server,
    warm_up: Callable[[], None],
    end: Callable[[int], Any],
    begin: Callable[[Send], None] | None = None,
) -> None:
    """Answer until the input ends, then call `end` with the exit code.

    `warm_up` is called after each answer to a line, `begin` once, with the way
    to send what no request asked for; `end` must not return.
    """
    pipe = streams.claim()

    def send(message: Message) -> None:
        try:
            pipe.send(running.encoded(message))
        except streams.Closed:
            connection.abandon()
            end(1)

    def stop(number: int) -> None:
        connection.abandon()
        end(128 + number)

    gathered = _Gathered(pipe)
    connection = Connection(server, gathered, send)
    _on_signals()
    if sys.platform == "win32":
        from obsidian_mcp.doors.stdio import console

        console.listen(stop)
    if begin is not None:
        begin(send)
    try:
        _serve(pipe, connection, gathered, warm_up)
        connection.expect_no_answers()
        gathered.hand_over()
        end(0 if _drained(pipe, connection) else 1)
    except streams.Closed:
        connection.abandon()
        end(1)
    except _Stop as stopped:
        stop(stopped.number)


def _drained(pipe: streams.Streams, connection: Connection) -> bool:
    """Wait for the last answers; whether all came. A call that has long passed its limit is not waited for."""
    left, since = connection.under_way, monotonic()
    while not connection.drain(BETWEEN_LOOKS):
        pipe.check()
        if left != connection.under_way:
            left, since = connection.under_way, monotonic()
        elif monotonic() - since > connection.longest + BEYOND_LIMIT:
            connection.abandon()
            return False
    return True


class _Gathered:
    """The jobs of one read of the input, which run together: see `Scheduler.run_batch`."""

    def __init__(self, pipe: streams.Streams) -> None:
        self._scheduler: Scheduler | None = None
        self._pipe = pipe
        self._jobs: list[tuple[Access, Callable[[], None]]] = []

    def submit(self, access: Access, work: Callable[[], None]) -> None:
        self._jobs.append((access, work))
        if len(self._jobs) >= MOST_GATHERED:
            self.hand_over()

    def hand_over(self) -> None:
        jobs, self._jobs = self._jobs, []
        if not jobs:
            return
        if self._scheduler is None:
            from obsidian_mcp.scheduler import Scheduler  # not before the first job

            self._scheduler = Scheduler()
        self._pipe.hold(len(jobs) > 1 and not any(access.writes for access, _ in jobs))
        self._scheduler.run_batch(jobs, PATIENCE, self._pipe.flush)
        self._pipe.hold(False)


def _serve(pipe: streams.Streams, connection: Connection, gathered: _Gathered, warm_up: Callable[[], None]) -> None:
    lines = Lines()
    while data := pipe.read():
        for line in lines.feed(data):
            connection.receive(line)
            warm_up()
            if connection.wants_to_end:
                break
        gathered.hand_over()
        if connection.wants_to_end:
            return
    for line in lines.end():
        connection.receive(line)
    gathered.hand_over()


def _on_signals() -> None:
    def stop(number: int, _frame: object) -> None:
        for other in numbers:
            signal.signal(other, signal.SIG_IGN)
        raise _Stop(number)

    names = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    for number in numbers:
        signal.signal(number, stop)
