"""A system that allows no further thread, by a limit on processes or on memory: calls may fail, and nothing hangs.

Where a thread can't be started Python says so with a RuntimeError, whatever the limit is.
"""

from __future__ import annotations

import subprocess

import pytest

from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.process import How, start
from tests.support.web import Web
from tests.support.world import World

COUNTED = """
import threading
really, left = threading.Thread.start, {allowed}
def start(thread):
    global left
    left -= 1
    if left < 0:
        raise RuntimeError("can't start new thread")
    really(thread)
threading.Thread.start = start
"""
# Stacks larger than the room that is left, and room enough for all else.
LIMITED = """
import resource, threading
threading.stack_size(1 << 30)
with open("/proc/self/statm") as file:
    pages = int(file.read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 29),) * 2)
"""
NONE = How(first=COUNTED.format(allowed=0), forked=False)


def on_files(world: World) -> tuple[str, ...]:
    return ("--vault", str(world.vault), "--backend", "embedded")


@pytest.mark.parametrize(
    "first",
    [*(COUNTED.format(allowed=allowed) for allowed in (0, 1, 2, 4)), LIMITED],
    ids=["none", "one", "two", "four", "by memory"],
)
def test_calls_run_on_the_threads_there_are_and_the_end_of_input_ends_it(own_world: World, first: str) -> None:
    for number in range(40):
        own_world.put(f"{number % 5}/{number}.md", "[[Old]]\n")
    own_world.put("Old.md", "")
    with Server(own_world.environment(), *on_files(own_world), first=first, forked=False) as server:
        server.initialize()
        begun = [server.begin_call("append_note", name="Old", content=str(number)) for number in range(300)]
        for call in begun:
            server.end_call(call)
        assert server.call("move_note", name="Old", to="New.md")["links_updated"] == 40
        assert server.call("read_note", name="New")["content"].split() == [str(number) for number in range(300)]
        assert server.finish() == 0
    assert own_world.get("3/3.md") == b"[[New]]\n"
    assert b'"event":"serving"' in server.log.replace(b": ", b":")


def test_the_end_of_input_does_not_wait_for_a_call_that_never_ends(own_world: World) -> None:
    never = (
        "import threading\n"
        "from obsidian_mcp import running\n"
        "from obsidian_mcp.doors.stdio import server\n"
        "running.run = lambda *_: threading.Event().wait()\n"
        "server.BEYOND_LIMIT = 0.0\n"
    )
    with Server(own_world.environment(), *on_files(own_world), "--timeout", "0.1", first=never) as server:
        server.initialize()
        server.begin_call("read_note", name="Note")
        assert server.finish() == 1


def test_a_command_that_could_not_be_heard_is_a_failure_and_no_bug(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Server(own_world.environment(), "--vault", "Vault", **NONE) as server:
        server.initialize()
        with pytest.raises(ToolFailed) as caught:
            server.call("read_note", name="Note")
        assert (caught.value.error_code, "thread" in caught.value.message) == ("CLI_FAILED", True)
        assert server.finish() == 0


def test_over_http_calls_run_on_the_loop(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Web(own_world.environment(), *on_files(own_world), "--log-level", "info", **NONE) as web:
        assert web.call("read_note", name="Note")["success"] is True
        assert web.ask("GET", "/health").json["status"] == "ok"
        assert web.stop() == 0


def test_the_stdio_bridge_says_why_it_has_no_tools(own_world: World) -> None:
    with Server(own_world.environment(), "bridge", "--port", "1", **NONE) as server:
        server.initialize()
        reply = server.request("tools/call", {"name": "any", "arguments": {}})
        assert "thread" in str(reply)
        assert server.finish() == 0


def test_the_ide_door_does_not_open_and_says_why(own_world: World) -> None:
    words = ("ide", *on_files(own_world), "--log-level", "error")
    process = start(own_world.environment(), words, stdin=subprocess.DEVNULL, **NONE)
    assert isinstance(process, subprocess.Popen)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert told.count(b"\n") == 1
    assert b"thread" in told
