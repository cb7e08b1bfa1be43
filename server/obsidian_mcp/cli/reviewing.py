"""Commands that show what was changed, and take it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NoReturn

import typer

from obsidian_mcp import running
from obsidian_mcp.app import App
from obsidian_mcp.call import CallContext
from obsidian_mcp.cli import asking, show
from obsidian_mcp.cli.browsing import browse
from obsidian_mcp.cli.root import app, load, with_options
from obsidian_mcp.errors import Failure, InvalidArguments
from obsidian_mcp.protocol.clients import COMMAND_LINE
from obsidian_mcp.settings import UsageError

UNDO = "undo_change"
AT_ONCE = 1000  # changes that are asked for
SHORT = len("2026-11-18T08:01")

Id = Annotated[str | None, typer.Argument(metavar="ID", help="A change, as history lists it.")]
Json = Annotated[bool, typer.Option("--json", help="The result as JSON.")]


@app.command()
@with_options()
def history(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    id: Id = None,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="today, or an ISO date or time.")] = "",
    note: Annotated[str, typer.Option("--note", metavar="NOTE", help="Only changes of this note.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=AT_ONCE, help="How many to show.")] = 50,
    purge: Annotated[bool, typer.Option("--purge", help="Forget every change, for good.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before --purge.")] = False,
    web: Annotated[bool, typer.Option("--web", help="Show it in the browser, with buttons to undo.")] = False,
    as_json: Json = False,
) -> None:
    """Show what was changed through obsidian-mcp, newest first; with an ID, what that change did.

    Example: obsidian-mcp history --since today --vault "My Vault"
    """
    if purge:
        whole = _app(context, {**given, "history": ["on"]})  # what was kept before it was switched off, too
        if yes or not asking.can_ask() or _is_sure():
            _purge(whole)
        return
    if web:
        browse(load(context, given, quiet=True))
        return
    whole = _app(context, given)
    asked = {"id": id, "since": since, "name": note}
    arguments = {"limit": limit, **{key: value for key, value in asked.items() if value}}
    labels = (_vault_of(whole, id),) if id else whole.vaults.labels or ("",)
    every = [_called(whole, "list_changes", arguments, label, as_json) for label in labels]
    found = every[0] if id else _joined(every, limit)
    if as_json:
        show.data(found, as_json)
        return
    show.changes([_row(change, several=len(every) > 1) for change in found["changes"]])
    if id:
        show.line()
        show.diff(found.get("diff") or found.get("note", ""))


@app.command()
@with_options()
def undo(
    context: typer.Context,
    given: Mapping[str, Sequence[str]],
    id: Id = None,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="All changes of --client since then.")] = "",
    client: Annotated[str, typer.Option("--client", metavar="NAME", help="A client, as history lists it.")] = "",
    merge: Annotated[bool, typer.Option("--merge", help="Keep later edits that are on other lines.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    as_json: Json = False,
) -> None:
    """Take back a change: the one with this ID, or else the latest. Refused where a note was changed since.

    Example: obsidian-mcp undo --dry-run --vault "My Vault"
    """
    whole = _app(context, given)
    label = _vault_of(whole, id)
    arguments: dict[str, Any] = {"merge": merge, "dry_run": dry_run}
    if since:
        if id or not client:
            raise UsageError("--since takes back all changes of one client: give --client with it, and no ID")
        arguments |= {"since": since, "client": client}
    elif id:
        arguments["id"] = id
    else:
        arguments["id"], label = _latest(whole, client, as_json)
    done = _called(whole, UNDO, arguments, label, as_json)
    if as_json:
        show.data(done, as_json)
        return
    show.diff(done["diff"])
    change = f" (change {done['change']})" if "change" in done else ""
    show.line(f"{'Would undo' if dry_run else 'Undid'} {done['id']}{change}. {done.get('note', '')}".rstrip())


def _app(context: typer.Context, given: Mapping[str, Sequence[str]]) -> App:
    """With the tools of the history, whichever sets an assistant is offered."""
    chosen = load(context, {**given, "toolsets": ["history"], "tools": []}, quiet=True)
    if not chosen.history:
        raise UsageError("--history off keeps no history")
    return App(chosen)


def _vault_of(whole: App, id: str | None) -> str:
    """The one whose history has that change; the first where none has, to say so."""
    labels = whole.vaults.labels or ("",)
    return next((label for label in labels if id and whole.vaults.has_change(label, id)), labels[0])


def _called(whole: App, tool: str, arguments: Mapping[str, Any], label: str, as_json: bool) -> dict[str, Any]:
    more = {"vault": label} if len(whole.vaults.labels) > 1 else {}
    try:
        job = whole.tools.job(
            f"obsidian_{tool}", {**arguments, **more}, lambda data: data, page=COMMAND_LINE, client="obsidian-mcp"
        )
        found: dict[str, Any] = running.run(job, CallContext(job.limit))
    except Failure as failure:
        show.fail(failure, as_json)
    return found


def _joined(every: Sequence[dict[str, Any]], limit: int) -> dict[str, Any]:
    changes = [change for each in every for change in each["changes"]]
    return {"changes": sorted(changes, key=lambda change: str(change["time"]), reverse=True)[:limit]}


def _latest(whole: App, client: str, as_json: bool) -> tuple[str, str]:
    """The newest change that can be undone and is no undo itself, whoever made it, or that client's; and its vault."""
    found: list[tuple[str, str, str]] = []
    for label in whole.vaults.labels or ("",):
        every = _called(whole, "list_changes", {"limit": AT_ONCE}, label, as_json)["changes"]
        mine = (each for each in every if not each["undone"] and client in ("", each["client"]))
        found += [(str(each["time"]), str(each["id"]), label) for each in mine if each["tool"] != UNDO][:1]
    if not found:
        _nothing(client, as_json)
    _, id, label = max(found)
    return id, label


def _nothing(client: str, as_json: bool) -> NoReturn:
    whose = f" of {client}" if client else ""
    show.fail(InvalidArguments(f"There is no change{whose} left to undo."), as_json)


def _row(change: Mapping[str, Any], several: bool) -> list[str]:
    when = str(change["time"])[:SHORT].replace("T", " ")
    what = f"{change['summary']}{'  (undone)' if change['undone'] else ''}"
    return [change["id"], when, *([change["vault"]] if several else []), change["client"] or "-", what]


def _is_sure() -> bool:
    """Asked at a terminal: afterwards nothing can be undone."""
    try:
        answer = asking.ask("Forget every change? None of them can be undone then (yes/no)", str.lower, "no")
    except (KeyboardInterrupt, asking.NoAnswer):
        answer = "no"
    if answer not in ("y", "yes"):
        show.line("Nothing was forgotten.")
    return answer in ("y", "yes")


def _purge(whole: App) -> None:
    for label in whole.vaults.labels or ("",):
        try:
            count = whole.vaults.purge_history(label)
        except Failure as failure:
            show.fail(failure, as_json=False)
        show.line(f"{label or 'the vault'}: {count} change{'s' if count != 1 else ''} forgotten")
