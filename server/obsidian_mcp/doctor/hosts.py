"""The hosts that should start us, and whether they could."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping

from obsidian_mcp import settings
from obsidian_mcp.doctor.check import Check, Examination
from obsidian_mcp.hosts import configure
from obsidian_mcp.hosts.known import ENTRY, HOSTS, own_words
from obsidian_mcp.settings import UsageError
from obsidian_mcp.vaults import full_name


def hosts(it: Examination) -> Iterator[Check]:
    good, bad = [], False
    for host in HOSTS:
        found = configure.look(host, it.environ)
        if found.problem and found.file:
            bad = True
            yield Check("hosts", "warn", found.problem, f"Look at {found.file}.")
        for name, entry in found.entries.items():
            problem = _problem_of(it, entry)
            if problem:
                bad = True
                remedy = f"Run obsidian-mcp install {host.name}{'' if name == ENTRY else f' --name {name}'}."
                yield Check("hosts", "warn", f"{host.title} has {name!r}, which {problem}.", remedy)
            else:
                good.append(host.title)
    if good:
        yield Check("hosts", "ok", f"Configured in {', '.join(dict.fromkeys(good))}.")
    elif not bad:
        cause = "No host on this machine is set to start it."
        yield Check("hosts", "warn", cause, "Run obsidian-mcp install --list.")


def vaults_in_use(it: Examination) -> list[str]:
    """Those that the hosts' entries name."""
    found: dict[str, None] = {}
    for host in HOSTS:
        for entry in configure.look(host, it.environ).entries.values():
            args = entry.get("args", [])
            if isinstance(args, list) and all(isinstance(word, str) for word in args):
                with contextlib.suppress(UsageError):
                    found.update(dict.fromkeys(settings.load(settings.split(own_words(args))[0], {}).vaults))
    return list(found)


def _problem_of(it: Examination, entry: Mapping[str, object]) -> str:
    """Why a host could not start us by its entry; empty if nothing is wrong with it."""
    command, args = str(entry["command"]), entry.get("args", [])
    if "\0" in command or not command.isprintable():
        return "names no command that could be run"
    if not os.path.isabs(command):
        return f"starts {command} without its folder, which a host with a window does not find"
    if not os.access(command, os.X_OK):
        return f"starts {command}, and that is not there"
    if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        return "has arguments that are not a list of texts"
    if entry.get("disabled") is True or entry.get("enabled") is False:
        return "is switched off there"
    own = entry.get("env")
    environ = {**it.environ, **(own if isinstance(own, dict) else {})}
    try:
        given, rest = settings.split(own_words(args))
        if rest:
            return f"has the argument {rest[0]!r}, which starts no server"
        chosen = settings.load(given, environ)
        for vault in chosen.vaults:
            full_name(vault, chosen)
    except UsageError as error:
        return f"would not work: {error}"
    return ""
