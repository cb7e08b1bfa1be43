"""The nine tools for notes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field, GetPydanticSchema
from pydantic_core import CoreSchema, core_schema

from obsidian_mcp.operations import editing, moving
from obsidian_mcp.operations.backlinks import linking_to
from obsidian_mcp.operations.finding import existing, new, nothing_to_compare, placed
from obsidian_mcp.operations.sectioning import section_of
from obsidian_mcp.protocol import results
from obsidian_mcp.tools.tool import Context, Effect, NamesNote, Params, ShownWith, plain, tool
from obsidian_mcp.tools.toolsets import FIND, NOTES
from obsidian_mcp.vault import text
from obsidian_mcp.vault.names import Destination, NewName
from obsidian_mcp.vault.path import VaultPath, whole_characters
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.reference import Reference

MOST_LISTED = 50
LEAST_TEXT = 500  # bytes in a page, however long the note's path is: reading has to get on
# It loads tools when the model looks for them by words, except those that it is told to load at once; and it cuts
# results at a length that a tool may raise.
FOR_CLAUDE_CODE = {
    "anthropic/maxResultSizeChars": 50_000,
    "anthropic/alwaysLoad": True,
    "anthropic/searchHint": "vault wiki journal knowledge base markdown files my notes daily note",
}


def _parsed(parse: Callable[[str], Any]) -> GetPydanticSchema:
    """A string to the outside, its parsed value within."""

    def schema(_type: Any, _handler: Any) -> CoreSchema:
        return core_schema.no_info_after_validator_function(parse, core_schema.str_schema(strict=True))

    return GetPydanticSchema(schema)


NAMED = "Note name without .md, path from the vault root, or [[link]]."
NameOfNote = Annotated[Reference, _parsed(Reference.parse), NamesNote(), Field(description=NAMED)]
NameToMake = Annotated[Reference, _parsed(Reference.parse_new), NamesNote(), Field(description=NAMED)]
Text = Annotated[str, AfterValidator(whole_characters)]
IfMatch = Annotated[Text | None, Field(description="etag the note must still have.")]
Inline = Annotated[bool, Field(description="Add no line break.")]
DryRun = Annotated[bool, Field(description="Only check; change nothing.")]


class Target(Params):
    name: NameOfNote

    def path_in(self, vault: Vault) -> VaultPath:
        return existing(self.name, vault)

    def whole_in(self, vault: Vault) -> VaultPath:
        """For what changes the note: a section of it is not the note."""
        return existing(self.name, vault, whole=True)


class CreateNote(Params):
    name: NameToMake
    content: Annotated[Text, Field(description="Markdown, written exactly as given.")] = ""
    overwrite: Annotated[bool, Field(description="Replace the note if it exists.")] = False
    if_match: IfMatch = None


class ReadNote(Target):
    section: Annotated[
        Text | None, ShownWith(FIND), Field(description="Only this heading (Parent > Child if not unique) or ^block.")
    ] = None
    start_line: Annotated[int, Field(ge=1, description="First line, from 1.")] = 1
    start_char: Annotated[int, Field(ge=1, description="First character of that line, from 1.")] = 1
    max_lines: Annotated[int | None, Field(ge=1)] = None


class AddToNote(Target):
    content: Annotated[Text, Field(min_length=1, description="Markdown, added exactly as given.")]
    inline: Inline = False
    if_match: IfMatch = None


class DeleteNote(Target):
    permanent: Annotated[bool, Field(description="Skip the trash; cannot be undone.")] = False
    if_match: IfMatch = None


class MoveNote(Target):
    to: Annotated[
        Destination,
        _parsed(Destination.parse),
        NamesNote(),
        Field(description="Folder (/ is the root), or new path with extension."),
    ]
    dry_run: DryRun = False


class RenameNote(Target):
    new_name: Annotated[
        NewName, _parsed(NewName.parse), NamesNote(), Field(description="Without folder; the extension stays.")
    ]
    dry_run: DryRun = False


class OpenNote(Target):
    new_tab: bool = False


class DescribeNote(Target):
    pass


@dataclass(frozen=True, slots=True)
class NoteCreated:
    path: str
    created: bool
    overwritten: bool
    etag: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRead:
    """The text comes last: some hosts show a model only the head of a long result."""

    path: str
    lines: int
    next_line: int | None = None
    next_char: int | None = None
    etag: str
    size: int
    content: str


@dataclass(frozen=True, slots=True)
class NoteAppended:
    path: str
    appended: bool
    etag: str
    size: int


@dataclass(frozen=True, slots=True)
class NotePrepended:
    path: str
    prepended: bool
    etag: str
    size: int


@dataclass(frozen=True, slots=True)
class NoteDeleted:
    path: str
    deleted: bool
    trashed: bool
    links_in: int | None = None


@dataclass(frozen=True, slots=True)
class NoteMoved:
    old_path: str
    path: str
    moved: bool
    links_updated: int | None = None
    notes_changed: list[str] | None = None
    mentioned_in: list[str] | None = None
    plan: list[dict[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class NoteRenamed:
    old_path: str
    path: str
    renamed: bool
    links_updated: int | None = None
    notes_changed: list[str] | None = None
    mentioned_in: list[str] | None = None
    plan: list[dict[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class NoteOpened:
    path: str
    opened: bool


@dataclass(frozen=True, slots=True)
class FileInfo:
    path: str
    name: str
    extension: str
    size: int
    modified: str
    created: str | None = None
    etag: str | None = None


@tool("Create a note", Effect.CHANGES, NOTES)
def obsidian_create_note(params: CreateNote, it: Context) -> NoteCreated:
    """Create a note with its folders. A bare name goes to the vault's place for new notes. Fails if the note
    exists, unless overwrite is set; to add to a note, append.
    """
    path = new(params.name, it.vault, replacing=params.overwrite)
    if params.if_match is not None and not it.vault.spellings(path):
        raise nothing_to_compare(params.name, path, it.vault)
    done = editing.create(
        path, params.content, it.vault, it.index, it.call, overwrite=params.overwrite, if_match=params.if_match
    )
    after, made = done.after or b"", done.before is None
    return NoteCreated(path.value, made, not made, text.etag(after), len(after))


@tool("Read a note", Effect.READS, NOTES, meta=FOR_CLAUDE_CODE)
def obsidian_read_note(params: ReadNote, it: Context) -> NoteRead:
    """Read a note's text and its etag. Long notes come in parts: call again with start_line = next_line, and
    start_char = next_char if given, until there is no next_line.
    """
    path = params.path_in(it.vault)
    data = it.vault.read(path)
    whole = text.decoded(path, data)
    about = NoteRead(path=path.value, lines=text.line_count(whole), etag=text.etag(data), size=len(data), content="")
    widest = replace(about, next_line=about.lines, next_char=len(whole))
    room = max(LEAST_TEXT, it.page - results.size(plain(widest)))
    start_line = params.start_line
    if params.section is not None:
        part = section_of(path, whole, params.section)
        whole, start_line = whole[: part.end], max(start_line, part.line)
    page = text.page(whole, room, start_line, params.start_char, params.max_lines)
    return replace(about, content=page.content, next_line=page.next_line, next_char=page.next_char)


@tool("Append to a note", Effect.ADDS, NOTES)
def obsidian_append_note(params: AddToNote, it: Context) -> NoteAppended:
    """Add Markdown on a new line at the end of an existing note, as for logs and lists. Nothing already
    written changes.
    """
    path = params.whole_in(it.vault)

    def add(before: bytes) -> bytes:
        return text.appended(before, params.content, params.inline)

    after = editing.edit(path, add, params.if_match, it.vault, f"appending to {path}")
    return NoteAppended(path.value, True, text.etag(after), len(after))


@tool("Prepend to a note", Effect.ADDS, NOTES)
def obsidian_prepend_note(params: AddToNote, it: Context) -> NotePrepended:
    """Add Markdown at the top of an existing note, below its frontmatter. Nothing already written changes."""
    path = params.whole_in(it.vault)

    def add(before: bytes) -> bytes:
        return text.prepended(before, params.content, params.inline)

    after = editing.edit(path, add, params.if_match, it.vault, f"prepending to {path}")
    return NotePrepended(path.value, True, text.etag(after), len(after))


@tool("Delete a note", Effect.REMOVES, NOTES)
def obsidian_delete_note(params: DeleteNote, it: Context) -> NoteDeleted:
    """Delete a note or file: to the trash, or for good with permanent."""
    path = params.whole_in(it.vault)
    links = linking_to(path, it.vault, it.index, it.call)
    done = editing.delete(path, it.vault, permanent=params.permanent, if_match=params.if_match)
    return NoteDeleted(path.value, deleted=True, trashed=not done.permanent, links_in=links)


@tool("Move a note", Effect.CHANGES, NOTES)
def obsidian_move_note(params: MoveNote, it: Context) -> NoteMoved:
    """Move a note or file to another folder, which is made if missing. Obsidian updates links to it if the
    vault is set so.
    """
    path = params.whole_in(it.vault)
    target = placed(params.to.of(path), it.vault)
    return NoteMoved(path.value, target.value, not params.dry_run, *_move(path, target, it, params.dry_run))


@tool("Rename a note", Effect.CHANGES, NOTES)
def obsidian_rename_note(params: RenameNote, it: Context) -> NoteRenamed:
    """Rename a note or file within its folder. Links to it follow; with the app, if the vault is set so."""
    path = params.whole_in(it.vault)
    target = params.new_name.of(path)
    return NoteRenamed(path.value, target.value, not params.dry_run, *_move(path, target, it, params.dry_run))


@tool("Open a note", Effect.SHOWS, NOTES)
def obsidian_open_note(params: OpenNote, it: Context) -> NoteOpened:
    """Show an existing note to the user in the Obsidian app. Use read to get its text."""
    path = params.path_in(it.vault)
    it.vault.show(path, new_tab=params.new_tab)
    return NoteOpened(path.value, True)


@tool("Describe a file", Effect.READS, NOTES)
def obsidian_file_info(params: DescribeNote, it: Context) -> FileInfo:
    """Size in bytes, times and etag of a note or file, without its text."""
    path = params.path_in(it.vault)
    found = it.vault.stat(path)
    created = None if found.created is None else when(found.created)
    return FileInfo(path.value, path.stem, path.extension, found.size, when(found.modified), created, found.etag)


Links = tuple[int | None, list[str] | None, list[str] | None, list[dict[str, str]] | None]


def _move(path: VaultPath, target: VaultPath, it: Context, dry_run: bool) -> Links:
    """Move it, or only plan to; the links that are written anew: how many, in which notes, and for a dry run each.

    Bases that name the file are told where there are any.
    """
    act = moving.plan_move if dry_run else moving.move
    done = act(path, target, it.vault, it.index, it.call)
    rewrites, bases = done.rewrites, done.mentioned_in[:MOST_LISTED] or None
    if rewrites is None:
        return None, None, None, None
    count = sum(len(one.links) for one in rewrites)
    plan = [{"note": one.path, "from": link.before, "to": link.after} for one in rewrites for link in one.links]
    return count, [one.path for one in rewrites][:MOST_LISTED], bases, plan[:MOST_LISTED] if dry_run else None


def when(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
