"""Another's Bridge v1 server, which answers whatever a test wants it to."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

HEALTH = {"status": "ok", "version": "9", "protocolVersion": "1"}


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}", "inputSchema": {"properties": {"x": {}}}}


class Foreign:
    """`answers` maps a path's end to what to say: JSON, (status, JSON), bytes, a way to misbehave, or what decides."""

    def __init__(self, port: int = 0) -> None:
        self.answers: dict[str, Any] = {"/health": HEALTH}
        self.asked: list[tuple[str, Any]] = []
        self.arrived = threading.Semaphore(0)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._answer(self)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.release = threading.Event()

    def offer(self, *names: str, hash: str | None = None) -> None:
        self.answers["/tools"] = {"tools": [tool(name) for name in names], "hash": hash or ",".join(names)}

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        path = handler.path.removeprefix("/bridge/v1")
        self.asked.append((path, json.loads(body) if body else None))
        self.arrived.release()
        answer = self.answers.get(path, (404, {"error": "Not found", "message": "nothing there"}))
        if callable(answer):
            answer = answer()
        if answer == "cut":
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            return
        if answer == "silent":
            self.release.wait()
            handler.close_connection = True
            return
        if answer == "half":
            handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"success"')
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            return
        status, said = answer if isinstance(answer, tuple) else (200, answer)
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def reserved_port() -> Iterator[int]:
    """One on which nobody listens. It stays bound, so that the system gives it to nobody who does not ask for it."""
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]
