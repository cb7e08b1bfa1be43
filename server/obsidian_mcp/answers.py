"""Replies that take more than one step: a batch, and a call that reports its progress."""

from __future__ import annotations

import threading

from obsidian_mcp.protocol import jsonrpc, results

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Batch:
    """Collects the replies to a batch and sends them as one array."""

    def __init__(self, expected: int, send: Callable[[bytes], None]) -> None:
        self._expected = expected
        self._send = send
        self._replies: list[bytes] = []
        self._lock = threading.Lock()

    def answer(self, reply: bytes | None) -> None:
        with self._lock:
            self._expected -= 1
            if reply is not None:
                self._replies.append(reply)
            complete = self._expected == 0
        if complete and self._replies:
            self._send(b"[" + b",".join(self._replies) + b"]")


class Progress:
    """Sends progress to a client that asked for it: always more, and nothing after the reply."""

    def __init__(self, token: Any, send: Callable[[bytes], None]) -> None:
        self._token = token if jsonrpc.is_id(token) else None
        self._send = send
        self._last = 0.0
        self._lock = threading.Lock()

    def report(self, seconds: float, message: str) -> None:
        with self._lock:
            if self._token is not None and round(seconds, 3) > self._last:
                self._last = round(seconds, 3)
                self._send(
                    jsonrpc.notification("notifications/progress", results.progress(self._token, seconds, message))
                )

    def close(self) -> None:
        with self._lock:
            self._token = None
