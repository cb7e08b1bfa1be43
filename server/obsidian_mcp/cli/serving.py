"""Commands that open doors other than stdio."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import typer

from obsidian_mcp import settings
from obsidian_mcp.app import App, CannotServe
from obsidian_mcp.cli import show
from obsidian_mcp.cli.root import app, environment, load, with_options


@app.command()
@with_options(*settings.HTTP_OPTIONS)
def serve(context: typer.Context, given: Mapping[str, Sequence[str]]) -> None:
    """Serve over HTTP: MCP (Streamable HTTP) and the envelope at /mcp, Bridge Protocol v1 at /bridge/v1.

    Only programs on this machine can reach it, and no web page from elsewhere.

    Example: obsidian-mcp serve --vault ~/notes --port 3000
    """
    http = settings.load_http(given, environment())
    try:
        App(load(context, given)).serve_http(http)
    except CannotServe as problem:
        show.problem(str(problem))
        sys.exit(1)
