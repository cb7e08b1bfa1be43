"""Starting the CLI: the only place where a process is spawned.

Whatever the child does — hang, flood, die, close its pipes and live on — the
call ends within its limit and nothing of the child is left over. A thread
per pipe reads until its end; the caller waits for both, for the limit, or for
the client to cancel. (Polling `wait` would add up to 10 ms to every call, and
select does not know pipes on Windows.)
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Self

from obsidian_mcp.backends.obsidian.job import Job
from obsidian_mcp.call import CallContext, cancelled
from obsidian_mcp.errors import CliFailed, NotStarted, ObsidianNotRunning, PermissionDenied, TimedOut

MOST_OUTPUT = 20 * 1024 * 1024
CHUNK = 64 * 1024
TICK = 1.0  # how often a client that asked for progress hears of a call that waits
GRACE = 1.0  # for a child that has closed its pipes to end


@dataclass(frozen=True, slots=True)
class Output:
    stdout: bytes
    stderr: bytes
    code: int | None  # None: it closed its pipes but had to be ended


def run(
    argv: Sequence[str], environ: Mapping[str, str], call: CallContext, doing: str, most: int = MOST_OUTPUT
) -> Output:
    """Run a command to its end, within what is left of the call's limit."""
    call.check(doing)
    with call.running(lambda: _spawn(argv, environ), end) as child, _Pipes(child, most) as pipes:
        if not pipes.read():
            raise CliFailed(
                f"The Obsidian CLI could not be heard while {doing}: the system allows no further thread.",
                "End other programs or raise the limit, then try again.",
            )
        finished = pipes.wait(call, doing)
        if call.cancelled:
            raise cancelled()
        if pipes.flooded:
            raise CliFailed(
                f"The Obsidian CLI wrote more than {most >> 20} MiB while {doing} and was stopped.",
                "See whether Obsidian is well, then try again.",
            )
        if not finished:
            raise TimedOut(f"The limit of {call.limit:g} s passed while {doing}.", "See whether Obsidian responds.")
        return Output(bytes(pipes.stdout), bytes(pipes.stderr), _exit_code(child))


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Inherited from an Electron host, this variable makes the older Obsidian binary run as plain Node."""
    return {key: value for key, value in environ.items() if key.upper() != "ELECTRON_RUN_AS_NODE"}


class Child(subprocess.Popen[bytes]):
    """A process, and on Windows the job that it is in."""

    job: Job | None = None


def _spawn(argv: Sequence[str], environ: Mapping[str, str]) -> Child:
    try:
        child = Child(  # no shell: argv reaches the CLI as it is
            _words(argv),
            env=child_environment(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            # A group of its own, so that the child and what it started can be ended together.
            start_new_session=True,
            creationflags=_creation_flags(),
        )
        child.job = Job(int(getattr(child, "_handle", 0)))
        return child
    except FileNotFoundError:
        raise ObsidianNotRunning(
            f"The Obsidian command {argv[0]} is gone.",
            "Reinstall Obsidian, or name the command with --obsidian-bin.",
        ) from None
    except PermissionError:
        raise PermissionDenied(
            f"The system does not allow {argv[0]} to be run.",
            "Check its permissions, or name another with --obsidian-bin.",
        ) from None
    except OSError as error:
        raise NotStarted(
            f"The Obsidian command {argv[0]} could not be started: {error.strerror}.",
            "Name another with --obsidian-bin.",
        ) from None


def _words(argv: Sequence[str], platform: str = sys.platform) -> Sequence[str | bytes]:
    """UTF-8 on the way out, whatever the locale says. Windows takes Unicode as it is."""
    return argv if platform == "win32" else [word.encode("utf-8", "surrogateescape") for word in argv]


def _creation_flags(platform: str = sys.platform) -> int:
    no_window, new_group = 0x08000000, 0x00000200
    return no_window | new_group if platform == "win32" else 0


def end(child: Child, platform: str = sys.platform) -> None:
    """End the child and everything it started, if it lives.

    What a child that has ended by itself leaves running stays: older installers start the app that way.
    """
    if child.poll() is None:
        _kill(child, platform)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE)
    if child.job is not None:
        child.job.close()


def _kill(child: Child, platform: str) -> None:
    if platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):  # gone; macOS says EPERM for a group of zombies
            os.killpg(child.pid, signal.SIGKILL)
    elif child.job is None or not child.job.end():
        with contextlib.suppress(OSError):  # gone by now
            child.kill()  # itself, at least


def _exit_code(child: subprocess.Popen[bytes]) -> int | None:
    try:
        return child.wait(GRACE)
    except subprocess.TimeoutExpired:
        return None


def _wait_readable(fd: int) -> Callable[[], bool]:
    """Wait a while for something to read. Where pipes can't be waited for, reading itself waits."""
    if not hasattr(select, "poll"):
        return lambda: True
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return lambda: bool(poll.poll(TICK * 1000))


class _Pipes:
    """Both pipes of a child, read side by side and never beyond the limit."""

    def __init__(self, child: subprocess.Popen[bytes], most: int) -> None:
        assert child.stdout
        assert child.stderr
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.flooded = False
        self._child = child
        self._most = most
        self._left = False
        self._open = 2
        self._change = threading.Condition()

    def read(self) -> bool:
        """Begin to; whether it can be done."""
        child = self._child
        try:
            for pipe, into in ((child.stdout, self.stdout), (child.stderr, self.stderr)):
                threading.Thread(target=self._read, args=(pipe, into), daemon=True).start()
        except (RuntimeError, MemoryError):
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """A pipe that something else still holds open is not read for ever."""
        self._left = True

    def wait(self, call: CallContext, doing: str) -> bool:
        """Until the child has said everything. False: the limit came first."""
        while True:
            with self._change:
                if self._change.wait_for(self._over, min(TICK, max(0.0, call.remaining))):
                    return True
            if call.remaining <= 0:
                return False
            if self._child.poll() is not None:
                return self._abandoned(call)
            call.progress(f"Waiting for Obsidian: {doing}, {call.elapsed:.0f} s")

    def _abandoned(self, call: CallContext) -> bool:
        """The child is gone, and something it started holds its pipes: what has come is all that counts."""
        with self._change:
            self._change.wait_for(self._over, min(GRACE, max(0.0, call.remaining)))
        return True

    def _over(self) -> bool:
        return self._open == 0 or self.flooded

    def _read(self, pipe: IO[bytes], into: bytearray) -> None:
        with pipe:
            readable = _wait_readable(pipe.fileno())
            while not self._left:
                if not readable():
                    continue
                data = os.read(pipe.fileno(), CHUNK)
                if not data:
                    break
                if len(into) + len(data) > self._most:
                    self.flooded = True
                    break
                into += data
        with self._change:
            self._open -= 1
            self._change.notify()
