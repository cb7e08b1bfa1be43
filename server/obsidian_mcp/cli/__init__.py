"""The commands for people, through typer."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from obsidian_mcp import settings
from obsidian_mcp.call import interrupts
from obsidian_mcp.cli import calling, diagnosing, finding, helping, installing, reviewing, serving, setting_up, show
from obsidian_mcp.cli.root import app

__all__ = ["calling", "diagnosing", "finding", "helping", "installing", "reviewing", "run", "serving", "setting_up"]


def run(argv: Sequence[str]) -> NoReturn:
    """Run a command; whatever is wrong with the command line is one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A note may hold what a console can't show, and is shown as it is: Windows would end its lines once more.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    interrupts.listen()  # by an exception: what runs is ended on the way out
    signal.signal(signal.SIGTERM, lambda *_: interrupts.end(SystemExit(143)))
    signal.signal(signal.SIGINT, lambda *_: interrupts.end(KeyboardInterrupt()))
    try:
        given, words = settings.split(argv)
        code = app(words, prog_name="obsidian-mcp", standalone_mode=False, obj=given)
        sys.stdout.flush()  # here, where a pipe that is closed by now is noticed
    except settings.UsageError as error:
        show.usage(str(error), _command_in(argv))
    except typer.TyperException as error:
        show.usage(error.format_message(), _command_in(argv))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:  # as when piped into head
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        show.problem(str(error.strerror))
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _command_in(argv: Sequence[str]) -> str:
    """The command that was meant, if one was."""
    known = {command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands}
    return next((word for word in argv if word in known), "")
