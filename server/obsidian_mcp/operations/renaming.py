"""Another name for a tag, a property or a heading, wherever it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AlreadyExists, Hint, InvalidArguments
from obsidian_mcp.operations.many_notes import EveryFile, carried_out
from obsidian_mcp.operations.searching import not_looked_at
from obsidian_mcp.operations.sectioning import section_in
from obsidian_mcp.vault import frontmatter, tag_edits
from obsidian_mcp.vault.changes import ChangeSet, Write
from obsidian_mcp.vault.contents import Contents
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.links import heading_links
from obsidian_mcp.vault.links.heading_links import HeadingRename, Headings
from obsidian_mcp.vault.links.link_names import key_of_path, mark, names_in
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.links.writing import apply
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.property_edits import Uneditable, renamed_key
from obsidian_mcp.vault.sections import same_heading
from obsidian_mcp.vault.structure import Heading, Structure
from obsidian_mcp.vault.text import decoded

IN_USE = Hint(
    "obsidian_list_properties tells those that there are.",
    "See those that there are: obsidian-mcp call list_properties",
    needs="obsidian_list_properties",
    without="Check how it is spelled.",
)


@dataclass(frozen=True, slots=True)
class TermPlan:
    """What would change; in how many places the name stands, a heading's own line not counted."""

    changes: ChangeSet
    places: int
    note: str | None = None


Edit = Callable[[str, str], tuple[str, int]]  # of a note's path and text: its new text, and how many places that are


def rename_tag(old: str, new: str, vault: Vault, contents: Contents, call: CallContext, *, dry_run: bool) -> TermPlan:
    """With its children, in the text of notes and among their properties."""
    old, new = old.strip().removeprefix("#"), new.strip().removeprefix("#")
    if not tag_edits.is_tag(new):
        raise InvalidArguments(
            f"new {new!r} can't be a tag.", "A tag has letters, digits, _, - and /, and not digits alone."
        )
    if old == new:
        raise InvalidArguments(f"The tag is called #{old} already.")
    rename, doing = tag_edits.renaming(old, new), f"renaming #{old}"

    def edit(path: str, text: str) -> tuple[str, int]:
        try:
            return tag_edits.renamed(text, rename)
        except tag_edits.NotReadBack:
            raise InvalidArguments(f"In {path} #{new} would be read as another tag.", "Choose another name.") from None

    def plan() -> TermPlan:
        return _planned(f"tag #{old}", doing, tag_edits.search_for(old), edit, contents, call)

    return carried_out(doing, plan, vault, dry_run=dry_run)


def rename_property(
    old: str, new: str, vault: Vault, contents: Contents, call: CallContext, *, dry_run: bool
) -> TermPlan:
    """In every note that has it."""
    old, new = old.strip(), new.strip()
    doing = f"renaming the property {old}"
    if not new or not old or "\n" in new:
        raise InvalidArguments("A property's name is one line of text.")
    if old == new:
        raise InvalidArguments(f"The property is called {old} already.")
    may_have, had = tag_edits.search_for(old), vault.types().get(old)
    note = (
        None if had is None else f"The vault's own settings have the type {had} for {old}; for {new} it has to be set."
    )

    def edit(path: str, text: str) -> tuple[str, int]:
        if not any(fold(name) == fold(old) for name in frontmatter.read(text).values):
            return text, 0
        after = renamed_key(text, old, new)
        return after, int(after != text)

    def is_possible(data: bytes) -> bool:
        return data.startswith((b"---", b"\xef\xbb\xbf---")) and may_have(data)

    def plan() -> TermPlan:
        return _planned(f"property {old}", doing, is_possible, edit, contents, call, note)

    return carried_out(doing, plan, vault, dry_run=dry_run)


