from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.errors import AmbiguousName, Failure, InvalidArguments, NoteNotFound
from obsidian_mcp.operations.finding import existing, new
from obsidian_mcp.vault.path import BadPath, VaultPath
from obsidian_mcp.vault.reference import Reference
from tests.support.memory import Files, MemoryVault

PATHS = (
    "Note.md", "Sub/Note.md", "Sub/Other.md", "Sub/Café.md", "Sub/Release 1.2.md", "Deep/er/Unique.md",
    "LICENSE", "LICENSE.md", "Sub/COPYING", "notes.txt", "Sub/data.csv", "Sub/publish.js", "pics/Picture.png",
    "C# notes.md", "C.md", "Sub/[[Odd]].md", "a|b.md", "What?/Is: this.md", "100% sure.md", "v1.txt.md",
)  # fmt: skip


def vault(*paths: str) -> MemoryVault:
    return MemoryVault(Files((path, b"") for path in paths or PATHS))


def found(text: str) -> str:
    return existing(Reference.parse(text), vault()).value


MEANS = {
    "another case": ("OTHER", "Sub/Other.md"),
    "a path": ("Sub/Note", "Sub/Note.md"),
    "a path with extension": ("Note.md", "Note.md"),
    "a dot in the name": ("Release 1.2", "Sub/Release 1.2.md"),
    "another Unicode form": ("Cafe\u0301", "Sub/Café.md"),
    "a file without extension": ("COPYING", "Sub/COPYING"),
    "exactly a file, though a note has its name": ("LICENSE", "LICENSE"),
    "the note beside it": ("LICENSE.md", "LICENSE.md"),
    "a text file": ("notes.txt", "notes.txt"),
    "a text file in a folder": ("DATA.csv", "Sub/data.csv"),
    "a script": ("publish.js", "Sub/publish.js"),
    "a picture": ("picture.PNG", "pics/Picture.png"),
    "a note whose name ends like a file's": ("v1.txt", "v1.txt.md"),
    "a link": ("[[Other]]", "Sub/Other.md"),
    "a link, as in the app, to the note first": ("[[LICENSE]]", "LICENSE.md"),
    "a link with extension": ("[[Other.md]]", "Sub/Other.md"),
    "a link with a folder": ("[[Sub/Note]]", "Sub/Note.md"),
    "a link with the end of a path": ("[[er/Unique]]", "Deep/er/Unique.md"),
    "an embed": ("![[Picture.png|100]]", "pics/Picture.png"),
    "a link that shows something": (" [[Other|shown]] ", "Sub/Other.md"),
    "a link in a table": ("[[Other\\|shown]]", "Sub/Other.md"),
    "a link to a heading": ("[[Other#Part one|shown]]", "Sub/Other.md"),
    "a heading": ("Other#Part one", "Sub/Other.md"),
    "a heading with a slash": ("Other#a/b", "Sub/Other.md"),
    "a heading that leads up": ("Other#../../x", "Sub/Other.md"),
    "a block": ("Sub/Other#^abc", "Sub/Other.md"),
    "an empty heading": ("Other#", "Sub/Other.md"),
    "a name with a sharp": ("C# notes", "C# notes.md"),
    "a heading of the note before it": ("C#Notes", "C.md"),
    "a name that looks like a link": ("Sub/[[Odd]]", "Sub/[[Odd]].md"),
    "an address": ("obsidian://open?vault=Memory&file=Sub%2FOther", "Sub/Other.md"),
    "an address in another order": ("Obsidian://open?file=Other.md&vault=Memory", "Sub/Other.md"),
    "an address without a vault": ("obsidian://open?file=Caf%C3%A9", "Sub/Café.md"),
    "an address with a heading": ("obsidian://open?vault=Memory&file=Other%23Part", "Sub/Other.md"),
    "an address with a percent sign": ("obsidian://open?file=100%25%20sure", "100% sure.md"),
    "an address with a percent sign that is not encoded": ("obsidian://open?file=100% sure", "100% sure.md"),
    "a short address": ("obsidian://vault/Memory/Sub/Other", "Sub/Other.md"),
    "an address of a place": ("obsidian://open?path=%2Fmemory%2FSub%2FOther.md", "Sub/Other.md"),
    "a short address of a place": ("obsidian:///memory/LICENSE", "LICENSE"),
    "a name that no system should hold": ("Is: this", "What?/Is: this.md"),
}


@pytest.mark.parametrize(("text", "expected"), MEANS.values(), ids=MEANS)
def test_a_name_as_people_and_notes_write_it_means_one_file(text: str, expected: str) -> None:
    assert found(text) == expected


