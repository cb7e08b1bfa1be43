"""The names that the conformance suite asks for, in front of a real server: a proxy that translates them.

The suite wants a reference server with certain tools and resources. What is to be checked is how ours answers, so only
names are translated: a resource of the suite is a file of the vault, and a tool of the suite that has to ask its user
something is a deletion for good.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.web import Web
from tests.support.world import World

VAULT = "obsidian://vault/Vault/"
RESOURCES = {
    "test://static-text": f"{VAULT}static.txt",
    "test://static-binary": f"{VAULT}static.png",
    "test://template/123/data": f"{VAULT}template/123.json",
}
QUESTION = "test_input_required_result_"
#        the suite's tool → what it calls the question
TOOLS = {
    f"{QUESTION}elicitation": "user_name",
    f"{QUESTION}request_state": "confirm",
    f"{QUESTION}tampered_state": "confirm",
    "test_elicitation": "confirm",
}
DELETION = {"name": "obsidian_delete_note", "arguments": {"name": "Fixture.md", "permanent": True}}
KEPT = ("content-type", "mcp-session-id", "cache-control")


def prepare(world: World) -> None:
    """What the suite expects to find, anew before each scenario."""
    world.put("static.txt", "This is the content of the static text resource.")
    world.put("static.png", b"\x89PNG\r\n\x1a\n")
    world.put("template/123.json", '{"id":"123","templateTest":true}')
    world.put("Prompts/test_simple_prompt.md", "This is a simple prompt for testing.")
    world.put("Prompts/test_prompt_with_arguments.md", "Prompt with arguments: {{arg1}}, {{arg2}}")
    world.put("Fixture.md", "To be deleted, if the person agrees.")


def _translated(message: Any) -> tuple[Any, str | None]:
    """As our server knows it, and what its question is called by the suite."""
    if isinstance(message, dict) and "result" in message:
        return {**message, "result": _ticked(message["result"])}, None
    params = message.get("params") if isinstance(message, dict) else None
    if not isinstance(params, dict):
        return message, None
    if params.get("uri") in RESOURCES:
        return {**message, "params": {**params, "uri": RESOURCES[params["uri"]]}}, None
    question = TOOLS.get(params.get("name", ""))
    if question is None:
        return message, None
    given = params.get("inputResponses")
    answers = {"inputResponses": _answers(given, question)} if isinstance(given, dict) else {}
    return {**message, "params": {**params, **DELETION, **answers}}, question


def _answers(given: dict[str, Any], question: str) -> dict[str, Any]:
    return {
        "confirm" if key == question else key: _ticked(answer) if key == question else answer
        for key, answer in given.items()
    }


def _ticked(answer: Any) -> Any:
    """To accept with whatever the suite fills in is to tick the box."""
    return {**answer, "content": {"confirm": True}} if isinstance(answer, dict) and "content" in answer else answer


class _Proxy(BaseHTTPRequestHandler):
    server: Fixture
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")
        sent, question = _translated(message)
        headers = {key: value for key, value in self.headers.items() if key.lower() not in ("host", "content-length")}
        params = sent.get("params") if isinstance(sent, dict) else None
        if sent is not message and isinstance(params, dict) and "Mcp-Name" in self.headers:
            headers["Mcp-Name"] = params.get("name") or params.get("uri", "")
        there = http.client.HTTPConnection("127.0.0.1", self.server.target, timeout=60)
        there.request("POST", self.path, json.dumps(sent).encode(), headers)
        reply = there.getresponse()
        if (reply.headers["content-type"] or "").startswith("text/event-stream"):
            self._stream(reply)
            there.close()
            return
        body = reply.read()
        if question is not None and question != "confirm":
            body = body.replace(b'"inputRequests":{"confirm":', b'"inputRequests":{"%b":' % question.encode())
        self._head(reply)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        there.close()

    def _head(self, reply: http.client.HTTPResponse) -> None:
        self.send_response(reply.status)
        for key, value in reply.getheaders():
            if key.lower() in KEPT:
                self.send_header(key, value)

    def _stream(self, reply: http.client.HTTPResponse) -> None:
        """Line by line: a question waits for its answer."""
        self._head(reply)
        self.send_header("Connection", "close")
        self.end_headers()
        while line := reply.readline():
            self.wfile.write(line)
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: what matters is told at the end."""


class Fixture(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, target: int) -> None:
        super().__init__(("127.0.0.1", 0), _Proxy)
        self.target = target


@contextmanager
def before(web: Web) -> Iterator[str]:
    """The address of a server that knows the suite's names."""
    with Fixture(web.port) as fixture:
        threading.Thread(target=fixture.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{fixture.server_address[1]}/mcp"
        fixture.shutdown()
