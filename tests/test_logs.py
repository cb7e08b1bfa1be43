"""The log: what it says and what it keeps to itself, when a line is written, and what becomes of it at the end."""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import structlog

from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.world import World

LOGGING = """
import os, sys
from obsidian_mcp import logs
logs.configure("info", "json")
logs.GATHERING = 3600
for number in range(300):
    logs.log("info", "line", number=number, path="\\ud800")
"""
BOTH_ENDS = {"the interpreter's own": "", "at once": "logs.close(); os._exit(0)"}


@pytest.mark.parametrize("end", BOTH_ENDS.values(), ids=BOTH_ENDS)
def test_every_line_is_written_before_the_end(end: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOGGING + end], capture_output=True, timeout=PATIENCE, check=True)
    assert [json.loads(line)["number"] for line in done.stderr.splitlines()] == list(range(300))
    assert done.stdout == b""


@pytest.mark.parametrize("level", ["warning", "error"])
def test_a_warning_is_written_at_once_with_all_that_came_before(level: str) -> None:
    script = LOGGING + f"logs.log({level!r}, 'now')\nsys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr
        events = [json.loads(process.stderr.readline())["event"] for _ in range(301)]
        assert events == ["line"] * 300 + ["now"]
        assert process.poll() is None
        process.communicate(timeout=PATIENCE)


def test_a_line_of_json_is_what_structlog_makes_of_it() -> None:
    """The fields, their order and the form of the time."""
    fields = {"tool": "obsidian_read_note", "path": "Käse/é\n.md", "none": None, "ms": 1.5, "all": ["a", 1], "odd": {1}}
    script = f"from obsidian_mcp import logs\nlogs.configure('info', 'json')\nlogs.log('info', 'call', **{fields!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=PATIENCE, check=True)
    chain = (structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True))
    line: dict[str, Any] = {**fields, "event": "call"}
    for processor in chain:
        processor(None, "info", line)
    theirs = str(structlog.processors.JSONRenderer(ensure_ascii=False)(None, "info", line))
    shape = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")
    assert shape.search(theirs)
    assert shape.sub("T", done.stderr.decode().rstrip("\n")) == shape.sub("T", theirs)


def test_structlog_is_loaded_for_people_alone() -> None:
    script = (
        "import sys\n"
        "from obsidian_mcp import logs\n"
        "logs.configure('info', sys.argv[1])\n"
        "print('structlog' in sys.modules)\n"
    )
    for format, loaded in (("json", "False"), ("console", "True")):
        command = [sys.executable, "-c", script, format]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == loaded


MANY = LOGGING.replace("300", "20_000").replace("3600", "0")
LOGGED = "print('logged', flush=True)\nsys.stdin.read()"


def test_a_reader_that_never_reads_does_not_hold_up_the_end() -> None:
    read, write = os.pipe()
    try:
        subprocess.run([sys.executable, "-c", MANY], stderr=write, timeout=PATIENCE, check=True)
    finally:
        os.close(write)
        os.close(read)


def test_while_nobody_reads_only_so_many_lines_are_kept() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", MANY + LOGGED], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout
        assert process.stdout.readline() == b"logged\n"
        log = process.communicate(timeout=PATIENCE)[1]
    numbers = [json.loads(line)["number"] for line in log.splitlines()]
    assert numbers == sorted(numbers)
    assert 100 < len(numbers) < 10_000  # what fits into the pipe, what is being written, what may wait


def test_a_stderr_that_does_not_block_loses_nothing() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    script = LOGGING.replace("300", "900").replace("3600", "0") + "path = 'x' * 200_000\n"
    script += "logs.log('warning', 'long', number=900, path=path)\n" + LOGGED
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, stderr=write) as process:
        os.close(write)
        assert process.stdout
        assert process.stdout.readline() == b"logged\n"
        with open(read, encoding="utf-8") as log:
            assert [json.loads(log.readline())["number"] for _ in range(901)] == list(range(901))
            process.communicate(timeout=PATIENCE)


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="only Linux makes a pipe small")
def test_no_line_is_torn_where_two_write_to_one_pipe() -> None:
    """One so small that both wait in the middle of what they write."""
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, select.PIPE_BUF)
    command, pipe = [sys.executable, "-c", MANY + LOGGED], subprocess.PIPE
    both = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=write, text=True) for _ in range(2)]
    os.close(write)
    for process in both:
        assert process.stdout
        assert process.stdout.readline() == "logged\n"
    with ThreadPoolExecutor() as pool:
        ending = [pool.submit(process.communicate, timeout=PATIENCE) for process in both]
        with open(read, encoding="utf-8") as log:
            assert {json.loads(line)["event"] for line in log} == {"line"}
    assert [end.result()[0] for end in ending] == ["", ""]


def test_the_last_call_is_in_the_log_although_the_input_ends_at_once(own_world: World) -> None:
    own_world.put("Note.md", "x")
    with Server(own_world.environment(), "--vault", "Vault") as server:
        server.initialize().call("read_note", name="Note")
        server.finish()
    assert json.loads(server.log.splitlines()[-1])["event"] == "call"


def test_a_bug_is_an_internal_error_whose_id_is_in_the_log(own_world: World) -> None:
    broken = (
        "import obsidian_mcp.operations.finding as finding\n"
        "def existing(name, vault, whole=False): raise RuntimeError('the secret text of a note')\n"
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
