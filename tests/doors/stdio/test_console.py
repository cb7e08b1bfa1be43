"""What Windows tells of on a thread of its own."""

from __future__ import annotations

import pytest

from obsidian_mcp.doors.stdio import console
from obsidian_mcp.doors.stdio.console import Handler

EVENTS = {
    "Ctrl-C": (0, [2], 1),
    "Ctrl-Break": (1, [21], 1),
    "the window is closed": (2, [21], 1),
    "another": (9, [], 0),
}


@pytest.mark.parametrize(("event", "told", "answer"), EVENTS.values(), ids=EVENTS)
def test_what_ends_a_program_ends_the_server(event: int, told: list[int], answer: int) -> None:
    heard: list[int] = []
    handlers: list[Handler] = []
    console.listen(heard.append, handlers.append)
    assert handlers[0](event) == answer
    assert heard == told
