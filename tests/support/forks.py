"""Servers in forks of one process that has imported everything: a thousand lives of a server take seconds.

A process of the tests' own, not pytest's, is forked, for a fork of one with threads may hang. It has none, and
imports what a first life of every tool has imported. Then, over its pipes and a line of JSON at a time, it is
asked for one life after another: the child makes a server, runs the calls it is sent, and ends, or is killed.

With words on its command line this module is a real server instead, with a fault in it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import itertools
import json
import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Self

from tests.support.client import PATIENCE, ToolFailed
from tests.support.world import SERVER, World

ROOT = Path(__file__).parents[2]
SEARCHED = f"{SERVER}{os.pathsep}{ROOT}"  # this checkout, whatever the environment has installed
RunTool = Callable[[str, Mapping[str, Any]], dict[str, Any]]

# As they were: what tells and counts must neither count nor fail itself.
_read, _write, _fstat, _listdir = os.read, os.write, os.fstat, os.listdir


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


def _live(asked: Mapping[str, Any]) -> NoReturn:
    """One life of a server, in a child: from its first call until it is asked for no tool, or is killed."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), 2)  # for its log
        os.environ.clear()
        os.environ.update(asked["environ"])
        run_tool = started(asked["environ"], asked["options"], asked["holds"])
        fault = Fault(**asked["fault"])
        fault.install()
        before = _listdir("/proc/self/fd")
        call: Mapping[str, Any] | None = asked
        while call and call["tool"]:
            told = outcome(run_tool, call["tool"], call["arguments"])
            _say({**told, "descriptors": [before, _listdir("/proc/self/fd")], "happened": fault.happened})
            call = _hear()
    except BaseException:  # noqa: BLE001  # it must not go on as a second parent
        _say({"bug": traceback.format_exc()})
    finally:
        os._exit(0)


def _warm_up() -> None:
    """Import what calls import, so that no child has to. They run in a child: a server that is awake has threads."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            with tempfile.TemporaryDirectory() as folder:
                _use_every_tool(World(Path(folder)))
            os.write(writing, json.dumps([*sys.modules]).encode())
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        names = json.loads(pipe.read())
    os.waitpid(child, 0)
    for name in names:
        with contextlib.suppress(ImportError):  # some are no modules of their own
            importlib.import_module(name)


def _use_every_tool(world: World) -> None:
    world.put(".obsidian/app.json", '{"trashOption": "local"}')
    quiet = ("--vault", str(world.vault), "--log-level", "error")
    run_tool = started(world.environment(), (*quiet, "--backend", "embedded"), True)
    run_tool("create_note", {"name": "A.md", "content": "a"})
    run_tool("create_note", {"name": "L.md", "content": "l"})
    run_tool("create_note", {"name": "L.md", "content": "[[A]]", "overwrite": True})
    run_tool("append_note", {"name": "A.md", "content": "b"})
    run_tool("prepend_note", {"name": "A.md", "content": "c"})
    run_tool("read_note", {"name": "A.md"})
    run_tool("rename_note", {"name": "A.md", "new_name": "B.md"})
    run_tool("move_note", {"name": "B.md", "to": "Deep"})
    run_tool("delete_note", {"name": "Deep/B.md"})
    run_tool("delete_note", {"name": "L.md", "permanent": True})
    run_tool = started(world.environment(), quiet, True)  # through the app
    run_tool("create_note", {"name": "A.md", "content": "C:\\new"})  # beside it
    run_tool("delete_note", {"name": "A.md", "permanent": True})


def _fork_on_request() -> None:
    _warm_up()
    gc.freeze()  # else a collection in a child would copy every page
    assert threading.active_count() == 1
    _say({})
    with contextlib.suppress(BrokenPipeError):
        while asked := _hear():
            child = os.fork()
            if not child:
                _live(asked)
            _say({"ended": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])})


def _main() -> None:
    if len(sys.argv) == 1:
        _fork_on_request()
        return
    Fault(**json.loads(sys.argv.pop(1))).install()
    from obsidian_mcp.__main__ import main

    main()


# In the process of the tests.


class Killed(Exception):
    """The server was killed during the call."""


class _Zygote:
    """The process that is forked. Every wait for it has an end."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-m", "tests.support.forks"),
            env={**os.environ, "PYTHONPATH": SEARCHED},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # so that it can be ended with its child
        )
        assert self._process.stdin
        assert self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)
        self.lives = False  # a child
        self._hear()

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        self._send(message)
        said = self._hear()
        self.lives = "ended" not in said
        return said

    def begin(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The first call of a life; the one before ends while nobody waits."""
        if self.lives:
            assert self._hear() == {"ended": 0}
        return self.ask(message)

    def let_end(self) -> None:
        if self.lives:
            self._send({"tool": None})

    def _send(self, message: Mapping[str, Any]) -> None:
        self._stdin.write(json.dumps(message).encode() + b"\n")
        self._stdin.flush()

    def _hear(self) -> dict[str, Any]:
        line = b""
        while b"\n" not in line:
            if not self._poll.poll(PATIENCE * 1000):
                raise AssertionError(f"a forked server has not answered for {PATIENCE:g} s")
            part = os.read(self._stdout.fileno(), 1 << 16)
            if not part:
                raise AssertionError("the process that is forked has ended")
            line += part
        heard: dict[str, Any] = json.loads(line)
        return heard

    def kill(self) -> None:
        """With the child that it may have."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(PATIENCE)
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        self._stdout.close()


class Forked:
    """One life of a server. It is called as a real one is, and begins with its first call."""

    def __init__(self, zygote: _Zygote, asked: Mapping[str, Any]) -> None:
        self._zygote = zygote
        self._asked: Mapping[str, Any] | None = asked
        self.killed = False
        self.happened = False  # the fault
        self.descriptors: list[list[str]] = []  # before the first call, and after the last

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The data of a success; a failure is raised, and so is the server's death."""
        call = {"tool": tool, "arguments": arguments}
        said = self._zygote.begin({**self._asked, **call}) if self._asked else self._zygote.ask(call)
        self._asked = None
        if said.get("ended") == -signal.SIGKILL:
            self.killed = True
            raise Killed
        assert "descriptors" in said, said.get("bug", said)
        self.descriptors, self.happened = said["descriptors"], said["happened"]
        assert "bug" not in said, said["bug"]
        if "error" in said:
            raise ToolFailed(said["error"])
        data: dict[str, Any] = said["data"]
        return data


class Forks:
    """As many zygotes as are used at once."""

    def __init__(self) -> None:
        self._all: list[_Zygote] = []
        self._free: list[_Zygote] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for zygote in self._all:
            zygote.kill()

    @contextlib.contextmanager
    def server(
        self, environ: Mapping[str, str], *options: str, fault: Fault | None = None, holds: bool = True
    ) -> Iterator[Forked]:
        """A new server, whose fault counts from its first call on. It may be one that can't hold folders open."""
        try:
            zygote = self._free.pop()
        except IndexError:
            zygote = _Zygote()
            self._all.append(zygote)
        words = _words(fault or Fault(0, ""))
        try:
            yield Forked(zygote, {"environ": dict(environ), "options": options, "fault": words, "holds": holds})
            zygote.let_end()
        except BaseException:
            zygote.kill()  # it may be in the middle of anything
            raise
        self._free.append(zygote)


if __name__ == "__main__":
    _main()
