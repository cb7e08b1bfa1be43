"""Servers that a person starts at a terminal: what is said there, and what programs get instead."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.client import COMMAND, PATIENCE
from tests.support.world import World


class Watched:
    """A command whose stderr is a terminal."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self._process = process
        self._screen = screen

    def lines(self, last: str) -> list[str]:
        """What it has said, up to a line that is this."""
        said = b""
        while not said.decode().replace("\r\n", "\n").endswith(f"{last}\n"):
            said += os.read(self._screen, 4096)
        return said.decode().splitlines()

    def stop(self) -> int:
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(PATIENCE)


@contextmanager
def watched(world: World, *words: str, **more: str) -> Iterator[Watched]:
    leader, follower = os.openpty()
    with subprocess.Popen(
        [*COMMAND, *words], env=world.environment(**more), stdin=subprocess.DEVNULL, stderr=follower
    ) as process:
        os.close(follower)
        try:
            yield Watched(process, leader)
        finally:
            process.kill()
            os.close(leader)


def test_serve_says_where_it_is_where_the_page_is_and_how_it_ends(own_world: World) -> None:
    with watched(own_world, "serve", "--vault", "Vault", "--port", "0") as server:
        where, page, end = server.lines("Ctrl-C stops it.")
        found = re.search(r"http://127\.0\.0\.1:\d+", where)
        assert found
        assert where.startswith(f"Serving Vault at {found[0]}/mcp ")
        assert f"{found[0]}/#" in page
        assert end == "Ctrl-C stops it."
        with urllib.request.urlopen(f"{found[0]}/health", timeout=PATIENCE) as answer:
            assert answer.status == 200
        assert server.stop() == 0


def test_ide_says_where_to_start_claude_and_how_it_ends(own_world: World) -> None:
    other = own_world.folder / "Other"
    other.mkdir()
    words = ("--backend", "embedded", "--vault", str(own_world.vault), "--vault", str(other))
    with watched(own_world, "ide", *words) as door:
        first, second, how, _ = door.lines("Ctrl-C stops it.")
        assert [str(own_world.vault) in first, str(other) in second, "/ide" in how] == [True, True, True]
        assert door.stop() == 0


@pytest.mark.parametrize("words", [("--log-level", "info", "--log-format", "json"), ()])
def test_who_asks_for_the_log_gets_it_at_a_terminal_too(own_world: World, words: tuple[str, ...]) -> None:
    asked = {} if words else {"OBSIDIAN_MCP_LOG_LEVEL": "info", "OBSIDIAN_MCP_LOG_FORMAT": "json"}
    with watched(own_world, "serve", "--vault", "Vault", "--port", "0", *words, **asked) as server:
        assert any('"event": "serving"' in line for line in server.lines("Ctrl-C stops it."))


def test_what_goes_wrong_is_seen_in_words(own_world: World) -> None:
    with watched(own_world, "serve", "--vault", "Vault", "--port", "0", OBSIDIAN_MCP_VALUT="x") as server:
        said = "\n".join(server.lines("Ctrl-C stops it."))
    assert "did you mean OBSIDIAN_MCP_VAULT?" in said
    assert '{"' not in said
