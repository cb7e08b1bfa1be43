"""A command run in this process, as if it had been started: what it costs is the command, not an interpreter.

For commands that end by themselves. Whoever serves, or is sent signals, needs a process: `client.run`.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from obsidian_mcp.__main__ import main


def run_inside(
    environment: Mapping[str, str], *options: str, cwd: Path | None = None, program: str = "obsidian-mcp"
) -> subprocess.CompletedProcess[bytes]:
    """The same as `client.run`."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with ExitStack() as stack:
        for prepared in (_environment(environment), _words(program, *options), _signals(), _descriptor(1)):
            stack.enter_context(prepared)
        if cwd is not None:
            stack.enter_context(chdir(cwd))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        try:
            main()
            code: object = 0
        except SystemExit as end:
            code = end.code
    assert isinstance(code, int | None), code  # anything else the interpreter would print
    said = [stream.buffer.getvalue() for stream in (out, err) if isinstance(stream.buffer, io.BytesIO)]
    return subprocess.CompletedProcess([program, *options], code or 0, *said)


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _words(*words: str) -> Iterator[None]:
    before, sys.argv = sys.argv, list(words)
    try:
        yield
    finally:
        sys.argv = before


@contextmanager
def _signals() -> Iterator[None]:
    """A command takes SIGTERM for itself."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _descriptor(number: int) -> Iterator[None]:
    """A command that cannot write lets go of it."""
    kept = os.dup(number)
    try:
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)
