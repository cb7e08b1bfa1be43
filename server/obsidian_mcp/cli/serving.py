"""Commands that open doors other than stdio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from obsidian_mcp import settings
from obsidian_mcp.app import App, CannotServe, serve_bridge
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
        raise typer.Exit(1) from None


LOG_OPTIONS = tuple(option for option in settings.OPTIONS if option.name.startswith("log-"))
REMOTE_OPTIONS = tuple(option for option in settings.HTTP_OPTIONS if option.name != "allow-host")


@app.command()
@with_options(*REMOTE_OPTIONS, shared=LOG_OPTIONS)
def bridge(context: typer.Context, given: Mapping[str, Sequence[str]]) -> None:
    """Serve MCP on stdin and stdout with the tools of a Bridge v1 server, ours or another's.

    It may be started before that server, and notices when its tools change.

    Example: obsidian-mcp bridge --port 3000
    """
    chosen = load(context, given)
    serve_bridge(settings.load_remote(given, environment()), chosen.log_level, chosen.log_format)
