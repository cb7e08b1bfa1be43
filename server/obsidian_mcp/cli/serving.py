"""Commands that open doors other than stdio."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import typer

from obsidian_mcp import logs, settings
from obsidian_mcp.app import App, CannotServe, serve_bridge
from obsidian_mcp.cli import show
from obsidian_mcp.cli.root import app, environment, load, load_server, with_options
from obsidian_mcp.errors import Failure


@app.command()
@with_options(*settings.HTTP_OPTIONS)
def serve(context: typer.Context, given: Mapping[str, Sequence[str]]) -> None:
    """Serve over HTTP: MCP (Streamable HTTP) and the envelope at /mcp, Bridge Protocol v1 at /bridge/v1.

    Only programs on this machine can reach it, and no web page that --allow-origin does not name. A page at / shows
    what was changed; with the link that is shown at start, it can take changes back.

    Example: obsidian-mcp serve --vault ~/notes --port 3000
    """
    http = settings.load_http(given, environment())
    try:
        whole = App(load_server(context, given))
        whole.serve_http(http, lambda link: _shown(link, http, whole.vaults.names))
    except CannotServe as problem:
        show.problem(str(problem))
        raise typer.Exit(1) from None


@contextlib.contextmanager
def _shown(link: str, http: settings.Http, vaults: Sequence[str]) -> Iterator[None]:
    """For a person in words; where a program reads stderr, it gets log lines alone."""
    if show.is_watched():
        show.told(*_lines_for(link, http, vaults))
    else:
        logs.log("info", "page", url=link)
    yield


def _lines_for(link: str, http: settings.Http, vaults: Sequence[str]) -> list[str]:
    address = link.partition("/#")[0]
    others = "" if http.host in settings.LOOPBACK else f", and port {address.rpartition(':')[2]} from other machines"
    return [
        f"Serving {', '.join(vaults)} at {address}/mcp (Bridge v1 at {address}/bridge/v1){others}.",
        f"See and undo changes in a browser: {link} (the link works once).",
        "Ctrl-C stops it.",
    ]


LOG_OPTIONS = tuple(option for option in settings.OPTIONS if option.name.startswith("log-"))


@app.command()
@with_options(*settings.REMOTE_OPTIONS, shared=LOG_OPTIONS)
def bridge(context: typer.Context, given: Mapping[str, Sequence[str]]) -> None:
    """Serve MCP on stdin and stdout with the tools of a Bridge v1 server, ours or another's.

    It may be started before that server, and notices when its tools change.

    Example: obsidian-mcp bridge --port 3000
    """
    chosen = settings.load({**(context.obj or {}), **given}, environment())
    serve_bridge(settings.load_remote(given, environment()), chosen)


@app.command()
@with_options(*settings.IDE_OPTIONS)
def ide(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND ...]", help="Run it in the vault, and end with it.")
    ] = None,
) -> None:
    """Let Claude Code see the note you are in: the vault appears in its /ide list.

    Claude Code finds it when started inside the vault's folder, or from here, after --.

    Example: obsidian-mcp ide --vault ~/notes -- claude
    """
    words = command or []
    try:
        whole = App(load(context, given, quiet=True) if words else load_server(context, given))
        all, opened = len(whole.vaults.wanted), itertools.count(1)
        whole.serve_ide(
            settings.load_ide_port(given, environment()),
            words,
            lambda folder, port: None if words else _opened(folder, port, next(opened), all),
        )
    except CannotServe as problem:
        show.problem(str(problem))
        raise typer.Exit(1) from None


def _opened(folder: str, port: int, number: int, all: int) -> None:
    """How to go on is said once, after the last."""
    if show.is_watched():
        there = "that folder" if all == 1 else "one of these folders"
        how = [f"Start claude in {there}, and type /ide there.", "Ctrl-C stops it."] if number == all else []
        show.told(f"Claude Code can see which note you are in, in {folder} (port {port}).", *how)


VAULT = settings.Option("vault", "The vault that the note is in.", "NAME|ID|PATH", many=True)


@app.command()
@with_options(shared=(VAULT,))
def mention(
    context: typer.Context,
    note: Annotated[str, typer.Argument(metavar="NOTE", help="Its name, or its path from the vault's root.")],
    given: Mapping[str, Sequence[str]],
    lines: Annotated[str, typer.Option("--lines", metavar="A:B", help="Lines of it, from 1, both included.")] = "",
) -> None:
    """Point Claude Code at a note, through the door that `obsidian-mcp ide` has opened.

    Example: obsidian-mcp mention "Meeting Notes" --lines 3:7
    """
    from obsidian_mcp.servers.ide.mention import mention_note  # with a library that no other command needs

    chosen = load(context, given, quiet=True)
    try:
        path, heard = mention_note(chosen, note, _lines(lines))
    except Failure as failure:
        show.fail(failure, as_json=False)
    where = f"{path}, lines {lines}" if lines else path
    if heard:
        show.line(f"mentioned {where}")
    else:
        show.line(f"Claude Code is not connected yet: {where} waits a minute for it")


def _lines(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,8})(?::([1-9][0-9]{0,8}))?", text)
    if not found or int(found[2] or found[1]) < int(found[1]):
        raise settings.UsageError(f"--lines must read A:B, from 1 and not backwards, not {text!r}")
    return int(found[1]), int(found[2] or found[1])
