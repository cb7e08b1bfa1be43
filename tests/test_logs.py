"""The log: what it says and what it keeps to itself, when a line is written, and what becomes of it at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.world import World

LOGGING = """
import os, sys
from obsidian_mcp import logs
logs.configure("info", "json")
logs.GATHERING = 3600
for number in range(500):
    logs.log("info", "line", number=number)
"""
BOTH_ENDS = {"the interpreter's own": "", "at once": "logs.close(); os._exit(0)"}


@pytest.mark.parametrize("end", BOTH_ENDS.values(), ids=BOTH_ENDS)
def test_every_line_is_written_before_the_end(end: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOGGING + end], capture_output=True, timeout=PATIENCE, check=True)
    assert [json.loads(line)["number"] for line in done.stderr.splitlines()] == list(range(500))
    assert done.stdout == b""


@pytest.mark.parametrize("level", ["warning", "error"])
def test_a_warning_is_written_at_once_with_all_that_came_before(level: str) -> None:
    script = LOGGING + f"logs.log({level!r}, 'now')\nsys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr
        events = [json.loads(process.stderr.readline())["event"] for _ in range(501)]
        assert events == ["line"] * 500 + ["now"]
        assert process.poll() is None
        process.communicate(timeout=PATIENCE)


def test_a_reader_that_never_reads_costs_lines_and_not_the_end() -> None:
    """More than a pipe holds, and more than may wait."""
    read, write = os.pipe()
    script = LOGGING.replace("500", "5000").replace("3600", "0")
    try:
        subprocess.run([sys.executable, "-c", script], stderr=write, timeout=PATIENCE, check=True)
    finally:
        os.close(write)
        os.close(read)


def test_a_bug_is_an_internal_error_whose_id_is_in_the_log(own_world: World) -> None:
    broken = (
        "import obsidian_mcp.operations.finding as finding\n"
        "def existing(name, vault): raise RuntimeError('the secret text of a note')\n"
        "finding.existing = existing\n"
        "from obsidian_mcp.__main__ import main\n"
        "main()\n"
    )
    with Server(own_world.environment(), "--vault", "Vault", command=(sys.executable, "-c", broken)) as server:
        with pytest.raises(ToolFailed) as caught:
            server.initialize().call("read_note", name="Note")
        assert (caught.value.code, caught.value.error_code) == (-32603, "INTERNAL_ERROR")
        assert "secret" not in caught.value.message
        assert server.request("ping")["result"] == {}
        assert server.finish() == 0
    assert caught.value.data["incident"] in caught.value.message
    assert caught.value.data["incident"].encode() in server.log
    assert b"RuntimeError" in server.log
    assert b"secret" not in server.log


@pytest.mark.parametrize("format", ["json", "console"])
def test_the_log_names_tools_codes_and_paths_but_never_text(own_world: World, format: str) -> None:
    own_world.put("Note.md", "SECRET body")
    options = ("--vault", "Vault", "--log-level", "debug", "--log-format", format)
    with Server(own_world.environment(), *options) as server:
        server.initialize()
        server.call("read_note", name="Note")
        server.call("append_note", name="Note", content="SECRET more")
        server.call("create_note", name="New", content="SECRET \\nu")
        with pytest.raises(ToolFailed):
            server.call("read_note", name="Missing")
        assert server.finish() == 0
    log = server.log.decode()
    assert "SECRET" not in log
    for word in ("obsidian_read_note", "Note.md", "FILE_NOT_FOUND", "serving"):
        assert word in log
    if format == "json":
        events = [json.loads(line) for line in log.splitlines()]
        assert events[0]["event"] == "serving"
        assert events[0]["backend"] == "obsidian"
        assert str(own_world.command) in events[0]["why"]


def test_the_log_level_is_obeyed(own_world: World) -> None:
    with Server(own_world.environment(), "--vault", "Vault", "--log-level", "error") as server:
        server.initialize()
        with pytest.raises(ToolFailed):
            server.call("read_note", name="Missing")
        server.finish()
    assert server.log == b""
