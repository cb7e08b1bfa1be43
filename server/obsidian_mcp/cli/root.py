"""The program as typer knows it: the options that every command shares."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from obsidian_mcp import __version__, settings
from obsidian_mcp.app import misnamed_in
from obsidian_mcp.cli import show

ROOT_HELP = """Serve the notes of an Obsidian vault to AI assistants, over MCP.

Without a command it serves MCP on stdin and stdout; hosts start it that way.
Every option can also be given in the environment: --read-only is
OBSIDIAN_MCP_READ_ONLY=true.

Example: obsidian-mcp --vault "My Vault" --read-only
"""

app = typer.Typer(
    help=ROOT_HELP,
    no_args_is_help=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def environment() -> dict[str, str]:
    return dict(os.environ)


def load(
    context: typer.Context, given: Mapping[str, Sequence[str]], quiet: bool = False, warn: bool = True
) -> settings.Settings:
    """Options may stand before the command or after it. A name that means nothing is warned of."""
    merged = {**(context.obj or {}), **given}
    if quiet and "log-level" not in merged:
        merged["log-level"] = ["error"]
    chosen = settings.load(merged, environment())
    for problem in misnamed_in(chosen) if warn else ():
        show.problem(problem)
    return chosen


def load_server(context: typer.Context, given: Mapping[str, Sequence[str]]) -> settings.Settings:
    """For what serves until it is stopped, and warns in its log. A person who watches is told in words what happens,
    and sees of the log what went wrong; a program gets every line of it, as JSON.
    """
    merged, environ = {**(context.obj or {}), **given}, environment()
    if show.is_watched():
        for name, value in {"log-level": "warning", "log-format": "console"}.items():
            if not settings.is_given(name, merged, environ):
                merged[name] = [value]
    return settings.load(merged, environ)


def with_options(
    *more: settings.Option, shared: tuple[settings.Option, ...] = settings.OPTIONS
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options that the settings declare, as one mapping in `given`."""
    options = (*more, *shared)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(command).parameters
        hints = inspect.get_annotations(command, eval_str=True)
        kept = [parameter.replace(annotation=hints[name]) for name, parameter in own.items() if name != "given"]
        parameters = [_parameter(option) for option in options]

        def run(**values: Any) -> Any:
            given = {option.name: _texts(values.pop(option.key)) for option in options}
            return command(**values, given={name: texts for name, texts in given.items() if texts})

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = inspect.Signature([*kept, *parameters])  # type: ignore[attr-defined]  # what typer reads
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*kept, *parameters)}
        return run

    return decorate


def _parameter(option: settings.Option) -> inspect.Parameter:
    kind: Any = bool if option.flag else list[str] if option.many else str | None
    default = f" [default: {option.default}]" if option.default else ""
    info = typer.Option(
        f"--{option.name}", help=option.help + default, metavar=option.metavar or None, show_default=False
    )
    return inspect.Parameter(
        option.key,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if option.flag else [] if option.many else None,
        annotation=Annotated[kind, info],
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return value
    if value is True:
        return ["true"]
    return [value] if isinstance(value, str) else []


@app.callback()
@with_options()
def root(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        show.line(f"obsidian-mcp {__version__}")
        raise typer.Exit


root.__doc__ = ROOT_HELP
