from __future__ import annotations

import json
import queue
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from obsidian_mcp import connection, running
from obsidian_mcp.call import CallContext, NotBegun
from obsidian_mcp.connection import Connection, Shared
from obsidian_mcp.errors import Cancelled, NeedsAnswer, Question, spec_of
from obsidian_mcp.protocol import jsonrpc
from obsidian_mcp.protocol.methods import Method, Peer
from obsidian_mcp.running import Job
from obsidian_mcp.scheduler import Access, Scheduler

PATIENCE = 30


class Slow:
    """A server whose jobs end when they may."""

    def __init__(self) -> None:
        self.may_end = threading.Semaphore(0)
        self.methods: Mapping[str, Method] = {
            "initialize": Method(self.answer_now, before_initialize=True),
            "ping": Method(self.answer_now),
            "tools/list": Method(self.answer_now),
            "tools/call": Method(lambda request, peer: Job("tool", Access(frozenset(), writes=False), 600.0, self.run)),
        }

    def answer_now(self, request: jsonrpc.Request, peer: Peer) -> dict[str, Any]:
        return {}

    def run(self, call: CallContext) -> dict[str, Any]:
        self.may_end.acquire(timeout=PATIENCE)
        return {}


@pytest.mark.parametrize("limit", ["MOST_UNDER_WAY", "MOST_BYTES_UNDER_WAY"])
def test_no_further_line_is_read_while_too_much_is_under_way(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(connection, limit, 2)
    slow = Slow()
    sent: list[jsonrpc.Message] = []
    talk = Connection(slow, Scheduler(), sent.append)
    talk.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}')
    taken = threading.Semaphore(0)

    def send() -> None:
        for number in range(3):
            talk.receive(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call"}' % (number + 1))
            taken.release()

    threading.Thread(target=send, daemon=True).start()
    assert taken.acquire(timeout=PATIENCE)
    for _ in range(3):
        slow.may_end.release()
    assert all(taken.acquire(timeout=PATIENCE) for _ in range(2))
    assert talk.drain(PATIENCE)
    assert len(sent) == 4


def test_a_fourth_call_waits_for_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_UNDER_WAY", 2)
    slow = Slow()
    sent: list[jsonrpc.Message] = []
    talk = Connection(slow, Scheduler(), sent.append)
    talk.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}')
    for number in (1, 2):
        talk.receive(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call"}' % number)
    through = threading.Event()

    def send() -> None:
        talk.receive(b'{"jsonrpc":"2.0","id":3,"method":"tools/call"}')
        through.set()

    threading.Thread(target=send, daemon=True).start()
    assert not through.wait(0.3)
    slow.may_end.release()
    assert through.wait(PATIENCE)
    for _ in range(2):
        slow.may_end.release()
    assert talk.drain(PATIENCE)


def test_a_call_that_is_over_its_limit_begins_nothing_more() -> None:
    with pytest.raises(NotBegun):
        CallContext(limit=0.0).check("the next step")


def test_a_cancelled_call_begins_nothing_more() -> None:
    call = CallContext()
    call.cancel()
    with pytest.raises(Cancelled):
        call.check("the next step")
    with pytest.raises(Cancelled), call.running(lambda: pytest.fail("it was started"), lambda _: None):
        pass


def test_cancelling_stops_what_runs() -> None:
    call, stopped = CallContext(), list[str]()
    with call.running(lambda: "it", stopped.append):
        call.cancel()
        assert stopped == ["it"]


def test_nothing_is_reported_after_the_reply() -> None:
    class Keeps(Slow):
        def run(self, call: CallContext) -> dict[str, Any]:
            self.call = call
            return super().run(call)

    keeps = Keeps()
    sent: list[jsonrpc.Message] = []
    talk = Connection(keeps, Scheduler(), sent.append)
    talk.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}')
    keeps.may_end.release()
    talk.receive(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"p"}}}')
    assert talk.drain(PATIENCE)
    keeps.call.begin()
    keeps.call._started -= 5
    keeps.call.progress("late")
    assert len(sent) == 2


def ids_and_codes(sent: list[jsonrpc.Message]) -> list[tuple[Any, int | None]]:
    replies = [one for one in sent if isinstance(one, jsonrpc.Reply)]
    return [(reply.id, spec_of(reply.failure).rpc if reply.failure else None) for reply in replies]


def test_a_request_that_also_carries_a_result_is_answered() -> None:
    sent: list[jsonrpc.Message] = []
    talk = Connection(Slow(), Scheduler(), sent.append)
    talk.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}')
    talk.receive(b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}')
    talk.receive(b'{"jsonrpc":"2.0","id":2,"result":{}}')
    assert ids_and_codes(sent) == [(0, None), (1, None)]


