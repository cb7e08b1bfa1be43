from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from obsidian_mcp import running
from obsidian_mcp.call import CallContext, on_this_thread
from obsidian_mcp.errors import CHANGED, READ, UNKNOWN, UNTOUCHED, Failure, InternalError, NoteNotFound, VaultState
from obsidian_mcp.protocol import jsonrpc
from obsidian_mcp.scheduler import Access


def job(run: Callable[[CallContext], Any], **more: Any) -> running.Job:
    return running.Job("tool", Access(frozenset(), writes=False), 5.0, run, **more)


def raising(error: Exception) -> Callable[[CallContext], Any]:
    def run(call: CallContext) -> Any:
        raise error

    return run


STATES = {
    "a write that failed while it looked has changed nothing": (True, READ, UNTOUCHED),
    "a write that may have happened stays unknown": (True, UNKNOWN, UNKNOWN),
    "a write that happened stays changed": (True, CHANGED, CHANGED),
    "a read has nothing to say of changes": (False, UNTOUCHED, READ),
    "a read that looked": (False, READ, READ),
}


@pytest.mark.parametrize(("changes", "before", "after"), STATES.values(), ids=STATES)
def test_a_failure_says_how_the_vault_was_left(changes: bool, before: VaultState, after: VaultState) -> None:
    with pytest.raises(NoteNotFound) as caught:
        running.run(job(raising(NoteNotFound("Gone.", vault=before)), changes=changes), CallContext())
    assert caught.value.vault is after


@pytest.mark.parametrize(("changes", "state"), [(True, UNKNOWN), (False, READ)])
def test_a_bug_in_a_write_leaves_it_unknown_what_happened(changes: bool, state: VaultState) -> None:
    with pytest.raises(InternalError) as caught:
        running.run(job(raising(ZeroDivisionError("a note's text")), changes=changes), CallContext())
    assert caught.value.vault is state
    assert "a note's text" not in caught.value.message


def test_the_clock_starts_when_everything_is_loaded() -> None:
    call = CallContext(0.5)
    call._started -= 10
    assert running.run(job(lambda call: call.remaining > 0, ready=lambda: None), call) is True


def test_what_was_found_gets_its_shape_and_the_log_gets_what_was_found() -> None:
    def note(found: int) -> dict[str, Any]:
        noted.append(found)
        return {}

    noted: list[int] = []
    shaped = job(lambda call: 7, shape=lambda found: {"n": found}, noted=note)
    reply = running.reply(1, shaped, CallContext())
    assert (reply.result, noted) == ({"n": 7}, [7])


def test_a_failure_is_an_error_or_a_result_as_the_job_says() -> None:
    as_error = running.reply(1, job(raising(NoteNotFound("Gone."))), CallContext())
    as_result = running.reply(1, job(raising(NoteNotFound("Gone.")), failed=_told), CallContext())
    assert (as_error.result, type(as_error.failure)) == (None, NoteNotFound)
    assert (as_result.result, as_result.failure) == ({"told": "Gone."}, None)


def _told(failure: Failure) -> dict[str, Any]:
    return {"told": failure.fact}


def test_a_result_that_is_not_json_is_told_as_a_bug_with_its_id() -> None:
    told = jsonrpc.decode(running.encoded(jsonrpc.Reply(7, {"x": object()})))
    assert (told["id"], told["error"]["code"]) == (7, -32603)


def test_one_reply_of_a_batch_that_is_not_json_costs_none_of_the_others() -> None:
    replies = [jsonrpc.Reply(1, {}), jsonrpc.Reply(2, {"x": object()})]
    told = jsonrpc.decode(running.encoded(replies))
    assert [(one["id"], "result" in one) for one in told] == [(1, True), (2, False)]


def test_a_job_knows_its_call_on_its_thread_and_leaves_none_there() -> None:
    call = CallContext()
    assert running.run(job(lambda _: on_this_thread()), call) is call
    assert on_this_thread() is None
