from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest

from tests.support.client import Server
from tests.support.foreign import reserved_port
from tests.support.process import end_forks
from tests.support.world import World


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="fail a test that starts a process or sleeps: make quick")


@pytest.fixture(scope="session", autouse=True)
def nothing_is_started(request: pytest.FixtureRequest) -> Iterator[None]:
    """Under --quick. So the list of quick tests in the Makefile cannot become untrue unnoticed."""
    if not request.config.getoption("--quick"):
        yield
        return

    def refuse(*_: object, **__: object) -> NoReturn:
        pytest.fail("a quick test starts no process and does not sleep: see QUICK in the Makefile")

    with pytest.MonkeyPatch.context() as patch:
        for place, name in ((subprocess, "Popen"), (os, "fork"), (os, "posix_spawn"), (os, "system"), (time, "sleep")):
            patch.setattr(place, name, refuse)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Set up before every other, so it ends after every server."""
    yield
    end_forks()


# No test may fail because the machine is busy, or by the luck of one run: `make fuzz` looks for new examples.
hypothesis.settings.register_profile("same", deadline=None, derandomize=True)
hypothesis.settings.register_profile("new", deadline=None)
hypothesis.settings.load_profile(os.environ.get("EXAMPLES", "same"))


def pytest_configure() -> None:
    """What ignores a signal hands that down to its children: nohup, and a shell's background jobs do."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def shared_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="session")
def shared_server(shared_world: World) -> Iterator[Server]:
    with Server(
        shared_world.environment(), "--vault", "Vault", "--timeout", "20", "--toolsets", "all", forked=False
    ) as server:
        yield server.initialize()


@pytest.fixture(scope="session")
def embedded_server(shared_world: World) -> Iterator[Server]:
    """A server on the same folder, without the app."""
    options = ("--vault", str(shared_world.vault), "--backend", "embedded", "--timeout", "20", "--toolsets", "all")
    with Server(shared_world.environment(), *options) as server:
        yield server.initialize()


@pytest.fixture
def world(shared_world: World) -> World:
    """An empty vault and a well-behaved Obsidian."""
    shared_world.reset()
    return shared_world


@pytest.fixture
def server(world: World, shared_server: Server) -> Server:
    """A running server on that vault. It outlives the test, as a server would."""
    return shared_server


@pytest.fixture
def port() -> Iterator[int]:
    with reserved_port() as number:
        yield number


@pytest.fixture
def own_world(tmp_path: Path) -> World:
    """A world that nobody else has seen, for tests that start servers of their own."""
    return World(tmp_path / "world")
