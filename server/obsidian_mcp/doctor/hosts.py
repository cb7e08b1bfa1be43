"""The hosts that should start us, for which vaults, and whether they could."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obsidian_mcp import settings
from obsidian_mcp.doctor.check import Check, Examination
from obsidian_mcp.errors import VaultNotFound
from obsidian_mcp.hosts import configure, options
from obsidian_mcp.hosts.command import command_line
from obsidian_mcp.hosts.known import ENTRY, HOSTS, Host, own_words
from obsidian_mcp.settings import UsageError
from obsidian_mcp.tools import catalogue, toolsets
from obsidian_mcp.vaults import full_name, labels, locate, meant


@dataclass(frozen=True, slots=True)
class Served:
    """One entry of ours: which host, under which name."""

    host: Host
    name: str
    entry: Mapping[str, Any]

    def install(self, *words: str) -> str:
        """The command that puts it right; what the entry has stays, unless the words say otherwise."""
        named = [] if self.name == ENTRY else ["--name", self.name]
        return command_line("install", self.host.name, *named, *words)


def hosts(it: Examination) -> Iterator[Check]:
    here, elsewhere, bad = [], [], False
    for host in HOSTS:
        found = configure.look(host, it.environ)
        if found.problem and found.file:
            bad = True
            yield Check("hosts", "warn", found.problem, f"Look at {found.file}.")
    for served in entries(it):
        title = served.host.title
        problem, remedy = _problem_of(it, served)
        if problem:
            bad = True
            yield Check("hosts", "warn", f"{title} has {served.name!r}, which {problem}.", remedy)
        elif it.places and not it.places & _places(it, served.entry):
            elsewhere.append(f"{title} ({', '.join(options.vaults_of(served.entry))})")
        else:
            here.append(served)
    if here:
        titles = dict.fromkeys(served.host.title for served in here)
        yield Check("hosts", "ok", f"Configured in {', '.join(titles)}.")
    elif not bad:
        which = f" for this vault; there is {', '.join(elsewhere)}" if elsewhere else ""
        yield Check("hosts", "warn", f"No host on this machine is set to start it{which}.", set_up(it))
    if here and elsewhere:
        yield Check("hosts", "ok", f"For other vaults: {', '.join(elsewhere)}.")
    yield from _toolsets(it, here)


def entries(it: Examination) -> list[Served]:
    looked = [configure.look(host, it.environ) for host in HOSTS]
    return [Served(found.host, name, entry) for found in looked for name, entry in found.entries.items()]


def set_up(it: Examination, *words: str) -> str:
    """The command for a vault that no host has yet."""
    vaults = [full_path(it, vault) for vault in it.wanted] if it.better is None else it.better
    named = [word for vault in vaults for word in ("--vault", vault)]
    return command_line("setup", *named, *words)


def with_options(it: Examination, *words: str) -> str:
    """The command that gives the options to those that start it: the host that does, or a new one."""
    for served in entries(it):
        if it.places & _places(it, served.entry):
            return served.install(*words)
    return set_up(it, *words)


def instead(it: Examination, wrong: str, right: Sequence[str]) -> str:
    """The command that serves other folders in this one's place."""
    place = options.place_of(wrong, it.environ)
    for served in entries(it):
        if place in _places(it, served.entry):
            vaults = options.vaults_of(served.entry)
            others = [vault for vault in vaults if options.place_of(vault, it.environ) != place]
            return _anew(served, [*right, *others])
    return command_line("setup", *(word for vault in right for word in ("--vault", vault)))


def full_path(it: Examination, vault: str) -> str:
    """A vault as it can be named from any folder: by its own, where that is on this machine."""
    try:
        folder = locate(vault, it.environ).folder
    except VaultNotFound:
        return vault
    return os.path.abspath(folder) if os.path.isdir(folder) or settings.looks_like_path(vault) else vault


def vaults_in_use(it: Examination) -> list[str]:
    """Those that the hosts' entries name."""
    return list(dict.fromkeys(vault for served in entries(it) for vault in options.vaults_of(served.entry)))


def _places(it: Examination, entry: Mapping[str, Any]) -> set[str]:
    """The folders that an entry serves, named in it or not."""
    try:
        vaults = options.vaults_of(entry) or meant(_settings_of(it, entry))
    except UsageError:
        return set()
    return {options.place_of(vault, it.environ) for vault in vaults}


def _settings_of(it: Examination, entry: Mapping[str, Any]) -> settings.Settings:
    own = entry.get("env")
    environ = {name: value for name, value in it.environ.items() if not name.startswith(settings.PREFIX)}
    return settings.load(options.given_by(entry) or {}, {**environ, **(own if isinstance(own, dict) else {})})


def _toolsets(it: Examination, here: list[Served]) -> Iterator[Check]:
    """What each offers."""
    for served in here:
        yield Check("toolsets", "ok", f"{served.host.title} offers {_offered(_settings_of(it, served.entry))}.")
    if not here:
        yield Check("toolsets", "ok", f"A host would offer {_offered(it.settings)}.")


def _offered(chosen: settings.Settings) -> str:
    found = catalogue.load(chosen.read_only, labels(chosen.vaults), chosen.toolsets, chosen.tools, chosen.history)
    on = {row.toolset for row in found.rows()}
    sets = ", ".join(name for name in toolsets.TOOLSETS if name in on)
    return f"the toolsets {sets}: {len(found.names)} tools{', read-only' if chosen.read_only else ''}"


def _anew(served: Served, vaults: Sequence[str]) -> str:
    """With other vaults and the options it has."""
    kept = options.given_by(served.entry) or {}
    rest = options.words_of({name: values for name, values in kept.items() if name not in ("vault", "errors")})
    return served.install("--replace", *(word for vault in vaults for word in ("--vault", vault)), *rest)


def _problem_of(it: Examination, served: Served) -> tuple[str, str]:
    """Why a host could not start us by its entry, and the remedy; empty if nothing is wrong with it."""
    entry = served.entry
    command, args = str(entry["command"]), entry.get("args", [])
    if "\0" in command or not command.isprintable():
        return "names no command that could be run", served.install()
    if not os.path.isabs(command):
        return f"starts {command} without its folder, which a host with a window does not find", served.install()
    if not os.access(command, os.X_OK):
        return f"starts {command}, and that is not there", served.install()
    if entry.get("disabled") is True or entry.get("enabled") is False:
        return "is switched off there", f"Switch it on in {served.host.title}."
    why = _problem_with(it, entry, args)
    if not why:
        return "", ""
    vaults = [full_path(it, vault) for vault in it.wanted if not options.is_gone(vault, it.environ)]
    return why, _anew(served, vaults) if vaults else command_line("setup", served.host.name)


def _problem_with(it: Examination, entry: Mapping[str, Any], args: object) -> str:
    """Of its arguments."""
    if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        return "has arguments that are not a list of texts"
    try:
        _, rest = settings.split(own_words(args))
        if rest:
            return f"has the argument {rest[0]!r}, which starts no server"
        chosen = _settings_of(it, entry)
        _offered(chosen)
        for vault in chosen.vaults:
            full_name(vault, chosen)
    except UsageError as error:
        return f"would not work: {error}"
    return ""