NOWHERE: dict[str, tuple[str, type[Exception]]] = {
    "a picture is not a note": ("Picture", NoteNotFound),
    "a trailing part of a path is not a name": ("ub/Note", NoteNotFound),
    "a trailing part of a segment is not a link": ("[[r/Unique]]", NoteNotFound),
    "a name with .md is a path": ("Other.md", NoteNotFound),
    "several notes": ("Note", AmbiguousName),
    "a link to several notes": ("[[Note]]", AmbiguousName),
    "two links": ("[[Note]] [[Other]]", NoteNotFound),
    "a link that leads up": ("[[../Note]]", BadPath),
    "a link from the root": ("[[/Note]]", BadPath),
    "an empty link": ("[[]]", NoteNotFound),
    "a link of spaces": ("[[ ]]", BadPath),
    "a heading alone": ("[[#Part]]", NoteNotFound),
    "another vault": ("obsidian://open?vault=Other&file=Note.md", InvalidArguments),
    "another vault's place": ("obsidian://open?path=/elsewhere/Note.md", InvalidArguments),
    "a place that leads out": ("obsidian://open?path=/memory/../etc/passwd", InvalidArguments),
    "a hidden place": ("obsidian://open?path=/memory/.obsidian/app.json", InvalidArguments),
    "an address that leads up": ("obsidian://open?file=%2e%2e%2Fetc%2Fpasswd", BadPath),
    "an address encoded twice": ("obsidian://open?file=%252e%252e%252fNote", NoteNotFound),
    "an address with a control character": ("obsidian://open?file=a%00b", BadPath),
    "an address that is not UTF-8": ("obsidian://open?file=%ff", BadPath),
    "an address of a vault": ("obsidian://open?vault=Memory", BadPath),
    "a short address of a vault": ("obsidian://vault/Memory", BadPath),
    "an address that does something": ("obsidian://new?vault=Memory&name=x", BadPath),
    "a folder that is not there": ("Nowhere/", InvalidArguments),
    "a slash alone": ("/", BadPath),
}


@pytest.mark.parametrize(("text", "kind"), NOWHERE.values(), ids=NOWHERE)
def test_what_means_no_file_or_several_is_never_guessed(text: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        found(text)


SEGMENTS = st.sampled_from(
    ["a", "A", "a.md", "a.txt", "a.png", "a#b", "#", "[[a]]", "a|b", "é", "e\u0301", "a ", "%61"]
)
TREES = st.sets(st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8)


@given(TREES)
def test_a_path_given_back_means_exactly_that_file(paths: set[str]) -> None:
    there = vault(*paths)
    for path in paths:
        assert existing(Reference.parse(path), there).value == path


@given(st.text(st.sampled_from("ab/.#|[]!%25:?&=\\ éobsidian"), max_size=25), TREES)
def test_a_name_means_a_file_of_the_vault_or_nothing(text: str, paths: set[str]) -> None:
    for spelled in (text, f"[[{text}]]", f"obsidian://open?file={text}", f"obsidian://vault/Memory/{text}"):
        with contextlib.suppress(BadPath, Failure):
            assert existing(Reference.parse(spelled), vault(*paths)).value in paths


def test_a_section_is_not_the_whole_note() -> None:
    with pytest.raises(InvalidArguments) as failed:
        existing(Reference.parse("Other#Part"), vault(), whole=True)
    assert "Sub/Other.md" in failed.value.message
    assert existing(Reference.parse("C# notes"), vault(), whole=True) == VaultPath("C# notes.md")


@pytest.mark.parametrize("text", ["Sub/", "sub/", "[[Sub/]]", "Sub", "obsidian://vault/Memory/Sub/"])
def test_a_folder_is_told_with_its_first_notes(text: str) -> None:
    with pytest.raises(NoteNotFound) as failed:
        found(text)
    notes = failed.value.data["notes"]
    assert notes[0] == "Sub/Café.md"
    assert "Sub/data.csv" in notes
    assert all(note in failed.value.message for note in notes)


def test_of_a_large_folder_ten_notes_are_told() -> None:
    with pytest.raises(NoteNotFound) as failed:
        existing(Reference.parse("F/"), vault(*(f"F/{number}.md" for number in range(30))))
    assert len(failed.value.data["notes"]) == 10


MADE = {
    "a name": ("New", "New.md"),
    "a number": ("Release 1.2", "Release 1.2.md"),
    "a title": ("Dr. Smith", "Dr. Smith.md"),
    "a site": ("obsidian.md", "obsidian.md"),
    "a text file": ("new.txt", "new.txt"),
    "a table in a folder": ("Sub/new.CSV", "Sub/new.CSV"),
    "a board": ("New.canvas", "New.canvas"),
    "a note about a script": ("Node.js.md", "Node.js.md"),
    "a link": ("[[New|shown]]", "New.md"),
    "an address": ("obsidian://vault/Memory/Sub/New", "Sub/New.md"),
    "a place": ("obsidian://open?path=/memory/Sub/new.txt", "Sub/new.txt"),
    "what is there": ("Sub/other", "Sub/Other.md"),
    "what is there though its name could not be made": ("What?/Is: this", "What?/Is: this.md"),
    "a script that is there": ("Sub/publish.js", "Sub/publish.js"),
}


@pytest.mark.parametrize(("text", "expected"), MADE.values(), ids=MADE)
def test_a_name_says_which_file_is_made_or_replaced(text: str, expected: str) -> None:
    assert new(Reference.parse_new(text), vault(), replacing=True).value == expected


@pytest.mark.parametrize(
    "text", ["Node.js", "Sub/report.docx", "page.HTML", "New#Part", "a*b", "CON", "obsidian:///x/y"]
)
def test_what_cannot_be_made_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(InvalidArguments) as failed:
        new(Reference.parse_new(text), vault())
    assert text.endswith((".js", ".docx", ".HTML")) == (f"{text}.md" in failed.value.message)


def test_a_bare_name_to_replace_is_the_notes_and_never_a_file_without_extension() -> None:
    assert new(Reference.parse_new("LICENSE"), vault(), replacing=True).value == "LICENSE.md"
    assert new(Reference.parse_new("TODO"), vault("TODO"), replacing=True).value == "TODO.md"
