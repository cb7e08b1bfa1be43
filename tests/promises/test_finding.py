from __future__ import annotations

import os
import unicodedata
from typing import Literal

import pytest

from tests.promises.ground import Ground

READ_BY_NAME = {
    "a bare name": ("Deep/Er/Unique zq note.md", "Unique zq note"),
    "another case": ("Deep/Unique zq note.md", "uNIQUE ZQ NOTE"),
    "a dot in the name": ("Deep/Unique zq 1.2.md", "Unique zq 1.2"),
    "decomposed for composed": ("Deep/Zq Café.md", unicodedata.normalize("NFD", "Zq Café")),
    "composed for decomposed": (unicodedata.normalize("NFD", "Deep/Zq Café.md"), "Zq Café"),
}


@pytest.mark.parametrize(("path", "name"), READ_BY_NAME.values(), ids=READ_BY_NAME)
def test_a_name_finds_its_note_in_any_folder_case_and_form(ground: Ground, path: str, name: str) -> None:
    ground.put(path, "found")
    read = ground.call("read_note", name=name)
    assert (read["path"], read["content"]) == (ground.at(path), "found")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_path_finds_its_note_in_any_case_and_form(ground: Ground, form: Literal["NFC", "NFD"]) -> None:
    path = ground.put(unicodedata.normalize("NFC", "Dé/Café.md"), "found")
    assert ground.call("read_note", name=ground.at(unicodedata.normalize(form, "dé/CAFÉ")))["path"] == path


def test_a_path_needs_no_extension(ground: Ground) -> None:
    path = ground.put("Folder/Note.md", "found")
    assert ground.call("read_note", name=path.removesuffix(".md"))["path"] == path


def test_an_exact_path_wins_over_other_cases(ground: Ground) -> None:
    if os.path.exists(str(ground.folder).swapcase()):
        pytest.skip("this file system ignores case")
    ground.put("note.md", "lower")
    path = ground.put("Note.md", "upper")
    assert ground.call("read_note", name=path)["content"] == "upper"
    assert ground.fails("read_note", name=ground.at("NOTE.md")).code == -32004


def test_several_notes_of_one_name_are_never_guessed_between(ground: Ground) -> None:
    paths = sorted([ground.put("A/Twin zq.md", "a"), ground.put("B/twin zq.md", "b")])
    for tool, more in (("read_note", {}), ("delete_note", {}), ("append_note", {"content": "x"})):
        failure = ground.fails(tool, name="Twin zq", **more)
        assert (failure.code, failure.error_code) == (-32004, "AMBIGUOUS_NAME")
        assert failure.data["candidates"] == paths
        assert all(path in failure.message for path in paths)


def test_a_missing_note_comes_with_the_three_nearest(ground: Ground) -> None:
    for name in ("Meeting zq notes", "Meeting zq note 2", "Meetings zq", "Something else"):
        ground.put(f"Folder/{name}.md")
    failure = ground.fails("read_note", name="Meetign zq notes")
    assert (failure.code, failure.error_code) == (-32003, "FILE_NOT_FOUND")
    assert failure.data["nearest"][0] == ground.at("Folder/Meeting zq notes.md")
    assert len(failure.data["nearest"]) == 3
    assert ground.at("Folder/Meeting zq notes.md") in failure.message


@pytest.mark.parametrize("name", ["Nihon zq", "nihon ZQ", "[[Nihon zq]]", "Nihon zq.md"])
def test_a_note_that_is_asked_for_by_an_alias_is_named(near: Ground, name: str) -> None:
    path = near.put("Trips/Kyoto.md", "---\naliases: [Nihon zq]\n---\ntext\n")
    for tool, more in (("read_note", {}), ("append_note", {"content": "x"}), ("delete_note", {})):
        failure = near.fails(tool, name=name, **more)
        assert failure.error_code == "FILE_NOT_FOUND"
        assert failure.data["candidates"] == [path]
        assert path in failure.message
    assert near.get(path).endswith(b"text\n")


