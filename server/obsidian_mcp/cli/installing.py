"""Commands that tell hosts to start this server."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

from obsidian_mcp import misnamed, settings
from obsidian_mcp.app import App
from obsidian_mcp.cli import show
from obsidian_mcp.cli.root import app, environment, load, with_options
from obsidian_mcp.hosts import configure
from obsidian_mcp.hosts.known import BY_NAME, ENTRY, HOSTS, Host
from obsidian_mcp.tools import catalogue
from obsidian_mcp.vaults import full_name

HOST_NAMES = "|".join(BY_NAME)
HostName = Annotated[
    str, typer.Argument(metavar=HOST_NAMES, help="The program that starts us.", autocompletion=lambda: list(BY_NAME))
]
EntryName = Annotated[str, typer.Option("--name", help="What to call the server there.", metavar="NAME")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")]


@app.command()
@with_options()
def install(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    host: HostName = "",
    name: EntryName = ENTRY,
    dry_run: DryRun = False,
    listing: Annotated[bool, typer.Option("--list", help="Show the hosts, and where they have us configured.")] = False,
) -> None:
    """Tell a host to start this server. Only our entry is changed; the file as it was is kept beside it.

    Options such as --vault and --read-only become part of the entry.

    Example: obsidian-mcp install claude-desktop --vault ~/notes
    """
    if listing:
        rows = [_row(configure.look(each, environment())) for each in HOSTS]
        show.table(["host", "our entry", "configuration"], rows)
        return
    found = _host(host)
    _check_name(name)
    chosen = load(context, given, warn=False)
    for problem in misnamed.limits(chosen.timeouts, catalogue.load().names):
        raise settings.UsageError(problem)
    words = _options({**(context.obj or {}), **given}, chosen)
    environ = environment()
    before = configure.look(found, environ)
    if words is not None or name not in before.entries:
        for _, problem in App(chosen).vaults.problems():
            raise settings.UsageError(problem)
    if not before.installed and not before.problem:
        show.line(f"{found.title} does not seem to be installed here; it will find this when it is.")
    _change(
        lambda: configure.installing(found, environ, name, own_command(), words),
        dry_run,
        found.next_step.format(name=name),
    )


@app.command()
def uninstall(host: HostName, name: EntryName = ENTRY, dry_run: DryRun = False) -> None:
    """Take our entry out of a host's configuration.

    Example: obsidian-mcp uninstall cursor
    """
    found = _host(host)
    _check_name(name)
    _change(lambda: configure.removing(found, environment(), name), dry_run, f"Restart {found.title}.")


def own_command() -> list[str]:
    """This program by its full path: hosts start servers with a minimal PATH."""
    script = shutil.which(sys.argv[0]) or sys.argv[0]
    if os.path.basename(script).lower() in ("obsidian-mcp", "obsidian-mcp.exe"):
        return [os.path.abspath(script)]
    return [sys.executable, "-m", "obsidian_mcp"]


def _host(name: str) -> Host:
    if name not in BY_NAME:
        raise settings.UsageError(f"name a host, one of {', '.join(BY_NAME)}" + (f", not {name!r}" if name else ""))
    return BY_NAME[name]


def _change(plan: Callable[[], configure.Change], dry_run: bool, next_step: str) -> None:
    try:
        change = plan()
        backup = configure.carry_out(change) if change.needed and not dry_run else None
    except configure.HostProblem as problem:
        show.problem(str(problem))
        raise typer.Exit(1) from None
    if not change.needed:
        show.line(f"{change.file} is as it should be already. Nothing was changed.")
        return
    show.line(f"{'Would change' if dry_run else 'Changed'} {change.file}:")
    show.difference(change.difference())
    if dry_run:
        return
    if backup:
        show.line(f"The file as it was: {backup}")
    show.line(f"Next: {next_step}")


def _options(given: Mapping[str, Sequence[str]], chosen: settings.Settings) -> list[str] | None:
    """What is in force and not the default, as words that mean the same from any folder; None if nothing is."""
    words: list[str] = []
    for option, values, source in settings.origins(given, chosen.environ):
        if source == "default":
            continue
        if option.flag:
            words += [f"--{option.name}"] if values[-1].lower() in settings.TRUE else []
            continue
        for value in values:
            words += [f"--{option.name}", _full(option.name, value, chosen)]
    return words or None


def _full(name: str, value: str, chosen: settings.Settings) -> str:
    if name == "vault":
        return full_name(value, chosen)
    return os.path.abspath(settings.at_home(value, chosen.environ)) if name == "obsidian-bin" else value


def _check_name(name: str) -> None:
    if not name.strip() or not name.isprintable() or '"' in name:
        raise settings.UsageError("--name must be a word or two, without quotes")


def _row(found: configure.Found) -> list[str]:
    if found.problem:
        entry = "?"
    elif found.entries:
        entry = ", ".join(found.entries)
    else:
        entry = "not configured" if found.installed else "host not found"
    return [found.host.name, entry, found.problem or found.file or ""]
