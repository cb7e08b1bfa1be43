"""Several calls at once through a real process: order, cancelling, progress."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import Server, ToolFailed
from tests.support.world import World

TOKEN = {"progressToken": "p"}


# Side by side, and in order


def test_a_slow_call_delays_neither_a_ping_nor_another_note(server: Server, world: World) -> None:
    world.put("Slow.md", "slow")
    world.put("Quick.md", "quick")
    world.mood("hang", commands=["append"])
    slow = server.begin_call("append_note", TOKEN, name="Slow.md", content="x")
    server.wait("notifications/progress")
    assert server.request("ping")["result"] == {}
    assert server.call("read_note", name="Quick.md")["content"] == "quick"
    server.notify("notifications/cancelled", {"requestId": slow})
    world.wait_until_all_are_gone()


def test_a_read_sees_the_writes_that_came_before_it_and_none_that_came_after(server: Server, world: World) -> None:
    world.mood("slow", seconds=0.2, commands=["create", "append", "delete"])
    steps: list[tuple[str, dict[str, Any]]] = [
        ("create_note", {"name": "Log", "content": "one"}),
        ("read_note", {"name": "Log"}),
        ("append_note", {"name": "log.md", "content": "two"}),
        ("read_note", {"name": "Log.md"}),
        ("rename_note", {"name": "Log", "new_name": "Diary"}),
        ("read_note", {"name": "Diary"}),
        ("delete_note", {"name": "Diary"}),
        ("file_info", {"name": "Diary"}),
    ]
    numbers = [server.begin_call(tool, **arguments) for tool, arguments in steps]
    done = [server.end_call(number) for number in numbers[:-1]]
    assert [step.get("content") for step in done[1::2]] == ["one", "one\ntwo", "one\ntwo"]
    with pytest.raises(ToolFailed) as caught:
        server.end_call(numbers[-1])
    assert caught.value.code == -32003


def test_writes_run_one_after_another_in_the_order_in_which_they_came(server: Server, world: World) -> None:
    for number in range(8):
        world.put(f"N{number}.md", "")
    world.mood("slow", seconds=0.05, commands=["append"])
    numbers = [server.begin_call("append_note", name=f"N{number}.md", content="x") for number in range(8)]
    for number in numbers:
        server.end_call(number)
    acts = [(record["phase"], record["argv"][2]) for record in world.records() if record["argv"][1] == "append"]
    assert acts == [(phase, f"path=N{number}.md") for number in range(8) for phase in ("begin", "end")]


def test_two_hundred_requests_in_flight_are_all_answered(server: Server, world: World) -> None:
    for number in range(10):
        world.put(f"N{number}.md", f"text {number}")
    numbers = [server.begin_call("read_note", name=f"N{number % 10}.md") for number in range(200)]
    pings = [server.begin("ping") for _ in range(50)]
    assert [server.end_call(number)["content"] for number in numbers] == [f"text {at % 10}" for at in range(200)]
    assert all(server.wait(ping)["result"] == {} for ping in pings)


# Cancelling and progress


def test_a_cancelled_call_is_ended_and_not_answered(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("hang-with-child", commands=["append"])
    number = server.begin_call("append_note", TOKEN, name="Note.md", content="y")
    server.wait("notifications/progress")
    server.notify("notifications/cancelled", {"requestId": number, "reason": "changed my mind"})
    world.wait_until_all_are_gone()
    world.mood(None)
    assert server.call("append_note", name="Note.md", content="z")
    assert not any(isinstance(said, dict) and said.get("id") == number for said in server.said)
    assert world.get("Note.md") == b"x\nz"


def test_a_call_cancelled_before_its_turn_never_runs(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("hang", commands=["append"])
    first = server.begin_call("append_note", TOKEN, name="Note.md", content="y")
    server.wait("notifications/progress")
    second = server.begin_call("create_note", name="Never", content="y")
    for number in (second, first):
        server.notify("notifications/cancelled", {"requestId": number})
    world.mood(None)
    assert server.call("create_note", name="After", content="y")["created"] is True
    assert not world.has("Never.md")


@pytest.mark.parametrize("target", [12345, "nope", None, True, [1], {}])
def test_cancelling_what_does_not_run_does_nothing(server: Server, target: Any) -> None:
    server.notify("notifications/cancelled", {"requestId": target})
    server.notify("notifications/cancelled", [target])
    assert server.request("ping")["result"] == {}


def test_true_does_not_cancel_the_call_with_id_one(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("slow", seconds=1.5)
    with Server(own_world.environment(), "--vault", "Vault") as server:
        server.initialize()
        call = {"name": "obsidian_read_note", "arguments": {"name": "Note.md"}, "_meta": TOKEN}
        server.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        server.wait("notifications/progress")
        server.notify("notifications/cancelled", {"requestId": True})
        assert server.wait(1)["result"]["structuredContent"]["data"]["content"] == "x"


def test_progress_grows_and_ends_with_the_reply(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("slow", seconds=2.5, commands=["read"])
    number = server.begin_call("read_note", {"progressToken": 77}, name="Note.md")
    server.end_call(number)
    assert server.request("ping")
    ours = [said for said in server.said if said.get("params", {}).get("progressToken") == 77]
    steps = [said["params"]["progress"] for said in ours]
    assert len(steps) >= 2
    assert steps == sorted(set(steps))
    reply = next(at for at, said in enumerate(server.said) if said.get("id") == number)
    assert all(server.said.index(said) < reply for said in ours)
    assert "Note.md" in ours[0]["params"]["message"]


def test_nobody_hears_of_progress_unasked(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("slow", seconds=1.5, commands=["read"])
    before = len(server.said)
    server.call("read_note", name="Note.md")
    assert [said for said in server.said[before:] if said.get("method")] == []


def test_an_id_still_in_flight_is_refused_without_using_it(server: Server, world: World) -> None:
    world.put("Note.md", "x")
    world.mood("slow", seconds=1.5, commands=["read"])
    number = server.begin_call("read_note", TOKEN, name="Note.md")
    server.wait("notifications/progress")
    server.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
    assert server.wait(None)["error"]["code"] == -32600
    assert server.end_call(number)["content"] == "x"
    assert [said.get("id") for said in server.said].count(number) == 1
    server.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
    assert server.wait(number)["result"] == {}
