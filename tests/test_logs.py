"""The log's own thread: what it writes, when, and what becomes of it at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.client import PATIENCE

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
