"""The commands for people, through typer. The only module that prints and exits."""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NoReturn

import typer

from obsidian_mcp import __version__, demo, settings
from obsidian_mcp.app import App, labels
from obsidian_mcp.call import Call
from obsidian_mcp.errors import Failure, InvalidArguments, face

NARROWEST = 60  # columns; below that a table is no longer one
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


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that the settings declare, as one mapping in `given`."""
    own = inspect.signature(command).parameters
    hints = inspect.get_annotations(command, eval_str=True)
    kept = [parameter.replace(annotation=hints[name]) for name, parameter in own.items() if name != "given"]
    shared = [_parameter(option) for option in settings.OPTIONS]

    def run(**values: Any) -> Any:
        given = {option.name: _texts(values.pop(option.key)) for option in settings.OPTIONS}
        return command(**values, given={name: texts for name, texts in given.items() if texts})

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([*kept, *shared])  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*kept, *shared)}
    return run


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
    return [value] if value else []


@app.callback()
@with_options
def root(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        print(f"obsidian-mcp {__version__}")
        raise typer.Exit


root.__doc__ = ROOT_HELP


@app.command()
@with_options
def tools(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    as_json: Annotated[bool, typer.Option("--json", help="The tools as MCP lists them.")] = False,
) -> None:
    """List the tools that an assistant would see.

    Example: obsidian-mcp tools --read-only
    """
    chosen = _load(context, given)
    from obsidian_mcp.tools import catalogue

    listing = catalogue.load(chosen.read_only, labels(chosen.vaults)).listing()
    if as_json:
        print(json.dumps(listing, ensure_ascii=False, indent=2))
        return
    _print_table(["tool", "arguments", "what it does"], [_tool_row(tool) for tool in listing])


@app.command()
@with_options
def call(
    context: typer.Context,
    tool: Annotated[str, typer.Argument(help="A tool's name, with or without obsidian_.")],
    given: Mapping[str, Sequence[str]],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE ...", help="Its arguments.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> None:
    """Call one tool and show the result. The exit code tells the kind of failure.

    Example: obsidian-mcp call read_note name="Meeting Notes" --vault "My Vault"
    """
    whole = App(_load(context, given, quiet=True))
    name = tool if tool in whole.catalogue else f"obsidian_{tool}"
    try:
        if name not in whole.catalogue:
            raise whole.catalogue.unknown(name)
        values = _values(whole, name, arguments or [])
        data = whole.dispatcher.run(name, values, Call(whole.settings.limit_for(name)))
    except Failure as failure:
        _fail(failure, as_json)
    _print_data(data, as_json)


@app.command(name="demo")
def show_demo() -> None:
    """Play a short session against a sample vault in a temporary folder.

    Example: obsidian-mcp demo
    """
    demo.play(dict(os.environ), print)


def run(argv: Sequence[str]) -> NoReturn:
    """Run a command; whatever is wrong with the command line is one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # a note may hold what a console cannot
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # by an exception: what runs is ended on the way out
    try:
        given, words = settings.split(argv)
        code = app(words, prog_name="obsidian-mcp", standalone_mode=False, obj=given)
    except settings.UsageError as error:
        _usage(str(error))
    except typer.TyperException as error:
        _usage(error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:  # as when piped into head
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        print(f"obsidian-mcp: {error.strerror}", file=sys.stderr)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _usage(problem: str) -> NoReturn:
    one_line = " ".join(problem.split()).rstrip(".")
    print(f"obsidian-mcp: {one_line}; see obsidian-mcp --help", file=sys.stderr)
    sys.exit(2)


def _load(context: typer.Context, given: Mapping[str, Sequence[str]], quiet: bool = False) -> settings.Settings:
    """Options may stand before the command or behind it."""
    merged = {**(context.obj or {}), **given}
    if quiet and "log-level" not in merged:
        merged["log-level"] = ["error"]
    return settings.load(merged, dict(os.environ))


def _values(whole: App, name: str, pairs: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE as the tool's schema types it."""
    listing = next(tool for tool in whole.catalogue.listing() if tool["name"] == name)
    properties = listing["inputSchema"]["properties"]
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise InvalidArguments(f"{pair!r} is not KEY=VALUE. The arguments of {name} are {', '.join(properties)}.")
        if key in values:
            raise InvalidArguments(f"{key} is given twice. Give each argument once.")
        values[key] = _typed(properties.get(key, {}).get("type"), text)
    return values


def _typed(kind: str | None, text: str) -> Any:
    if kind == "boolean" and text.lower() in settings.TRUE + settings.FALSE:
        return text.lower() in settings.TRUE
    if kind == "integer" and re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    return text


def _tool_row(tool: dict[str, Any]) -> list[str]:
    schema = tool["inputSchema"]
    required = schema.get("required", [])
    arguments = [name if name in required else f"[{name}]" for name in schema["properties"]]
    return [tool["name"], " ".join(arguments), tool["description"]]


def _print_table(head: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in head:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False)
    console.width = max(console.width, NARROWEST)
    console.print(table)


def _print_data(data: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"success": True, "data": data}, ensure_ascii=False))
        return
    content = data.pop("content", None)
    for key, value in data.items():
        print(f"{key + ':':<14} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
    if content is not None:
        print()
        sys.stdout.write(content if content.endswith("\n") else content + "\n")


def _fail(failure: Failure, as_json: bool) -> NoReturn:
    look = face(failure)
    if as_json:
        print(
            json.dumps(
                {
                    "success": False,
                    "error": {"code": look.rpc, "errorCode": look.error_code, "message": failure.message},
                }
            )
        )
    else:
        print(f"obsidian-mcp: {look.error_code}: {failure.message}", file=sys.stderr)
    sys.exit(look.shell)
