"""The nine tools for notes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field, GetPydanticSchema
from pydantic_core import CoreSchema, core_schema

from obsidian_mcp.operations import confirming, editing, moving
from obsidian_mcp.operations.backlinks import linking_to
from obsidian_mcp.operations.dated import Named, named, there
from obsidian_mcp.operations.finding import existing, new, nothing_to_compare, placed
from obsidian_mcp.protocol import results
from obsidian_mcp.tools.tool import Context, Effect, NamesNote, Params, ShownWith, plain, tool
from obsidian_mcp.tools.toolsets import EDIT, FIND, NOTES
from obsidian_mcp.vault import text
from obsidian_mcp.vault.names import Destination, NewName
from obsidian_mcp.vault.path import VaultPath, whole_characters
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.reference import Reference

MOST_LISTED = 50
MOST_BESIDE = 300  # bytes of a note's reading without its texts
LEAST_TEXT = 500  # bytes in a page, however long the note's path is: reading has to get on
# It loads tools when the model looks for them by words, except those that it is told to load at once; and it cuts
# results at a length that a tool may raise.
FOR_CLAUDE_CODE = {
    "anthropic/maxResultSizeChars": 50_000,
    "anthropic/alwaysLoad": True,
    "anthropic/searchHint": "vault wiki journal knowledge base markdown files my notes daily note",
}


def parsed(parse: Callable[[str], Any]) -> GetPydanticSchema:
    """A string to the outside, its parsed value within."""

    def schema(_type: Any, _handler: Any) -> CoreSchema:
        return core_schema.no_info_after_validator_function(parse, core_schema.str_schema(strict=True))

    return GetPydanticSchema(schema)


NAMED = "Note name without .md, path from the vault root, or [[link]]."
NameOfNote = Annotated[Reference, parsed(Reference.parse), NamesNote(), Field(description=NAMED)]
NameOrDay = Annotated[Reference, parsed(Reference.parse_special), NamesNote(), Field(description=NAMED)]
NameToMake = Annotated[Reference, parsed(Reference.parse_new), NamesNote(), Field(description=NAMED)]
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


class BareTarget(Target):
    """For sets that come after the others: how a note is named, the model has read there."""

    name: Annotated[Reference, parsed(Reference.parse), NamesNote()]


class SpecialTarget(Params):
    """A note that may also be named by what it is for, such as `@daily`."""

    name: NameOrDay


Section = Annotated[Text | None, Field(description="Only this heading (Parent > Child if not unique) or ^block.")]


class CreateNote(Params):
    name: NameToMake
    content: Annotated[Text, Field(description="Markdown, written exactly as given.")] = ""
    template: Annotated[
        Text | None, ShownWith(EDIT), Field(description="Template note to fill in; content follows it.")
    ] = None
    overwrite: Annotated[bool, Field(description="Replace the note if it exists.")] = False
    if_match: IfMatch = None


class ReadNote(SpecialTarget):
    section: Annotated[Section, ShownWith(FIND)] = None
    start_line: Annotated[int, Field(ge=1, description="First line, from 1.")] = 1
    start_char: Annotated[int, Field(ge=1, description="First character of that line, from 1.")] = 1
    max_lines: Annotated[int | None, Field(ge=1)] = None

    @property
    def is_of_all(self) -> bool:
        return self.section is None and self.max_lines is None and self.start_line == self.start_char == 1


class AddToNote(SpecialTarget):
    content: Annotated[Text, Field(min_length=1, description="Markdown, added exactly as given.")]
    section: Annotated[Text | None, ShownWith(EDIT), Field(description="Only within this heading.")] = None
    inline: Inline = False
    if_match: IfMatch = None


class DeleteNote(Target):
    permanent: Annotated[bool, Field(description="Skip the trash.")] = False
    if_match: IfMatch = None


class MoveNote(Target):
    to: Annotated[
        Destination,
        parsed(Destination.parse),
        NamesNote(),
        Field(description="Folder (/ is the root), or new path with extension."),
    ]
    dry_run: DryRun = False


class RenameNote(Target):
    new_name: Annotated[
        NewName, parsed(NewName.parse), NamesNote(), Field(description="Without folder; the extension stays.")
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
    replaced_size: int | None = None
    replaced_lines: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRead:
    """The text comes last: some hosts show a model only the head of a long result."""

    path: str
    lines: int
    next_line: int | None = None
    next_char: int | None = None
    etag: str
    size: int
    note: str | None = None
    content: str


@dataclass(frozen=True, slots=True)
class NoteAppended:
    path: str
    appended: bool
    etag: str
    size: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class NotePrepended:
    path: str
    prepended: bool
    etag: str
    size: int
    note: str | None = None


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
    content = params.content
    if params.template is not None:
        from obsidian_mcp.operations.making import from_template

        content = from_template(params.template, content, path, it.vault, it.now())
    done = editing.create(
        path, content, it.vault, it.index, it.call, overwrite=params.overwrite, if_match=params.if_match
    )
    after, before = done.after or b"", done.before
    about = NoteCreated(path.value, before is None, before is not None, text.etag(after), len(after))
    if before is None:
        return about
    return replace(about, replaced_size=len(before), replaced_lines=before.count(b"\n") + (not before.endswith(b"\n")))


@tool("Read a note", Effect.READS, NOTES, meta=FOR_CLAUDE_CODE)
def obsidian_read_note(params: ReadNote, it: Context) -> NoteRead:
    """Read a note's text and its etag. Long notes come in parts: call again with start_line = next_line, and
    start_char = next_char if given, until there is no next_line.
    """
    named = there(params.name, it.vault, it.now())
    path = named.path
    data = it.vault.read(path)
    whole = text.decoded(path, data)
    etag, lines, start_line = text.etag(data), text.line_count(whole), params.start_line

    def result(content: str, next_line: int | None, next_char: int | None) -> NoteRead:
        return NoteRead(
            path=path.value,
            lines=lines,
            next_line=next_line,
            next_char=next_char,
            etag=etag,
            size=len(data),
            note=named.note,
            content=content,
        )

    if params.is_of_all and _fits(data, f"{path}{named.note}", it.page):
        return result(whole, None, None)
    room = max(LEAST_TEXT, it.page - results.size(plain(result("", lines, len(whole)))))
    if params.section is not None:
        from obsidian_mcp.operations.sectioning import section_of  # which the first reading seldom needs

        part = section_of(path, whole, params.section)
        whole, start_line = whole[: part.end], max(start_line, part.line)
    page = text.page(whole, room, start_line, params.start_char, params.max_lines)
    return result(page.content, page.next_line, page.next_char)


def _fits(data: bytes, beside: str, page: int) -> bool:
    """Whether a note goes into one page for certain, with these texts beside it. Most do, and it is soon seen."""
    return len(data) < page and text.most_json_size(data + beside.encode()) + MOST_BESIDE <= page


@tool("Append to a note", Effect.ADDS, NOTES)
def obsidian_append_note(params: AddToNote, it: Context) -> NoteAppended:
    """Add Markdown on a new line at the end of an existing note, as for logs and lists. Nothing already
    written changes.
    """
    path, after, note = _added(params, it, at_end=True)
    return NoteAppended(path, True, text.etag(after), len(after), note)


@tool("Prepend to a note", Effect.ADDS, NOTES)
def obsidian_prepend_note(params: AddToNote, it: Context) -> NotePrepended:
    """Add Markdown at the top of an existing note, below its frontmatter. Nothing already written changes."""
    path, after, note = _added(params, it, at_end=False)
    return NotePrepended(path, True, text.etag(after), len(after), note)


def _added(params: AddToNote, it: Context, *, at_end: bool) -> tuple[str, bytes, str | None]:
    """Path and bytes of the note with the content, and what should be said of it."""
    note = named(params.name, it.vault, it.now(), whole=True)
    add = text.appended if at_end else text.prepended

    def change(before: bytes) -> bytes:
        if params.section is None:
            return add(before, params.content, params.inline)
        whole = text.decoded(note.path, before)
        from obsidian_mcp.operations.text_editing import added

        return added(note.path, whole, params.content, params.section, at_end=at_end, inline=params.inline).encode()

    doing = f"{'appending' if at_end else 'prepending'} to {note.path}"
    after = editing.edit(
        note.path, change, params.if_match, it.vault, doing, to_make(note, params.if_match, params, it)
    )
    return note.path.value, after, note.note


def to_make(note: Named, if_match: str | None, params: SpecialTarget, it: Context) -> editing.NewNote | None:
    """What the note is made with, if it is not there yet."""
    if note.new is None:
        return None
    if if_match is not None:
        raise nothing_to_compare(params.name, note.path, it.vault)
    return editing.NewNote(note.new, it.index, it.call)


@tool("Delete a note", Effect.REMOVES, NOTES)
def obsidian_delete_note(params: DeleteNote, it: Context) -> NoteDeleted:
    """Delete a note or file: to the trash, or for good with permanent."""
    path = params.whole_in(it.vault)
    links = linking_to(path, it.vault, it.index, it.call)
    if_match = params.if_match
    if params.permanent and it.call.can_ask:
        if_match = confirming.deletion(path, links, if_match, it.vault, it.call, can_be_undone(it))
    done = editing.delete(path, it.vault, permanent=params.permanent, if_match=if_match)
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


def can_be_undone(it: Context) -> bool:
    """Whether what a call changes is kept."""
    return it.history is not None


Links = tuple[int | None, list[str] | None, list[str] | None, list[dict[str, str]] | None]


def _move(path: VaultPath, target: VaultPath, it: Context, dry_run: bool) -> Links:
    """Move it, or only plan to; the links that are written anew: how many, in which notes, and for a dry run each.

    Bases that name the file are told where there are any.
    """
    act = moving.plan_move if dry_run else moving.move
    done = act(path, target, it.vault, it.index, it.call, it.contents if it.history is not None else None)
    rewrites, bases = done.rewrites, done.mentioned_in[:MOST_LISTED] or None
    if rewrites is None:
        return None, None, None, None
    count = sum(len(one.links) for one in rewrites)
    plan = [{"note": one.path, "from": link.before, "to": link.after} for one in rewrites for link in one.links]
    return count, [one.path for one in rewrites][:MOST_LISTED], bases, plan[:MOST_LISTED] if dry_run else None


def when(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
