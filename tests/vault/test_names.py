from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.names import Destination, Name, NewName
from obsidian_mcp.vault.path import VaultPath


@given(st.text())
def test_case_and_unicode_form_do_not_count(text: str) -> None:
    assert fold(text) == fold(unicodedata.normalize("NFD", text)) == fold(fold(text))


def test_the_nearest_names_come_first_and_there_are_three() -> None:
    paths = ["Zebra.md", "Groceries 2.md", "Shopping/Groceries.md", "Grill.md", "Other.md"]
    name = Name(VaultPath("Grocereis.md"), is_bare=True)
    assert name.nearest(paths)[0] == "Shopping/Groceries.md"
    assert len(name.nearest(paths)) == 3
    assert name.nearest([]) == []


DESTINATIONS = {
    "the root": ("/", "Sub/N.md", "N.md"),
    "a folder": ("Archive", "Sub/N.md", "Archive/N.md"),
    "a folder with a slash": ("Archive/", "Sub/N.md", "Archive/N.md"),
    "a folder with a dot": ("Ver 1.2", "N.md", "Ver 1.2/N.md"),
    "a whole path": ("Archive/M.md", "Sub/N.md", "Archive/M.md"),
    "a name at the root": ("M.md", "Sub/N.md", "M.md"),
    "another case of the extension": ("M.MD", "N.md", "M.MD"),
    "a whole path of another kind": ("Archive/b.txt", "notes.txt", "Archive/b.txt"),
    "a whole path of a kind that is not known": ("Archive/b.xyz", "a.xyz", "Archive/b.xyz"),
    "a folder that only looks like a file": ("Archive.md/", "N.md", "Archive.md/N.md"),
    "a file without extension to a folder": ("Archive", "LICENSE", "Archive/LICENSE"),
    "a file without extension to a whole path": ("Archive/License", "LICENSE", "Archive/LICENSE"),
    "a file without extension to a folder of its name": ("LICENSE/", "a/LICENSE", "LICENSE/LICENSE"),
    "a name that no system should hold stays": ("Archive", "Is: b?.md", "Archive/Is: b?.md"),
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
    "a text file": ("M", "notes.txt", "M.txt"),
    "a text file with its extension": ("M.TXT", "notes.txt", "M.txt"),
    "a script": ("M 1.2", "publish.js", "M 1.2.js"),
    "another file's extension as part of the name": ("Node.js.md", "N.md", "Node.js.md"),
    "in a folder that no system should hold": ("M", "CON/a:b.md", "CON/M.md"),
}


@pytest.mark.parametrize(("new_name", "path", "expected"), RENAMES.values(), ids=RENAMES)
def test_a_new_name_keeps_folder_and_extension(new_name: str, path: str, expected: str) -> None:
    assert NewName.parse(new_name).of(VaultPath(path)).value == expected


CHANGED_KINDS = {
    "a note to a picture": (NewName.parse, "M.png", "N.md"),
    "a note to a canvas": (Destination.parse, "Sub/M.canvas", "N.md"),
    "a note to a text": (NewName.parse, "M.txt", "N.md"),
    "a note to a script": (Destination.parse, "Sub/Node.js", "N.md"),
    "a text to a note": (NewName.parse, "M.md", "notes.txt"),
    "a text to a table": (Destination.parse, "M.csv", "notes.txt"),
    "none to some": (NewName.parse, "LICENSE.md", "LICENSE"),
    "none to what looks like some": (NewName.parse, "M 1.2", "LICENSE"),
}


@pytest.mark.parametrize(("parse", "text", "path"), CHANGED_KINDS.values(), ids=CHANGED_KINDS)
def test_the_extension_cannot_be_changed(parse: Callable[[str], Any], text: str, path: str) -> None:
    with pytest.raises(InvalidArguments):
        parse(text).of(VaultPath(path))


def test_a_new_name_fits_on_a_disk_with_its_extension() -> None:
    with pytest.raises(InvalidArguments):
        NewName.parse("x" * 254).of(VaultPath("N.md"))
