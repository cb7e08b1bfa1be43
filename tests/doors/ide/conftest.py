"""One door for every test that only asks; its own for a test that ends it, fills it, or needs it to know nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.ide import DoorProcess, Talk, lock_folder, locks, talking
from tests.support.world import World


def furnish(world: World) -> None:
    """Two notes, the first of which is in front."""
    world.put("Note.md", "one\ntwo\nthree\n")
    world.put("Deep/Ä b.md", "text")
    world.editor(path="Note.md")


def token_of(world: World) -> str:
    (lock,) = locks(lock_folder(world))
    return str(lock["authToken"])


@pytest.fixture(scope="session")
def shared_door(shared_world: World) -> Iterator[DoorProcess]:
    with DoorProcess(shared_world.environment(), "--vault", "Vault", forked=False) as running:
        yield running


@pytest.fixture
def door(world: World, shared_door: DoorProcess) -> DoorProcess:
    furnish(world)
    return shared_door


@pytest.fixture
def token(door: DoorProcess, world: World) -> str:
    return token_of(world)


@pytest.fixture
def talk(door: DoorProcess, token: str) -> Iterator[Talk]:
    with talking(door.port, token) as client:
        yield client.introduce()


@pytest.fixture
def own_door(own_world: World) -> Iterator[DoorProcess]:
    furnish(own_world)
    with DoorProcess(own_world.environment(), "--vault", "Vault") as running:
        yield running


@pytest.fixture
def own_token(own_door: DoorProcess, own_world: World) -> str:
    return token_of(own_world)


@pytest.fixture
def own_talk(own_door: DoorProcess, own_token: str) -> Iterator[Talk]:
    with talking(own_door.port, own_token) as client:
        yield client.introduce()
