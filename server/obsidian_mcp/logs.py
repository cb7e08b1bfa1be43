"""The log, to stderr alone: tools, codes, durations and paths; never a note's text.

A line of JSON has the fields and the order that structlog gives it, and is made here, because a call costs hardly more
than structlog's way to its line. For people at a terminal structlog makes the lines, and is loaded for that alone.

Lines are written by a thread of their own, several at a time: woken for each, it
would take the interpreter from the calls. Warnings are written at once. Only so
many may wait: a host that never reads stderr costs log lines, not the server.
Where the system allows no thread, each line is written at once, or dropped.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

MOST_WAITING = 1000
GATHERING = 0.02  # s
IN_ONE_STEP = getattr(select, "PIPE_BUF", 512)  # bytes that a pipe takes atomically
STDERR = 2
LEVELS = {"debug": 0, "info": 1, "warning": 2, "error": 3}


class _Writer:
    """Where lines go."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._some = threading.Event()
        self._at_once = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = threading.Thread(target=self._write, daemon=True)
        try:
            self._thread.start()
        except (RuntimeError, MemoryError):
            self._thread = None
        atexit.register(self.close)

    def write(self, line: str, at_once: bool) -> None:
        if self._thread is None:
            _write_if_read(line)
        elif len(self._lines) < MOST_WAITING:  # else stderr is not read, and the calls matter more
            self._lines.append(line)
            if not self._some.is_set():
                self._some.set()
        if at_once:
            self._at_once.set()

    def close(self, within: float = 0.5) -> None:
        """Write what waits, if it is read."""
        self._closing = True
        self._at_once.set()
        self._some.set()
        if self._thread is not None:
            self._thread.join(within)

    def _write(self) -> None:
        is_last = False
        while not is_last:
            self._some.wait()
            self._at_once.wait(GATHERING)
            self._at_once.clear()
            self._some.clear()
            is_last = self._closing  # before the lines are taken: what was logged until then is among them
            lines = [self._lines.popleft() for _ in range(len(self._lines))]
            try:
                for batch in _batches(lines):
                    _write_whole(batch)
            except OSError:
                return  # stderr is closed: there is nowhere left to say so


def _write_whole(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(STDERR, rest) :]
        except BlockingIOError:
            select.select([], [STDERR], [])


def _write_if_read(line: str) -> None:
    """No more than a pipe takes without waiting."""
    with contextlib.suppress(OSError):
        for batch in _batches([line]):
            if len(batch) > IN_ONE_STEP or not select.select([], [STDERR], [], 0)[1]:
                return
            os.write(STDERR, batch)


def _batches(lines: list[str]) -> Iterator[bytes]:
    """Whole lines, as many as a pipe takes in one step: others may write there too."""
    batch = b""
    for line in lines:
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        if batch and len(batch) + len(data) > IN_ONE_STEP:
            yield batch
            batch = b""
        batch += data
    if batch:
        yield batch


_writer: _Writer | None = None
_render: Callable[[dict[str, Any]], str] = json.dumps
_least = 0


def configure(level: str, format: str) -> None:
    global _writer, _render, _least
    _render, _least = json_line() if format == "json" else _console(), LEVELS[level]
    if _writer is None:
        _writer = _Writer()


def json_line() -> Callable[[dict[str, Any]], str]:
    """The package makes its accelerator anew for each line; here it is made once, where there is one."""
    from json import encoder

    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return json.JSONEncoder(ensure_ascii=False, default=repr).encode
    chunks = make(None, repr, encoder.encode_basestring, None, ": ", ", ", False, False, True)
    return lambda fields: "".join(chunks(fields, 0))


def _console() -> Callable[[dict[str, Any]], str]:
    render = _without_rich().dev.ConsoleRenderer(colors=sys.stderr.isatty())
    return lambda fields: str(render(None, "", fields))


def _without_rich() -> Any:
    """structlog loads rich, where it is there, for tracebacks that are never printed here: half of its time to load."""
    hidden = [name for name in ("rich", "better_exceptions") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: "there is no such module"
    try:
        import structlog

        return structlog
    finally:
        for name in hidden:
            del sys.modules[name]


def log(level: str, event: str, **fields: Any) -> None:
    """Before the log is configured there is nowhere to log to."""
    rank = LEVELS[level]
    if _writer is None or rank < _least:
        return
    fields["event"] = event
    fields["level"] = level
    fields["timestamp"] = f"{datetime.now(UTC).replace(tzinfo=None).isoformat()}Z"
    _writer.write(_render(fields), at_once=rank > LEVELS["info"])


def close() -> None:
    """For those that end without the interpreter's own end."""
    if _writer is not None:
        _writer.close()