def test_a_bug_outside_a_job_is_answered_and_the_next_line_is_taken() -> None:
    class Broken(Slow):
        def answer_now(self, request: jsonrpc.Request, peer: Peer) -> dict[str, Any]:
            if request.method == "ping":
                raise ZeroDivisionError
            return {}

    sent: list[jsonrpc.Message] = []
    talk = Connection(Broken(), Scheduler(), sent.append)
    for number, method in enumerate((b"initialize", b"ping", b"tools/list")):
        talk.receive(b'{"jsonrpc":"2.0","id":%d,"method":"%s"}' % (number, method))
    assert ids_and_codes(sent) == [(0, None), (1, -32603), (2, None)]


def test_a_method_without_a_row_is_not_found() -> None:
    sent: list[jsonrpc.Message] = []
    talk = Connection(Slow(), Scheduler(), sent.append)
    talk.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}')
    talk.receive(b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}')
    assert ids_and_codes(sent) == [(0, None), (1, -32601)]


class Asks:
    """A server whose calls ask, and do what the answer says."""

    def __init__(self, holds: float) -> None:
        self.holds = holds
        self.methods: Mapping[str, Method] = {
            "initialize": Method(lambda request, peer: {}, before_initialize=True),
            "tools/call": Method(lambda request, peer: self.job(self.ask)),
        }

    def job(self, run: Any) -> Job:
        job = Job("tool", Access(frozenset(), writes=True), 30.0, run)
        job.asked = lambda question: running.Asking("ask", {}, self.again, self.holds)
        return job

    def ask(self, call: CallContext) -> dict[str, Any]:
        raise NeedsAnswer(Question("Really?", "Yes", ""))

    def again(self, answer: Any) -> Job:
        return self.job(lambda call: {"answer": answer})


def asking(holds: float) -> tuple[Connection, queue.SimpleQueue[Any], str]:
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()
    talk = Connection(Asks(holds), Scheduler(), said.put)
    talk.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}')
    talk.receive(b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}')
    assert isinstance(said.get(timeout=PATIENCE), jsonrpc.Reply)
    question = said.get(timeout=PATIENCE)
    assert question.method == "ask"
    return talk, said, question.id


def say(talk: Connection, id: str, result: Any) -> None:
    talk.receive(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode())


def test_a_question_has_the_answer_that_names_it() -> None:
    talk, said, id = asking(600)
    say(talk, "ask-0", 1)
    say(talk, id, 2)
    say(talk, id, 3)
    assert said.get(timeout=PATIENCE).result == {"answer": 2}
    assert talk.drain(PATIENCE)


def test_a_question_that_no_one_answers_expires() -> None:
    talk, said, id = asking(0.01)
    withdrawn = said.get(timeout=PATIENCE)
    assert (withdrawn.method, withdrawn.params["requestId"]) == ("notifications/cancelled", id)
    assert said.get(timeout=PATIENCE).result == {"answer": None}
    assert talk.drain(PATIENCE)


def test_a_client_that_is_gone_is_asked_nothing_more() -> None:
    talk, said, _ = asking(600)
    talk.abandon()
    assert talk.drain(PATIENCE)
    assert said.empty()


def test_no_clock_is_left_of_a_question_that_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks: queue.SimpleQueue[Clock] = queue.SimpleQueue()

    class Clock(threading.Timer):
        def start(self) -> None:
            super().start()
            clocks.put(self)

    monkeypatch.setattr(threading, "Timer", Clock)
    talk, _, id = asking(600)
    clock = clocks.get(timeout=PATIENCE)
    say(talk, id, None)
    clock.join(PATIENCE)
    assert not clock.is_alive()


def test_an_answer_may_come_by_another_connection_of_the_session() -> None:
    shared, said = Shared(), queue.SimpleQueue[Any]()
    other = Connection(Asks(600), Scheduler(), said.put, shared=shared)
    stranger = Connection(Asks(600), Scheduler(), said.put)
    talk = Connection(Asks(600), Scheduler(), said.put, shared=shared)
    talk.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}')
    talk.receive(b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}')
    said.get(timeout=PATIENCE)
    id = said.get(timeout=PATIENCE).id
    say(stranger, id, 1)
    say(other, id, 2)
    assert said.get(timeout=PATIENCE).result == {"answer": 2}
    assert talk.drain(PATIENCE)
