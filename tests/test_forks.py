"""A server that is forked can't be told from one that is started."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.client import PATIENCE, Server
from tests.support.ide import DoorProcess
from tests.support.process import SEARCHED, start
from tests.support.web import Web
from tests.support.world import World, measuring

# Said by the process about itself, before the program begins.
TOLD = """
import json, os, signal, socket, sys, threading
print(json.dumps({
    "environment": sorted(os.environ.items()), "folder": os.getcwd(), "open": os.listdir("/proc/self/fd")[:-1],
    "signals": [str(signal.getsignal(number)) for number in signal.valid_signals() if number not in (9, 19)],
    "mask": str(signal.pthread_sigmask(signal.SIG_BLOCK, ())), "threads": threading.active_count(),
    "streams": [[each.encoding, each.errors, each.line_buffering, each.fileno(), each.buffer.seekable()]
                for each in (sys.stdin, sys.stdout, sys.stderr)],
}), flush=True)
"""
BOTH = pytest.mark.parametrize("forked", [True, False], ids=["forked", "started"])


def ended(forked: bool, first: str, *words: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    environment = {"PYTHONPATH": SEARCHED, "HOME": "/no/home", "ODD": "ä=\n", **measuring()}
    process = start(environment, words, first=first, forked=forked)
    assert process.stdin
    assert process.stdout
    assert process.stderr
    with process.stdin, process.stdout, process.stderr:
        process.stdin.write(stdin)
        process.stdin.close()
        said = process.stdout.read(), process.stderr.read()
        return process.wait(PATIENCE), *said


def test_it_is_surrounded_by_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forked, started = (ended(how, TOLD, "--version") for how in (True, False))
    assert forked == started
    assert forked[0] == 0


ENDS = {
    "by itself": ("", ("--version",)),
    "for a bad word": ("", ("--nonsense",)),
    "with a code": ("import sys; sys.exit(7)", ()),
    "with a word": ("import sys; sys.exit('why')", ()),
    "at once": ("import os; os._exit(9)", ()),
    "by a signal": ("import os; os.kill(os.getpid(), 15)", ()),
    "by a signal that Python hears": ("import os, time; os.kill(os.getpid(), 2); time.sleep(60)", ()),
    "with what was registered": ("import atexit; atexit.register(print, 'bye')", ("--version",)),
    "after its threads": (
        "import threading\nthreading.Thread(target=lambda: (threading.main_thread().join(), print('late'))).start()",
        ("--version",),
    ),
}


@pytest.mark.parametrize(("first", "words"), ENDS.values(), ids=ENDS)
def test_it_ends_in_the_same_way(first: str, words: tuple[str, ...]) -> None:
    forked, started = (ended(how, first, *words) for how in (True, False))
    assert forked[:2] == started[:2]
    assert forked[2].splitlines()[-1:] == started[2].splitlines()[-1:]


@BOTH
def test_a_signal_reaches_it_until_it_has_ended(own_world: World, forked: bool) -> None:
    with Server(own_world.environment(), "--vault", "Vault", forked=forked) as server:
        server.initialize()
        assert server.process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            server.process.wait(0)
        server.process.kill()
        assert [server.process.wait(PATIENCE), server.process.poll()] == [-signal.SIGKILL] * 2
        server.process.terminate()  # of nothing


@BOTH
def test_each_kind_of_server_serves(own_world: World, forked: bool) -> None:
    own_world.put("Note.md", "text")
    with Server(own_world.environment(), "--vault", "Vault", forked=forked) as server:
        assert server.initialize().call("read_note", name="Note")["content"] == "text"
        assert server.finish() == 0
    with Web(own_world.environment(), forked=forked) as web:
        assert web.call("read_note", name="Note")["success"] is True
        assert web.stop() == 0
    with DoorProcess(own_world.environment(), "--vault", "Vault", forked=forked) as door:
        assert door.stop() == 0


def test_no_fork_outlives_the_tests(tmp_path: Path) -> None:
    """However they end: here they are killed while a server runs."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": SEARCHED}
    program = (
        "import os, sys\n"
        "from tests.support.process import start\n"
        "ours, theirs = os.pipe()\n"
        "os.set_inheritable(theirs, True)\n"
        f"process = start({environment!r}, ['--vault', 'x'], stdin=ours, stdout=1, stderr=1)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, timeout=PATIENCE, check=False
    )  # which waits until stdout is closed
    assert done.returncode == -signal.SIGKILL


def test_a_variable_that_only_a_start_heeds_is_refused(own_world: World) -> None:
    with pytest.raises(AssertionError, match="PYTHONUTF8"):
        start(own_world.environment(PYTHONUTF8="0"), [])
