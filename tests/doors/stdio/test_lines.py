"""Lines that are no messages, or odd ones, through a real process."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Server, ToolFailed
from tests.support.world import World

BAD_LINES: dict[str, tuple[bytes, int, Any]] = {
    "not JSON": (b"hello", -32700, None),
    "half an object": (b'{"jsonrpc":"2.0","id":1', -32700, None),
    "invalid UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None),
    "deep nesting": (b"[" * 100_000 + b"]" * 100_000, -32700, None),
    "deep objects": (b'{"a":' * 100_000, -32700, None),
    "NaN": (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700, None),
    "Infinity": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}', -32700, None),
    "an exponent out of range": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}', -32700, None),
    "a number of 5,000 digits": (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', -32700, None),
    "a number": (b"7", -32600, None),
    "null": (b"null", -32600, None),
    "a string": (b'"ping"', -32600, None),
    "an empty object": (b"{}", -32600, None),
    "no version": (b'{"id":7,"method":"ping"}', -32600, 7),
    "another version": (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
    "no method": (b'{"jsonrpc":"2.0","id":7}', -32600, 7),
    "a method of another type": (b'{"jsonrpc":"2.0","id":7,"method":7}', -32600, 7),
    "null as id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    "true as id": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    "a fraction as id": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
    "an object as id": (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
    "an array": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
}


@pytest.mark.parametrize(("line", "code", "id"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_line_that_is_no_message_gets_its_error_and_the_loop_goes_on(
    server: Server, line: bytes, code: int, id: Any
) -> None:
    server.write(line + b"\n")
    reply = server.wait(id)
    assert (reply["error"]["code"], reply["id"]) == (code, id)
    assert reply["error"]["data"]["errorCode"]
    assert server.request("ping")["result"] == {}


UNANSWERED = {
    "an empty line": b"",
    "white space": b" \t\r",
    "an unknown notification": b'{"jsonrpc":"2.0","method":"notifications/whatever"}',
    "a call without id": b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"obsidian_create_note",'
    b'"arguments":{"name":"Made","content":"x"}}}',
    "a reply": b'{"jsonrpc":"2.0","id":1,"result":{}}',
    "an error reply": b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
}


@pytest.mark.parametrize("line", UNANSWERED.values(), ids=UNANSWERED)
def test_what_needs_no_answer_gets_none(server: Server, world: World, line: bytes) -> None:
    before = len(server.said)
    server.write(line + b"\n")
    server.request("ping")
    assert len(server.said) == before + 1
    with pytest.raises(ToolFailed):  # a look at the note waits for every write to it
        server.call("file_info", name="Made")
    assert world.tree() == {}


GOOD_IDS = [0, -1, 2**53, 10**200, "", "x", "é\u2028", "\ud800"]


@pytest.mark.parametrize("id", GOOD_IDS, ids=repr)
def test_an_id_comes_back_as_it_was(server: Server, id: Any) -> None:
    server.send({"jsonrpc": "2.0", "id": id, "method": "ping"})
    assert server.wait(id)["id"] == id


def test_a_message_may_end_in_crlf_and_begin_with_a_byte_order_mark(server: Server) -> None:
    server.write(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"w","method":"ping"}\r\n')
    assert server.wait("w")["result"] == {}


def test_a_line_over_the_limit_is_dropped_without_being_held(own_world: World) -> None:
    with Server(own_world.environment(), "--vault", "Vault", forked=False) as server:
        server.initialize()
        piece = b"x" * (1 << 20)
        for _ in range(200):
            server.write(piece)
        server.write(b"\n")
        assert server.wait(None)["error"]["code"] == -32700
        assert server.request("ping")["result"] == {}
        assert server.peak_mb() < 150  # 200 were sent


def test_a_line_just_under_the_limit_is_read(server: Server, world: World) -> None:
    content = "x" * (15 * 1024 * 1024)
    done = server.call("create_note", name="Big", content=content)
    assert done["size"] == len(content)
    assert world.get("Big.md") == content.encode()
