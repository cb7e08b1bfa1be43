"""The app's command, where Windows does it in another way. The promises with the app are chosen in `plugin`."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.world import VAULT_ID, World


def running(word: str) -> list[str]:
    """The processes of this machine, those of Wine among them, that have such a word."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended
        if word in words:
            found.append(words)
    return found


def test_a_time_out_ends_the_command_with_all_that_it_started(own_world: World) -> None:
    """Obsidian.com starts the stand-in: ended alone, it would leave that."""
    own = own_world.vault.rename(own_world.folder / "A vault that hangs")
    own_world.register({VAULT_ID: own})
    own_world.mood("slow", seconds=600, commands=["read"])
    (own / "Note.md").write_text("text")
    with Server(own_world.environment(), "--vault", "A vault that hangs", "--timeout", "15") as server:
        server.initialize()
        number = server.begin_call("read_note", name="Note")
        with pytest.raises(ToolFailed) as failed:
            server.end_call(number)
        assert failed.value.error_code == "TIMEOUT"
        until = time.monotonic() + PATIENCE
        while left := running("vault=A vault that hangs"):
            assert time.monotonic() < until, left