def test_an_alias_of_several_notes_is_told_of_each(near: Ground) -> None:
    paths = [near.put(f"{name}.md", "---\naliases: Twin alias zq\n---\n") for name in ("A zq", "B zq")]
    assert near.fails("read_note", name="Twin alias zq").data["candidates"] == paths


def test_a_missing_path_comes_with_the_nearest_too(ground: Ground) -> None:
    path = ground.put("Sub/Zq note.md")
    assert path in ground.fails("read_note", name=ground.at("Zq note.md")).data["nearest"]


def test_a_name_longer_than_the_disk_allows_is_not_found(ground: Ground) -> None:
    for name in ("x" * 300, "/".join(["x" * 200] * 30)):
        assert ground.fails("read_note", name=ground.at(name)).code == -32003


def test_a_note_in_a_folder_that_no_path_can_name_is_not_found(near: Ground) -> None:
    near.put("back\\slash/Unique zq.md", "x")
    assert near.fails("read_note", name="Unique zq").code == -32003


def test_a_pipe_is_not_waited_for(near: Ground) -> None:
    near.put("Note.md")
    os.mkfifo(near.folder / near.at("Pipe.md"))
    for tool, more in (("read_note", {}), ("append_note", {"content": "x"})):
        failure = near.fails(tool, name=near.at("Pipe.md"), **more)
        assert failure.error_code in ("FILE_NOT_FOUND", "FILE_FAILED")


def test_a_new_bare_name_does_not_care_what_other_folders_hold(near: Ground) -> None:
    if near.prefix:
        pytest.skip("a bare name would be made outside the scratch folder")
    near.put("Sub/Note.md", "other")
    assert near.call("create_note", name="Note", content="mine")["path"] == "Note.md"


def test_a_bare_name_that_several_have_replaces_none_of_them(near: Ground) -> None:
    if near.prefix:
        pytest.skip("a bare name would be made outside the scratch folder")
    for path in ("Note.md", "Sub/Note.md"):
        near.put(path, "as it was")
    failure = near.fails("create_note", name="Note", content="new", overwrite=True)
    assert (failure.error_code, failure.data["candidates"]) == ("AMBIGUOUS_NAME", ["Note.md", "Sub/Note.md"])
    assert near.get("Note.md") == near.get("Sub/Note.md") == b"as it was"
    near.call("create_note", name="Note.md", content="new", overwrite=True)
    assert near.get("Note.md") == b"new"


def test_an_etag_of_a_note_elsewhere_leads_to_its_path(near: Ground) -> None:
    if near.prefix:
        pytest.skip("a bare name would be made outside the scratch folder")
    near.put("Sub/Note.md", "x")
    failure = near.fails("create_note", name="Note", content="new", overwrite=True, if_match="0" * 16)
    assert failure.code == -32003
    assert "Give one of these paths as the name: Sub/Note.md." in failure.message


def test_a_folder_that_is_taken_for_a_note_is_told(ground: Ground) -> None:
    ground.put("Project zq/Note.md", "x")
    failure = ground.fails("delete_note", name=ground.at("project zq"))
    assert failure.code == -32003
    assert "A folder has that name" in failure.message


def test_a_new_bare_name_goes_where_the_vault_puts_new_notes(near: Ground) -> None:
    if near.prefix:
        pytest.skip("a bare name would be made outside the scratch folder")
    near.put(".obsidian/app.json", '{"newFileLocation": "folder", "newFileFolderPath": "In box"}')
    assert near.call("create_note", name="Note", content="x")["path"] == "In box/Note.md"


@pytest.mark.parametrize(
    "settings",
    ['{"newFileLocation": "current"}', "not json", "[]", '{"newFileLocation":"folder","newFileFolderPath":"../out"}'],
)
def test_any_other_place_for_new_notes_is_the_root(near: Ground, settings: str) -> None:
    if near.prefix:
        pytest.skip("a bare name would be made outside the scratch folder")
    near.put(".obsidian/app.json", settings)
    assert near.call("create_note", name="Note", content="x")["path"] == "Note.md"
