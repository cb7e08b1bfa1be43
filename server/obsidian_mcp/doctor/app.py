"""The Obsidian app and the way to it."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping

from obsidian_mcp.doctor.check import Check, Examination, told
from obsidian_mcp.doctor.folders import opened_up
from obsidian_mcp.doctor.hosts import with_options
from obsidian_mcp.errors import CliDisabled, Failure, NotStarted, ObsidianNotRunning, PermissionDenied
from obsidian_mcp.registry import HOW_TO_INSTALL

SLOW = 0.5
CALLS = 5


def backend(it: Examination) -> Iterator[Check]:
    if not it.embedded:
        yield Check("backend", "ok", "The notes are reached through the Obsidian app.")
        return
    why = "as asked for" if it.settings.backend == "embedded" else "because no Obsidian command was found"
    yield Check("backend", "ok", f"The notes are served from their files, {why}.")


def executable(it: Examination) -> Iterator[Check]:
    if it.command:
        yield Check("executable", "ok", f"The Obsidian command is {it.command}.")
    elif it.embedded:
        yield Check("executable", "skip", "No Obsidian command was found, and none is needed for the files.")
    elif it.settings.obsidian_bin and os.path.exists(it.settings.obsidian_bin):
        cause = f"{it.settings.obsidian_bin} is there, but may not be run."
        yield Check("executable", "fail", cause, opened_up([it.settings.obsidian_bin], "x"))
    else:
        where = it.settings.obsidian_bin or "PATH and the usual places"
        cause = f"There is no Obsidian command in {where}."
        yield Check("executable", "fail", cause, HOW_TO_INSTALL)


def app(it: Examination) -> Iterator[Check]:
    """Three things that one question answers: reachable, switched on, and which version."""
    if it.embedded or it.probe is None:
        why = "The files are served without the app." if it.embedded else "There is no command to ask with."
        for id in ("app", "cli", "version"):
            yield Check(id, "skip", why)
        return
    try:
        version = it.probe.version(it.call())
    except CliDisabled as failure:
        yield Check("app", "ok", "Obsidian is running.")
        yield Check(
            "cli",
            "fail",
            told(failure),
            "Obsidian: Settings > General > Advanced > Command line interface.",
        )
        yield Check("version", "skip", "The command line interface is switched off.")
    except Failure as failure:
        yield Check("app", "fail", told(failure), _remedy(it, failure))
        yield Check("cli", "skip", "The app does not answer.")
        yield Check("version", "skip", "The app does not answer.")
    else:
        it.answers = True
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


def _remedy(it: Examination, failure: Failure) -> str:
    if isinstance(failure, NotStarted | PermissionDenied):
        return f"See whether {it.command} runs in a terminal; name another with --obsidian-bin."
    if isinstance(failure, ObsidianNotRunning):
        without = with_options(it, "--backend", "embedded")
        return f"Start Obsidian and leave it running, or serve the files without it: {without}"
    return "See whether Obsidian shows a message, and restart it."


def latency(it: Examination) -> Iterator[Check]:
    if not it.answers or it.probe is None:
        yield Check("latency", "skip", "There is no app to measure.")
        return
    times = []
    try:
        for _ in range(CALLS):
            began = time.perf_counter()
            it.probe.version(it.call())
            times.append(time.perf_counter() - began)
    except Failure as failure:
        yield Check("latency", "warn", f"Obsidian stopped answering: {told(failure)}", "Restart Obsidian.")
        return
    median = statistics.median(times)
    cause = f"A call takes {median * 1000:.0f} ms (the median of {CALLS})."
    slow = median > SLOW
    remedy = "Close heavy plugins, or update the installer if it is old."
    yield Check("latency", "warn" if slow else "ok", cause, remedy if slow else "")


def sandbox(it: Examination) -> Iterator[Check]:
    signs = [sign for sign, there in sandboxes(it.environ, os.path.exists, it.command or "") if there]
    what = f"Signs of {' and '.join(signs)}."
    if not signs:
        yield Check("sandbox", "ok", "No sign of a sandbox.")
    elif it.embedded or it.answers:
        yield Check("sandbox", "ok", f"{what} It does not seem to be in the way.")
    else:
        yield Check(
            "sandbox",
            "warn",
            f"{what} It may keep this program from reaching Obsidian.",
            f"Run both on the same side, or serve the files: {with_options(it, '--backend', 'embedded')}",
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
