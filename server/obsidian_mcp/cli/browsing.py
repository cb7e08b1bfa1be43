"""The page alone, in the person's browser."""

from __future__ import annotations

import contextlib
import html
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import typer

from obsidian_mcp import settings
from obsidian_mcp.app import App, CannotServe
from obsidian_mcp.cli import show

REDIRECT = '<!doctype html><meta charset="utf-8"><title>History</title><meta http-equiv="refresh" content="0;url={}">'


def browse(chosen: settings.Settings, open_page: Callable[[str], object] = webbrowser.open) -> None:
    """Serve the page on a free port of this machine and open it, until Ctrl-C. The toolsets are those it shows."""
    here = settings.load_http({"port": ["0"]}, {})
    try:
        App(chosen).serve_page(here, lambda link: _opened(link, open_page))
    except CannotServe as problem:
        show.problem(str(problem))
        raise typer.Exit(1) from None


@contextlib.contextmanager
def _opened(link: str, open_page: Callable[[str], object]) -> Iterator[None]:
    """Opened by way of a file that this user alone can read: every user can see with which words a browser is started,
    and could use the link first. On a thread: a browser in the terminal would keep the page from being served.
    """
    show.problem(f"what was changed is at {link} (the link works once; Ctrl-C ends this)")
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-") as folder:
        file = Path(folder, "history.html")
        file.write_text(REDIRECT.format(html.escape(link)), encoding="utf-8")
        threading.Thread(target=_open, args=(file.as_uri(), open_page), daemon=True).start()
        yield


def _open(address: str, open_page: Callable[[str], object]) -> None:
    try:
        opened = open_page(address)
    except (OSError, webbrowser.Error):
        opened = False
    if not opened:
        show.problem("no browser could be opened; open the link yourself")
