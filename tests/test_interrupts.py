from __future__ import annotations

import pytest

from obsidian_mcp.call import CallContext, Interrupts, interrupts


def test_a_signal_while_a_child_is_started_waits_and_then_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_thread", 0)
    interrupts.listen()
    stopped: list[str] = []

    def start() -> str:
        interrupts.end(SystemExit(143))
        return "child"

    with pytest.raises(SystemExit), CallContext().running(start, stopped.append):
        raise AssertionError("it goes no further")
    assert stopped == ["child"]


def test_a_signal_at_any_other_time_ends_at_once() -> None:
    heard = Interrupts()
    heard.listen()
    with pytest.raises(KeyboardInterrupt):
        heard.end(KeyboardInterrupt())
    heard.hold()
    assert heard.release() is None
