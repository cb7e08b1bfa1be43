"""A session of the older revisions over HTTP: a question comes by the call's own stream, its answer by another POST."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from obsidian_mcp.connection import Shared
from obsidian_mcp.doors.http import streamable
from obsidian_mcp.doors.http.loop_bridge import LoopBridge
from obsidian_mcp.protocol.jsonrpc import Notification
from obsidian_mcp.protocol.methods import Session
from obsidian_mcp.scheduler import Scheduler
from tests.support.process import PATIENCE
from tests.support.web import MCP, Web
from tests.support.world import World

YES = {"action": "accept", "content": {"confirm": True}}
NO: dict[str, dict[str, Any]] = {
    "no": {"result": {"action": "accept", "content": {"confirm": False}}},
    "declined": {"result": {"action": "decline"}},
    "cancelled": {"result": {"action": "cancel"}},
    "nonsense": {"result": ["yes"]},
    "an error": {"error": {"code": -32601, "message": "no"}},
}
DELETE = {"name": "obsidian_delete_note", "arguments": {"name": "Note", "permanent": True}}


@pytest.fixture
def vault(own_world: World) -> World:
    own_world.put("Note.md", "0123456789")
    own_world.put("Other.md", "[[Note]]")
    return own_world


@pytest.fixture
def web(vault: World) -> Iterator[Web]:
    options = ("--vault", str(vault.vault), "--backend", "embedded", "--timeout", "1", "--errors", "result")
    with Web(vault.environment(), *options) as web:
        yield web


def begin(web: Web, elicitation: Any, revision: str = "2025-11-25") -> dict[str, str]:
    capabilities = {} if elicitation is None else {"elicitation": elicitation}
    params = {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "a~b+", "version": "1"}}
    reply = web.rpc({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    return {"Mcp-Session-Id": reply.headers["mcp-session-id"], "MCP-Protocol-Version": revision}


class Stream:
    """One POST whose reply is read event by event."""

    def __init__(self, web: Web, session: Mapping[str, str], params: Any = DELETE, id: int = 1) -> None:
        self.connection = web.connect()
        body = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        self.connection.request("POST", "/mcp", json.dumps(body), {**MCP, **session})
        self.socket: socket.socket = self.connection.sock
        self.reply: http.client.HTTPResponse = self.connection.getresponse()
        assert self.reply.headers["content-type"].startswith("text/event-stream")

    def next(self) -> Any:
        """The next message; None at the end."""
        while line := self.reply.readline():
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.reply.close()
        self.connection.close()


Start = Callable[..., Stream]


@pytest.fixture
def start() -> Iterator[Start]:
    """Streams that are closed after the test."""
    with contextlib.ExitStack() as stack:

        def begun(*given: Any) -> Stream:
            stream = Stream(*given)
            stack.callback(stream.hang_up)
            return stream

        yield begun


def answer(web: Web, session: Mapping[str, str], asked: dict[str, Any], **said: Any) -> int:
    return web.rpc({"jsonrpc": "2.0", "id": asked["id"], **said}, session).status


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_t10_a_yes_by_another_post_deletes_it(web: Web, vault: World, start: Start, revision: str) -> None:
    session = begin(web, {}, revision)
    stream = start(web, session)
    asked = stream.next()
    assert (asked["method"], vault.has("Note.md")) == ("elicitation/create", True)
    assert "Note.md" in asked["params"]["message"]
    assert ("mode" in asked["params"]) == (revision != "2025-06-18")
    assert answer(web, session, asked, result=YES) == 202
    done = stream.next()
    assert (done["id"], done["result"]["isError"]) == (1, False)
    assert stream.next() is None
    assert not vault.has("Note.md")


@pytest.mark.parametrize("said", NO.values(), ids=NO)
def test_t10_anything_else_changes_nothing(web: Web, vault: World, start: Start, said: dict[str, Any]) -> None:
    before = vault.tree()
    session = begin(web, {"form": {}})
    stream = start(web, session)
    assert answer(web, session, stream.next(), **said) == 202
    assert stream.next()["result"]["_meta"]["obsidian-mcp/error"]["errorCode"] == "NOT_CONFIRMED"
    assert vault.tree() == before


def test_t10_only_the_session_that_was_asked_can_answer(web: Web, vault: World, start: Start) -> None:
    session = begin(web, {})
    stream = start(web, session)
    asked = stream.next()
    for other in (begin(web, {}), {}, {"MCP-Protocol-Version": "2025-11-25"}):
        assert answer(web, other, asked, result=YES) == 202
    assert vault.has("Note.md")
    answer(web, session, asked, result={"action": "decline"})
    answer(web, session, asked, result=YES)
    assert stream.next()["result"]["isError"] is True
    assert vault.has("Note.md")


def test_t10_while_a_person_thinks_others_write(web: Web, vault: World, start: Start) -> None:
    session = begin(web, {})
    stream = start(web, session)
    asked = stream.next()
    for number in range(5):
        note = {"name": "obsidian_append_note", "arguments": {"name": "Other", "content": str(number)}}
        call = {"jsonrpc": "2.0", "id": 100 + number, "method": "tools/call", "params": note}
        assert web.rpc(call, session).json["result"]["isError"] is False
    answer(web, session, asked, result=YES)
    assert stream.next()["result"]["isError"] is False


def test_t10_two_questions_have_their_own_answers(web: Web, vault: World, start: Start) -> None:
    session = begin(web, {})
    other = {**DELETE, "arguments": {"name": "Other", "permanent": True}}
    streams = [start(web, session, DELETE, 1), start(web, session, other, 2)]
    asked = [stream.next() for stream in streams]
    assert asked[0]["id"] != asked[1]["id"]
    answer(web, session, asked[1], result=YES)
    answer(web, session, asked[0], result={"action": "decline"})
    assert [stream.next()["result"]["isError"] for stream in streams] == [True, False]
    assert (vault.has("Note.md"), vault.has("Other.md")) == (True, False)


def test_t10_a_stream_that_is_closed_takes_its_question_along(web: Web, vault: World, start: Start) -> None:
    session = begin(web, {})
    stream = start(web, session)
    asked = stream.next()
    stream.hang_up()
    _until_free(web, session, 1)
    assert answer(web, session, asked, result=YES) == 202
    assert vault.has("Note.md")


def _until_free(web: Web, session: Mapping[str, str], id: int) -> None:
    """The server sees that a client has gone when it looks: until then the id is taken."""
    call = {"name": "obsidian_read_note", "arguments": {"name": "Other"}}
    while "error" in web.rpc({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}, session).json:
        pass


def test_t10_a_cancelled_call_takes_its_question_back(web: Web, vault: World, start: Start) -> None:
    session = begin(web, {})
    stream = start(web, session)
    asked = stream.next()
    gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert web.rpc(gone, session).status == 202
    assert stream.next()["params"]["requestId"] == asked["id"]
    assert stream.next() is None
    answer(web, session, asked, result=YES)
    assert vault.has("Note.md")


def test_t10_the_end_of_the_session_ends_its_questions(web: Web, vault: World, start: Start) -> None:
    session = begin(web, {})
    stream = start(web, session)
    asked = stream.next()
    assert web.ask("DELETE", "/mcp", headers=session).status == 204
    assert stream.next()["method"] == "notifications/cancelled"
    assert stream.next() is None
    assert answer(web, session, asked, result=YES) == 404
    assert vault.has("Note.md")


def test_t10_a_server_that_ends_waits_for_no_answer(vault: World, start: Start) -> None:
    options = ("--vault", str(vault.vault), "--backend", "embedded", "--timeout", "600", "--errors", "result")
    with Web(vault.environment(), *options) as web:
        stream = start(web, begin(web, {}))
        stream.next()
        web.process.terminate()
        assert stream.next()["result"]["isError"] is True
        assert stream.next() is None
        assert web.process.wait(PATIENCE) == 0
    assert vault.has("Note.md")


CANNOT_ASK: dict[str, tuple[Any, str]] = {
    "no capability": (None, "2025-11-25"),
    "addresses alone": ({"url": {}}, "2025-11-25"),
    "a revision that has no questions": ({}, "2025-03-26"),
}


@pytest.mark.parametrize(("elicitation", "revision"), CANNOT_ASK.values(), ids=CANNOT_ASK)
def test_t10_a_session_that_cannot_ask_is_served_without(
    web: Web, vault: World, elicitation: Any, revision: str
) -> None:
    session = begin(web, elicitation, revision)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": DELETE}
    assert web.rpc(call, session).json["result"]["isError"] is False
    assert not vault.has("Note.md")


def test_t10_what_the_id_says_of_the_client_cannot_be_forged(web: Web) -> None:
    asks, asks_not = begin(web, {})["Mcp-Session-Id"], begin(web, None)["Mcp-Session-Id"]
    assert "+" in asks
    assert "+" not in asks_not
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    body, _, proof = asks_not.rpartition(".")
    for forged in (asks.replace("+", ""), f"{body}+.{proof}"):
        assert web.rpc(ping, {"Mcp-Session-Id": forged}).status == 404


def test_t10_a_stream_on_which_nothing_happens_says_that_it_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamable, "QUIET", 0.001)

    async def stream() -> list[bytes]:
        exchange = streamable._Exchange(NoServer(), LoopBridge(Scheduler()), Session(), Shared())  # type: ignore[arg-type]
        exchange._held = Notification("x", {})
        said = exchange.rest()
        return [await anext(said), await anext(said)]

    first, second = asyncio.run(stream())
    assert first.startswith(b"event: message")
    assert second == b": \n\n"


class NoServer:
    methods: Mapping[str, Any] = {}
