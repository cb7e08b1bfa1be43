from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.support.client import Server
from tests.support.world import World

# These are for `make windows`, whose plugin starts every server under Wine.
collect_ignore_glob = [] if "tests.windows.plugin" in sys.modules else ["test_*.py"]


@pytest.fixture
def server(world: World, embedded_server: Server) -> Server:
    """On an empty vault, without the app. It outlives the test, as a server would; every start takes long here."""
    return embedded_server


@pytest.fixture(scope="session")
def second_server(shared_world: World) -> Iterator[Server]:
    """Another on the same vault, with its prompts in a folder that is not one of the vault."""
    options = ("--vault", str(shared_world.vault), "--backend", "embedded", "--prompts", str(shared_world.outside))
    with Server(shared_world.environment(), *options) as server:
        yield server.initialize()
