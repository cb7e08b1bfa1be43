"""The command that leads through everything: a vault, a host, the change, and whether it works."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from obsidian_mcp import settings
from obsidian_mcp.app import App
from obsidian_mcp.cli import asking, installing, show
from obsidian_mcp.cli.asking import NotUnderstood
from obsidian_mcp.cli.root import app, environment, with_options
from obsidian_mcp.hosts import configure, options
from obsidian_mcp.hosts.command import command_line
from obsidian_mcp.hosts.known import BY_NAME, ENTRY, HOSTS, Host
from obsidian_mcp.setup import places, trial
from obsidian_mcp.setup.places import Candidate
from obsidian_mcp.vaults import labels

FIRST_WORDS = "What is in my Obsidian vault? Show me its folders and newest notes."
NO_TERMINAL = (
    "setup asks two questions, and there is no terminal to ask them on; take the suggested answers with "
    "`obsidian-mcp setup --yes`, or give your own with `obsidian-mcp setup HOST --vault FOLDER --yes`"
)
Given = Mapping[str, Sequence[str]]


class GivenUp(Exception):
    """What is missing, and the command that gives it."""


@app.command()
@with_options()
def setup(
    context: typer.Context,
    given: Given,
    host: Annotated[
        str,
        typer.Argument(
            metavar=installing.HOST_NAMES,
            help="The program that starts us; asked for if left out.",
            autocompletion=lambda: list(BY_NAME),
        ),
    ] = "",
    name: installing.EntryName = ENTRY,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing, and take the suggested answers.")] = False,
    dry_run: installing.DryRun = False,
    replace: installing.Replace = False,
) -> None:
    """Find your vault and your assistant's program, connect the two, and check that it works.

    It asks which vault and which program, changes that program's configuration and shows what it changed, starts the
    server as the program would, and says what to type first. Run it again to add another vault. Other options become
    part of the entry, as with install.

    Example: obsidian-mcp setup
    """
    installing.check_name(name)
    guide = _Guide({**(context.obj or {}), **given}, name, yes, dry_run, replace)
    if not (yes or dry_run or asking.can_ask()):
        raise settings.UsageError(NO_TERMINAL)
    try:
        works = guide.lead(host)
    except (KeyboardInterrupt, asking.NoAnswer) as ended:
        show.problem(f"ended before it was done; {guide.so_far}")
        raise typer.Exit(130 if isinstance(ended, KeyboardInterrupt) else 1) from None
    except GivenUp as problem:
        show.problem(str(problem))
        raise typer.Exit(1) from None
    if not works:
        raise typer.Exit(1)


class _Guide:
    """One run of it."""

    def __init__(self, given: Given, name: str, yes: bool, dry_run: bool, replace: bool) -> None:
        self._name = name
        self._replace = replace
        self._given = given
        self._environ = environment()
        self._chosen = settings.load(given, self._environ)
        App(self._chosen, vault_later=True)  # a wrong option is told before any question
        installing.require_limits(self._chosen)
        self._asks = not yes and asking.can_ask()
        self._dry_run = dry_run
        self._changed: list[str] = []

    @property
    def so_far(self) -> str:
        if not self._changed:
            return "nothing was changed"
        return f"set up so far: {', '.join(self._changed)}; take it back with {self._way_back(self._changed[-1])}"

    def _way_back(self, host: str) -> str:
        return command_line("uninstall", host, *([] if self._name == ENTRY else ["--name", self._name]))

    def lead(self, host: str) -> bool:
        """Whether every host that was chosen could use it now."""
        named = [installing.host_called(host)] if host else []
        given = self._usable({**self._given, "vault": self._named_vaults() or self._ask_vaults()})
        works = [self._set_up(each, given) for each in named or self._ask_hosts()]
        return all(works)

    def _named_vaults(self) -> list[str]:
        for vault in self._chosen.vaults:
            folder = settings.at_home(vault, self._environ)
            why = places.warning(folder, places.home_of(self._environ)) if os.path.isdir(folder) else ""
            if why:
                show.line(f"Careful: {why}.")
        return list(self._chosen.vaults)

    def _ask_vaults(self) -> list[str]:
        with show.waiting("Looking for vaults"):
            found = places.candidates(self._environ, os.getcwd())
        if not found:
            show.line("No vault was found, in Obsidian's list or in your home folder.")
            if not self._asks:
                raise GivenUp("name the folder with your notes: obsidian-mcp setup --vault FOLDER --yes")
            return asking.ask("In which folder are your notes?", lambda answer: [self._folder(answer)])
        show.line("Vaults:")
        show.choices([[each.name, self._short(each.path), each.note] for each in found])
        if not self._asks:
            show.line(f"Using {found[0].path}")
            return [found[0].path]
        return asking.ask(
            "Which vault? A number, or the path of another folder", lambda answer: self._vaults(answer, found), "1"
        )

    def _vaults(self, answer: str, found: Sequence[Candidate]) -> list[str]:
        called = [each.path for each in found if each.name.lower() == answer.lower()]
        if len(called) == 1:
            return called
        if settings.looks_like_path(asking.typed_path(answer)):
            return [self._folder(answer)]
        try:
            return [found[number].path for number in asking.numbers(answer, len(found))]
        except NotUnderstood:
            raise NotUnderstood(f"{answer!r} is neither a number from the list nor the path of a folder.") from None

    def _folder(self, answer: str) -> str:
        folder = os.path.abspath(settings.at_home(asking.typed_path(answer), self._environ))
        if not os.path.isdir(folder):
            raise NotUnderstood(f"There is no folder {folder}.")
        why = places.warning(folder, places.home_of(self._environ))
        if why:
            raise NotUnderstood(f"{why}. Name the vault's own folder.")
        return folder

    def _usable(self, given: Given) -> Given:
        """With the backend that can serve these vaults. Raises UsageError where none can."""
        problems = App(settings.load(given, self._environ)).vaults.problems()
        if problems and self._chosen.backend == "auto":
            alone = {**given, "backend": ["embedded"]}
            if not App(settings.load(alone, self._environ)).vaults.problems():
                show.line("Obsidian does not have this folder as a vault, so its files are served without the app.")
                return alone
        for _, problem in problems:
            raise settings.UsageError(problem)
        return given

    def _ask_hosts(self) -> list[Host]:
        found = [configure.look(host, self._environ) for host in HOSTS]
        there = [each for each in found if each.installed]
        if not there and not self._asks:
            names = ", ".join(BY_NAME)
            raise GivenUp(
                f"no program that could use it was found; name yours ({names}): obsidian-mcp setup HOST --yes"
            )
        show.line()
        show.line("Programs:" if there else "None of these programs was found here:")
        listed = there or found
        show.choices([[each.host.title, self._short(each.file or ""), self._state_of(each)] for each in listed])
        hosts = [each.host for each in listed]
        if not self._asks:
            show.line(f"Using {hosts[0].title}")
            return hosts[:1]
        question = "Which one should use it? A number, several (1,2), or all" if there else "Which one do you use?"
        return asking.ask(question, lambda answer: _hosts(answer, hosts), "1" if there else "")

    def _state_of(self, found: configure.Found) -> str:
        if found.problem:
            return "its configuration is broken"
        return "has obsidian-mcp already" if found.entries else ""

    def _set_up(self, host: Host, given: Given) -> bool:
        chosen = settings.load(given, self._environ)
        words = installing.options_in_force(given, chosen)
        show.line()
        show.line(f"{host.title}:")
        before = configure.look(host, self._environ).entries.get(self._name)
        if before is not None and not self._replace:
            installing.say_what_stays(host, before, chosen, words or [])
        try:
            installing.change(
                lambda: configure.installing(
                    host, self._environ, self._name, installing.own_command(), words, self._replace
                ),
                self._dry_run,
            )
        except typer.Exit:
            return False
        if self._dry_run:
            return True
        self._changed.append(host.name)
        return self._try(host, chosen)

    def _try(self, host: Host, chosen: settings.Settings) -> bool:
        entry = configure.look(host, self._environ).entries[self._name]
        vault = _label_of(entry, chosen)
        try:
            with show.waiting(f"Starting the server as {host.title} would"):
                answer = trial.attempt(entry, self._environ, vault)
        except trial.Failed as why:
            show.line(f"Started the way {host.title} would start it, it does not work yet: {why}")
            show.line(f"To find out more: {command_line('doctor', '--vault', *chosen.vaults[:1])}")
            return False
        show.line(f"Started the way {host.title} would start it, it works: it offers {_told(answer)}.")
        show.line(f"Next: {host.next_step.format(name=self._name)}")
        show.line(f"Then type {host.where}: {FIRST_WORDS}")
        show.line(f"To undo this: {self._way_back(host.name)}")
        return True

    def _short(self, path: str) -> str:
        """With ~ for the home folder, as people write it."""
        home = places.home_of(self._environ).rstrip("/\\")
        return f"~{path[len(home) :]}" if home and path.startswith((f"{home}/", f"{home}\\")) else path


def _hosts(answer: str, hosts: Sequence[Host]) -> list[Host]:
    called = [host for host in HOSTS if answer.lower() in (host.name, host.title.lower())]
    if called:
        return called
    return [hosts[number] for number in asking.numbers(answer, len(hosts))]


def _label_of(entry: Mapping[str, Any], chosen: settings.Settings) -> str:
    """What the tools call the vault that was chosen, where an entry has several."""
    there = tuple(options.vaults_of(entry))
    wanted = options.place_of(chosen.vaults[0], chosen.environ)
    if len(there) < 2:
        return ""
    known = zip(there, labels(there), strict=True)
    return next(label for vault, label in known if options.place_of(vault, chosen.environ) == wanted)


def _told(answer: trial.Answer) -> str:
    tools = f"{answer.tools} tools"
    if answer.listed is None:
        return tools
    above = sum(file["path"].endswith(".md") for file in answer.listed["files"])
    notes = above + sum(folder["notes"] for folder in answer.listed["folders"])
    more = "more than " if "next_cursor" in answer.listed else ""
    return f"{tools}, and sees {more}{notes} note{'s' if notes != 1 else ''}"
