"""Finding the server, and noticing when its tools change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from obsidian_mcp import logs
from obsidian_mcp.errors import BridgeFailed
from obsidian_mcp.servers.relay.client import Remote

ATTEMPTS = 30
FIRST_WAITS = (0, 1, 2, 4, 8, 16)
LONGEST_WAIT = 30
BETWEEN_POLLS = 5


class Poller:
    """Runs on a thread of its own, one question at a time. `wait` returns whether it is time to end."""

    def __init__(
        self,
        remote: Remote,
        adopt: Callable[[Sequence[dict[str, Any]]], None],
        despair: Callable[[BridgeFailed], None],
        wait: Callable[[float], bool],
    ) -> None:
        self._remote = remote
        self._adopt = adopt
        self._despair = despair
        self._wait = wait
        self._hash: str | None = None

    def run(self) -> None:
        if self._find():
            while not self._wait(BETWEEN_POLLS):
                self._poll()

    def _find(self) -> bool:
        """Until the server is there; whether it is worth polling. A refusal too may be over soon: of a server that
        starts, or one that is being replaced."""
        for attempt in range(ATTEMPTS):
            if self._wait(FIRST_WAITS[attempt] if attempt < len(FIRST_WAITS) else LONGEST_WAIT):
                return False
            try:
                self._remote.greet()
                self._look()
                return True
            except BridgeFailed as failure:
                logs.log("warning", "the bridge server was not reached", attempt=attempt + 1, why=failure.message)
                last = failure.fact
                self._despair(failure)
        self._despair(BridgeFailed(f"{last} So it was in {ATTEMPTS} attempts.", "Start the bridge anew."))
        return False

    def _poll(self) -> None:
        try:
            self._look()
        except BridgeFailed as failure:
            logs.log("warning", "a poll failed", why=failure.message)

    def _look(self) -> None:
        tools, found = self._remote.tools()
        if found != self._hash:
            self._hash = found
            self._adopt(tools)
