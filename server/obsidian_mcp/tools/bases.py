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
from obsidian_mcp.vault.bases import embedded, views
from obsidian_mcp.vault.bases.expressions import NotUnderstood
from obsidian_mcp.vault.bases.views import Base, View
from obsidian_mcp.vault.path import VaultPath

ELSEWHERE = "Name a file that ends with .base, or a note with a ```base block in it."
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
    """Rows of a view of a base: a .base file, or a block in a note."""
    path = params.path_in(it.vault)
    try:
        bases = _bases(path, it)
        base, view = _view(bases, params.view, path)
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
    about = BaseQueried(view.name, _names(bases), [], len(found.rows), found.note)
    room = it.page - results.size(plain(about)) - ROOM_FOR_CURSOR
    rows = ({**cells, "path": row} for row, cells in found.rows[first:])
    kept = paging.fitting(rows, lambda row: len(encode(row)) + 1, room, params.limit)
    after = first + len(kept)
    return replace(about, rows=kept, next_cursor=paging.cursor(after, of) if after < len(found.rows) else None)


def _bases(path: VaultPath, it: Context) -> list[Base]:
    """The one that a file is, or those that stand in a note."""
    kind = path.extension.lower()
    if kind not in ("base", "md"):
        raise InvalidArguments(f"{path} is not a base.", ELSEWHERE)
    found = text.decoded(path, it.vault.current(path))
    if kind == "base":
        return [views.read(found)]
    blocks = embedded.in_note(found)
    if not blocks:
        raise InvalidArguments(f"There is no base in {path}.", ELSEWHERE)
    return [views.read(block) for block in blocks]


def _names(bases: list[Base]) -> list[str]:
    return [view.name for base in bases for view in base.views]


def _view(bases: list[Base], name: str | None, path: VaultPath) -> tuple[Base, View]:
    """The first, if none is named."""
    having = [(base, view) for base in bases if (view := base.named(name)) is not None]
    if not having:
        raise InvalidArguments(f"{path} has no view {name!r}.", f"Its views are {', '.join(_names(bases))}.")
    if name is not None and len(having) > 1:
        raise InvalidArguments(
            f"{len(having)} bases in {path} have a view {name!r}.", "Give their views different names."
        )
    return having[0]


def _rows(base: Base, view: View, path: VaultPath, it: Context) -> Rows:
    """By the app where it can be asked: it knows the whole language. It is asked for files, not for blocks."""
    is_file = path.extension.lower() == "base"
    if it.app is not None and is_file:
        rows = it.app.query_base(path, view.name)
        return Rows([(row["path"], {key: value for key, value in row.items() if key != "path"}) for row in rows])
    if it.contents is None:
        raise InvalidArguments(f"The base in {path} can't be queried: the app answers only for .base files.", ELSEWHERE)
    return basing.queried(base, view, it.vault, it.contents, it.call, it.now(), None if is_file else path)
