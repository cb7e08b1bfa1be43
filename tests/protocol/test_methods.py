from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.errors import Failure, spec_of
from obsidian_mcp.protocol import revisions
from obsidian_mcp.protocol.jsonrpc import Request
from obsidian_mcp.protocol.methods import LEGACY, MODERN, Method, Session, capabilities


def answer(*_: Any) -> dict[str, Any]:
    return {}


TABLE = {
    "initialize": Method(answer, (LEGACY,), before_initialize=True),
    "server/discover": Method(answer, (MODERN,)),
    "tools/list": Method(answer, before_initialize=True, capability="tools"),
    "tools/call": Method(answer, capability="tools"),
    "prompts/list": Method(answer, (MODERN,), capability="prompts", changes=True),
    "completion/complete": Method(answer, (MODERN,), capability="completions", lists=False),
}
META = {revisions.VERSION_KEY: revisions.MODERN[0], revisions.CAPABILITIES_KEY: {}}


def request(method: str, modern: bool = False, **params: Any) -> Request:
    return Request(method, {**params, **({"_meta": META} if modern else {})}, 1, False)


def test_capabilities_follow_from_the_rows() -> None:
    assert capabilities(TABLE, modern=False) == {"tools": {}}
    assert capabilities(TABLE, modern=True) == {
        "tools": {"listChanged": False},
        "prompts": {"listChanged": True},
        "completions": {},
    }


REFUSED = {
    "a method without a row": (Session("2025-11-25"), request("resources/list"), -32601),
    "a method of the older era in the newer": (Session(), request("initialize", modern=True), -32601),
    "a method of the newer era without an envelope": (Session("2025-11-25"), request("server/discover"), -32602),
    "a call before initialize": (Session(), request("tools/call"), -32600),
    "params that are an array": (Session("2025-11-25"), Request("tools/list", [], 1, False), -32602),
}


@pytest.mark.parametrize(("session", "asked", "code"), REFUSED.values(), ids=REFUSED)
def test_what_may_not_be_answered_is_refused(session: Session, asked: Request, code: int) -> None:
    with pytest.raises(Failure) as caught:
        session.admit(asked, TABLE)
    assert spec_of(caught.value).rpc == code


def test_the_message_names_the_methods_there_are_in_that_era() -> None:
    with pytest.raises(Failure) as caught:
        Session("2025-11-25").admit(request("x"), TABLE)
    assert caught.value.hint.model == "Methods: initialize, tools/list, tools/call."


def test_a_peer_is_known_by_the_name_it_gave() -> None:
    session = Session()
    session.agree({"protocolVersion": "2025-06-18", "clientInfo": {"name": "cursor"}})
    _, peer = session.admit(request("tools/call"), TABLE)
    assert (peer.modern, peer.revision, peer.client) == (False, "2025-06-18", "cursor")
    asked = request("tools/call", modern=True)
    asked.params["_meta"] = {**META, revisions.CLIENT_INFO_KEY: {"name": "zed"}}
    _, peer = Session().admit(asked, TABLE)
    assert (peer.modern, peer.client) == (True, "zed")
