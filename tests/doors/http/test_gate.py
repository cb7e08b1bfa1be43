"""Who may come in, and what happens to those who may not. The ids are those of specs/http.md."""

from __future__ import annotations

import itertools
import json
import subprocess

import pytest

from tests.support.client import COMMAND, PATIENCE, run
from tests.support.inside import run_inside
from tests.support.web import MCP, Web
from tests.support.world import World

DELETE = {"arguments": {"name": "Note", "permanent": True}}
CALL = "/bridge/v1/tools/obsidian_delete_note/call"
ENVELOPE = {"method": "call_tool", "name": "obsidian_delete_note", "args": {"name": "Note", "_confirm": True}}
RPC = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "obsidian_delete_note", "arguments": {"name": "Note"}},
}
WAYS = {"bridge": (CALL, DELETE, {}), "envelope": ("/mcp", ENVELOPE, {}), "streamable": ("/v1/mcp", RPC, MCP)}


def test_d1_a_host_that_others_can_reach_needs_a_token(own_world: World) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5"):
        done = run(own_world.environment(), "serve", "--host", host, "--port", "0")
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"token" in done.stderr
        assert b"any program there could read and delete notes" in done.stderr


def test_d1_by_default_it_binds_loopback(web: Web) -> None:
    listening = subprocess.run(["cat", "/proc/net/tcp"], capture_output=True, timeout=PATIENCE, check=True).stdout
    assert f"0100007F:{web.port:04X} 00000000:0000 0A".encode() in listening


def test_d1_with_a_token_it_may(own_world: World) -> None:
    with Web(own_world.environment(), "--host", "0.0.0.0", "--token", "secret") as web:
        assert web.ask("GET", "/health").status == 401
        assert web.ask("GET", "/health", headers={"X-Api-Key": "secret"}).status == 200


FOREIGN_HOSTS = ["example.com", "127.0.0.1.example.com", "localhost.", "127.0.0.2", "", "[::1", "a@localhost", "[::2]"]


@pytest.mark.parametrize(("host", "way"), list(itertools.product(FOREIGN_HOSTS, WAYS)))
def test_d2_d5_another_host_is_403_everywhere_and_nothing_runs(web: Web, world: World, host: str, way: str) -> None:
    world.put("Note.md", "x")
    path, body, headers = WAYS[way]
    reply = web.ask("POST", path, body, {**headers, "Host": host})
    assert (reply.status, reply.json["code"]) == (403, "FORBIDDEN")
    assert not [name for name in reply.headers if name.startswith("access-control")]
    assert world.has("Note.md")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]", "[::1]:65535", "127.0.0.1:3000"])
def test_d2_loopback_names_are_admitted_with_any_port(web: Web, host: str) -> None:
    assert web.ask("GET", "/health", Host=host).status == 200


def test_d2_more_names_can_be_allowed(own_world: World) -> None:
    with Web(own_world.environment(), "--allow-host", "notes.internal") as web:
        assert web.ask("GET", "/health", Host="notes.internal:8080").status == 200
        assert web.ask("GET", "/health", Host="other.internal").status == 403


def test_d2_no_host_and_two_hosts_are_403(web: Web) -> None:
    assert web.raw(b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 403")
    two = b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert web.raw(two).split(b"\r\n")[0] in (b"HTTP/1.1 403 Forbidden", b"HTTP/1.1 400 Bad Request")


FOREIGN_ORIGINS = [
    "https://example.com",
    "http://localhost",
    "http://localhost:8080",
    "http://127.0.0.1:1",
    "https://[::1]:3",
    "null",
    "http://localhost.example.com",
    "http://127.0.0.1:80@example.com",
    "http://127.0.0.1:3000/x",
    "file://",
    "app://obsidian.md.example.com",
    "http://localhost:123456",
    "",
]


@pytest.mark.parametrize(("origin", "way"), list(itertools.product(FOREIGN_ORIGINS, WAYS)))
def test_d3_d5_a_foreign_page_gets_403_and_no_cors(web: Web, world: World, origin: str, way: str) -> None:
    world.put("Note.md", "x")
    path, body, headers = WAYS[way]
    for method in ("POST", "OPTIONS", "GET"):
        reply = web.ask(method, path, body, {**headers, "Origin": origin})
        assert (reply.status, reply.json["code"]) == (403, "FORBIDDEN")
        assert not [name for name in reply.headers if name.startswith("access-control")]
    assert world.has("Note.md")


def test_d3_a_page_of_the_app_or_of_this_very_port_is_admitted(web: Web) -> None:
    own = [(f"http://{name}:{web.port}", f"{name}:{web.port}") for name in ("localhost", "127.0.0.1", "[::1]")]
    for origin, host in [*own, ("app://obsidian.md", f"127.0.0.1:{web.port}")]:
        reply = web.ask("GET", "/health", Origin=origin, Host=host)
        assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, "*")
    swapped = web.ask("GET", "/health", Origin=f"https://localhost:{web.port}", Host=f"localhost:{web.port}")
    assert swapped.status == 403


