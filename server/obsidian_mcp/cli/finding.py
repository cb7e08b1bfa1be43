"""Commands that find notes, and care for what makes that fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from obsidian_mcp import running
from obsidian_mcp.app import App
from obsidian_mcp.call import CallContext
from obsidian_mcp.cli import show
from obsidian_mcp.cli.root import app, load, with_options
from obsidian_mcp.errors import Failure
from obsidian_mcp.operations.passages import marks
from obsidian_mcp.operations.searching import understood
from obsidian_mcp.protocol.clients import COMMAND_LINE
from obsidian_mcp.settings import UsageError
from obsidian_mcp.vaults.behind import library

TOOL = "obsidian_search_notes"
LONGEST = 86_400.0  # seconds that making an index may take
CHARS_A_NOTE = 1200


@app.command()
@with_options()
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or Obsidian's search language.")],
    given: Mapping[str, Sequence[str]],
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many notes to show.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="The result as JSON.")] = False,
) -> None:
    """Find notes by what they say, best first.

    Example: obsidian-mcp search 'garden "raised bed" tag:#idea' --vault "My Vault"
    """
    whole = App(load(context, given, quiet=True))
    arguments = {"query": query, "limit": limit, "max_chars": limit * CHARS_A_NOTE}
    try:
        job = whole.tools.job(TOOL, arguments, lambda data: data, page=COMMAND_LINE)
        found = running.run(job, CallContext(job.limit))
        asked = understood(query)
    except Failure as failure:
        show.fail(failure, as_json)
    if as_json:
        show.data(found, as_json)
        return
    for note in found["notes"]:
        show.found_note(note, lambda text: marks(text, asked))
    show.line(_summary(found))


def _summary(found: dict[str, Any]) -> str:
    total, shown = found["total"], len(found["notes"])
    parts = [f"{total} note{'s' if total != 1 else ''}" + (f", {shown} shown" if shown < total else "")]
    if found.get("unmatched"):
        parts.append(f"found nowhere: {', '.join(found['unmatched'])}")
    return "; ".join([*parts, *filter(None, [found.get("note")])])


@app.command()
@with_options()
def index(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make it anew.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Remove it; the next search begins a new one.")] = False,
) -> None:
    """Make the index of a vault's notes, or bring it up to date. A server does so by itself when it is needed.

    Example: obsidian-mcp index --vault "My Vault" --rebuild
    """
    chosen = load(context, given, quiet=True)
    if rebuild and forget:
        raise UsageError("--rebuild and --forget exclude each other")
    for folder in App(chosen).vaults.folders():
        books = library(folder, chosen)
        if rebuild:
            books.clear()
        if forget:
            books.forget()
            show.line(f"{folder}: forgotten")
            continue
        with show.progress(f"Reading {folder}") as report:
            is_made = books.build(CallContext(LONGEST), report)
        if not is_made:
            show.problem(f"no index can be kept in {books.file}; notes are read at each search")
            raise typer.Exit(1)
        show.line(f"{folder}: {books.count()} notes and canvases, {books.size / 1e6:.1f} MB in {books.file}")
