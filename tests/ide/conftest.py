from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.ide import DoorProcess, Talk, lock_folder, locks, talking
from tests.support.world import World


@pytest.fixture
def door(own_world: World) -> Iterator[DoorProcess]:
    """A door to a vault with two notes, the first of which is in front."""
    own_world.put("Note.md", "one\ntwo\nthree\n")
    own_world.put("Deep/Ä b.md", "text")
    own_world.editor(path="Note.md")
    with DoorProcess(own_world.environment(), "--vault", "Vault") as running:
        yield running


@pytest.fixture
def token(door: DoorProcess, own_world: World) -> str:
    (lock,) = locks(lock_folder(own_world))
    return str(lock["authToken"])


@pytest.fixture
def talk(door: DoorProcess, token: str) -> Iterator[Talk]:
    with talking(door.port, token) as client:
        yield client.introduce()
