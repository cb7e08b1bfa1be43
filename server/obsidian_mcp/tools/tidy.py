"""The tools that change many notes as one act."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, WithJsonSchema

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.operations import confirming, moving_many, paging, renaming, repairing, replacing
from obsidian_mcp.operations.finding import existing
from obsidian_mcp.operations.many_notes import Planned, in_reach
from obsidian_mcp.operations.moving import NoteRewrites
from obsidian_mcp.protocol.jsonrpc import encode
from obsidian_mcp.tools.find import Limit
from obsidian_mcp.tools.notes import MOST_LISTED, NameOfNote, Text, can_be_undone, parsed
from obsidian_mcp.tools.tool import Context, Effect, NamesNote, Params, plain, tool
from obsidian_mcp.tools.toolsets import TIDY
from obsidian_mcp.vault import diffs
from obsidian_mcp.vault.changes import Rename
from obsidian_mcp.vault.names import Destination
from obsidian_mcp.vault.reference import Reference

P = TypeVar("P", bound=Planned)
ROOM_FOR_REST = 400  # bytes of a result beside its list


class MoveNotes(Params):
    names: Annotated[
        list[Annotated[Reference, parsed(Reference.parse)]],
        NamesNote(),
        Field(min_length=1, description="Notes; Folder/ for all in it, with its name."),
    ]
    to: Annotated[Destination, parsed(Destination.parse), NamesNote(), Field(description="Folder (/ is the root).")]
    dry_run: bool = False


class ReplaceInNotes(Params):
    query: Annotated[Text, Field(description="Which notes, as in search; empty: all.")]
    old_text: Annotated[Text, Field(min_length=1)]
    new_text: Text
    expected: Annotated[int | None, Field(ge=1, description="Number of places; without it they are only shown.")] = None
    dry_run: bool = False


class RenameTerm(Params):
    kind: Literal["tag", "property", "heading"]
    old: Text
    new: Text
    name: Annotated[NameOfNote | None, NamesNote(), Field(description="The heading's note.")] = None
    dry_run: bool = False


class ChosenLink(Params):
    path: NameOfNote
    link: Text
    target: NameOfNote


_STRING = {"type": "string"}
_CHOSEN_LINK = {
    "type": "object",
    "properties": {"path": _STRING, "link": _STRING, "target": _STRING},
    "required": ["path", "link", "target"],
}


class RepairLinks(Params):
    name: Annotated[NameOfNote | None, NamesNote(), Field(description="Only links in this note.")] = None
    links: Annotated[
        list[ChosenLink],
        WithJsonSchema({"type": "array", "items": _CHOSEN_LINK}),
        Field(default_factory=list, description="To mend, as listed."),
    ]
    sure: Annotated[bool, Field(description="Mend all with one possible target.")] = False
    limit: Limit = 25
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class MovedNote:
    old_path: str
    path: str


@dataclass(frozen=True, slots=True)
class NotesMoved:
    moved: bool
    total: int
    notes: list[MovedNote]
    links_updated: int
    notes_changed: list[str]
    mentioned_in: list[str] | None = None
    plan: list[dict[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class NoteWithText:
    path: str
    count: int
    diff: str


@dataclass(frozen=True, slots=True)
class TextReplaced:
    places: int
    replaced: int
    total: int
    notes: list[NoteWithText]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class TermRenamed:
    renamed: bool
    places: int
    total: int
    notes_changed: list[str]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ListedBroken:
    path: str
    line: int
    link: str
    targets: list[str]


@dataclass(frozen=True, slots=True)
class LinksRepaired:
    broken: list[ListedBroken]
    repaired: int
    total: int
    plan: list[dict[str, str]] | None = None
    note: str | None = None


@tool("Move notes", Effect.CHANGES, TIDY, whole_vault=True)
def obsidian_move_notes(params: MoveNotes, it: Context) -> NotesMoved:
    """Move notes and folders to a folder with every link, all or none."""

    def move(dry_run: bool) -> moving_many.MovesPlan:
        return moving_many.move_notes(params.names, params.to, it.vault, it.index, it.call, dry_run=dry_run)

    done = _confirmed(move, params.dry_run, it)
    moved = [change for change in done.changes.changes if isinstance(change, Rename)]
    return NotesMoved(
        not params.dry_run,
        len(moved),
        [MovedNote(change.path, change.target) for change in moved[:MOST_LISTED]],
        sum(len(one.links) for one in done.rewrites),
        [one.path for one in done.rewrites[:MOST_LISTED]],
        done.mentioned_in[:MOST_LISTED] or None,
        _plan(done.rewrites) if params.dry_run else None,
    )


@tool("Replace in notes", Effect.CHANGES, TIDY, whole_vault=True)
def obsidian_replace_in_notes(params: ReplaceInNotes, it: Context) -> TextReplaced:
    """Replace a text in all notes that a search finds, if it stands in as many places as expected."""
    contents = in_reach(it.contents)

    def replace(dry_run: bool) -> replacing.ReplacePlan:
        texts = params.old_text, params.new_text
        return replacing.replace_in_notes(
            params.query, *texts, params.expected, it.vault, contents, it.call, dry_run=dry_run
        )

    done = _confirmed(replace, params.dry_run or params.expected is None, it)
    shown = (NoteWithText(each.path, each.count, diffs.unified(each.before, each.after)) for each in done.notes)
    replaced = done.places if params.expected is not None and not params.dry_run else 0
    return TextReplaced(done.places, replaced, len(done.notes), _fitting(shown, MOST_LISTED, it), done.note)


@tool("Rename a term", Effect.CHANGES, TIDY, whole_vault=True)
def obsidian_rename_term(params: RenameTerm, it: Context) -> TermRenamed:
    """Rename a tag with its children, a property, or a heading with every link to it, in the whole vault."""
    if (params.kind == "heading") != (params.name is not None):
        raise InvalidArguments(
            "name is the note of a heading: a heading needs it, and a tag or property is renamed in all notes.",
            "Name the note." if params.name is None else "Leave name out.",
        )
    contents = in_reach(it.contents)
    terms = params.old, params.new

    def rename(dry_run: bool) -> renaming.TermPlan:
        if params.name is not None:
            path = existing(params.name, it.vault, whole=True)
            return renaming.rename_heading(path, *terms, it.vault, contents, it.call, dry_run=dry_run)
        act = renaming.rename_tag if params.kind == "tag" else renaming.rename_property
        return act(*terms, it.vault, contents, it.call, dry_run=dry_run)

    done = _confirmed(rename, params.dry_run, it)
    paths = [change.path for change in done.changes.changes]
    return TermRenamed(not params.dry_run, done.places, len(paths), paths[:MOST_LISTED], done.note)


@tool("Repair links", Effect.CHANGES, TIDY, whole_vault=True)
def obsidian_repair_links(params: RepairLinks, it: Context) -> LinksRepaired:
    """List links that lead nowhere with their likely targets, and mend those chosen."""
    contents = in_reach(it.contents)
    path = None if params.name is None else existing(params.name, it.vault, whole=True).value
    chosen = [repairing.Chosen(each.path, each.link, each.target) for each in params.links]

    def repair(dry_run: bool) -> repairing.RepairPlan:
        return repairing.repair_links(
            path, chosen, params.sure, params.limit, it.vault, contents, it.call, dry_run=dry_run
        )

    done = _confirmed(repair, params.dry_run, it)
    broken = (ListedBroken(each.path, each.line, each.link, each.targets) for each in done.broken)
    plan = _plan(done.rewrites) if params.dry_run else None
    return LinksRepaired(_fitting(broken, params.limit, it), done.repaired, done.total, plan, done.note)


def _confirmed(act: Callable[[bool], P], dry_run: bool, it: Context) -> P:
    """What is done, after the person was asked if it is much and they can be asked."""
    if not dry_run and it.call.can_ask:
        confirming.many(act(True).changes, it.call, can_be_undone(it))
    return act(dry_run)


def _plan(rewrites: Iterable[NoteRewrites]) -> list[dict[str, str]]:
    every = ({"note": one.path, "from": link.before, "to": link.after} for one in rewrites for link in one.links)
    return [each for each, _ in zip(every, range(MOST_LISTED), strict=False)]


def _fitting(items: Iterable[Any], most: int, it: Context) -> list[Any]:
    """As many as a result has room for."""
    return paging.fitting(items, lambda item: len(encode(plain(item))) + 1, it.page - ROOM_FOR_REST, most)
