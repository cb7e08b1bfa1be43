from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AlreadyExists, AmbiguousName, Cancelled, InvalidArguments, NoteNotFound
from obsidian_mcp.operations import renaming
from obsidian_mcp.operations.renaming import TermPlan
from obsidian_mcp.vault.path import VaultPath
from tests.support.memory import Files, context


def vault(**notes: str | bytes) -> Files:
    return Files({f"{name}.md": text.encode() if isinstance(text, str) else text for name, text in notes.items()})


def run(files: Files, act: Any, *arguments: Any, dry_run: bool = False, call: CallContext | None = None) -> TermPlan:
    it = context(files)("Memory", call or CallContext(), 0)
    found: TermPlan = act(*arguments, it.vault, it.contents, it.call, dry_run=dry_run)
    return found


# Tags


def test_a_tag_is_renamed_in_every_note_that_has_it() -> None:
    files = vault(a="#old and #old/x", b="---\ntags: [Old]\n---\n", c="old, `#old`", d=b"\xff #old \xfe")
    done = run(files, renaming.rename_tag, "#old", "new")
    assert (done.places, [change.path for change in done.changes.changes]) == (4, ["a.md", "b.md", "d.md"])
    assert files == vault(a="#new and #new/x", b="---\ntags: [new]\n---\n", c="old, `#old`", d=b"\xff #new \xfe")


def test_a_dry_run_counts_and_changes_nothing() -> None:
    files = vault(a="#old #old")
    assert run(files, renaming.rename_tag, "old", "new", dry_run=True).places == 2
    assert files == vault(a="#old #old")


def test_a_change_and_its_inverse_restore_every_note() -> None:
    files = vault(a="\ufeff#old\r\n", b="---\ntags: # c\n  - 'old/x'\n---\n")
    before = dict(files)
    done = run(files, renaming.rename_tag, "old", "new")
    context(files)("Memory", CallContext(), 0).vault.commit("back", done.changes.inverse)
    assert dict(files) == before


@pytest.mark.parametrize("new", ["", "#", "a b", "12", "a,b", "a/"])
def test_what_cannot_be_a_tag_is_refused(new: str) -> None:
    with pytest.raises(InvalidArguments):
        run(vault(a="#old"), renaming.rename_tag, "old", new)


@pytest.mark.parametrize("act", [renaming.rename_tag, renaming.rename_property])
def test_what_no_note_has_is_an_error(act: Any) -> None:
    with pytest.raises(InvalidArguments) as failed:
        run(vault(a="old", b="---\nx: old\n---\n"), act, "old", "new")
    assert failed.value.hint == renaming.IN_USE


def test_properties_that_cannot_be_edited_stop_all_of_it_and_are_named() -> None:
    files = vault(a="#old", b="---\ntags: &x [old]\nother: *x\n---\n")
    before = dict(files)
    with pytest.raises(InvalidArguments) as failed:
        run(files, renaming.rename_tag, "old", "new")
    assert failed.value.data["path"] == "b.md"
    assert dict(files) == before


def test_nothing_is_written_after_a_cancel() -> None:
    files, call = vault(a="#old"), CallContext()
    call.cancel()
    with pytest.raises(Cancelled):
        run(files, renaming.rename_tag, "old", "new", call=call)
    assert files == vault(a="#old")


# Properties


def test_a_property_is_renamed_in_its_place_in_every_note() -> None:
    files = vault(a="---\nx: 1 # c\nOld:  [a]\n---\nOld: x", b="---\nold:\n  - 1\n---\n", c="---\nolder: 1\n---\nold:")
    assert run(files, renaming.rename_property, "old", "new").places == 2
    assert files == vault(
        a="---\nx: 1 # c\nnew:  [a]\n---\nOld: x", b="---\nnew:\n  - 1\n---\n", c="---\nolder: 1\n---\nold:"
    )


def test_a_property_that_is_there_already_stops_all_of_it() -> None:
    files = vault(a="---\nold: 1\n---\n", b="---\nold: 1\nNew: 2\n---\n")
    before = dict(files)
    with pytest.raises(InvalidArguments) as failed:
        run(files, renaming.rename_property, "old", "new")
    assert failed.value.data["path"] == "b.md"
    assert dict(files) == before


# Headings


NOTE = VaultPath("Note.md")


def test_a_heading_is_renamed_with_every_link_to_it() -> None:
    files = vault(Note="# Old\n[[#Old]]\n", Other="[[Note#Old|x]] [y](Note.md#Old)", Else="[[Note]] #Old")
    files["B.canvas"] = b'{"nodes":[{"text":"[[Note#Old]]"}]}'
    assert run(files, renaming.rename_heading, NOTE, "Old", "New name").places == 4
    after = vault(Note="# New name\n[[#New name]]\n", Other="[[Note#New name|x]] [y](Note.md#New%20name)")
    assert files == Files(
        {**after, "Else.md": b"[[Note]] #Old", "B.canvas": b'{"nodes":[{"text":"[[Note#New name]]"}]}'}
    )


def test_hashes_in_a_heading_are_taken_as_people_write_them() -> None:
    files = vault(Note="## Old ##\r\ntext")
    run(files, renaming.rename_heading, NOTE, "## Old", "## New")
    assert files == vault(Note="## New ##\r\ntext")


def test_only_its_case_may_change() -> None:
    files = vault(Note="# old", Other="[[Note#old]]")
    run(files, renaming.rename_heading, NOTE, "old", "Old")
    assert files == vault(Note="# Old", Other="[[Note#Old]]")


REFUSED: dict[str, tuple[str, str, str, type[Exception]]] = {
    "a heading that isn't there": ("# A\n", "B", "C", NoteNotFound),
    "one of two": ("# A\n# A\n", "A", "C", AmbiguousName),
    "a name that another has": ("# A\n# B!\n", "A", "b", AlreadyExists),
    "the name it has": ("# A\n", "A", "A", InvalidArguments),
    "a name without letters": ("# A\n", "A", "!?", InvalidArguments),
    "two lines": ("# A\n", "A", "b\nc", InvalidArguments),
    "a name that is read otherwise": ("A\n===\n", "A", "- b", InvalidArguments),
    "a block": ("A ^id\n", "^id", "b", InvalidArguments),
}


@pytest.mark.parametrize(("note", "old", "new", "kind"), REFUSED.values(), ids=REFUSED)
def test_a_heading_stays_where_the_new_name_would_do_harm(note: str, old: str, new: str, kind: type[Exception]) -> None:
    files = vault(Note=note)
    with pytest.raises(kind):
        run(files, renaming.rename_heading, NOTE, old, new)
    assert files == vault(Note=note)


def test_one_of_two_headings_is_named_by_its_path() -> None:
    files = vault(Note="# A\n## x\n# B\n## x\n", Other="[[Note#x]] [[Note#B#x]]")
    run(files, renaming.rename_heading, NOTE, "B > x", "y")
    assert files == vault(Note="# A\n## x\n# B\n## y\n", Other="[[Note#x]] [[Note#B#y]]")
