"""Commands that tell hosts to start this server."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from obsidian_mcp import misnamed, settings
from obsidian_mcp.app import App
from obsidian_mcp.cli import show
from obsidian_mcp.cli.root import app, environment, load, with_options
from obsidian_mcp.hosts import configure, options
from obsidian_mcp.hosts.known import BY_NAME, ENTRY, HOSTS, Host
from obsidian_mcp.tools import catalogue
from obsidian_mcp.vaults import full_name

Replace = Annotated[bool, typer.Option("--replace", help="Forget the vaults and options of an entry first.")]
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
    replace: Replace = False,
    listing: Annotated[bool, typer.Option("--list", help="Show the hosts, and where they have us configured.")] = False,
) -> None:
    """Tell a host to start this server. Only our entry is changed; the file as it was is kept beside it.

    Options such as --vault and --read-only become part of the entry. An entry that is there keeps the vaults and
    options it has: a second vault is added to it.

    Example: obsidian-mcp install claude-desktop --vault ~/notes
    """
    if listing:
        rows = [_row(configure.look(each, environment())) for each in HOSTS]
        show.table(["host", "our entry", "configuration"], rows)
        return
    found = host_called(host)
    check_name(name)
    chosen = load(context, given, warn=False)
    require_limits(chosen)
    words = options_in_force({**(context.obj or {}), **given}, chosen)
    environ = environment()
    before = configure.look(found, environ)
    there = None if replace else before.entries.get(name)
    whole = App(chosen, vault_later=there is not None)
    if chosen.vaults or there is None:
        for _, problem in whole.vaults.problems():
            raise settings.UsageError(problem)
    if not before.installed and not before.problem:
        show.line(f"{found.title} does not seem to be installed here; it will find this when it is.")
    if there is not None:
        say_what_stays(found, there, chosen, words or [])
    change(
        lambda: configure.installing(found, environ, name, own_command(), words, replace),
        dry_run,
        f"Next: {found.next_step.format(name=name)}",
    )


def say_what_stays(host: Host, entry: Mapping[str, Any], chosen: settings.Settings, words: Sequence[str]) -> None:
    """A vault that is added to others must not be taken for the only one, nor an option that stays for one that went.

    `words` are the options that are given now.
    """
    environ, there = chosen.environ, options.vaults_of(entry)
    gone = [vault for vault in there if options.is_gone(vault, environ)] if chosen.vaults else []
    for vault in gone:
        show.line(f"There is no folder {vault} any more, so it is left out.")
    here = {options.place_of(vault, environ) for vault in chosen.vaults}
    kept = [f"the vault {each}" for each in there if here and options.place_of(each, environ) not in here]
    kept = [each for each in kept if each.removeprefix("the vault ") not in gone]
    old, new = options.given_by(entry) or {}, settings.split(words)[0]
    kept += [f"--{option}" for option in old if option not in ("vault", "errors", *new)]
    if kept:
        show.line(f"{host.title} keeps {', '.join(kept)}; with --replace it would not.")


@app.command()
def uninstall(host: HostName, name: EntryName = ENTRY, dry_run: DryRun = False) -> None:
    """Take our entry out of a host's configuration, with all that install has made there.

    Example: obsidian-mcp uninstall cursor
    """
    found = host_called(host)
    check_name(name)
    change(lambda: configure.removing(found, environment(), name), dry_run, f"Next: Restart {found.title}.")


def own_command() -> list[str]:
    """This program by its full path: hosts start servers with a minimal PATH."""
    script = shutil.which(sys.argv[0]) or sys.argv[0]
    if os.path.basename(script).lower() in ("obsidian-mcp", "obsidian-mcp.exe"):
        return [os.path.abspath(script)]
    return [sys.executable, "-m", "obsidian_mcp"]


def host_called(name: str) -> Host:
    if name not in BY_NAME:
        raise settings.UsageError(f"name a host, one of {', '.join(BY_NAME)}" + (f", not {name!r}" if name else ""))
    return BY_NAME[name]


def change(plan: Callable[[], configure.Change], dry_run: bool, next_step: str = "") -> None:
    """Show a change by its lines, and make it."""
    try:
        planned = plan()
        leftovers = planned.leftovers
        backup = configure.carry_out(planned) if planned.needed and not dry_run else None
    except configure.HostProblem as problem:
        show.problem(str(problem))
        raise typer.Exit(1) from None
    if not planned.needed and not leftovers:
        show.line(f"{planned.file} is as it should be already. Nothing was changed.")
        return
    if planned.before != planned.after:
        what = "remove" if planned.after is None else "change"
        show.line(f"{f'Would {what}' if dry_run else f'{what.capitalize()}d'} {planned.file}:")
        show.diff("\n".join(planned.difference()))
    for name in leftovers:
        show.line(f"{'Would remove' if dry_run else 'Removed'} {name}")
    if dry_run:
        show.line("Nothing was changed.")
        return
    if backup:
        show.line(f"Backup: {backup}")
    if next_step:
        show.line(next_step)


def require_limits(chosen: settings.Settings) -> None:
    """Raise if one is for a tool that there is not: what is written into a host's file is read by nobody."""
    for problem in misnamed.limits(chosen.timeouts, catalogue.load().names):
        raise settings.UsageError(problem)


def options_in_force(given: Mapping[str, Sequence[str]], chosen: settings.Settings) -> list[str] | None:
    """What is in force and not the default, as words that mean the same from any folder; None if nothing is."""
    words: list[str] = []
    for option, values, source in settings.origins(given, chosen.environ):
        if source == "default":
            continue
        if option.flag:
            words.append(f"--{option.name}" if values[-1].lower() in settings.TRUE else f"--{option.name}=false")
            continue
        for value in values:
            words += [f"--{option.name}", _full(option.name, value, chosen)]
    return words or None


def _full(name: str, value: str, chosen: settings.Settings) -> str:
    if name == "vault":
        return full_name(value, chosen)
    return os.path.abspath(settings.at_home(value, chosen.environ)) if name == "obsidian-bin" else value


def check_name(name: str) -> None:
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
