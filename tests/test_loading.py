"""What is loaded when: what a call needs first, the rest while none runs."""

from __future__ import annotations

import threading

import pytest

from obsidian_mcp import loading
from obsidian_mcp.loading import Loading
from tests.support.client import PATIENCE


def test_a_call_loads_what_it_needs_before_the_rest() -> None:
    done: list[str] = []
    it = Loading(lambda: done.append("first"), [lambda: done.append("rest")])
    it.wake_for(lambda: done.append("own"))
    it.wake_for(lambda: done.append("another's"))
    it.wake()
    it.wake()
    assert done == ["first", "own", "another's", "rest"]


def test_the_background_waits_for_calls_under_way() -> None:
    began, done = threading.Event(), threading.Event()
    it = Loading(began.set, [done.set])

    def call() -> bool:
        it.nudge()
        assert began.wait(PATIENCE)  # what every call needs is loaded beside them: they wait for it
        return done.wait(5 * loading.AFTER)

    assert it.during(call) is False
    assert done.wait(PATIENCE)


def test_the_third_line_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "BEFORE", 3600)
    done = threading.Event()
    it = Loading(lambda: None, [done.set])
    for _ in range(3):
        it.nudge()
    assert done.wait(PATIENCE)
