"""The tool that answers from a base."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from obsidian_mcp.errors import Hint, InvalidArguments, NotText
from obsidian_mcp.operations import basing, paging
from obsidian_mcp.operations.basing import Rows
from obsidian_mcp.protocol import results
from obsidian_mcp.protocol.jsonrpc import encode
from obsidian_mcp.tools.find import ROOM_FOR_CURSOR, Cursor, Limit
from obsidian_mcp.tools.notes import BareTarget, Text
from obsidian_mcp.tools.tool import Context, Effect, plain, tool
from obsidian_mcp.tools.toolsets import BASES
from obsidian_mcp.vault import text
from obsidian_mcp.vault.bases import views
from obsidian_mcp.vault.bases.expressions import NotUnderstood
from obsidian_mcp.vault.bases.views import Base, View
from obsidian_mcp.vault.path import VaultPath

BY_SEARCH = Hint(
    "Search with obsidian_search_notes instead, or serve the vault with the Obsidian app, which answers all of it.",
    needs="obsidian_search_notes",
    without="Serve the vault with the Obsidian app, which answers all of it.",
)


class QueryBase(BareTarget):
    view: Annotated[Text | None, Field(description="Default: the first.")] = None
    limit: Limit = 25
    cursor: Cursor = None


@dataclass(frozen=True, slots=True)
class BaseQueried:
    view: str
    views: list[str]
    rows: list[dict[str, Any]]
    total: int
    note: str | None = None
    next_cursor: str | None = None


@tool("Query a base", Effect.READS, BASES, whole_vault=True)
def obsidian_query_base(params: QueryBase, it: Context) -> BaseQueried:
    """The rows of a view of a base (.base file), with their columns."""
    path = params.path_in(it.vault)
    if path.extension.lower() != "base":
        raise InvalidArguments(f"{path} is not a base.", "Name a file that ends with .base.")
    try:
        base = views.read(text.decoded(path, it.vault.current(path)))
        view = _view(base, params.view, path)
        found = _rows(base, view, path, it)
    except views.Unreadable as problem:
        raise NotText(f"{path} can't be read as a base: {problem}.", path=path.value) from None
    except NotUnderstood as problem:
        where = f" in `{problem.expression}`" if problem.expression else ""
        raise InvalidArguments(
            f"{path} can't be answered without the Obsidian app: not understood is {problem.what}{where}.", BY_SEARCH
        ) from None
    of = paging.fingerprint(path.value, view.name)
    first = paging.offset(params.cursor, of)
    about = BaseQueried(view.name, [each.name for each in base.views], [], len(found.rows), found.note)
    room = it.page - results.size(plain(about)) - ROOM_FOR_CURSOR
    rows = ({**cells, "path": row} for row, cells in found.rows[first:])
    kept = paging.fitting(rows, lambda row: len(encode(row)) + 1, room, params.limit)
    after = first + len(kept)
    return replace(about, rows=kept, next_cursor=paging.cursor(after, of) if after < len(found.rows) else None)


def _view(base: Base, name: str | None, path: VaultPath) -> View:
    view = base.named(name)
    if view is None:
        known = ", ".join(each.name for each in base.views)
        raise InvalidArguments(f"{path} has no view {name!r}.", f"Its views are {known}.")
    return view


def _rows(base: Base, view: View, path: VaultPath, it: Context) -> Rows:
    """By the app where it can be asked: it knows the whole language."""
    if it.app is not None:
        rows = it.app.query_base(path, view.name)
        return Rows([(row["path"], {key: value for key, value in row.items() if key != "path"}) for row in rows])
    assert it.contents is not None  # without the app, the folder is what there is
    return basing.queried(base, view, it.vault, it.contents, it.call, it.now())
