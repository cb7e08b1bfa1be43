from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.support.client import Server
from tests.support.world import World

# These are for `make windows`, whose plugin starts every server under Wine.
collect_ignore_glob = [] if "tests.windows.plugin" in sys.modules else ["test_*.py"]


@pytest.fixture(scope="session")
def windows_server(shared_world: World) -> Iterator[Server]:
    options = ("--vault", str(shared_world.vault), "--backend", "embedded", "--toolsets", "all")
    with Server(shared_world.environment(), *options) as server:
        yield server.initialize()


@pytest.fixture
def server(world: World, windows_server: Server) -> Server:
    """On an empty vault, without the app. It outlives the test, as a server would."""
    return windows_server
