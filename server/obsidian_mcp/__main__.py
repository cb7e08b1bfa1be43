"""obsidian-mcp: serves stdio at once; anything else is for people and goes to cli."""

from __future__ import annotations

import gc
import os
import sys

from obsidian_mcp import settings

COMPLETION = "_OBSIDIAN_MCP_COMPLETE"  # set by the shell when it wants to know how a word could go on


def main() -> None:
    try:
        _main()
    except KeyboardInterrupt:  # before the door or the command has its own way of ending
        raise SystemExit(130) from None


def _main() -> None:
    try:
        given, words = settings.split(sys.argv[1:])
        if not words and COMPLETION not in os.environ:
            serve = _bridge if settings.names_server_alone(given, os.environ) else _serve
            serve(given)
            return
    except settings.UsageError as error:
        sys.stderr.write(f"obsidian-mcp: {error}; see obsidian-mcp --help\n")
        raise SystemExit(2) from None
    from obsidian_mcp import cli

    cli.run(sys.argv[1:])


def _bridge(given: dict[str, list[str]]) -> None:
    from obsidian_mcp.app import serve_bridge

    environ = dict(os.environ)
    chosen, remote = settings.load(given, environ), settings.load_remote({}, environ)
    if os.isatty(0):
        where = f"{remote.host} port {remote.port}, which the environment names"
        sys.stderr.write(f"obsidian-mcp: serving MCP on stdin with the tools of the server at {where}\n")
    serve_bridge(remote, chosen)


def _serve(given: dict[str, list[str]]) -> None:
    gc.disable()  # until the first reply: what is loaded for it is kept, and looked through again and again
    from obsidian_mcp.app import App

    # A host shows what a call says, and hides what a process said before it ended; a person sees the line.
    at_terminal = os.isatty(0)
    app = App(settings.load(given, dict(os.environ)), vault_later=not at_terminal)
    if at_terminal:
        sys.stderr.write("obsidian-mcp: serving MCP on stdin for a host; Ctrl-D ends it, --help says more\n")
        for _, problem in app.vaults.problems():
            sys.stderr.write(f"obsidian-mcp: no call will work: {problem}; see obsidian-mcp doctor\n")
    app.serve_stdio()


if __name__ == "__main__":
    main()
