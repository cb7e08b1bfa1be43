"""Servers that are killed, or whose disk fails, at any step: a thousand lives of a server take seconds.

Each is a fork of a process that has imported everything: see `tests.support.zygote`. Over its pipes, a line of JSON at
a time, it is sent one call after another; it runs them, and ends, or is killed.

Run as a program this module is a real server instead, with a fault in it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import select
import signal
import stat
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from tests.support.client import ToolFailed
from tests.support.process import PATIENCE, Fork

RunTool = Callable[[str, Mapping[str, Any]], dict[str, Any]]

# As they were: what tells and counts must neither count nor fail itself.
_read, _write, _fstat, _listdir, _readlink = os.read, os.write, os.fstat, os.listdir, os.readlink


@dataclasses.dataclass
class Fault:
    """Before the n-th of the calls named the process is killed; or that call fails, or every one from then on."""

    step: int
    calls: str  # functions of os, and rename_new, which is ours
    error: int = 0  # none: killed
    lasting: bool = False
    ending: str = ""  # of the last argument, for calls that count
    counting: bool = True  # if not, then from the first tools/call that is read
    half: bool = False  # of what should be written gets to the disk
    happened: bool = dataclasses.field(default=False, init=False)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)  # atomic, for a move has several threads

    def install(self) -> None:
        from obsidian_mcp.backends.files import held  # before os changes: it looks at what os can do

        named = set(self.calls.split())
        for name in named if self.counting else named | {"read"}:  # which brings the call that begins the counting
            home: Any = held if name == "rename_new" else os
            setattr(home, name, self._guarded(getattr(home, name), name in named))

    def _guarded(self, function: Callable[..., Any], counts: bool) -> Callable[..., Any]:
        moves_bytes = function in (_read, _write)  # and not always to or from a disk

        def act(*arguments: Any, **more: Any) -> Any:
            if moves_bytes and not stat.S_ISREG(_fstat(arguments[0]).st_mode):
                data = function(*arguments)
                self.counting = self.counting or (function is _read and b"tools/call" in data)
                return data
            if counts and self.counting and (not self.ending or str(arguments[-1]).endswith(self.ending)):
                number = next(self._numbers)
                if number == self.step or (self.lasting and number > self.step):
                    if self.half and function is _write:
                        function(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                    self._strike()
            return function(*arguments, **more)

        return act

    def _strike(self) -> None:
        if not self.error:
            os.kill(os.getpid(), signal.SIGKILL)
        self.happened = True
        _write(2, b"FAILING\n")
        raise OSError(self.error, os.strerror(self.error))


def faulty(fault: Fault) -> tuple[str, ...]:
    """The command of a real server with a fault in it, which counts from its first call on. Needs SEARCHED."""
    words = json.dumps(_words(dataclasses.replace(fault, counting=False)))
    return (sys.executable, "-m", "tests.support.forks", words)


def _words(fault: Fault) -> dict[str, Any]:
    """What makes the same fault elsewhere."""
    return {field.name: getattr(fault, field.name) for field in dataclasses.fields(fault) if field.init}


# In the forked process: all that the tests know of the server's inside is in these two, and in Fault.install.


def started(environ: Mapping[str, str], options: Sequence[str], holds: bool) -> RunTool:
    """A new server, awake, with the options of its command line."""
    from obsidian_mcp.app import App
    from obsidian_mcp.backends.files import held
    from obsidian_mcp.call import CallContext
    from obsidian_mcp.settings import load, split

    if not holds:
        held.HOLDS = False
    app = App(load(split(options)[0], environ))
    app.wake()

    def run_tool(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return app.tools.run(f"obsidian_{tool}", arguments, CallContext())

    return run_tool


def outcome(run_tool: RunTool, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """How a call went, as a client would hear it."""
    from obsidian_mcp.errors import Failure, spec_of

    try:
        return {"data": run_tool(tool, arguments)}
    except Failure as failure:
        spec = spec_of(failure)
        return {"error": {"code": spec.rpc, "message": failure.message, "data": {"errorCode": spec.error_code}}}
    except Exception:  # noqa: BLE001  # whatever it is, the test must hear of it
        return {"bug": traceback.format_exc()}


def _say(message: Mapping[str, Any]) -> None:
    rest = memoryview(json.dumps(message, default=str).encode() + b"\n")
    while rest:
        rest = rest[_write(1, rest) :]


def _hear() -> dict[str, Any] | None:
    """One line: the other side sends none before the last is answered. None where it has gone."""
    line = b""
    while not line.endswith(b"\n"):
        part = _read(0, 1 << 16)
        if not part:
            return None
        line += part
    heard: dict[str, Any] = json.loads(line)
    return heard


def descriptors(process: int | str = "self") -> list[str]:
    """Those that are open, but for SQLite's, which stay open on purpose."""
    found = []
    for number in _listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            if "history.sqlite" not in _readlink(f"/proc/{process}/fd/{number}"):
                found.append(number)
    return found


