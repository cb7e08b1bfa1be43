"""Commands that say what there is: for those who don't write --help."""

from __future__ import annotations

from typing import Annotated

import typer

from obsidian_mcp import __version__
from obsidian_mcp.cli import show
from obsidian_mcp.cli.root import app


@app.command()
def help(
    command: Annotated[str, typer.Argument(metavar="[COMMAND]", help="The command to explain.")] = "",
) -> None:
    """Explain the program, or one of its commands.

    Example: obsidian-mcp help install
    """
    words = [command, "--help"] if command else ["--help"]
    app(words, prog_name="obsidian-mcp", standalone_mode=False, obj={})


@app.command()
def version() -> None:
    """Show the version.

    Example: obsidian-mcp version
    """
    show.line(f"obsidian-mcp {__version__}")
