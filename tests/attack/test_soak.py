from __future__ import annotations

from tests.attack.soak import soak
from tests.support.world import World


def test_four_clients_lose_nothing_and_leave_nothing(own_world: World) -> None:
    found = soak(own_world, 2000)
    assert found.growing == []
