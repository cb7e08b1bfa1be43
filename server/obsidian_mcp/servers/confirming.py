"""Asking the person before a call does what can't be taken back: what was asked, and whether they agreed.

A call that has to ask is run twice. The first run ends where it asks, before anything is done, and lets go of its
turn: while a person thinks, nothing waits for them, and no clock runs. The second has the answer, and asks nothing as
long as it is about what the answer was about. In the stateless era the client sends the call again; under the older
revisions the connection puts the question and starts the second run itself.

Loaded when a call runs: it needs what the warm-up loads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Conflict, NeedsAnswer, NotConfirmed, Question
from obsidian_mcp.protocol import elicitation
from obsidian_mcp.protocol.elicitation import HOLDS, KEY, States
from obsidian_mcp.running import Asking, Job

_states = States(os.urandom(32))


def confirmed_by(answer: Any, subject: str) -> Callable[[Question], None]:
    """Agrees to what the answer agrees to."""

    def confirm(question: Question) -> None:
        if question.subject != subject:
            raise Conflict(elicitation.CHANGED, "Send the call again if it is still wanted.")
        elicitation.require_yes(answer, question.otherwise)

    return confirm


def not_yet(question: Question) -> None:
    raise NeedsAnswer(question)


def of_request(name: str, params: dict[str, Any], clock: Callable[[], float] = time.time) -> Callable[[Question], None]:
    """In the stateless era: by the answer that a request brings with it. Raises BadState."""
    state, answers = params.get("requestState"), params.get("inputResponses")
    if not isinstance(state, str):
        return not_yet
    subject = _states.subject(state, elicitation.digest(name, params.get("arguments") or {}), clock())
    if not isinstance(answers, dict) or KEY not in answers:
        return not_yet
    return confirmed_by(answers[KEY], subject)


def required(
    name: str, params: dict[str, Any], question: Question, clock: Callable[[], float] = time.time
) -> dict[str, Any]:
    """The result that asks, in the stateless era."""
    call = elicitation.digest(name, params.get("arguments") or {})
    return elicitation.required(question, _states.sign(call, question.subject, clock() + HOLDS))


def asking(
    question: Question,
    revision: str | None,
    again: Callable[[Callable[[CallContext], None]], Job],
    clock: Callable[[], float] = time.monotonic,
) -> Asking:
    """The question that the connection puts, under the older revisions; `again` makes the job with the answer."""
    until = clock() + HOLDS

    def late(asked: Question) -> None:
        raise NotConfirmed("The answer came too late.", asked.otherwise)

    def go_on(answer: Any) -> Job:
        confirm = confirmed_by(answer, question.subject) if clock() <= until else late
        return again(lambda call: call.ask_by(confirm))

    return Asking(elicitation.METHOD, elicitation.form(question, revision), go_on, HOLDS)
