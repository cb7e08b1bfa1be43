"""Claude Code itself through the IDE door: in a terminal, with an empty home and a stand-in for its model service."""

from __future__ import annotations

import contextlib
import fcntl
import http.server
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

NOTE = "Note.md"
KEY = "sk-ant-a-key-for-a-trial-on-loopback-only"
LEAF = {"id": "1", "type": "leaf", "state": {"type": "markdown", "state": {"file": NOTE}}}
QUIET = ("DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER")
LIMIT = 90
BETWEEN_KEYS = 0.1  # seconds


class Wrong(Exception):
    """What did not come to pass."""


class Model(http.server.BaseHTTPRequestHandler):
    """Says "Hello." to everything, and remembers what it was asked."""

    asked: list[str]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.startswith("/v1/messages"):
            self._reply({})
            return
        self.asked.append(body.decode())
        request = json.loads(body)
        end = {"stop_reason": "end_turn", "stop_sequence": None}
        usage = {"input_tokens": 1, "output_tokens": 1}
        called = self.call(request)
        whole = {"id": "m", "type": "message", "role": "assistant", "model": request.get("model"), "usage": usage}
        if not request.get("stream"):
            self._reply({**whole, **end, "content": [{"type": "text", "text": self.text(request)}]})
            return
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": self.text(request)}
        if called is not None:
            block = {"type": "tool_use", "id": f"toolu_{len(self.asked)}", "name": called[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(called[1])}
            end = {**end, "stop_reason": "tool_use"}
        self._reply(
            {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None, "stop_sequence": None}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": usage},
            {"type": "message_stop"},
        )

    def call(self, request: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """The tool that is called instead, and its arguments."""
        return None

    def text(self, request: dict[str, Any]) -> str:
        """What it says where it calls nothing."""
        return "Hello."

    def do_GET(self) -> None:
        self._reply({})

    def _reply(self, *said: dict[str, Any]) -> None:
        stream = len(said) > 1
        events = "".join(f"event: {one.get('type')}\ndata: {json.dumps(one)}\n\n" for one in said)
        body = (events if stream else json.dumps(said[0])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Screen:
    """A program in a terminal of its own."""

    def __init__(self, words: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
        self._terminal, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
        self.process = subprocess.Popen(
            words, cwd=folder, env=environment, stdin=far, stdout=far, stderr=far, start_new_session=True
        )
        os.close(far)
        self._shown = b""

    @property
    def text(self) -> str:
        shown = self._shown.decode("utf-8", "replace")
        return re.sub(r"\x1b(?:\[[0-9;?<>=]*[A-Za-z]|\][^\x07]*\x07|.)|\s", "", shown)

    def press(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def type(self, text: str) -> None:
        """Key by key: what comes at once is taken for pasted."""
        for character in text:
            self.key(character.encode())

    def key(self, keys: bytes, moment: float = BETWEEN_KEYS) -> None:
        """One key, and a moment for what it does."""
        self.press(keys)
        end = time.monotonic() + moment
        while (left := end - time.monotonic()) > 0:
            if select.select([self._terminal], [], [], left)[0]:
                with contextlib.suppress(OSError):
                    self._shown += os.read(self._terminal, 65536)

    def until(self, is_so: Callable[[], bool], what: str, every: Callable[[], None] = lambda: None) -> None:
        """Read on until it is so; `every` is done about once a second meanwhile."""
        end, next_time = time.monotonic() + LIMIT, time.monotonic() + 1
        while not is_so():
            if time.monotonic() > end:
                raise Wrong(f"{what} did not come to pass; the screen ends with {self.text[-600:]!r}")
            if time.monotonic() > next_time:
                next_time += 1
                every()
            if select.select([self._terminal], [], [], 0.2)[0]:
                with contextlib.suppress(OSError):
                    self._shown += os.read(self._terminal, 65536)

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGTERM)
        with contextlib.suppress(Wrong):
            self.until(lambda: self.process.poll() is not None, "the end")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)
        os.close(self._terminal)


@contextlib.contextmanager
def model(script: type[Model] = Model) -> Iterator[tuple[str, list[str]]]:
    """Its address, and what it is asked."""
    asked: list[str] = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Asked", (script,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def prepare(vault: Path, home: Path) -> None:
    """A vault with an open note, and a Claude Code that asks nothing at its first start."""
    (vault / ".obsidian").mkdir()
    (vault / NOTE).write_text("one\ntwo\nthree\n", encoding="utf-8")
    workspace = {"main": {"type": "split", "children": [{"type": "tabs", "children": [LEAF]}]}, "active": "1"}
    (vault / ".obsidian" / "workspace.json").write_text(json.dumps(workspace), encoding="utf-8")
    answers = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "hasIdeOnboardingBeenShown": {"Obsidian": True},
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(vault): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (home / ".claude.json").write_text(json.dumps(answers), encoding="utf-8")


def trial(server: str, claude: str, vault: Path, home: Path) -> None:
    """It shows the active note, tells the model of it, and takes a mention; and the door ends with it."""
    vault = vault.resolve()
    prepare(vault, home)
    with model() as (address, asked):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": address,
            **dict.fromkeys(QUIET, "1"),
        }
        words = [server, "ide", "--backend", "embedded", "--vault", str(vault), "--", claude]
        screen = Screen(words, home, environment)
        try:
            screen.until(lambda: f"In{NOTE}" in screen.text, f"'In {NOTE}'")
            mention = [server, "mention", NOTE, "--lines", "2:3"]
            said = subprocess.run(mention, env=environment, capture_output=True, text=True, timeout=LIMIT, check=True)
            if said.stdout != f"mentioned {NOTE}, lines 2:3\n":
                raise Wrong(f"mention said {said.stdout!r}")
            screen.until(lambda: f"@{NOTE}#L2-3" in screen.text, "the mention in the prompt")
            screen.press(b" hi")
            told = f"The user opened the file {vault / NOTE} in the IDE"
            screen.until(lambda: any(told in body for body in asked), repr(told), lambda: screen.press(b"\r"))
        finally:
            screen.end()
        left = list(home.rglob("*.lock"))
        if left:
            raise Wrong(f"{left[0]} is left behind")
