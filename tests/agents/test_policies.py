"""Five policies on one plan, against a session that is a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agents.calls import Call, Plan, Unable, one
from agents.policies import CAREFUL, FORGETFUL, NAIVE, PARALLEL, STUBBORN, Agent, Ending, Policy
from agents.seen import Seen

FAILED = Seen("There is no note 'Kyto'. The nearest are Kyoto.md.", is_error=True)


class Script:
    """Answers by what is asked, and remembers what was sent together."""

    def __init__(self) -> None:
        self.schemas = {"write": {"properties": {"name": {}, "etag": {}}, "required": ["name"]}}
        self.sent: list[list[dict[str, Any]]] = []

    def perform(self, calls: Sequence[Call], guarded: bool) -> list[Seen]:
        self.sent.append([call.sent(guarded) for call in calls])
        return [FAILED if call.arguments.get("name") == "Kyto" else Seen('{"etag":"ab"}') for call in calls]


def write(name: str) -> Plan[str]:
    look = yield from one(Call("look", {}, is_extra=True))
    guards = {"etag": look.value("etag")} if look.value("etag") else {"section": "known"}
    yield from one(Call("write", {"name": name}, changes=True, guards=guards))
    return "done"


def followed(policy: Policy, plan: Plan[str]) -> tuple[Ending, list[list[dict[str, Any]]]]:
    script = Script()
    return Agent(policy, script, "").follow(plan), script.sent  # type: ignore[arg-type]


def test_a_careful_agent_says_what_it_knows_and_looks_no_more_than_it_must() -> None:
    assert followed(CAREFUL, write("Kyoto"))[1] == [[{"name": "Kyoto", "section": "known"}]]


def test_a_naive_agent_leaves_the_guards_out() -> None:
    assert followed(NAIVE, write("Kyoto"))[1] == [[{"name": "Kyoto"}]]


def test_a_careful_agent_does_what_the_message_says() -> None:
    ending, sent = followed(CAREFUL, write("Kyto"))
    assert (ending.answer, ending.mended, sent[-1][0]["name"]) == ("done", 1, "Kyoto.md")


def test_a_stubborn_agent_tries_the_same_three_times_and_stops_with_the_reason() -> None:
    ending, sent = followed(STUBBORN, write("Kyto"))
    assert (ending.reason, len(sent), ending.mended) == (FAILED.text, 3, 0)


def test_a_forgetful_agent_does_it_again_with_what_it_saw_at_first() -> None:
    assert followed(FORGETFUL, write("Kyoto"))[1] == [[{}], *[[{"name": "Kyoto", "etag": "ab"}]] * 2]


def test_a_parallel_agent_looks_and_acts_at_once() -> None:
    assert followed(PARALLEL, write("Kyoto"))[1] == [[{}, {"name": "Kyoto", "section": "known"}]]


def test_a_parallel_agent_sends_the_parts_of_a_change_at_once() -> None:
    parts = [Call("write", {"name": str(number)}, changes=True) for number in range(3)]
    plan = one(Call("write", {"name": "all"}, changes=True, apart=parts))
    assert followed(PARALLEL, plan)[1] == [[{"name": "0"}, {"name": "1"}, {"name": "2"}]]  # type: ignore[arg-type]


def test_a_server_without_a_tool_is_unable() -> None:
    def plan() -> Plan[str]:
        raise Unable
        yield ()

    assert followed(CAREFUL, plan())[0].unable


@pytest.mark.parametrize("policy", [CAREFUL, NAIVE, FORGETFUL, PARALLEL], ids=lambda policy: policy.name)
def test_an_error_that_nothing_can_be_made_of_is_the_reason_to_stop(policy: Policy) -> None:
    class Deaf(Script):
        def perform(self, calls: Sequence[Call], guarded: bool) -> list[Seen]:
            return [Seen("No.", is_error=True) for _ in calls]

    assert Agent(policy, Deaf(), "").follow(write("A")).reason == "No."  # type: ignore[arg-type]
