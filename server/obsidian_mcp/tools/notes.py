"""The nine tools for notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, Field, GetPydanticSchema
from pydantic_core import CoreSchema, core_schema

from obsidian_mcp.operations.finding import existing, new, nothing_to_compare, placed
from obsidian_mcp.tools.tool import Effect, Params, tool
from obsidian_mcp.vault import text
from obsidian_mcp.vault.names import Destination, Name, NewName
from obsidian_mcp.vault.path import VaultPath, whole_characters
from obsidian_mcp.vault.port import (
    FileInfo,
    NoteAppended,
    NoteCreated,
    NoteDeleted,
    NoteMoved,
    NoteOpened,
    NotePrepended,
    NoteRead,
    NoteRenamed,
    Vault,
)


def _parsed(parse: Callable[[str], Any]) -> GetPydanticSchema:
    """A string to the outside, its parsed value within."""

    def schema(_type: Any, _handler: Any) -> CoreSchema:
        return core_schema.no_info_after_validator_function(parse, core_schema.str_schema(strict=True))

    return GetPydanticSchema(schema)


NameOfNote = Annotated[
    Name, _parsed(Name.parse), Field(description="Note name without .md, or exact path from the vault root.")
]
NameToMake = Annotated[
    Name, _parsed(Name.parse_new), Field(description="Note name without .md, or exact path from the vault root.")
]
Text = Annotated[str, AfterValidator(whole_characters)]
IfMatch = Annotated[Text | None, Field(description="etag the note must still have.")]
Inline = Annotated[bool, Field(description="Add no line break.")]
DryRun = Annotated[bool, Field(description="Only check; change nothing.")]


class Target(Params):
    name: NameOfNote

    def path_in(self, vault: Vault) -> VaultPath:
        return existing(self.name, vault)


class CreateNote(Params):
    name: NameToMake
    content: Annotated[Text, Field(description="Markdown, written exactly as given.")] = ""
    overwrite: Annotated[bool, Field(description="Replace the note if it exists.")] = False
    if_match: IfMatch = None


class ReadNote(Target):
    start_line: Annotated[int, Field(ge=1, description="First line, from 1.")] = 1
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
        Field(description="Folder (/ is the root), or new path with extension."),
    ]
    dry_run: DryRun = False


class RenameNote(Target):
    new_name: Annotated[NewName, _parsed(NewName.parse), Field(description="Without folder; the extension stays.")]
    dry_run: DryRun = False


class OpenNote(Target):
    new_tab: bool = False


class DescribeNote(Target):
    pass


@tool("Create a note", Effect.CHANGES)
def obsidian_create_note(params: CreateNote, vault: Vault) -> NoteCreated:
    """Create a note with its folders. A bare name goes to the vault's place for new notes. Fails if the note
    exists, unless overwrite is set; to add to a note, append.
    """
    path = new(params.name, vault, replacing=params.overwrite)
    if params.if_match is not None and not vault.spellings(path):
        raise nothing_to_compare(params.name, path, vault)
    return vault.create(path, params.content, overwrite=params.overwrite, if_match=params.if_match)


@tool("Read a note", Effect.READS)
def obsidian_read_note(params: ReadNote, vault: Vault) -> NoteRead:
    """Read a note's text and its etag. Long notes come in parts: call again with start_line = next_line until
    there is none.
    """
    path = params.path_in(vault)
    data = vault.read(path)
    page = text.page(path, text.decoded(path, data), params.start_line, params.max_lines)
    return NoteRead(path.value, page.content, text.etag(data), len(data), page.lines, page.next_line)


@tool("Append to a note", Effect.ADDS)
def obsidian_append_note(params: AddToNote, vault: Vault) -> NoteAppended:
    """Add Markdown on a new line at the end of an existing note, as for logs and lists. Nothing already
    written changes.
    """
    path = params.path_in(vault)
    after = vault.append(path, params.content, inline=params.inline, if_match=params.if_match)
    return NoteAppended(path.value, True, text.etag(after), len(after))


@tool("Prepend to a note", Effect.ADDS)
def obsidian_prepend_note(params: AddToNote, vault: Vault) -> NotePrepended:
    """Add Markdown at the top of an existing note, below its frontmatter. Nothing already written changes."""
    path = params.path_in(vault)
    after = vault.prepend(path, params.content, inline=params.inline, if_match=params.if_match)
    return NotePrepended(path.value, True, text.etag(after), len(after))


@tool("Delete a note", Effect.REMOVES)
def obsidian_delete_note(params: DeleteNote, vault: Vault) -> NoteDeleted:
    """Delete a note or file: to the trash, or for good with permanent."""
    return vault.delete(params.path_in(vault), permanent=params.permanent, if_match=params.if_match)


@tool("Move a note", Effect.CHANGES)
def obsidian_move_note(params: MoveNote, vault: Vault) -> NoteMoved:
    """Move a note or file to another folder, which is made if missing. Obsidian updates links to it if the
    vault is set so.
    """
    path = params.path_in(vault)
    target = placed(params.to.of(path), vault)
    done = vault.move(path, target, dry_run=params.dry_run)
    return NoteMoved(path.value, target.value, done.done, done.links_updated, done.notes_changed, done.plan)


@tool("Rename a note", Effect.CHANGES)
def obsidian_rename_note(params: RenameNote, vault: Vault) -> NoteRenamed:
    """Rename a note or file within its folder. Links to it follow; with the app, if the vault is set so."""
    path = params.path_in(vault)
    target = params.new_name.of(path)
    done = vault.move(path, target, dry_run=params.dry_run)
    return NoteRenamed(path.value, target.value, done.done, done.links_updated, done.notes_changed, done.plan)


@tool("Open a note", Effect.SHOWS)
def obsidian_open_note(params: OpenNote, vault: Vault) -> NoteOpened:
    """Show an existing note to the user in the Obsidian app. Use read to get its text."""
    path = params.path_in(vault)
    vault.open(path, new_tab=params.new_tab)
    return NoteOpened(path.value, True)


@tool("Describe a file", Effect.READS)
def obsidian_file_info(params: DescribeNote, vault: Vault) -> FileInfo:
    """Size in bytes, times and etag of a note or file, without its text."""
    return vault.info(params.path_in(vault))