def live(options: Sequence[str], fault_words: Mapping[str, Any], holds: bool) -> NoReturn:
    """One life of a server, in a child: until it is sent no more calls, or is killed."""
    try:
        run_tool = started(dict(os.environ), options, holds)
        fault = Fault(**fault_words)
        fault.install()
        before = descriptors()
        while call := _hear():
            told = outcome(run_tool, call["tool"], call["arguments"])
            _say({**told, "descriptors": [before, descriptors()], "happened": fault.happened})
    except BaseException:  # noqa: BLE001  # whatever it is, the test must hear of it
        _say({"bug": traceback.format_exc()})
    finally:
        os._exit(0)  # at once, as a server does


def _main() -> None:
    Fault(**json.loads(sys.argv.pop(1))).install()
    from obsidian_mcp.__main__ import main

    main()


# In the process of the tests.


class Killed(Exception):
    """The server was killed during the call."""


class Forked:
    """One life of a server. It is called as a real one is, and begins with its first call."""

    def __init__(self, environ: Mapping[str, str], life: Sequence[Any]) -> None:
        self._environ = environ
        self._life = life
        self._process: Fork | None = None
        self.killed = False
        self.happened = False  # the fault
        self.descriptors: list[list[str]] = []  # before the first call, and after the last

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The data of a success; a failure is raised, and so is the server's death."""
        if self._process is None:
            self._process = Fork("tests.support.forks:live", self._life, self._environ, stderr=subprocess.DEVNULL)
        said = _ask(self._process, {"tool": tool, "arguments": arguments})
        if said is None:
            assert self._process.wait(PATIENCE) == -signal.SIGKILL
            self.killed = True
            raise Killed
        assert "descriptors" in said, said.get("bug", said)
        self.descriptors, self.happened = said["descriptors"], said["happened"]
        assert "bug" not in said, said["bug"]
        if "error" in said:
            raise ToolFailed(said["error"])
        data: dict[str, Any] = said["data"]
        return data

    def let_end(self) -> None:
        if self._process is not None and not self.killed:
            assert self._process.stdin
            self._process.stdin.close()
            assert self._process.wait(PATIENCE) == 0

    def close(self) -> None:
        """However it went."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE)
            self._process.close_pipes()


def _ask(process: Fork, message: Mapping[str, Any]) -> dict[str, Any] | None:
    """What it says, or None where it has died. Every wait has an end."""
    assert process.stdin
    assert process.stdout
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
    line = b""
    poll = select.poll()
    poll.register(process.stdout, select.POLLIN)
    while not line.endswith(b"\n"):
        assert poll.poll(PATIENCE * 1000), f"a forked server has not answered for {PATIENCE:g} s"
        part = os.read(process.stdout.fileno(), 1 << 16)
        if not part:
            return None
        line += part
    heard: dict[str, Any] = json.loads(line)
    return heard


@contextlib.contextmanager
def forked_server(
    environ: Mapping[str, str], *options: str, fault: Fault | None = None, holds: bool = True
) -> Iterator[Forked]:
    """A new server, whose fault counts from its first call on. It may be one that can't hold folders open."""
    server = Forked(environ, (options, _words(fault or Fault(0, "")), holds))
    try:
        yield server
        server.let_end()
    finally:
        server.close()


if __name__ == "__main__":
    _main()
