"""The doctor's command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from obsidian_mcp import doctor as examiner
from obsidian_mcp.cli import show
from obsidian_mcp.cli.root import app, environment, with_options
from obsidian_mcp.doctor.check import Check

ORDER = ("fail", "warn", "ok")
FIRST = ("vault", "notes", "hosts", "toolsets")
MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red"), "skip": ("–", "bright_black")}


@app.command()
@with_options()
def doctor(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    as_json: Annotated[bool, typer.Option("--json", help="The checks as JSON.")] = False,
) -> None:
    """Find out why it does not work, or that it does. Changes nothing; exits with 0 only if the tools would work.

    Example: obsidian-mcp doctor --vault "My Vault"
    """
    with show.waiting("Examining"):
        checks = list(examiner.examine({**(context.obj or {}), **given}, environment()))
    failed = [check.id for check in checks if check.status == "fail"]
    if as_json:
        show.json_text({"ok": not failed, "checks": [check.as_json() for check in checks]}, indent=2)
    else:
        for check in _by_weight(checks):
            mark, colour = MARKS[check.status]
            show.marked(mark, colour, check.id, check.brief or check.cause, check.remedy)
        warned = ", ".join(dict.fromkeys(check.id for check in checks if check.status == "warn"))
        good = f"The tools would work{f'; see {warned}' if warned else ''}."
        show.line(f"\nThe tools would not work: see {', '.join(failed)}." if failed else f"\n{good}")
    if failed:
        raise typer.Exit(1)


def _by_weight(checks: Sequence[Check]) -> list[Check]:
    """What is wrong, then what may be, then what a person asks first; what was passed over is one line per reason."""
    skipped: dict[str, str] = {}
    for check in checks:
        if check.status == "skip":
            skipped[check.cause] = ", ".join(filter(None, (skipped.get(check.cause), check.id)))
    shown = [check for check in checks if check.status != "skip"]
    shown.sort(key=lambda check: (ORDER.index(check.status), check.status == "ok" and check.id not in FIRST))
    return [*shown, *(Check(ids, "skip", cause) for cause, ids in skipped.items())]
