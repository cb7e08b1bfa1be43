"""The process that servers are forked from. It has imported what they import, which is most of what a start costs.

A process of the tests' own, not pytest's, is forked, for a fork of one with threads may hang. It has none. On the
socket that it is given it is asked for one process after another: a message names a function, and brings the three
standard streams and a socket on which to tell the process's id, and later its exit code. The child returns from all
of that and runs the function, so that it ends as any program does.

`tests.support.process` asks. Where the start itself is the subject, a process is started and not forked.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

LARGEST_MESSAGE = 1 << 20
# What the doors import when they open, beyond what an import of every module of the server brings.
LATE = """
    concurrent.futures.thread encodings.idna obsidian_mcp.__main__ pydantic._internal._dataclasses typer._adapters
    typer._click.decorators uvicorn.lifespan.off uvicorn.lifespan.on uvicorn.loops.asyncio
    uvicorn.protocols.http.h11_impl websockets.asyncio.server
""".split()


class _Children:
    """Those that have not ended, by the descriptor that tells of the end."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[int, socket.socket]] = {}

    def add(self, pid: int, told: socket.socket) -> int:
        descriptor = os.pidfd_open(pid)
        self._told[descriptor] = pid, told
        with contextlib.suppress(BrokenPipeError):
            socket.send_fds(told, [str(pid).encode()], [descriptor])
        return descriptor

    def reap(self, descriptor: int) -> None:
        pid, told = self._told.pop(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError), told:
            told.send(str(code).encode())
        os.close(descriptor)

    def kill(self) -> None:
        for pid, _ in self._told.values():
            os.kill(pid, signal.SIGKILL)
        for descriptor in [*self._told]:
            self.reap(descriptor)


def _fork_on_request(control: socket.socket) -> Mapping[str, Any]:
    """Return in each child what was asked of it; in this process, never."""
    children, poll = _Children(), select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor != control.fileno():
                poll.unregister(descriptor)
                children.reap(descriptor)
                continue
            message, passed, _, _ = socket.recv_fds(control, LARGEST_MESSAGE, 4)
            if not message:  # the tests have ended, or were killed
                children.kill()
                sys.exit()
            child = os.fork()
            if not child:
                return _settle(json.loads(message), passed[:3])
            poll.register(children.add(child, socket.socket(fileno=passed.pop())), select.POLLIN)
            for each in passed:
                os.close(each)


def _settle(asked: Mapping[str, Any], streams: Iterable[int]) -> Mapping[str, Any]:
    """Make this process what a start would have made it: nothing of its parent's is open, or told to a child."""
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # for a stream looks once at what it is of
        setattr(sys, name, _stream(getattr(sys, f"__{name}__"), mode))
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(asked["cwd"])
    coerced = {name: value for name, value in os.environ.items() if name == "LC_CTYPE"}  # by this start: PEP 538
    os.environ.clear()
    os.environ.update({**coerced, **asked["environ"]})
    return asked


def _stream(like: TextIO, mode: str) -> TextIO:
    """A new one on the same descriptor."""
    number, buffering = like.fileno(), 1 if like.line_buffering else -1
    return open(number, mode, buffering, like.encoding, like.errors, closefd=False)  # type: ignore[return-value]


def import_everything() -> None:
    """What a server imports, and what its calls import: they run in a child, for a server that is awake has threads."""
    package = importlib.import_module("obsidian_mcp")
    for module in pkgutil.walk_packages(package.__path__, "obsidian_mcp."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    for name in [*LATE, *_imported_by(_use_every_tool)]:
        with contextlib.suppress(ImportError):  # some are no modules of their own
            importlib.import_module(name)


def _imported_by(act: Callable[[], None]) -> list[str]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            act()
            os.write(writing, json.dumps([*sys.modules]).encode())
        except BaseException:  # noqa: BLE001  # it must not go on as a second parent
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        names: list[str] = json.loads(pipe.read())
    os.waitpid(child, 0)
    return names


def _use_every_tool() -> None:
    from tests.support.forks import started
    from tests.support.world import World

    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
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


def program(words: list[str], first: str) -> None:
    """`python -m obsidian_mcp`, with something run before."""
    exec(first, {})
    from obsidian_mcp import __main__

    sys.argv[:] = [str(__main__.__file__), *words]
    __main__.main()


def _main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    import_everything()
    gc.collect()
    gc.freeze()  # else a collection in a child would copy every page
    assert threading.active_count() == 1
    control.send(b"ready")
    asked = _fork_on_request(control)
    control.detach()
    module, _, name = asked["run"].partition(":")
    getattr(importlib.import_module(module), name)(*asked["arguments"])


if __name__ == "__main__":
    _main()
