"""One conversation with a server: what was sent and seen is counted as a model would pay for it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from agents.calls import Call
from agents.seen import Seen, compact, seen
from tests.support.process import Fork

Process = Fork | subprocess.Popen[bytes]
LIMIT = 120  # seconds that a server may take for all that one task needs
CANCELLED = Seen("The call was cancelled.", is_error=True)
CLIENT = "agents"


class Session:
    """Without what it takes to begin: the list of tools is not counted."""

    def __init__(self, process: Process, client: str = CLIENT) -> None:
        self._process = process
        self._watchdog = threading.Timer(LIMIT, process.kill)
        self._watchdog.daemon = True
        self._watchdog.start()
        self._id = 0
        known = {"capabilities": {}, "clientInfo": {"name": client, "version": "1"}}
        self._ask("initialize", {"protocolVersion": "2025-11-25", **known})
        self._write(_message("notifications/initialized", {}))
        tools = self._ask("tools/list", {})["result"]["tools"]
        self.schemas: dict[str, dict[str, Any]] = {tool["name"]: tool["inputSchema"] for tool in tools}
        self.forget()

    def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        id = self._request(method, params)
        return self._collect({id})[id]

    def _request(self, method: str, params: Mapping[str, Any]) -> int:
        self._id += 1
        self._write({**_message(method, params), "id": self._id})
        return self._id

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def forget(self) -> None:
        """What was sent until now is not counted."""
        self.calls = 0
        self.said: list[str] = []

    @property
    def bytes(self) -> int:
        return sum(len(text.encode()) for text in self.said)

    def tell(self, tool: str, **arguments: Any) -> str:
        """What a tool says."""
        return self.perform([Call(tool, arguments)], False)[0].text

    def perform(self, calls: Sequence[Call], guarded: bool) -> list[Seen]:
        """All in flight together."""
        sent = [self._send(call, guarded) for call in calls]
        until = {id for id, call in zip(sent, calls, strict=True) if not call.cancelled}
        for id, call in zip(sent, calls, strict=True):
            if call.cancelled:
                self._write(_message("notifications/cancelled", {"requestId": id}))
                until.add(self._request("ping", {}))  # whether there is a reply is known when this is answered
        replies = self._collect(until)
        found = [seen(replies[id]) if id in replies else CANCELLED for id in sent]
        self.said += [each.text for each in found]
        return found

    def _send(self, call: Call, guarded: bool) -> int:
        arguments = call.sent(guarded)
        self.calls += 1
        self.said.append(compact(arguments))
        return self._request("tools/call", {"name": call.tool, "arguments": arguments})

    def _collect(self, until: set[int]) -> dict[int, Any]:
        found: dict[int, Any] = {}
        assert self._process.stdout
        while not until <= found.keys():
            line = self._process.stdout.readline()
            if not line:
                raise EOFError("the server ended, or had to be ended")
            message = json.loads(line)
            if "method" not in message:
                found[message.get("id")] = message
        return found

    def end(self) -> None:
        self._watchdog.cancel()
        self._process.kill()
        self._process.wait(30)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def _message(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}
