"""The tools that change one thing in a note, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.operations import editing, text_editing
from obsidian_mcp.operations.dated import Named, named
from obsidian_mcp.operations.property_editing import Properties, require_some, with_properties
from obsidian_mcp.protocol import results
from obsidian_mcp.tools.notes import DryRun, IfMatch, SpecialTarget, Text, to_make
from obsidian_mcp.tools.tool import Context, Effect, tool
from obsidian_mcp.tools.toolsets import EDIT
from obsidian_mcp.vault import diffs, frontmatter, text

Values = dict[str, Any]
MOST_SHOWN = 4_000  # bytes of properties in a reply


class EditNote(SpecialTarget):
    new_text: Text
    old_text: Annotated[
        Text | None, Field(description="Must occur once. Without it the whole section is replaced.")
    ] = None
    section: Annotated[Text | None, Field(description="Heading (Parent > Child if not unique) or ^block.")] = None
    all: Annotated[bool, Field(description="Replace every occurrence.")] = False
    if_match: IfMatch = None
    dry_run: DryRun = False


class SetProperties(SpecialTarget):
    set: Annotated[Values, Field(default_factory=dict, description="Values by name; null removes.")]
    add: Annotated[Values, Field(default_factory=dict, description='To lists: {"tags": ["x"]}.')]
    remove: Annotated[Values, Field(default_factory=dict, description="From lists.")]
    if_match: IfMatch = None
    dry_run: DryRun = False


@dataclass(frozen=True, slots=True)
class NoteEdited:
    path: str
    replaced: int
    diff: str
    etag: str
    size: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class PropertiesSet:
    path: str
    properties: dict[str, Any]
    diff: str
    etag: str
    note: str | None = None


@tool("Edit a note", Effect.CHANGES, EDIT)
def obsidian_edit_note(params: EditNote, it: Context) -> NoteEdited:
    """Replace one text in a note, or the text of a section; nothing else changes. name may be @daily, @weekly …
    (@daily:yesterday, @daily:2026-11-16) or @active here and where a note is read or added to.
    """
    note = named(params.name, it.vault, it.now(), whole=True)
    done: list[text_editing.Replaced] = []

    def change(before: str) -> str:
        done[:] = [text_editing.edited(note.path, before, params.new_text, params.old_text, params.section, params.all)]
        return done[0].text

    before, after, data = _changed(note, change, params, it)
    said = " ".join(filter(None, (note.note, done[0].note)))
    diff = diffs.unified(before, after)
    return NoteEdited(note.path.value, done[0].count, diff, text.etag(data), len(data), said or None)


@tool("Set properties", Effect.CHANGES, EDIT)
def obsidian_set_properties(params: SetProperties, it: Context) -> PropertiesSet:
    """Set or remove a note's properties (frontmatter), add to or remove from lists such as tags. Nothing else
    changes.
    """
    wanted = Properties(params.set, params.add, params.remove)
    require_some(wanted)
    note = named(params.name, it.vault, it.now(), whole=True)
    if note.path.extension.lower() != "md":
        raise InvalidArguments(f"{note.path} is not a note, and only notes have properties.", path=note.path.value)
    types = it.vault.types()
    before, after, data = _changed(note, lambda whole: with_properties(note.path, whole, wanted, types), params, it)
    said = " ".join(
        filter(None, (note.note, None if before != after else "Nothing was to be changed: the note is so already."))
    )
    values = frontmatter.read(after).values
    if results.size(values) > MOST_SHOWN:
        touched = {name.lower() for name in (*params.set, *params.add)}
        values = {name: value for name, value in values.items() if name.lower() in touched}
    if results.size(values) > MOST_SHOWN:
        values, said = {}, f"{said} The values are too long to be shown.".strip()
    return PropertiesSet(note.path.value, values, diffs.unified(before, after), text.etag(data), said or None)


def _changed(
    note: Named, change: Callable[[str], str], params: EditNote | SetProperties, it: Context
) -> tuple[str, str, bytes]:
    """The note's text before and after, and its bytes; a dry run only plans, and its bytes are those of before."""
    seen: list[str] = []

    def act(before: bytes) -> bytes:
        whole = text.decoded(note.path, before)
        seen[:] = [whole, change(whole)]
        return seen[1].encode()

    new = to_make(note, params.if_match, params, it)
    doing = f"editing {note.path}"
    if params.dry_run:
        editing.preview(note.path, act, params.if_match, it.vault, doing, new)
        return seen[0], seen[1], seen[0].encode()
    after = editing.edit(note.path, act, params.if_match, it.vault, doing, new)
    return seen[0], seen[1], after
