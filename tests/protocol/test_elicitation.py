from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.errors import NotConfirmed, Question
from obsidian_mcp.protocol.elicitation import BadState, States, digest, form, require_yes
from obsidian_mcp.protocol.revisions import takes_forms

QUESTION = Question("Delete it?", "Delete", "etag", "Don't.")
STATES = States(b"key")


def test_a_question_is_a_box_that_is_not_ticked() -> None:
    asked = form(QUESTION, "2025-11-25")
    assert asked["mode"] == "form"
    assert asked["requestedSchema"]["properties"]["confirm"]["default"] is False
    assert asked["requestedSchema"]["required"] == ["confirm"]
    assert "mode" not in form(QUESTION, "2025-06-18")


def test_only_a_plain_yes_is_one() -> None:
    require_yes({"action": "accept", "content": {"confirm": True}}, "")


NO: list[Any] = [
    {"action": "accept", "content": {"confirm": False}},
    {"action": "accept", "content": {"confirm": "true"}},
    {"action": "accept", "content": {"confirm": 1}},
    {"action": "accept", "content": {}},
    {"action": "accept"},
    {"action": "decline", "content": {"confirm": True}},
    {"action": "cancel"},
    {"content": {"confirm": True}},
    {},
    None,
    True,
    [],
]


@pytest.mark.parametrize("answer", NO, ids=str)
def test_everything_else_is_a_no(answer: Any) -> None:
    with pytest.raises(NotConfirmed) as caught:
        require_yes(answer, "Do this instead.")
    assert "Do this instead." in caught.value.message


@given(st.text(), st.text(), st.floats(0, 1e9))
def test_a_state_is_known_again_until_it_expires(call: str, subject: str, until: float) -> None:
    state = STATES.sign(call, subject, until)
    assert STATES.subject(state, call, until) == subject
    for other, now in ((f"{call}x", 0.0), (call, until + 1)):
        with pytest.raises(BadState):
            STATES.subject(state, other, now)


@given(st.integers(0, 300), st.characters(max_codepoint=126, min_codepoint=33))
def test_a_state_that_was_changed_is_not_known(at: int, character: str) -> None:
    state = STATES.sign("call", "subject", 1e9)
    changed = state[: at % len(state)] + character + state[at % len(state) + 1 :]
    if changed != state:
        with pytest.raises(BadState):
            STATES.subject(changed, "call", 0)


@pytest.mark.parametrize("state", ["", ".", "x.y", "é", "W10=.", "\ud800"])
def test_what_is_no_state_is_told(state: str) -> None:
    with pytest.raises(BadState):
        STATES.subject(state, "call", 0)


def test_another_servers_state_is_not_ours() -> None:
    with pytest.raises(BadState):
        STATES.subject(States(b"other").sign("call", "subject", 1e9), "call", 0)


def test_a_call_is_its_name_and_arguments_in_any_order() -> None:
    assert digest("t", {"a": 1, "b": 2}) == digest("t", {"b": 2, "a": 1}) != digest("t", {"a": 1})


CAPABILITIES: list[tuple[Any, bool]] = [
    ({}, True),
    ({"form": {}}, True),
    ({"form": {}, "url": {}}, True),
    ({"url": {}}, False),
    (None, False),
]


@pytest.mark.parametrize(("elicitation", "asks"), CAPABILITIES, ids=str)
def test_a_client_can_ask_if_it_says_so(elicitation: Any, asks: bool) -> None:
    assert takes_forms({"elicitation": elicitation}) is asks
    assert not takes_forms({})
    assert not takes_forms(None)
