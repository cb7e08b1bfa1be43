"""Why it works, or doesn't: checks in the order in which things break. Changes nothing.

Each check is tried whatever became of the ones before; one that makes no sense
then is skipped and says so.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from obsidian_mcp import __version__, settings
from obsidian_mcp.app import the_vaults
from obsidian_mcp.backends import registry
from obsidian_mcp.backends.cli import discover, probe
from obsidian_mcp.backends.looking import Looking
from obsidian_mcp.backends.state import State
from obsidian_mcp.call import Call
from obsidian_mcp.errors import CliDisabled, Failure, ObsidianNotRunning
from obsidian_mcp.hosts import configuring
from obsidian_mcp.hosts.known import HOSTS
from obsidian_mcp.settings import Settings, UsageError
from obsidian_mcp.vault import config

LIMIT = 10.0  # seconds for one question to the app
SLOW = 0.5
CALLS = 5


@dataclass(frozen=True, slots=True)
class Check:
    """`status` is ok, warn, fail or skip. The remedy is empty where there is nothing to do."""

    id: str
    status: str
    cause: str
    remedy: str = ""


def examine(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> Iterator[Check]:
    """One after the other, so that they can be shown as they come."""
    yield Check("python", "ok", f"Python {sys.version.split()[0]} at {sys.executable}, obsidian-mcp {__version__}")
    try:
        chosen = settings.load(given, environ)
        yield Check("settings", "ok", _in_force(given, environ))
    except UsageError as error:
        ours = {option.variable for option in settings.OPTIONS}
        chosen = settings.load({}, {name: value for name, value in environ.items() if name not in ours})
        yield Check("settings", "fail", str(error), "Correct it; the checks below go by the defaults.")
    yield from _Examination(chosen).run()


def _in_force(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> str:
    return ", ".join(
        f"{name} {', '.join(values) or 'none'} ({source})" for name, values, source in settings.origins(given, environ)
    )


class _Examination:
    def __init__(self, chosen: Settings) -> None:
        self._settings = chosen
        self._environ = chosen.environ
        self._command = discover.find(chosen.obsidian_bin, chosen.environ)
        self._answers = False
        nothing_found = self._command is None and not chosen.obsidian_bin
        self._embedded = chosen.backend == "embedded" or (chosen.backend == "auto" and nothing_found)

    def run(self) -> Iterator[Check]:
        yield self._backend()
        yield self._executable()
        yield from self._app()
        yield self._latency()
        yield self._sandbox()
        yield from self._vaults()
        yield from self._hosts()

    def _backend(self) -> Check:
        if not self._embedded:
            return Check("backend", "ok", "The notes are reached through the Obsidian app.")
        why = "as asked for" if self._settings.backend == "embedded" else "because no Obsidian command was found"
        return Check("backend", "ok", f"The notes are served from their files, {why}.")

    def _executable(self) -> Check:
        if self._command:
            return Check("executable", "ok", f"The Obsidian command is {self._command}.")
        if self._embedded:
            return Check("executable", "skip", "No Obsidian command was found, and none is needed for the files.")
        where = self._settings.obsidian_bin or "PATH and the usual places"
        return Check("executable", "fail", f"There is no Obsidian command in {where}.", discover.HOW_TO_INSTALL)

    def _app(self) -> Iterator[Check]:
        """Three things that one question answers: reachable, switched on, and which version."""
        if self._embedded or self._command is None:
            why = "The files are served without the app." if self._embedded else "There is no command to ask with."
            for id in ("app", "cli", "version"):
                yield Check(id, "skip", why)
            return
        try:
            version = probe.version(self._command, self._environ, Call(LIMIT))
        except CliDisabled as failure:
            yield Check("app", "ok", "Obsidian is running.")
            yield Check(
                "cli", "fail", failure.message, "Obsidian: Settings > General > Advanced > Command line interface."
            )
            yield Check("version", "skip", "The command line interface is switched off.")
        except Failure as failure:
            remedy = "Start Obsidian and leave it running, or serve the files without it: --backend embedded."
            if not isinstance(failure, ObsidianNotRunning):
                remedy = "See whether Obsidian shows a message, and restart it."
            yield Check("app", "fail", failure.message, remedy)
            yield Check("cli", "skip", "The app does not answer.")
            yield Check("version", "skip", "The app does not answer.")
        else:
            self._answers = True
            yield Check("app", "ok", "Obsidian is running and answers.")
            yield Check("cli", "ok", "The command line interface is switched on.")
            if version.native:
                yield Check("version", "ok", f"Obsidian {version.text}.")
            else:
                yield Check(
                    "version",
                    "warn",
                    f"Obsidian {version.text}: its installer is from before 1.12.7, so every call takes 1 to 2 s.",
                    "Download the current installer from obsidian.md and install it over the old one.",
                )

    def _latency(self) -> Check:
        if not self._answers or self._command is None:
            return Check("latency", "skip", "There is no app to measure.")
        times = []
        try:
            for _ in range(CALLS):
                began = time.perf_counter()
                probe.version(self._command, self._environ, Call(LIMIT))
                times.append(time.perf_counter() - began)
        except Failure as failure:
            return Check("latency", "warn", f"Obsidian stopped answering: {failure.message}", "Restart Obsidian.")
        median = statistics.median(times)
        cause = f"A call takes {median * 1000:.0f} ms (the median of {CALLS})."
        if median <= SLOW:
            return Check("latency", "ok", cause)
        return Check("latency", "warn", cause, "Close heavy plugins, or update the installer if it is old.")

    def _sandbox(self) -> Check:
        signs = [sign for sign, there in sandboxes(self._environ, os.path.exists, self._command or "") if there]
        if not signs:
            return Check("sandbox", "ok", "No sign of a sandbox.")
        what = f"Signs of {' and '.join(signs)}."
        if self._embedded or self._answers:
            return Check("sandbox", "ok", f"{what} It does not seem to be in the way.")
        return Check(
            "sandbox",
            "warn",
            f"{what} It may keep this program from reaching Obsidian.",
            "Run both on the same side, or serve the files: --backend embedded --vault FOLDER.",
        )

    def _vaults(self) -> Iterator[Check]:
        try:
            wanted = the_vaults(self._settings)
        except UsageError as error:
            yield Check("vault", "fail", _sentence(str(error)), "Name the vault with --vault.")
            return
        for vault in wanted:
            yield from self._vault(vault)

    def _vault(self, wanted: str) -> Iterator[Check]:
        vaults = registry.registered(self._environ)
        try:
            found = registry.the_one(wanted, vaults, self._environ)
        except Failure as failure:
            yield Check("vault", "fail", failure.message, "Name it by its id or folder.")
            return
        if found is not None:
            root = found.path
            cause = f"{found.name} (id {found.id}) is registered, at {found.path}."
        elif self._embedded:
            root = settings.at_home(wanted, self._environ)
            cause = f"{wanted} is a folder that Obsidian does not know, which is fine here."
        elif self._answers and self._command and not settings.looks_like_path(wanted):
            try:
                root = probe.vault_folder(self._command, wanted, self._environ, Call(LIMIT))
                cause = f"{wanted} is known to the app, at {root}."
            except Failure as failure:
                yield Check("vault", "fail", failure.message, f"Known vaults: {registry.described(vaults)}.")
                return
        else:
            yield Check(
                "vault",
                "fail",
                f"Obsidian has no vault {wanted} registered.",
                f"Open it as a vault in Obsidian, or name one of: {registry.described(vaults)}.",
            )
            return
        yield Check("vault", "ok", cause)
        yield from self._folder(root)

    def _folder(self, root: str) -> Iterator[Check]:
        folder = Looking(root)
        if not os.path.isabs(os.path.expandvars(root)) and not folder.is_there and not self._embedded:
            yield Check("folder", "warn", f"{root} is not on this machine: notes are read through the app alone.")
            return
        if not folder.is_there:
            unmounted = "It is not there, or its disk is not mounted."
            yield Check("folder", "fail", f"{root} is not a folder. {unmounted}", "Mount it, or name another vault.")
            return
        readable, writable = folder.access
        if not readable or not writable:
            missing = "written" if readable else "read"
            status = "warn" if readable and self._settings.read_only else "fail"
            yield Check(
                "folder", status, f"{root} may not be {missing}.", "Change its permissions, or use --read-only."
            )
        else:
            yield Check("folder", "ok", f"{root} can be read and written.")
        yield self._links(folder)
        yield self._trash(folder)
        yield self._state(root)

    def _links(self, folder: Looking) -> Check:
        if self._embedded:
            return Check("links", "ok", "Links are mended when a note is moved.")
        if folder.settings().get("alwaysUpdateLinks") is True:
            return Check("links", "ok", "Obsidian updates links when a note is moved.")
        return Check(
            "links",
            "warn",
            "Obsidian is not set to update links when a note is moved, so a move can break them.",
            "Obsidian: Settings > Files and links > Automatically update internal links.",
        )

    def _trash(self, folder: Looking) -> Check:
        found = folder.settings()
        if found.get("trashOption") == "none" and not self._embedded:
            return Check(
                "trash",
                "warn",
                "Obsidian is set to delete for good, so a deleted note is not in any trash.",
                "Obsidian: Settings > Files and links > Deleted files.",
            )
        where = ".trash in the vault" if config.uses_local_trash(found) else "the system's trash"
        return Check("trash", "ok", f"Deleted notes go to {where}.")

    def _state(self, root: str) -> Check:
        state = State(root, self._environ)
        if not state.usable:
            return Check(
                "state",
                "fail",
                f"The folder for locks, {state.folder}, cannot be written.",
                "Make it writable, or set XDG_STATE_HOME to a folder that is.",
            )
        if state.has_journal:
            return Check("state", "warn", "A move was interrupted.", "The next call to a tool puts it right.")
        return Check("state", "ok", f"Locks are kept in {state.folder}.")

    def _hosts(self) -> Iterator[Check]:
        configured = []
        for host in HOSTS:
            found = configuring.look(host, self._environ)
            if found.problem and found.file:
                yield Check("hosts", "warn", found.problem, f"Look at {found.file}.")
            for name, entry in found.entries.items():
                configured.append(host.title)
                command = str(entry["command"])
                if os.path.isabs(command) and not os.access(command, os.X_OK):
                    yield Check(
                        "hosts",
                        "warn",
                        f"{host.title} starts {command} for {name!r}, and that is not there.",
                        f"Run obsidian-mcp install {host.name}.",
                    )
        if configured:
            yield Check("hosts", "ok", f"Configured in {', '.join(dict.fromkeys(configured))}.")
        else:
            yield Check(
                "hosts", "warn", "No host on this machine is set to start it.", "Run obsidian-mcp install --list."
            )


def sandboxes(environ: Mapping[str, str], exists: Callable[[str], bool], command: str) -> list[tuple[str, bool]]:
    """What each kind of sandbox leaves where a program can see it."""
    return [
        ("Flatpak", exists("/.flatpak-info") or "FLATPAK_ID" in environ or "flatpak" in command),
        ("Snap", "SNAP" in environ or command.startswith("/snap/")),
        ("WSL", "WSL_DISTRO_NAME" in environ or exists("/proc/sys/fs/binfmt_misc/WSLInterop")),
        ("a container", exists("/.dockerenv") or exists("/run/.containerenv")),
        ("the macOS sandbox", "APP_SANDBOX_CONTAINER_ID" in environ),
    ]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
