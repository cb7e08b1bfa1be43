from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.names import Destination, Name, NewName
from obsidian_mcp.vault.path import VaultPath

PATHS = ["Note.md", "Sub/Note.md", "Sub/Other.md", "Sub/Café.md", "Picture.png", "Sub/Release 1.2.md"]


@given(st.text())
def test_case_and_unicode_form_do_not_count(text: str) -> None:
    assert fold(text) == fold(unicodedata.normalize("NFD", text)) == fold(fold(text))


NAMES = {
    "a bare name": ("Note", ["Note.md", "Sub/Note.md"]),
    "another case": ("OTHER", ["Sub/Other.md"]),
    "a path": ("Sub/Note", ["Sub/Note.md"]),
    "a path with extension": ("Note.md", ["Note.md"]),
    "a dot in the name": ("Release 1.2", ["Sub/Release 1.2.md"]),
    "another form": ("Cafe\u0301", ["Sub/Café.md"]),
    "a picture is not a note": ("Picture", []),
    "a picture by its path": ("picture.PNG", ["Picture.png"]),
    "a trailing part of a path is not a name": ("ub/Note", []),
}


@pytest.mark.parametrize(("text", "expected"), NAMES.values(), ids=NAMES)
def test_a_name_means_these_notes(text: str, expected: list[str]) -> None:
    assert Name.parse(text).matches(PATHS) == expected


def test_the_nearest_names_come_first_and_there_are_three() -> None:
    paths = ["Zebra.md", "Groceries 2.md", "Shopping/Groceries.md", "Grill.md", "Other.md"]
    assert Name.parse("Grocereis").nearest(paths)[0] == "Shopping/Groceries.md"
    assert len(Name.parse("Grocereis").nearest(paths)) == 3
    assert Name.parse("x").nearest([]) == []


DESTINATIONS = {
    "the root": ("/", "Sub/N.md", "N.md"),
    "a folder": ("Archive", "Sub/N.md", "Archive/N.md"),
    "a folder with a slash": ("Archive/", "Sub/N.md", "Archive/N.md"),
    "a folder with a dot": ("Ver 1.2", "N.md", "Ver 1.2/N.md"),
    "a whole path": ("Archive/M.md", "Sub/N.md", "Archive/M.md"),
    "a name at the root": ("M.md", "Sub/N.md", "M.md"),
    "another case of the extension": ("M.MD", "N.md", "M.MD"),
}


@pytest.mark.parametrize(("to", "path", "expected"), DESTINATIONS.values(), ids=DESTINATIONS)
def test_a_destination_is_a_folder_or_a_whole_path(to: str, path: str, expected: str) -> None:
    assert Destination.parse(to).of(VaultPath(path)).value == expected


RENAMES = {
    "a plain name": ("M", "Sub/N.md", "Sub/M.md"),
    "with its extension": ("M.md", "Sub/N.md", "Sub/M.md"),
    "a dot in the name": ("M 1.2", "N.md", "M 1.2.md"),
    "a picture": ("M", "N.png", "M.png"),
    "no extension at all": ("M", "LICENSE", "M"),
}


@pytest.mark.parametrize(("new_name", "path", "expected"), RENAMES.values(), ids=RENAMES)
def test_a_new_name_keeps_folder_and_extension(new_name: str, path: str, expected: str) -> None:
    assert NewName.parse(new_name).of(VaultPath(path)).value == expected


def test_the_extension_cannot_be_changed() -> None:
    with pytest.raises(InvalidArguments):
        NewName.parse("M.png").of(VaultPath("N.md"))
    with pytest.raises(InvalidArguments):
        Destination.parse("Sub/M.canvas").of(VaultPath("N.md"))
    with pytest.raises(InvalidArguments):
        NewName.parse("x" * 254).of(VaultPath("N.md"))
