"""Whatever is thrown at a route: no 500, no hang, JSON or nothing, and no note changed."""

from __future__ import annotations

import json
import socket

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.web import Web
from tests.support.world import World

PATHS = [
    "/bridge/v1/health",
    "/bridge/v1/tools",
    "/bridge/v1/tools/obsidian_read_note/call",
    "/bridge/v1/tools/obsidian_delete_note/call",
    "/health",
    "/v1/health",
    "/mcp",
    "/v1/mcp",
    "/",
]
METHODS = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "X"])
paths = st.sampled_from(PATHS) | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20).map(
    "/".__add__
)
words = st.sampled_from(
    "jsonrpc id method params name args arguments _meta _confirm 2.0 tools/call initialize call_tool list_tools "
    "obsidian_read_note io.modelcontextprotocol/protocolVersion".split()
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | st.text(max_size=3), inner, max_size=5),
    max_leaves=15,
)
requests = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": values,
        "method": words | values,
        "params": st.dictionaries(words, values, max_size=4) | values,
        "name": words | values,
        "args": values,
        "arguments": values,
    },
)
bodies = st.binary(max_size=50) | (requests | values).map(lambda value: json.dumps(value).encode())
names = st.sampled_from(
    ["Accept", "Content-Type", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Range", "Expect"]
)
texts = st.sampled_from(
    ["application/json, text/event-stream", "application/json", "2026-07-28", "2025-11-25", "*/*", "tools/call", ""]
) | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
headers = st.lists(st.tuples(names, texts), max_size=5)


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(method=METHODS, path=paths, body=bodies, headers=headers)
def test_no_request_breaks_the_server(
    web: Web, world: World, method: str, path: str, body: bytes, headers: list[tuple[str, str]]
) -> None:
    world.put("Note.md", "x")
    before = world.tree()
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    said = web.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    while said.startswith(b"HTTP/1.1 100"):
        said = said.partition(b"\r\n\r\n")[2]
    head, _, rest = said.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    assert status in (200, 202, 204, 400, 403, 404, 405, 406, 413, 415), said
    if rest and b"content-type: text/html" in head.lower():
        assert (status, method) == (200, "GET")  # the page
    elif rest:
        json.loads(rest)
    else:
        assert status in (202, 204) or method == "HEAD"
    assert world.tree() == before


def test_headers_without_end_are_refused(web: Web) -> None:
    said = web.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"X: " + b"x" * 200_000 + b"\r\n\r\n")
    assert said == b"" or said.startswith(b"HTTP/1.1 4")  # it closes with our bytes unread, so its own may be lost
    assert web.ask("GET", "/bridge/v1/health").status == 200


def test_a_body_that_ends_too_early_stops_nothing(web: Web) -> None:
    for path in PATHS:
        with socket.create_connection(("127.0.0.1", web.port), 60) as connection:
            connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{".encode())
    assert web.ask("GET", "/bridge/v1/health").status == 200
    assert not [entry for entry in web.log if entry["event"] == "bug"]
