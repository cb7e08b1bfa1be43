"""Doors of these tests' own. A session's fixture that two folders import is made twice, and two doors are too many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.ide.conftest import furnish, token_of
from tests.support.ide import DoorProcess
from tests.support.web import Web
from tests.support.world import World


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(Path(tmp_path_factory.mktemp("contracts")) / "world")


@pytest.fixture(scope="module")
def shared_door(shared_world: World) -> Iterator[DoorProcess]:
    with DoorProcess(shared_world.environment(), "--vault", "Vault") as running:
        yield running


@pytest.fixture
def door(world: World, shared_door: DoorProcess) -> DoorProcess:
    furnish(world)
    return shared_door


@pytest.fixture
def token(door: DoorProcess, world: World) -> str:
    return token_of(world)


@pytest.fixture(scope="module")
def shared_web(shared_world: World) -> Iterator[Web]:
    options = ("--vault", str(shared_world.vault), "--backend", "embedded", "--timeout", "20")
    with Web(shared_world.environment(), *options) as running:
        yield running


@pytest.fixture
def web(world: World, shared_web: Web) -> Web:
    return shared_web
