"""The doors other than stdio, and how a server ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.client import PATIENCE, Server
from tests.support.web import Web, WebSession
from tests.support.world import World
from tests.windows.plugin import MACHINE


@pytest.fixture
def options(own_world: World) -> tuple[str, ...]:
    return ("--vault", str(own_world.vault), "--backend", "embedded")


@pytest.fixture
def web(own_world: World, options: tuple[str, ...]) -> Iterator[Web]:
    with Web(own_world.environment(), *options) as web:
        yield web


def test_notes_are_served_over_http(own_world: World, web: Web) -> None:
    WebSession(web).call("create_note", name="Note", content="text")
    assert own_world.get("Note.md") == b"text"


def test_no_second_server_takes_the_port(own_world: World, options: tuple[str, ...], web: Web) -> None:
    with MACHINE.start(own_world.environment(), ["serve", "--port", str(web.port), *options]) as second:
        _, said = second.communicate(b"", PATIENCE)
    assert second.returncode != 0
    assert str(web.port).encode() in said


def test_a_batch_file_is_started_by_the_ide_door(own_world: World, options: tuple[str, ...]) -> None:
    """npm installs `claude` as claude.cmd, which Windows itself does not find."""
    batch = own_world.command.with_name("claude.cmd")
    batch.write_bytes(b"@echo port %CLAUDE_CODE_SSE_PORT%\r\n@echo words %*\r\n@cd\r\n@exit 7\r\n")
    with MACHINE.start(own_world.environment(), ["ide", *options, "--", "claude", "a&b", "c d"]) as door:
        said, log = door.communicate(b"", PATIENCE)
    assert door.returncode == 7, log
    assert b'words "a&b" "c d"' in said
    assert own_world.vault.name.encode() in said


TELLS = """
import os, threading
from obsidian_mcp.doors.stdio import console
handlers = []
console._register = handlers.append
def tell():
    while not os.path.exists({file!r}):
        threading.Event().wait(0.05)
    handlers[0]({event})
threading.Thread(target=tell, daemon=True).start()
"""


def test_ctrl_break_ends_a_server_that_waits_for_a_line(own_world: World, options: tuple[str, ...]) -> None:
    """Wine has no console here, so the handler is called as the system would call it: on another thread."""
    file = own_world.folder / "tell"
    first = TELLS.format(file="Z:" + str(file), event=1)
    with Server(own_world.environment(), *options, first=first) as server:
        server.initialize()
        file.touch()
        assert server.process.wait(PATIENCE) == 128 + 21
