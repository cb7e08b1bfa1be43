from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from obsidian_mcp import connection
from obsidian_mcp.call import CallContext, NotBegun
from obsidian_mcp.connection import Connection
from obsidian_mcp.errors import Cancelled, InternalError
from obsidian_mcp.protocol import jsonrpc
from obsidian_mcp.scheduler import Access, Scheduler
from obsidian_mcp.servers.notes import ToolCall

PATIENCE = 30


class Slow:
    """A dispatcher whose calls end when they may."""

    calls: tuple[str, ...] = ("tools/call",)

    def __init__(self) -> None:
        self.may_end = threading.Semaphore(0)

    def quick_result(self, *_: Any) -> bytes:
        return b"{}"

    def tool_call(self, request: jsonrpc.Request, modern: bool) -> ToolCall:
        return ToolCall(request.id, "tool", {}, modern, 600.0, Access(frozenset(), writes=False))

    def answer(self, tool: ToolCall, call: CallContext) -> bytes:
        self.may_end.acquire(timeout=PATIENCE)
        return jsonrpc.reply(tool.id, b"{}")


@pytest.mark.parametrize("limit", ["MOST_UNDER_WAY", "MOST_BYTES_UNDER_WAY"])
def test_no_further_line_is_read_while_too_much_is_under_way(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(connection, limit, 2)
    slow, sent = Slow(), list[bytes]()
    dispatcher: Any = slow
    talk = Connection(dispatcher, Scheduler(), sent.append)
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
    slow, sent = Slow(), list[bytes]()
    dispatcher: Any = slow
    talk = Connection(dispatcher, Scheduler(), sent.append)
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
        def answer(self, tool: ToolCall, call: CallContext) -> bytes:
            self.call = call
            return super().answer(tool, call)

    keeps, sent = Keeps(), list[bytes]()
    dispatcher: Any = keeps
    talk = Connection(dispatcher, Scheduler(), sent.append)
    talk.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}')
    keeps.may_end.release()
    talk.receive(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"p"}}}')
    assert talk.drain(PATIENCE)
    keeps.call.begin()
    keeps.call._started -= 5
    keeps.call.progress("late")
    assert len(sent) == 2


def test_a_request_that_also_carries_a_result_is_answered() -> None:
    sent: list[bytes] = []
    dispatcher: Any = Slow()
    talk = Connection(dispatcher, Scheduler(), sent.append)
    talk.receive(b'{"jsonrpc":"2.0","id":0,"method":"initialize"}')
    talk.receive(b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}')
    talk.receive(b'{"jsonrpc":"2.0","id":2,"result":{}}')
    assert [b'"id":0' in sent[0], b'"id":1' in sent[1], len(sent)] == [True, True, 2]


def test_a_bug_outside_a_call_is_answered_and_the_next_line_is_taken() -> None:
    class Broken(Slow):
        def quick_result(self, request: Any, *_: Any) -> bytes:
            if request.method == "ping":
                raise ZeroDivisionError
            return b"{}"

        def bug(self, bug: Exception, doing: str) -> InternalError:
            return InternalError(f"{type(bug).__name__} in {doing}")

    sent: list[bytes] = []
    dispatcher: Any = Broken()
    talk = Connection(dispatcher, Scheduler(), sent.append)
    for number, method in enumerate((b"initialize", b"ping", b"tools/list")):
        talk.receive(b'{"jsonrpc":"2.0","id":%d,"method":"%s"}' % (number, method))
    codes = [json.loads(one).get("error", {}).get("code") for one in sent]
    assert codes == [None, -32603, None]
