"""An agent in a terminal, with a model that is a script: Gemini CLI against an endpoint on loopback.

The model sees what a real one would: the tools it is offered, and what each call came back with. It meets an error,
then reads a long note page by page, and the pages put together must be the note.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Generator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LIMIT = 240
LONG = "".join(f"Line {number}: the quick brown fox, “jumps” über 懶狗 №{number}\n" for number in range(3_300))
Call = tuple[str, dict[str, Any]]


class Wrong(Exception):
    """What was not as it should be."""


class Reader:
    """What the model does: a call for a note that isn't there, then every page of the long one."""

    def __init__(self) -> None:
        self.error = ""
        self.read: list[str] = []
        self.pages = 0

    def turns(self) -> Generator[Call, str, None]:
        """Each call, and what came back for it is sent in. Ends when there is nothing left to ask."""
        self.error = yield ("read_note", {"name": "Nowhere"})
        start: dict[str, Any] = {}
        while True:
            data = _data((yield ("read_note", {"name": "Long", **start})))
            self.read.append(data["content"])
            self.pages += 1
            start = {}
            if "next_char" in data:
                start["start_char"] = data["next_char"]
            if "next_line" not in data:
                return
            start["start_line"] = data["next_line"]


def _data(text: str) -> dict[str, Any]:
    """The data of a result as the host shows it, with whatever it puts around it."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        found: dict[str, Any] = json.loads(text[begin : end + 1])["data"]
    except (ValueError, KeyError, TypeError):
        raise Wrong(f"the model was shown this instead of a page: {text[:300]} … {text[-300:]}") from None
    return found


class Endpoint(ThreadingHTTPServer):
    """Gemini's API, as far as the agent uses it."""

    daemon_threads = True

    def __init__(self, reader: Reader) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tools: list[str] = []
        self.problem = ""
        self._turns: Any = reader.turns()
        self._begun = False
        self._lock = threading.Lock()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The next thing that the model says."""
        declared = [tool["name"] for part in request.get("tools", ()) for tool in part.get("functionDeclarations", ())]
        if not any("read_note" in name for name in declared):
            return _said({"text": "{}"})  # a question of the agent's own, such as which model to use
        self.tools = [name for name in declared if "obsidian" in name]
        with self._lock:
            try:
                tool, arguments = self._turns.send(_last_result(request)) if self._begun else next(self._turns)
                self._begun = True
            except StopIteration:
                return _said({"text": "Done."})
            except Wrong as wrong:
                self.problem = str(wrong)
                return _said({"text": "Something is wrong."})
        name = next(name for name in self.tools if name.endswith(tool))
        return _said({"functionCall": {"name": name, "args": arguments}})


def _last_result(request: dict[str, Any]) -> str:
    parts = [part for content in request["contents"] for part in content.get("parts", ())]
    responses = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    last = responses[-1] if responses else {}
    return str(last.get("output", last.get("error", last)))


def _said(part: dict[str, Any]) -> dict[str, Any]:
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "script"}


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if "countTokens" in self.path:
            reply: dict[str, Any] = {"totalTokens": 1}
        else:
            reply = self.server.answer(request)
        streamed = "stream" in self.path
        body = f"data: {json.dumps(reply)}\r\n\r\n" if streamed else json.dumps(reply)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: what matters is told at the end."""


def gemini(program: str, server: Sequence[str], vault: Path, home: Path, tools: int) -> str:
    """One session; what was seen, in a line. Raises Wrong."""
    (vault / "Long.md").write_text(LONG, encoding="utf-8")
    settings = {
        "mcpServers": {"obsidian": {"command": server[0], "args": list(server[1:]), "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    }
    (home / ".gemini").mkdir(parents=True, exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    reader = Reader()
    with Endpoint(reader) as endpoint:
        threading.Thread(target=endpoint.serve_forever, daemon=True).start()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{endpoint.server_address[1]}",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        words = [program, "--yolo", "--model", "gemini-2.5-pro", "-p", "Read the long note."]
        done = subprocess.run(
            words,
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        endpoint.shutdown()
    told = f"{done.stdout[-600:]}\n{done.stderr[-600:]}"
    if endpoint.problem or done.returncode:
        raise Wrong(f"{endpoint.problem}\nexit code {done.returncode}\n{told}")
    if len(endpoint.tools) != tools:
        raise Wrong(f"{len(endpoint.tools)} tools were offered to the model, not {tools}\n{told}")
    if "There is no note 'Nowhere'" not in reader.error:
        raise Wrong(f"the error did not reach the model: {reader.error}\n{told}")
    if "".join(reader.read) != LONG:
        raise Wrong(f"{reader.pages} pages are not the note\n{told}")
    return f"{len(LONG.encode()):,} bytes in {reader.pages} pages, byte for byte"
