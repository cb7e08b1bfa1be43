from __future__ import annotations

import pytest

from tests.attack.wire import Attack
from tests.support.world import World


@pytest.mark.parametrize("seed", range(4))
def test_no_line_stops_the_server_or_gets_two_answers(own_world: World, seed: int) -> None:
    Attack(own_world, seed).run(5000)
