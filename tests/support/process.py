"""Processes for the tests: started, or forked from one that has imported everything, and told apart by nothing else."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypedDict, Unpack

from tests.support.world import SERVER, measuring

PATIENCE = 60.0
ROOT = Path(__file__).parents[2]
SEARCHED = f"{SERVER}{os.pathsep}{ROOT}"  # this checkout, whatever the environment has installed
COMMAND = (sys.executable, "-m", "obsidian_mcp")
CAN_FORK = hasattr(os, "pidfd_open")  # Linux


class Fork:
    """A process as `subprocess.Popen` gives it, with pipes for the streams that are not given."""

    def __init__(
        self,
        run: str,
        arguments: Sequence[Any],
        environment: Mapping[str, str],
        stdin: int = subprocess.PIPE,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
    ) -> None:
        self.returncode: int | None = None
        self._lock = threading.Lock()
        self._told, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        asked = {"run": run, "arguments": arguments, "environ": dict(environment), "cwd": os.getcwd()}
        with contextlib.ExitStack() as stack:
            stack.enter_context(theirs)
            self.stdin, reading = _stream(stdin, "wb", stack)
            self.stdout, writing = _stream(stdout, "rb", stack)
            self.stderr, logging = _stream(stderr, "rb", stack)
            _zygote().ask(asked, [reading, writing, logging, theirs.fileno()])
        self._told.settimeout(PATIENCE)
        message, descriptors, _, _ = socket.recv_fds(self._told, 100, 1)
        assert message, "the process that is forked has ended"
        self.pid, (self._descriptor,) = int(message), descriptors

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        with self._lock:
            if self.returncode is None:
                self.returncode = self._hear_the_end(timeout)
            return self.returncode

    def _hear_the_end(self, timeout: float | None) -> int:
        poll = select.poll()
        poll.register(self._told, select.POLLIN)
        if not poll.poll(None if timeout is None else timeout * 1000):
            raise subprocess.TimeoutExpired("a fork", timeout or 0)
        code = int(self._told.recv(100))
        self._told.close()
        os.close(self._descriptor)
        return code

    def send_signal(self, number: int) -> None:
        """Through a descriptor: the id may be another's by now."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self.returncode is None:
                signal.pidfd_send_signal(self._descriptor, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def close_pipes(self) -> None:
        for pipe in (self.stdin, self.stdout, self.stderr):
            with contextlib.suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()


def _stream(given: int, mode: str, stack: contextlib.ExitStack) -> tuple[IO[bytes] | None, int]:
    """Our end, if there is one, and theirs, which is closed here once they have it."""
    if given >= 0:
        return None, given
    if given == subprocess.DEVNULL:
        theirs = os.open(os.devnull, os.O_RDWR)
        stack.callback(os.close, theirs)
        return None, theirs
    reading, writing = os.pipe()
    ours, theirs = (writing, reading) if mode == "wb" else (reading, writing)
    stack.callback(os.close, theirs)
    return open(ours, mode), theirs


class _Zygote:
    """This side of `tests.support.zygote`."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                (sys.executable, "-m", "tests.support.zygote", str(theirs.fileno())),
                env={"PATH": os.environ["PATH"], "PYTHONPATH": SEARCHED, **measuring()},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C ends pytest, which ends it
            )
        self._control.settimeout(PATIENCE)
        assert self._control.recv(100) == b"ready"

    def ask(self, asked: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        socket.send_fds(self._control, [json.dumps(asked).encode()], descriptors)

    def end(self) -> None:
        self._control.close()
        with self._process:
            self._process.wait(PATIENCE)


_running: list[_Zygote] = []
_starting = threading.Lock()  # several threads may be the first


def _zygote() -> _Zygote:
    """One, when it is first needed."""
    with _starting:
        if not _running:
            _running.append(_Zygote())
        return _running[0]


@atexit.register
def end_forks() -> None:
    """Wait for the process that is forked, if there is one: what it has cost is counted then."""
    while _running:
        _running.pop().end()


class How(TypedDict, total=False):
    """How the program is started."""

    forked: bool  # if not, it is a process of its own from the first instruction on
    first: str  # run before it: so a test can shorten what it would have to wait for
    command: Sequence[str]  # another, which is not forked


elsewhere: Callable[..., subprocess.Popen[bytes]] | None = None  # where another Python runs it: `make windows`


def start(
    environment: Mapping[str, str],
    words: Sequence[str],
    *,
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    **how: Unpack[How],
) -> Fork | subprocess.Popen[bytes]:
    """`obsidian-mcp`, with those words after it."""
    if elsewhere is not None:
        return elsewhere(environment, words, stdin=stdin, **how)
    first = how.get("first", "")
    if CAN_FORK and how.get("forked", True) and "command" not in how:
        _check(environment)
        return Fork("tests.support.zygote:program", (words, first), environment, stdin, stdout, stderr)
    changed = (sys.executable, "-c", f"{first}\nfrom obsidian_mcp.__main__ import main\nmain()\n")
    command = how.get("command", changed if first else COMMAND)
    return subprocess.Popen([*command, *words], env=dict(environment), stdin=stdin, stdout=stdout, stderr=stderr)


def _check(environment: Mapping[str, str]) -> None:
    """Fail for a variable that an interpreter reads when it starts: a fork would not heed it."""
    known = {"PYTHONPATH": (str(SERVER), SEARCHED)}
    read = [name for name in environment if name.startswith(("PYTHON", "LC_", "LANG"))]
    unheeded = [name for name in read if environment[name] not in known.get(name, ())]
    assert not unheeded, f"only a start heeds {unheeded}: say forked=False"
