"""Why it works, or doesn't: checks in the order in which things break. Changes nothing.

Each check is tried whatever became of the ones before; one that makes no sense
then is skipped and says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from obsidian_mcp import __version__, settings
from obsidian_mcp.doctor import app, hosts, vaults
from obsidian_mcp.doctor.check import Check, Examination, sentence, told
from obsidian_mcp.errors import Failure
from obsidian_mcp.settings import UsageError
from obsidian_mcp.tools import catalogue

STEPS: tuple[tuple[str, Callable[[Examination], Iterator[Check]]], ...] = (
    ("backend", app.backend),
    ("executable", app.executable),
    ("app", app.app),
    ("latency", app.latency),
    ("sandbox", app.sandbox),
    ("vaults", vaults.lists),
    ("vault", vaults.vaults),
    ("hosts", hosts.hosts),
)


def examine(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> Iterator[Check]:
    """One after the other, so that they can be shown as they come."""
    yield Check("python", "ok", f"Python {sys.version.split()[0]} at {sys.executable}, obsidian-mcp {__version__}")
    try:
        chosen = settings.load(given, environ)
        unknown = [name for name in chosen.timeouts if name not in catalogue.load()]
        if unknown:
            raise UsageError(f"there is no tool {unknown[0]!r} to set a limit for")
        yield Check("settings", "ok", _in_force(given, environ), brief=_changed(given, environ))
    except UsageError as error:
        ours = {option.variable for option in settings.OPTIONS}
        chosen = settings.load({}, {name: value for name, value in environ.items() if name not in ours})
        yield Check("settings", "fail", sentence(str(error)), "Correct it; the checks below go by the defaults.")
    patient = Examination(chosen)
    for id, step in STEPS:
        try:
            yield from step(patient)
        except (Failure, OSError, ValueError) as error:  # a world that is stranger than was thought of
            why = told(error) if isinstance(error, Failure) else f"{type(error).__name__}: {error}"
            yield Check(id, "fail", f"The check itself failed: {why}", "Look at what it names, and report this.")


def _in_force(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> str:
    found = settings.origins(given, environ)
    return ", ".join(f"{option.name} {', '.join(values) or 'none'} ({source})" for option, values, source in found)


def _changed(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> str:
    """What differs from the defaults; they themselves are one short line."""
    found = settings.origins(given, environ)
    told = [f"{option.name} {', '.join(values)} ({source})" for option, values, source in found if source != "default"]
    if not told:
        return f"All {len(found)} settings have their defaults."
    return f"{', '.join(told)}; the other {len(found) - len(told)} have their defaults."
