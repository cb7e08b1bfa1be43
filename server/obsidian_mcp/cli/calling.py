"""Commands that do what an assistant would: list the tools, call one, play a session."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from obsidian_mcp import demo, running, settings
from obsidian_mcp.app import App
from obsidian_mcp.call import CallContext
from obsidian_mcp.cli import show
from obsidian_mcp.cli.root import app, environment, load, with_options
from obsidian_mcp.errors import Failure, InvalidArguments
from obsidian_mcp.protocol.clients import COMMAND_LINE
from obsidian_mcp.protocol.jsonrpc import encode
from obsidian_mcp.tools import toolsets
from obsidian_mcp.vaults import labels

TEXTS = ("content", "new_text", "old_text", "set", "add", "remove")  # that may come from a file


@app.command()
@with_options()
def tools(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    as_json: Annotated[bool, typer.Option("--json", help="The tools as MCP lists them.")] = False,
) -> None:
    """List the tools that an assistant would see.

    Example: obsidian-mcp tools --read-only
    """
    chosen = load(context, given)
    from obsidian_mcp.tools import catalogue

    names = labels(chosen.vaults)
    offered = catalogue.load(chosen.read_only, names, chosen.toolsets, chosen.tools, chosen.history)
    if as_json:
        show.json_text(offered.listing(), indent=2)
        return
    show.table(["tool", "arguments", "what it does"], [_tool_row(tool) for tool in offered.listing()])
    show.line()
    on = {row.toolset for row in offered.rows()}
    rows = [_set_row(toolset, toolset.name in on) for toolset in toolsets.TOOLSETS.values()]
    show.table(["set", "on", "tools", "bytes", "what for"], [*rows, _sizes("all of these", "", offered.listing(), "")])


@app.command()
@with_options()
def call(
    context: typer.Context,
    tool: Annotated[
        str, typer.Argument(help="A tool's name, with or without obsidian_.", autocompletion=lambda: tool_names())
    ],
    given: Mapping[str, Sequence[str]],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE ...", help="Its arguments.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the images to FILE, which must be new.")
    ] = None,
) -> None:
    """Call one tool and show the result. The exit code tells the kind of failure.

    A text may come from a file (content=@FILE) or from stdin (content=-).

    Example: obsidian-mcp call read_note name="Meeting Notes" --vault "My Vault"
    """
    chosen = load(context, given, quiet=True)
    if not chosen.tools and not chosen.toolsets:  # sets save a model's room; a person has chosen by the tool's name
        chosen = load(context, {**given, "toolsets": [toolsets.ALL]}, quiet=True, warn=False)
    whole = App(chosen)
    name = tool if tool in whole.catalogue else f"obsidian_{tool}"
    try:
        if name not in whole.catalogue:
            raise whole.catalogue.unknown(name)
        values = _values(whole, name, arguments or [])
        job = whole.tools.job(name, values, lambda data: data, page=COMMAND_LINE, client="obsidian-mcp")
        data = running.run(job, CallContext(job.limit))
        files = [] if output is None else _written(data, output)
    except Failure as failure:
        show.fail(failure, as_json)
    show.data(data, as_json, files)


def _written(data: Mapping[str, Any], output: Path) -> list[str]:
    """The files that the images of a result were written to: the first as it is named, the others numbered."""
    images = [block for block in getattr(data, "blocks", ()) if block["type"] == "image"]
    if not images:
        raise InvalidArguments("There is no image in the result, so nothing was written.", "Leave --output out.")
    written = []
    for number, image in enumerate(images, 1):
        file = output if number == 1 else output.with_name(f"{output.stem}-{number}{output.suffix}")
        try:
            with file.open("xb") as new:
                new.write(base64.b64decode(image["data"]))
        except OSError as error:
            raise InvalidArguments(f"{file} can't be written ({error.strerror}).", "Name another file.") from None
        written.append(str(file))
    return written


def tool_names() -> list[str]:
    from obsidian_mcp.tools import catalogue

    return [name.removeprefix("obsidian_") for name in catalogue.load(sets=(toolsets.ALL,)).names]


@app.command(name="demo")
def show_demo() -> None:
    """Play a short session against a sample vault in a temporary folder.

    Example: obsidian-mcp demo
    """
    demo.play(environment(), show.line)


def _values(whole: App, name: str, pairs: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE as the tool's schema types it."""
    listing = next(tool for tool in whole.catalogue.listing() if tool["name"] == name)
    properties = listing["inputSchema"]["properties"]
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise InvalidArguments(
                f"{pair!r} is not KEY=VALUE.", f"The arguments of {name} are {', '.join(properties)}."
            )
        if key in values:
            raise InvalidArguments(f"{key} is given twice.", "Give each argument once.")
        values[key] = _typed(properties.get(key, {}).get("type"), _brought(key, text) if key in TEXTS else text)
    return values


def _brought(key: str, text: str) -> str:
    """A text from a file (`@FILE`) or from stdin (`-`); `@@` begins one that begins with an @."""
    if text.startswith("@@"):
        return text[1:]
    if text != "-" and not text.startswith("@"):
        return text
    try:
        data = typer.get_binary_stream("stdin").read() if text == "-" else Path(text[1:]).read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise InvalidArguments(f"{key}: {text[1:]} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise InvalidArguments(f"{key}: {'stdin' if text == '-' else text[1:]} is not UTF-8 text.") from None


def _typed(kind: str | None, text: str) -> Any:
    if kind == "boolean" and text.lower() in settings.TRUE + settings.FALSE:
        return text.lower() in settings.TRUE
    if kind == "integer" and re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    if kind == "array" and not text.startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _set_row(toolset: toolsets.Toolset, is_on: bool) -> list[str]:
    from obsidian_mcp.tools import catalogue

    listing = catalogue.load(sets=(toolset.name,)).listing()
    return _sizes(toolset.name, "yes" if is_on else "no", listing, toolset.description)


def _sizes(name: str, on: str, listing: Sequence[dict[str, Any]], what: str) -> list[str]:
    """With what a model sees of each: name, description and arguments."""
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listing]
    return [name, on, str(len(listing)), f"{sum(len(encode(tool)) for tool in seen):,}", what]


def _tool_row(tool: dict[str, Any]) -> list[str]:
    schema = tool["inputSchema"]
    required = schema.get("required", [])
    arguments = [name if name in required else f"[{name}]" for name in schema["properties"]]
    return [tool["name"], " ".join(arguments), tool["description"]]
