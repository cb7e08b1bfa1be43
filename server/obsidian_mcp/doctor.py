"""Why it works, or doesn't: checks in the order in which things break. Changes nothing.

Each check is tried whatever became of the ones before; one that makes no sense
then is skipped and says so.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from obsidian_mcp import __version__, settings
from obsidian_mcp.app import full_vault, the_vaults
from obsidian_mcp.backends import registry
from obsidian_mcp.backends.cli import discover, probe, process
from obsidian_mcp.backends.looking import Looking
from obsidian_mcp.backends.state import State
from obsidian_mcp.call import Call
from obsidian_mcp.errors import CliDisabled, Failure, ObsidianNotRunning, PermissionDenied
from obsidian_mcp.hosts import configuring
from obsidian_mcp.hosts.known import ENTRY, HOSTS
from obsidian_mcp.settings import Settings, UsageError
from obsidian_mcp.tools import catalogue
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
        unknown = [name for name in chosen.timeouts if name not in catalogue.load()]
        if unknown:
            raise UsageError(f"there is no tool {unknown[0]!r} to set a limit for")
        yield Check("settings", "ok", _in_force(given, environ))
    except UsageError as error:
        ours = {option.variable for option in settings.OPTIONS}
        chosen = settings.load({}, {name: value for name, value in environ.items() if name not in ours})
        yield Check("settings", "fail", _sentence(str(error)), "Correct it; the checks below go by the defaults.")
    yield from _Examination(chosen).run()


def _in_force(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> str:
    found = settings.origins(given, environ)
    return ", ".join(f"{option.name} {', '.join(values) or 'none'} ({source})" for option, values, source in found)


class _Examination:
    def __init__(self, chosen: Settings) -> None:
        self._settings = chosen
        self._environ = chosen.environ
        self._command = discover.find(chosen.obsidian_bin, chosen.environ)
        self._answers = False
        self._limit = min(LIMIT, chosen.timeout)
        nothing_found = self._command is None and not chosen.obsidian_bin
        self._embedded = chosen.backend == "embedded" or (chosen.backend == "auto" and nothing_found)

    def run(self) -> Iterator[Check]:
        steps: tuple[tuple[str, Callable[[], Iterator[Check]]], ...] = (
            ("backend", self._backend),
            ("executable", self._executable),
            ("app", self._app),
            ("latency", self._latency),
            ("sandbox", self._sandbox),
            ("vaults", self._lists),
            ("vault", self._vaults),
            ("hosts", self._hosts),
        )
        for id, step in steps:
            try:
                yield from step()
            except (Failure, OSError, ValueError) as error:  # a world that is stranger than was thought of
                told = error.message if isinstance(error, Failure) else f"{type(error).__name__}: {error}"
                yield Check(id, "fail", f"The check itself failed: {told}", "Look at what it names, and report this.")

    def _backend(self) -> Iterator[Check]:
        if not self._embedded:
            yield Check("backend", "ok", "The notes are reached through the Obsidian app.")
            return
        why = "as asked for" if self._settings.backend == "embedded" else "because no Obsidian command was found"
        yield Check("backend", "ok", f"The notes are served from their files, {why}.")

    def _executable(self) -> Iterator[Check]:
        if self._command:
            yield Check("executable", "ok", f"The Obsidian command is {self._command}.")
        elif self._embedded:
            yield Check("executable", "skip", "No Obsidian command was found, and none is needed for the files.")
        elif self._settings.obsidian_bin and os.path.exists(self._settings.obsidian_bin):
            cause = f"{self._settings.obsidian_bin} is there, but may not be run."
            yield Check("executable", "fail", cause, "Make it executable, or name another with --obsidian-bin.")
        else:
            where = self._settings.obsidian_bin or "PATH and the usual places"
            cause = f"There is no Obsidian command in {where}."
            yield Check("executable", "fail", cause, _without_us(discover.HOW_TO_INSTALL))

    def _app(self) -> Iterator[Check]:
        """Three things that one question answers: reachable, switched on, and which version."""
        if self._embedded or self._command is None:
            why = "The files are served without the app." if self._embedded else "There is no command to ask with."
            for id in ("app", "cli", "version"):
                yield Check(id, "skip", why)
            return
        try:
            version = probe.version(self._command, self._environ, Call(self._limit))
        except CliDisabled as failure:
            yield Check("app", "ok", "Obsidian is running.")
            yield Check(
                "cli",
                "fail",
                _without_us(failure.message),
                "Obsidian: Settings > General > Advanced > Command line interface.",
            )
            yield Check("version", "skip", "The command line interface is switched off.")
        except Failure as failure:
            yield Check("app", "fail", _without_us(failure.message), self._remedy(failure))
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

    def _remedy(self, failure: Failure) -> str:
        if isinstance(failure, process.NotStarted | PermissionDenied) or " is gone." in failure.message:
            return f"See whether {self._command} runs in a terminal; name another with --obsidian-bin."
        if isinstance(failure, ObsidianNotRunning):
            return "Start Obsidian and leave it running, or serve the files without it: --backend embedded."
        return "See whether Obsidian shows a message, and restart it."

    def _latency(self) -> Iterator[Check]:
        if not self._answers or self._command is None:
            yield Check("latency", "skip", "There is no app to measure.")
            return
        times = []
        try:
            for _ in range(CALLS):
                began = time.perf_counter()
                probe.version(self._command, self._environ, Call(self._limit))
                times.append(time.perf_counter() - began)
        except Failure as failure:
            yield Check("latency", "warn", f"Obsidian stopped answering: {failure.message}", "Restart Obsidian.")
            return
        median = statistics.median(times)
        cause = f"A call takes {median * 1000:.0f} ms (the median of {CALLS})."
        slow = median > SLOW
        remedy = "Close heavy plugins, or update the installer if it is old."
        yield Check("latency", "warn" if slow else "ok", cause, remedy if slow else "")

    def _sandbox(self) -> Iterator[Check]:
        signs = [sign for sign, there in sandboxes(self._environ, os.path.exists, self._command or "") if there]
        what = f"Signs of {' and '.join(signs)}."
        if not signs:
            yield Check("sandbox", "ok", "No sign of a sandbox.")
        elif self._embedded or self._answers:
            yield Check("sandbox", "ok", f"{what} It does not seem to be in the way.")
        else:
            yield Check(
                "sandbox",
                "warn",
                f"{what} It may keep this program from reaching Obsidian.",
                "Run both on the same side, or serve the files: --backend embedded --vault FOLDER.",
            )

    def _lists(self) -> Iterator[Check]:
        for place in registry.broken(self._environ):
            yield Check("vaults", "warn", f"Obsidian's list of vaults {place} cannot be read.", "Look at that file.")

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
        known = f"Known vaults: {registry.described(vaults)}."
        try:
            found = registry.the_one(wanted, vaults, self._environ)
        except Failure as failure:
            yield Check("vault", "fail", failure.message, "Name it by its id or folder.")
            return
        root = found.path if found else settings.at_home(wanted, self._environ)
        if found is not None:
            cause = f"{found.name} (id {found.id}) is registered, at {found.path}."
        elif self._embedded and os.path.isdir(root):
            cause = f"{wanted} is a folder that Obsidian does not know, which is fine here."
        elif self._embedded:
            cause = f"{wanted} is neither a folder nor a vault that Obsidian knows."
            yield Check("vault", "fail", cause, f"Name a folder. {known}")
            return
        elif settings.looks_like_path(wanted) or not self._answers:
            cause = f"Obsidian has no vault {wanted} registered."
            remedy = "Open it there as a vault, or serve the folder without the app: --backend embedded."
            yield Check("vault", "fail", cause, f"{remedy} {known}")
            return
        else:
            root, cause = "", f"{wanted} is known to the app."
        asked = False
        if self._answers and self._command and (found is None or found.open):
            # Not for one whose window is closed: asking would open it.
            try:
                said = probe.vault_folder(self._command, _name(found, wanted, vaults), self._environ, self._call())
            except Failure as failure:
                yield Check("vault", "fail", f"The app does not serve {wanted}: {_without_us(failure.message)}", known)
                return
            root, asked = root or said, True
        yield Check("vault", "ok", cause)
        yield from self._folder(_name(found, wanted, vaults), root, asked)

    def _call(self) -> Call:
        return Call(self._limit)

    def _lists_files(self, vault: str) -> bool:
        """Whether the app sees notes where we see no folder."""
        return bool(self._command) and probe.has_files(str(self._command), vault, self._environ, self._call())

    def _folder(self, wanted: str, root: str, app_has_it: bool) -> Iterator[Check]:
        folder = Looking(root or os.devnull)
        if not folder.is_there and app_has_it and self._lists_files(wanted):
            yield Check(
                "folder",
                "warn",
                f"{root or 'The folder'} is not on this machine: notes are read and written through the app alone.",
                "Nothing has to be done; text that the command line can't carry is refused.",
            )
            return
        if not folder.is_there:
            unmounted = "It is not there, its disk is not mounted, or it may not be seen."
            yield Check("folder", "fail", f"{root} is not a folder. {unmounted}", "Mount it, or name another vault.")
            return
        readable, writable = folder.access
        if not readable:
            yield Check("folder", "fail", f"{root} may not be read.", "Change its permissions.")
        elif not writable and not self._settings.read_only:
            yield Check("folder", "fail", f"{root} may not be written.", "Change its permissions, or use --read-only.")
        else:
            yield Check("folder", "ok", f"{root} can be read{' and written' if writable else ''}.")
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
        if self._settings.read_only:
            return Check("state", "skip", "Reading needs no lock.")
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
        good, bad = [], False
        for host in HOSTS:
            found = configuring.look(host, self._environ)
            if found.problem and found.file:
                bad = True
                yield Check("hosts", "warn", found.problem, f"Look at {found.file}.")
            for name, entry in found.entries.items():
                problem = self._problem_of(entry)
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

    def _problem_of(self, entry: Mapping[str, object]) -> str:
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
        words = args[2:] if args[:2] == ["-m", "obsidian_mcp"] else args
        own = entry.get("env")
        environ = {**self._environ, **(own if isinstance(own, dict) else {})}
        try:
            given, rest = settings.split(words)
            if rest:
                return f"has the argument {rest[0]!r}, which starts no server"
            chosen = settings.load(given, environ)
            for vault in chosen.vaults:
                full_vault(vault, chosen)
        except UsageError as error:
            return f"would not work: {error}"
        return ""


def sandboxes(environ: Mapping[str, str], exists: Callable[[str], bool], command: str) -> list[tuple[str, bool]]:
    """What each kind of sandbox leaves where a program can see it."""
    return [
        ("Flatpak", exists("/.flatpak-info") or "FLATPAK_ID" in environ or "flatpak" in command),
        ("Snap", "SNAP" in environ or command.startswith("/snap/")),
        ("WSL", "WSL_DISTRO_NAME" in environ or exists("/proc/sys/fs/binfmt_misc/WSLInterop")),
        ("a container", exists("/.dockerenv") or exists("/run/.containerenv")),
        ("the macOS sandbox", "APP_SANDBOX_CONTAINER_ID" in environ),
    ]


def _name(found: registry.Registered | None, wanted: str, vaults: Sequence[registry.Registered]) -> str:
    """As the command line knows it."""
    if found is None:
        return wanted
    same = [vault for vault in vaults if vault.name == found.name]
    return found.name if len(same) == 1 else found.id


def _without_us(message: str) -> str:
    """Elsewhere errors end with advice to come here."""
    return re.sub(r" `obsidian-mcp doctor`[^.]*\.", "", message)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
