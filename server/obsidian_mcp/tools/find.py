"""The tools that find: notes by what they say, folders, outlines, links, properties."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.operations import asking, linking, paging, searching, surveying
from obsidian_mcp.operations.finding import existing
from obsidian_mcp.operations.passages import cut
from obsidian_mcp.protocol import results
from obsidian_mcp.protocol.jsonrpc import encode
from obsidian_mcp.tools.findings import (
    FolderListed,
    FoundNote,
    LinksListed,
    ListedFile,
    ListedFolder,
    ListedLink,
    ListedSection,
    ListedValue,
    NoteOutlined,
    NotesFound,
    Passage,
    PropertiesListed,
)
from obsidian_mcp.tools.notes import FOR_CLAUDE_CODE, NameOfNote, Target, Text, when
from obsidian_mcp.tools.tool import Context, Effect, NamesNote, Params, plain, tool
from obsidian_mcp.tools.toolsets import FIND
from obsidian_mcp.vault import text
from obsidian_mcp.vault.config import nothing_is_excluded
from obsidian_mcp.vault.contents import Contents, Unread
from obsidian_mcp.vault.index import File
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.query.matching import Note
from obsidian_mcp.vault.sections import outline
from obsidian_mcp.vault.words import folded

T = TypeVar("T")

Limit = Annotated[int, Field(ge=1, le=1000)]
Cursor = Annotated[Text | None, Field(description="next_cursor of the last page.")]


class SearchNotes(Params):
    query: Annotated[Text, Field(description="Empty: the newest.")]
    modified_after: Annotated[Text | None, Field(description="ISO date or time.")] = None
    sort: Literal["relevance", "modified", "name"] = "relevance"
    show: Annotated[list[Text], Field(default_factory=list, description="Properties to show.")]
    limit: Limit = 5
    max_chars: Annotated[int, Field(ge=200)] = 4000
    cursor: Cursor = None


class ListFolder(Params):
    folder: Annotated[Text, Field(description="Empty: the vault.")] = ""
    depth: Annotated[int, Field(ge=1)] = 1
    sort: Literal["name", "modified"] = "name"
    limit: Limit = 100
    cursor: Cursor = None


class OutlineNote(Target):
    cursor: Cursor = None


class ListLinks(Params):
    kind: Literal["backlinks", "outgoing", "broken", "orphans"]
    name: Annotated[NameOfNote | None, NamesNote(), Field(description="For backlinks, outgoing.")] = None
    limit: Limit = 25
    cursor: Cursor = None


class ListProperties(Params):
    property: Annotated[Text | None, Field(description="Its values, such as tags.")] = None
    limit: Limit = 100
    cursor: Cursor = None


MOST_UNMATCHED, LONGEST_WORD = 8, 40  # of the words that are named
LONGEST_VALUE = 200  # characters of a property's value in a list
ROOM_FOR_CURSOR = 80  # bytes of a result for what is added to it last


@tool("Search notes", Effect.READS, FIND, meta=FOR_CLAUDE_CODE, whole_vault=True)
def obsidian_search_notes(params: SearchNotes, it: Context) -> NotesFound:
    """Find notes by what they say. Bare words rank the notes that have any of them; the rest filters, in Obsidian's
    search language: "a phrase" -word (a OR b) tag:#x path:Folder file:name line:(a b) section:(a b) task-todo:word
    [property] [property:value] [due:<2026-12-01] /regex/. Passages name a section to read.
    """
    query = searching.understood(params.query)
    after = None if params.modified_after is None else searching.moment(params.modified_after)
    of = paging.fingerprint(params.query, params.sort, params.modified_after)
    first = paging.offset(params.cursor, of)
    note: str | None
    if it.contents is None:
        matches, note = asking.search(params.query, query, it.asked)
    else:
        matches = it.contents.matching(query, it.vault.settings().is_excluded(), it.call)
        note = searching.not_looked_at(matches.unread)
    hits = searching.ordered(matches.hits, params.sort, query, after)
    unmatched = [cut(word, LONGEST_WORD) for word in matches.unmatched[:MOST_UNMATCHED]]
    about = NotesFound([], len(hits), unmatched, note)
    reads = asking.reader(it.vault) if it.contents is None else it.contents.read
    wanted = hits[first : first + params.limit]
    shown = _shown_notes(
        searching.shown(wanted, matches, query, reads, params.show, params.max_chars), about, params, it
    )
    after_last = first + len(shown)
    more = paging.cursor(after_last, of) if shown and after_last < len(hits) else None
    return replace(about, notes=shown, next_cursor=more)


def _shown_notes(
    notes: Iterable[searching.Shown], about: NotesFound, params: SearchNotes, it: Context
) -> list[FoundNote]:
    """As many as there is room for, best first; the first of them at least by its name."""
    chars = params.max_chars - searching.characters(plain(about)) - ROOM_FOR_CURSOR
    room = it.page - results.size(plain(about)) - ROOM_FOR_CURSOR
    kept: list[FoundNote] = []
    for shown in notes:
        note = FoundNote(
            shown.path,
            [Passage(each.line, each.text, each.section) for each in shown.passages],
            shown.properties,
            shown.more or None,
        )
        while note.passages and not _fits(note, chars, room) and not kept:
            note = replace(note, passages=note.passages[:-1], more=(note.more or 0) + 1)
        if not kept and not _fits(note, chars, room):
            note = replace(note, properties=None)  # longer than an answer may be
        if kept and not _fits(note, chars, room):
            break
        chars -= searching.characters(plain(note)) + 1
        room -= _size(note)
        kept.append(note)
    return kept


def _fits(note: FoundNote, chars: int, room: int) -> bool:
    return searching.characters(plain(note)) < chars and _size(note) <= room


def _size(item: Any) -> int:
    """The bytes that it takes in a list."""
    return len(encode(plain(item))) + 1


@tool("List a folder", Effect.READS, FIND, whole_vault=True)
def obsidian_list_folder(params: ListFolder, it: Context) -> FolderListed:
    """The folders and files in a folder, as deep as asked for."""
    if it.contents is None:
        survey, note = asking.survey(it.vault)
    else:
        survey, note = it.contents.survey(it.call), None
        note = searching.not_looked_at([(folder, closed.why) for folder, closed in survey.closed])
    folder = surveying.existing_folder(params.folder, survey.folders, (file.path for file in survey.files))
    is_here = surveying.within(folder, params.depth)
    folders = sorted(inner for inner in survey.folders if inner != folder and is_here(inner))
    files = surveying.ordered((file for file in survey.files if is_here(file.path)), params.sort)
    counts = surveying.notes_below(folders, (file.path for file in survey.files))
    of = paging.fingerprint(folder, params.depth, params.sort)
    first = paging.offset(params.cursor, of)
    entries: list[ListedFolder | ListedFile] = [ListedFolder(inner, counts[inner]) for inner in folders]
    entries += [_listed_file(file) for file in files]
    about = FolderListed([], [], len(files), note)
    kept = _page(entries, first, params.limit, about, it)
    return replace(
        about,
        folders=[entry for entry in kept if isinstance(entry, ListedFolder)],
        files=[entry for entry in kept if isinstance(entry, ListedFile)],
        next_cursor=_next(first, kept, entries, of),
    )


def _listed_file(file: File) -> ListedFile:
    if not file.stamp:  # the app tells names alone
        return ListedFile(file.path)
    return ListedFile(file.path, file.size, when(file.modified / 1e9))


def _page(entries: Sequence[T], first: int, limit: int, about: Any, it: Context) -> list[T]:
    room = it.page - results.size(plain(about)) - ROOM_FOR_CURSOR
    return paging.fitting(entries[first : first + limit], _size, room, limit)


def _next(first: int, kept: Sequence[Any], entries: Sequence[Any], of: str) -> str | None:
    return paging.cursor(first + len(kept), of) if first + len(kept) < len(entries) else None


@tool("Outline a note", Effect.READS, FIND, whole_vault=True)
def obsidian_outline_note(params: OutlineNote, it: Context) -> NoteOutlined:
    """A note's sections, block ids, properties, tags and counts of links, without its text. Sections and blocks are
    named as the argument section takes them.
    """
    path = params.path_in(it.vault)
    data = it.vault.read(path)
    note = Note(path.value, text.decoded(path, data).encode())
    of = paging.fingerprint(path.value, text.etag(data))
    first = paging.offset(params.cursor, of)
    about = NoteOutlined(
        path=path.value,
        etag=text.etag(data),
        lines=text.line_count(note.text),
        properties=dict(note.properties) if not first else {},
        sections=[],
        links_in=linking.counted(path.value, it.contents, it.call)
        if it.contents
        else asking.backlink_count(path, it.asked),
        links_out=len({link.target for link in links_in(path.value, note.text)}),
        blocks=[],
        tags=note.tags,
        note=note.front.problem,
    )
    entries: list[ListedSection | str] = [
        ListedSection(section.name, section.level, section.line, section.lines)
        for section in outline(note.structure, note.text)
    ]
    entries += [f"^{block.id}" for block in note.structure.blocks]
    if results.size(plain(about)) > it.page * 3 // 4:
        about = replace(
            about, properties={}, tags=[], note="The properties are too long to be shown here: read the note."
        )
    kept = _page(entries, first, len(entries), about, it)
    return replace(
        about,
        sections=[entry for entry in kept if isinstance(entry, ListedSection)],
        blocks=[entry for entry in kept if isinstance(entry, str)],
        next_cursor=_next(first, kept, entries, of),
    )


@tool("List links", Effect.READS, FIND, whole_vault=True)
def obsidian_list_links(params: ListLinks, it: Context) -> LinksListed:
    """Links to a note (backlinks), links in it (outgoing), links that lead nowhere (broken), or notes that nothing
    links to (orphans).
    """
    path = None if params.name is None else existing(params.name, it.vault).value
    if path is None and params.kind in ("backlinks", "outgoing"):
        raise InvalidArguments(f"kind {params.kind} needs a name.", "Name the note.")
    of = paging.fingerprint(params.kind, path)
    first = paging.offset(params.cursor, of)
    if it.contents is None:
        listing = asking.links(params.kind, path, it.asked, it.vault)
    else:
        listing = linking.listed(params.kind, path, it.contents, it.call)
    about = LinksListed([], listing.total, listing.note or searching.not_looked_at(listing.unread))
    room = it.page - results.size(plain(about)) - ROOM_FOR_CURSOR
    found = [
        ListedLink(each.path, each.line, each.link, each.target, each.text)
        for each in listing.page(first, params.limit)
    ]
    kept = paging.fitting(found, _size, room, params.limit)
    more = paging.cursor(first + len(kept), of) if kept and first + len(kept) < listing.total else None
    return replace(about, links=kept, next_cursor=more)


@tool("List properties", Effect.READS, FIND, whole_vault=True)
def obsidian_list_properties(params: ListProperties, it: Context) -> PropertiesListed:
    """The properties that notes have, or the values of one, with how many notes have each. Tags are a property,
    those in the text too.
    """
    note: str | None = None
    if it.contents is None:
        found, note = asking.properties(params.property, it.asked, it.vault)
    else:
        found, unread = _counted(params.property, it.contents, it)
        note = searching.not_looked_at(unread)
    of = paging.fingerprint(params.property)
    first = paging.offset(params.cursor, of)
    items = [ListedValue(cut(value, LONGEST_VALUE), kind, count) for value, kind, count in found]
    about = PropertiesListed([], len(items), note)
    kept = _page(items, first, params.limit, about, it)
    return replace(about, items=kept, next_cursor=_next(first, kept, items, of))


def _counted(wanted: str | None, contents: Contents, it: Context) -> tuple[list[surveying.Counted], Unread]:
    """Without the notes that the vault excludes, as in the app."""
    is_excluded, types = it.vault.settings().is_excluded(), it.vault.types()
    is_tags = wanted is not None and folded(wanted) == surveying.TAGS
    tagged, unread = contents.tags(it.call) if is_tags or wanted is None else ([], [])
    tags = [tags for path, tags in tagged if is_excluded is nothing_is_excluded or not is_excluded(path)]
    if is_tags:
        return surveying.tag_values(tags), unread
    described, unread = contents.properties(it.call)
    notes = [values for path, values in described if not is_excluded(path)]
    if wanted is None:
        return surveying.property_names(notes, len(tags), types), unread
    return surveying.property_values(wanted, notes, types), unread
