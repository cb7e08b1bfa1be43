"""The doors other than stdio, and how a server ends."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path

import pytest

from tests.support.client import PATIENCE, Server
from tests.support.web import Web, WebSession
from tests.support.world import World
from tests.windows.making import windows_path
from tests.windows.plugin import MACHINE


@pytest.fixture
def options(own_world: World) -> tuple[str, ...]:
    return ("--vault", str(own_world.vault), "--backend", "embedded")


def test_notes_are_served_over_http_on_a_port_that_no_second_server_takes(
    own_world: World, options: tuple[str, ...]
) -> None:
    with Web(own_world.environment(), *options) as web:
        WebSession(web).call("create_note", name="Note", content="text")
        assert own_world.get("Note.md") == b"text"
        assert web.ask("GET", "/").status == 200
        with MACHINE.program(own_world.environment(), ["serve", "--port", str(web.port), *options]) as second:
            _, said = second.communicate(b"", PATIENCE)
    assert second.returncode != 0
    assert str(web.port).encode() in said


def test_a_batch_file_is_started_by_the_ide_door(own_world: World, options: tuple[str, ...]) -> None:
    """npm installs `claude` as claude.cmd, which Windows itself does not find."""
    batch = own_world.command.with_name("claude.cmd")
    batch.write_bytes(b"@echo port %CLAUDE_CODE_SSE_PORT%\r\n@echo words %*\r\n@cd\r\n@exit 7\r\n")
    with MACHINE.program(own_world.environment(), ["ide", *options, "--", "claude", "a&b", "c d"]) as door:
        said, log = door.communicate(b"", PATIENCE)
    assert door.returncode == 7, log
    assert b'words "a&b" "c d"' in said
    assert own_world.vault.name.encode() in said


# Wine has no console here, so a server is told of Ctrl-Break as the system would tell it: on another thread.
TELLS = """
import os, signal, threading
def tell():
    while not os.path.exists({file!r}):
        threading.Event().wait(0.05)
    heard()
def heard():
    signal.raise_signal(signal.SIGBREAK)
threading.Thread(target=tell, daemon=True).start()
"""
TO_CONSOLE = """
from obsidian_mcp.doors.stdio import console
handlers = []
console._register = handlers.append
def heard():
    handlers[0](1)
"""


@pytest.fixture
def told(own_world: World) -> Path:
    """Once it is there, it is pressed."""
    return own_world.folder / "told"


def tells(told: Path) -> str:
    return TELLS.format(file=windows_path(told))


def test_ctrl_break_ends_a_server_that_waits_for_a_line(own_world: World, options: tuple[str, ...], told: Path) -> None:
    with Server(own_world.environment(), *options, first=tells(told) + TO_CONSOLE) as server:
        server.initialize()
        told.touch()
        assert server.process.wait(PATIENCE) == 128 + 21


def test_ctrl_break_leaves_no_lock_file_of_the_ide_door(own_world: World, options: tuple[str, ...], told: Path) -> None:
    with MACHINE.program(own_world.environment(), ["ide", *options], tells(told)) as door:
        assert door.stderr
        while b'"listening"' not in door.stderr.readline():
            assert door.poll() is None
        locks = own_world.folder / "home" / ".claude" / "ide"
        assert len([*locks.iterdir()]) == 1
        told.touch()
        assert door.wait(PATIENCE) == 0
        assert not [*locks.iterdir()]


BROWSER = """
import webbrowser
webbrowser.open = lambda address: print("opened", address, flush=True) or True
"""


def test_the_page_of_changes_is_opened_in_a_browser_until_ctrl_break(
    own_world: World, options: tuple[str, ...], told: Path
) -> None:
    with MACHINE.program(own_world.environment(), ["history", "--web", *options], tells(told) + BROWSER) as process:
        assert process.stdout
        assert process.stderr
        shown = re.search(rb"http://127\.0\.0\.1:(\d+)/#", process.stderr.readline())
        assert shown
        assert re.match(rb"opened file:///Z:/.+/history\.html", process.stdout.readline())
        with urllib.request.urlopen(f"http://127.0.0.1:{int(shown[1])}/page/changes", timeout=PATIENCE) as reply:
            assert json.load(reply)["changes"] == []
        told.touch()
        assert process.wait(PATIENCE) == 0
    assert not [*own_world.folder.rglob("history.html")]
