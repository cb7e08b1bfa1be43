from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.web import Web
from tests.support.world import World


@pytest.fixture(scope="session")
def shared_web(shared_world: World) -> Iterator[Web]:
    options = ("--vault", str(shared_world.vault), "--backend", "embedded", "--timeout", "20")
    with Web(shared_world.environment(), *options, forked=False) as web:
        yield web


@pytest.fixture
def web(world: World, shared_web: Web) -> Web:
    """A running server on an empty vault, served from disk."""
    return shared_web
