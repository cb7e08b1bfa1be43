"""What a reader costs, seen from two sizes, by the processor's time and not the clock's.

Eight times the length may cost three times more than eight times the work, where the square would cost eight times
more.
"""

from __future__ import annotations

import time
from collections.abc import Callable

FEW, TIMES, AT_MOST = 1_000, 8, 3
LITTLE = 0.02  # seconds: less than this is little whatever the length


def cost(work: Callable[[], object]) -> float:
    """Of the processor's time, the least of three: what else goes on can only add to it."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def require_linear(work: Callable[[int], object]) -> None:
    large = cost(lambda: work(FEW * TIMES))
    assert large < LITTLE or large < AT_MOST * TIMES * cost(lambda: work(FEW))