def test_d3_a_page_that_was_named_is_admitted_and_no_other(own_world: World) -> None:
    with Web(own_world.environment(OBSIDIAN_MCP_ALLOW_ORIGIN="http://localhost:8080\nhttps://Notes.internal/")) as web:
        for origin in ("http://localhost:8080", "https://notes.internal", "app://obsidian.md"):
            reply = web.ask("OPTIONS", CALL, Origin=origin)
            assert (reply.status, reply.headers["access-control-allow-origin"]) == (204, "*")
        for origin in ("http://localhost:8081", "http://localhost", "http://notes.internal"):
            assert web.ask("OPTIONS", CALL, Origin=origin).status == 403


def test_d3_a_star_admits_every_page_but_no_other_host(own_world: World) -> None:
    with Web(own_world.environment(), "--allow-origin", "*") as web:
        for origin in FOREIGN_ORIGINS:
            assert web.ask("GET", "/bridge/v1/health", Origin=origin).headers["access-control-allow-origin"] == "*"
        assert web.ask("GET", "/health", Host="example.com").status == 403


@pytest.mark.parametrize(
    "options",
    [
        ("--host", "0.0.0.0", "--token", "x", "--allow-origin", "*"),
        ("--allow-origin", "localhost:8080"),
        ("--allow-origin", "http://localhost:8080/page"),
    ],
)
def test_d3_an_origin_that_is_none_or_too_wide_is_one_line(own_world: World, options: tuple[str, ...]) -> None:
    done = run_inside(own_world.environment(), "serve", "--port", "0", *options)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"--allow-origin" in done.stderr


def test_d4_a_token_must_be_right(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Web(own_world.environment(OBSIDIAN_MCP_TOKEN="sécret"), "--backend", "embedded") as web:
        wrong: list[dict[str, str]] = [
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": "Basic sécret"},
            {"Authorization": "sécret"},
            {"X-Api-Key": ""},
            {"X-Api-Key": "sécre"},
        ]
        for path, body, headers in WAYS.values():
            for offered in wrong:
                encoded = {name: value.encode().decode("latin-1") for name, value in offered.items()}
                reply = web.ask("POST", path, body, {**headers, **encoded})
                assert (reply.status, reply.json["code"]) == (401, "UNAUTHORIZED")
                assert reply.headers["www-authenticate"] == "Bearer"
        assert own_world.has("Note.md")
        token = "sécret".encode().decode("latin-1")
        assert web.ask("GET", "/health", Authorization=f"bearer {token}").status == 200
        assert web.ask("GET", "/health", headers={"X-Api-Key": token}).status == 200
        preflight = web.ask("OPTIONS", "/mcp", Origin="app://obsidian.md")
        assert preflight.status == 204
        assert "Authorization" in preflight.headers["access-control-allow-headers"]
        assert web.ask("OPTIONS", "/mcp").status == 401
    assert all("sécret" not in json.dumps(entry, ensure_ascii=False) for entry in web.log)


def test_d6_a_body_is_counted_while_it_streams(web: Web) -> None:
    """Without a length, and never ended: the refusal must come first."""
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    stream = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
    for path, headers, status in ((CALL, "", b"413"), ("/mcp", "", b"200"), ("/mcp", stream, b"413")):
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Transfer-Encoding: chunked\r\n\r\n"
        said = web.raw(head.encode() + chunk * 17)
        assert said.startswith(b"HTTP/1.1 " + status)
        assert b"1048576 bytes" in said


def test_d7_every_error_is_json(web: Web) -> None:
    for method, path in (
        ("POST", "/"),
        ("GET", "/nope"),
        ("POST", "/health"),
        ("GET", "/bridge/v1/"),
        ("GET", "/mcp/x"),
    ):
        reply = web.ask(method, path)
        assert reply.status in (404, 405)
        assert reply.headers["content-type"] == "application/json"
        assert reply.json["code"] in ("NOT_FOUND", "METHOD_NOT_ALLOWED")
    for nonsense in (b"hello\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00"):
        head, _, body = web.raw(nonsense).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400")
        assert json.loads(body)["code"] == "INVALID_REQUEST"


def test_d8_a_port_in_use_is_one_line(web: Web, own_world: World) -> None:
    done = subprocess.run(
        [*COMMAND, "serve", "--port", str(web.port), "--log-level", "error"],
        env=own_world.environment(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.count(b"\n") == 1
    assert str(web.port).encode() in done.stderr
    assert b"--port" in done.stderr


@pytest.mark.parametrize(
    "options", [("--port", "x"), ("--port", "65536"), ("--port", "-1"), ("--host", "no.such.host.invalid")]
)
def test_an_address_that_is_none_is_told(own_world: World, options: tuple[str, ...]) -> None:
    done = run(own_world.environment(), "serve", *options, "--token", "x", "--log-level", "error")
    assert done.returncode in (1, 2)
    assert done.stderr.count(b"\n") == 1
