"""obsidian-mcp: serves stdio at once; anything else is for people and goes to cli."""

from __future__ import annotations

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
            _serve(given)
            return
    except settings.UsageError as error:
        sys.stderr.write(f"obsidian-mcp: {error}; see obsidian-mcp --help\n")
        raise SystemExit(2) from None
    from obsidian_mcp import cli

    cli.run(sys.argv[1:])


def _serve(given: dict[str, list[str]]) -> None:
    from obsidian_mcp.app import App

    app = App(settings.load(given, dict(os.environ)))
    if os.isatty(0):
        sys.stderr.write("obsidian-mcp: serving MCP on stdin for a host; Ctrl-D ends it, --help says more\n")
        problem = app.vaults.problem()
        if problem:
            sys.stderr.write(f"obsidian-mcp: no call will work: {problem}; see obsidian-mcp doctor\n")
    app.serve_stdio()


if __name__ == "__main__":
    main()
