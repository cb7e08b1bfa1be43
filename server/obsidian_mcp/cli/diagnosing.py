"""The doctor's command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from obsidian_mcp import doctor as examiner
from obsidian_mcp.cli import show
from obsidian_mcp.cli.root import app, environment, with_options

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
    checks = []
    for check in examiner.examine({**(context.obj or {}), **given}, environment()):
        checks.append(check)
        if not as_json:
            mark, colour = MARKS[check.status]
            show.marked(mark, colour, check.id, check.cause, check.remedy)
    failed = [check.id for check in checks if check.status == "fail"]
    if as_json:
        show.json_text({"ok": not failed, "checks": [asdict(check) for check in checks]}, indent=2)
    else:
        warned = ", ".join(dict.fromkeys(check.id for check in checks if check.status == "warn"))
        good = f"The tools would work{f'; see {warned}' if warned else ''}."
        show.line(f"\nThe tools would not work: see {', '.join(failed)}." if failed else f"\n{good}")
    if failed:
        raise typer.Exit(1)
