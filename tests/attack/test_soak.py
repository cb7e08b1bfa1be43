from __future__ import annotations

import pytest

from tests.attack.soak import soak
from tests.support.world import World


@pytest.mark.timeout(900)
def test_four_clients_lose_nothing_and_leave_nothing(own_world: World) -> None:
    found = soak(own_world, 4000)
    assert found.growing == []
