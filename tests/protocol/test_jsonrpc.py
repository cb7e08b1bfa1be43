from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.connection import Connection
from obsidian_mcp.errors import Failure, ParseError
from obsidian_mcp.protocol import jsonrpc
from obsidian_mcp.protocol.methods import LEGACY, MODERN, Method
from obsidian_mcp.running import Progress
from obsidian_mcp.scheduler import Scheduler

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_what_is_encoded_is_one_line_and_decodes_to_the_same(value: Any) -> None:
    line = jsonrpc.encode(value)
    assert b"\n" not in line
    assert jsonrpc.decode(line) == value


def test_a_lone_surrogate_goes_out_as_an_escape() -> None:
    assert jsonrpc.encode({"a": "x\ud800"}) == b'{"a":"x\\ud800"}'


@given(st.binary(max_size=80))
def test_bytes_are_decoded_or_refused(line: bytes) -> None:
    with contextlib.suppress(ParseError):
        jsonrpc.decode(line)


@given(JSON)
def test_any_value_is_a_request_or_a_failure(value: Any) -> None:
    try:
        request = jsonrpc.parse(value)
    except Failure as failure:
        reply = json.loads(jsonrpc.encode_message(jsonrpc.Reply(jsonrpc.id_of(value), failure=failure)))
        assert reply["error"]["code"] in (-32600, -32602)
    else:
        assert isinstance(request.method, str)


def _stop(*_: Any) -> Any:
    raise ParseError("stop here")


def _nothing(*_: Any) -> dict[str, Any]:
    return {}


class _Server:
    """Only gets what no rule has stopped."""

    methods: Mapping[str, Method] = {
        "initialize": Method(_nothing, (LEGACY,), before_initialize=True),
        "ping": Method(_nothing, (LEGACY,), before_initialize=True),
        "server/discover": Method(_nothing, (MODERN,)),
        "tools/list": Method(_nothing, before_initialize=True),
        "tools/call": Method(_stop, named_by="name"),
    }


class Sent(list[Any]):
    """What a door would have sent, decoded again."""

    def take(self, message: jsonrpc.Message) -> None:
        self.append(json.loads(jsonrpc.encode_message(message)))


METHODS = (
    st.sampled_from(["initialize", "ping", "tools/list", "tools/call", "server/discover", "exit", "x"]) | st.text()
)
IDS = JSON | st.integers(0, 3)
MESSAGES = st.fixed_dictionaries(
    {}, optional={"jsonrpc": st.just("2.0") | JSON, "id": IDS, "method": METHODS | JSON, "params": JSON}
)


@given(st.lists(MESSAGES | JSON | st.lists(MESSAGES, max_size=3), max_size=6))
def test_no_messages_can_stop_a_conversation(messages: list[Any]) -> None:
    sent = Sent()
    connection = Connection(_Server(), Scheduler(), sent.take)
    for message in messages:
        connection.receive(jsonrpc.encode(message))
    connection.receive(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
    replies = list(sent)
    assert replies[-1]["id"] == "last"
    for reply in replies:
        for one in reply if isinstance(reply, list) else [reply]:
            assert one["jsonrpc"] == "2.0"
            assert ("result" in one) != ("error" in one)


@pytest.mark.parametrize("token", [None, True, 1.5, [], {}])
def test_a_progress_token_of_a_wrong_type_is_ignored(token: Any) -> None:
    sent = Sent()
    Progress(token, sent.take).report(1.0, "waiting")
    assert sent == []


def test_progress_only_grows_and_ends_with_the_reply() -> None:
    sent = Sent()
    progress = Progress("t", sent.take)
    for seconds in (1.0, 1.0, 0.5, 2.0):
        progress.report(seconds, "waiting")
    progress.close()
    progress.report(3.0, "late")
    assert [one["params"]["progress"] for one in sent] == [1.0, 2.0]


def test_a_batch_beyond_the_limit_is_one_error() -> None:
    sent = Sent()
    connection = Connection(_Server(), Scheduler(), sent.take)
    connection.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}')
    connection.receive(jsonrpc.encode([7] * 1001))
    assert sent[-1]["error"]["code"] == -32600
