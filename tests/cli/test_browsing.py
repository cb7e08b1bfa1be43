"""`obsidian-mcp history --web`: the page alone, in the person's browser. The ids are those of specs/history-page.md."""

from __future__ import annotations

import html
import http.client
import json
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.support.process import PATIENCE
from tests.support.world import World

PROGRAM = """
import os
import sys
from obsidian_mcp import settings
from obsidian_mcp.cli.browsing import browse

def opened(address):
    print(address, flush=True)
    return {opens}

given = {{"vault": [sys.argv[1]], "backend": ["embedded"], "log-level": ["error"]}}
browse(settings.load(given, dict(os.environ)), opened)
"""


@contextmanager
def browsing(world: World, opens: bool = True) -> Iterator[subprocess.Popen[str]]:
    words = (sys.executable, "-c", PROGRAM.format(opens=opens), str(world.vault))
    with subprocess.Popen(
        words,
        env=world.environment(TMPDIR=str(world.folder)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_of(stream: object) -> str:
    assert hasattr(stream, "readline")
    return str(stream.readline()).strip()


def asked(port: int, path: str, body: object = None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        data = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, data, {"Content-Type": "application/json"})
        return connection.getresponse().status
    finally:
        connection.close()


def test_p16_the_browser_is_started_with_a_file_that_leads_to_the_link_and_is_gone_at_the_end(own_world: World) -> None:
    with browsing(own_world) as process:
        file = Path(unquote(urlsplit(line_of(process.stdout)).path))
        shown = re.search(r"http://127\.0\.0\.1:(\d+)/#[\w-]+", line_of(process.stderr))
        assert shown
        assert f"url={shown[0]}" in html.unescape(file.read_text(encoding="utf-8"))
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert asked(int(shown[1]), "/") == 200  # from then on a signal ends it in order
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert not file.parent.exists()


def test_p16_it_serves_the_page_and_nothing_else(own_world: World) -> None:
    with browsing(own_world) as process:
        shown = re.search(r"127\.0\.0\.1:(\d+)/#([\w-]+)", line_of(process.stderr))
        assert shown
        port, secret = int(shown[1]), shown[2]
        assert [asked(port, path) for path in ("/", "/page/state", "/page/changes")] == [200] * 3
        assert [asked(port, path) for path in ("/mcp", "/health", "/bridge/v1/tools")] == [404] * 3
        assert asked(port, "/page/enter", {"secret": secret}) == 200


def test_where_no_browser_can_be_opened_the_link_is_to_be_opened_by_hand(own_world: World) -> None:
    with browsing(own_world, opens=False) as process:
        assert "http://127.0.0.1:" in line_of(process.stderr)
        assert "open the link yourself" in line_of(process.stderr)
