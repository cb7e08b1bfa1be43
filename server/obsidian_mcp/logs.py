"""structlog, to stderr alone: tools, codes, durations and paths; never a note's text.

Lines are written by a thread of their own from a queue with an end: a host
that never reads stderr costs log lines, not the server.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from typing import Any

import structlog

MOST_WAITING = 1000
STDERR = 2


class _Writer:
    """Where structlog prints."""

    def __init__(self) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def msg(self, line: str) -> None:
        with contextlib.suppress(queue.Full):  # nobody reads stderr; the calls matter more
            self._lines.put_nowait(line)

    debug = info = warning = error = msg

    def close(self, within: float) -> None:
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)
            self._thread.join(within)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                os.write(STDERR, f"{line}\n".encode("utf-8", "backslashreplace"))
            except OSError:
                return  # stderr is closed: there is nowhere left to say so


_writer: _Writer | None = None
_log: Any = None


def configure(level: str, format: str) -> None:
    global _writer, _log
    if _writer is None:
        _writer = _Writer()
    writer = _writer
    renderer = structlog.processors.JSONRenderer(ensure_ascii=False) if format == "json" else _console()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: writer,
        cache_logger_on_first_use=True,
    )
    _log = structlog.get_logger().bind()


def _console() -> Any:
    return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())


def log(level: str, event: str, **fields: Any) -> None:
    """Before the log is configured there is nowhere to log to."""
    if _log is not None:
        getattr(_log, level)(event, **fields)


def close(within: float = 0.5) -> None:
    if _writer is not None:
        _writer.close(within)