def _planned(
    term: str,
    doing: str,
    may_have: Callable[[bytes], bool],
    edit: Edit,
    contents: Contents,
    call: CallContext,
    note: str | None = None,
) -> TermPlan:
    """Every note that may have it, edited. Raises if none has."""
    files, writes, places = EveryFile(contents, call), list[Write](), 0
    for path, data in files.ending(".md"):
        if not may_have(data):
            continue
        text = data.decode("utf-8", "surrogateescape")
        try:
            after, count = edit(path, text)
        except Uneditable as problem:
            raise InvalidArguments(
                f"The properties of {path} can't be changed (line {problem.line}): {problem}.",
                "Change that note by hand, then try again.",
                path=path,
            ) from None
        places += count
        if count:
            writes.append(Write(path, data, after.encode("utf-8", "surrogateescape")))
    if not places:
        raise InvalidArguments(f"No note has a {term} to rename.", IN_USE)
    told = [sentence for sentence in (note, not_looked_at(files.unread)) if sentence]
    return TermPlan(ChangeSet(doing, tuple(writes)), places, " ".join(told) or None)


# Headings


def rename_heading(
    path: VaultPath, old: str, new: str, vault: Vault, contents: Contents, call: CallContext, *, dry_run: bool
) -> TermPlan:
    """In its note, with every link to it."""
    new, doing = new.strip().lstrip("#").strip(), f"renaming a heading of {path}"

    def plan() -> TermPlan:
        return _heading_planned(vault.canonical(path), old, new, doing, vault, contents, call)

    return carried_out(doing, plan, vault, dry_run=dry_run)


def _heading_planned(
    path: VaultPath, old: str, new: str, doing: str, vault: Vault, contents: Contents, call: CallContext
) -> TermPlan:
    data = vault.current(path)
    text = decoded(path, data)
    headings = Structure(text).headings
    number = _number(path, text, headings, old)
    _require_new(path, headings, number, new)
    rename = HeadingRename(path.value, Headings.of(headings), number, new)
    there, files, key = contents.resolver(call), EveryFile(contents, call), mark(key_of_path(path.value))
    own, places = _followed(path.value, data, rename, there)
    writes = [Write(path.value, data, _retitled(path, own, number, new))]
    for at, found in files.ending(".md", ".canvas"):
        if at == path.value or b"#" not in found or key not in names_in(at, found):
            continue
        after, count = _followed(at, found, rename, there)
        places += count
        if count:
            writes.append(Write(at, found, after))
    return TermPlan(ChangeSet(doing, tuple(writes)), places, not_looked_at(files.unread))


def _number(path: VaultPath, text: str, headings: list[Heading], old: str) -> int:
    section = section_in(path, Structure(text), old)
    if not section.level:
        raise InvalidArguments(f"{old!r} is a block of {path}, and not a heading.")
    return next(at for at, heading in enumerate(headings) if heading.start == section.start)


def _require_new(path: VaultPath, headings: list[Heading], number: int, new: str) -> None:
    if "\n" in new or same_heading(new, ""):
        raise InvalidArguments(f"new {new!r} can't be a heading that links find.", "Give one line with letters.")
    if headings[number].text == new:
        raise InvalidArguments(f"The heading is called {new!r} already.")
    for other in Headings.of(headings).same(new):
        if other != number:
            raise AlreadyExists(
                f"{path} has a heading {headings[other].text!r} already, in line {headings[other].line}, which links "
                "could not tell from this one.",
                "Choose another name.",
                path=path.value,
            )


def _followed(at: str, data: bytes, rename: HeadingRename, there: Resolver) -> tuple[bytes, int]:
    text = data.decode("utf-8", "surrogateescape")
    try:
        links = rename.rewrites(at, text, there)
    except heading_links.NotReadBack:
        raise _unwritable(f"a link in {at}", rename.new) from None
    return apply(text, links).encode("utf-8", "surrogateescape"), len(links)


def _retitled(path: VaultPath, data: bytes, number: int, new: str) -> bytes:
    try:
        return heading_links.renamed(data.decode("utf-8", "surrogateescape"), number, new).encode()
    except heading_links.NotReadBack:
        raise _unwritable(f"the heading in {path}", new) from None


def _unwritable(what: str, new: str) -> InvalidArguments:
    return InvalidArguments(f"With the name {new!r}, {what} would be read as something else.", "Choose another name.")
