from __future__ import annotations

import pytest

from tests.promises.ground import Ground


def test_a_note_moves_to_a_folder(ground: Ground) -> None:
    path = ground.put("Note.md", "text")
    ground.put("Archive/Other.md")
    done = ground.call("move_note", name=path, to=ground.at("Archive"))
    assert done.items() >= {"old_path": path, "path": ground.at("Archive/Note.md"), "moved": True}.items()
    assert (ground.has(path), ground.get(done["path"])) == (False, b"text")


def test_missing_folders_are_made(near: Ground) -> None:
    path = near.put("Note.md", "text")
    done = near.call("move_note", name=path, to=near.at("New/Deep/"))
    assert near.get(near.at("New/Deep/Note.md")) == b"text"
    assert done["moved"] is True


def test_a_destination_with_an_extension_is_the_whole_path(ground: Ground) -> None:
    path = ground.put("Note.md", "text")
    ground.put("Archive/Other.md")
    assert ground.call("move_note", name=path, to=ground.at("Archive/New.md"))["path"] == ground.at("Archive/New.md")


def test_a_folder_may_have_a_dot_in_its_name(ground: Ground) -> None:
    path = ground.put("Note.md", "text")
    ground.put("Version 1.2/Other.md")
    moved = ground.call("move_note", name=path, to=ground.at("Version 1.2"))
    assert moved["path"] == ground.at("Version 1.2/Note.md")


def test_a_rename_keeps_folder_and_extension(ground: Ground) -> None:
    path = ground.put("Folder/Old.md", "text")
    done = ground.call("rename_note", name=path, new_name="New")
    assert done.items() >= {"old_path": path, "path": ground.at("Folder/New.md"), "renamed": True}.items()
    assert (ground.has(path), ground.get(done["path"])) == (False, b"text")


@pytest.mark.parametrize("new_name", ["Release 1.2", "New.md", "v1.0 final"])
def test_a_new_name_may_have_dots(ground: Ground, new_name: str) -> None:
    path = ground.put("Old.md", "text")
    expected = new_name if new_name.endswith(".md") else f"{new_name}.md"
    assert ground.call("rename_note", name=path, new_name=new_name)["path"] == ground.at(expected)


def test_the_extension_keeps_its_spelling(ground: Ground) -> None:
    path = ground.put("Old.md", "text")
    assert ground.call("rename_note", name=path, new_name="New.MD")["path"] == ground.at("New.md")


def test_only_the_unicode_form_can_change(near: Ground) -> None:
    path = near.put("Cafe\u0301.md", "text")
    assert near.call("rename_note", name=path, new_name="Café")["path"] == near.at("Café.md")


def test_only_the_case_can_change(ground: Ground) -> None:
    path = ground.put("note.md", "text")
    assert ground.call("rename_note", name=path, new_name="Note")["path"] == ground.at("Note.md")
    assert [name.rpartition("/")[2] for name in ground.files()] == ["Note.md"]


def test_a_picture_is_renamed_with_its_extension(ground: Ground) -> None:
    path = ground.put("Old.png", b"\x89PNG\xff")
    assert ground.call("rename_note", name=path, new_name="New")["path"] == ground.at("New.png")


def test_nothing_is_ever_moved_over_another_note(ground: Ground) -> None:
    path = ground.put("A.md", "a")
    ground.put("B.md", "b")
    ground.put("Folder/a.md", "other")
    for tool, arguments in (("rename_note", {"new_name": "B"}), ("move_note", {"to": ground.at("Folder")})):
        failure = ground.fails(tool, name=path, **arguments)
        assert (failure.code, failure.error_code) == (-32000, "ALREADY_EXISTS")


def test_a_dry_run_says_what_would_be_and_changes_nothing(ground: Ground) -> None:
    path = ground.put("A.md", "a")
    before = ground.files()
    renamed = ground.call("rename_note", name=path, new_name="B", dry_run=True)
    moved = ground.call("move_note", name=path, to=ground.at("New"), dry_run=True)
    assert (renamed["renamed"], renamed["path"]) == (False, ground.at("B.md"))
    assert (moved["moved"], moved["path"]) == (False, ground.at("New/A.md"))
    assert ground.files() == before
    assert not (ground.folder / ground.at("New")).exists()


def test_a_dry_run_finds_what_stands_in_the_way(ground: Ground) -> None:
    path = ground.put("A.md", "a")
    ground.put("B.md", "b")
    failure = ground.fails("rename_note", name=path, new_name="B", dry_run=True)
    assert failure.error_code == "ALREADY_EXISTS"
    assert "Nothing was changed" not in failure.message  # it could not have been
    assert "Nothing was changed" in ground.fails("rename_note", name=path, new_name="B").message


@pytest.mark.parametrize("new_name", ["Folder/New", "New.png", "a:b", "", ".hidden", "..", "a|b", "x" * 300])
def test_a_bad_new_name_is_refused(ground: Ground, new_name: str) -> None:
    path = ground.put("A.md", "a")
    assert ground.fails("rename_note", name=path, new_name=new_name).code == -32602


@pytest.mark.parametrize("to", ["../out", "/abs", "C:/x", ".obsidian", "a/../b", "a//b", "New.png", "a\\b", ""])
def test_a_bad_destination_is_refused(ground: Ground, to: str) -> None:
    path = ground.put("A.md", "a")
    assert ground.fails("move_note", name=path, to=to).code == -32602


def test_a_note_that_is_there_already_is_refused(ground: Ground) -> None:
    path = ground.put("Folder/A.md", "a")
    assert ground.fails("move_note", name=path, to=ground.at("Folder")).code == -32602
    assert ground.fails("rename_note", name=path, new_name="A").code == -32602
