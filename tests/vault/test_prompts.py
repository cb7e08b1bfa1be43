"""A person's own prompts, as their notes have them."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.prompts import Argument, Prompt, filled, read, slug

NOW = datetime(2026, 11, 18, 9, 5)


def prompt(note: str, stem: str = "Book review") -> Prompt:
    found = read(stem, note)
    assert found is not None
    return found


def test_without_properties_the_note_itself_tells() -> None:
    found = prompt("# About {{book}}\n\nCompare it with {{ other one }} and {{book}}.\n")
    assert (found.name, found.title) == ("book_review", "Book review")
    assert found.description == "About {{book}}"
    assert found.arguments == (Argument("book"), Argument("other one"))
    assert found.text.startswith("# About")


def test_properties_give_name_description_and_arguments() -> None:
    note = (
        "---\nname: Read This\ndescription: A review.\narguments: {book: Its title.}\n---\nRead {{book}}, {{style}}.\n"
    )
    found = prompt(note)
    assert (found.name, found.description, found.text) == ("read_this", "A review.", "Read {{book}}, {{style}}.")
    assert found.arguments == (Argument("book", "Its title."), Argument("style"))


DECLARED = {
    "a list of names": ("[b, a]", (Argument("b"), Argument("a"))),
    "names between commas": ("b, a", (Argument("b"), Argument("a"))),
    "names with what they mean": ("{b: B., a: A.}", (Argument("b", "B."), Argument("a", "A."))),
    "all of it": ("[{name: a, description: A., required: true}]", (Argument("a", "A.", True),)),
    "all of it, by name": ("{a: {description: A., required: true}}", (Argument("a", "A.", True),)),
    "nothing of use": ("[1, null, {x: y}, [z]]", (Argument("a"),)),
    "a number": ("7", (Argument("a"),)),
}


@pytest.mark.parametrize(("written", "arguments"), DECLARED.values(), ids=DECLARED)
def test_arguments_may_be_declared_in_several_ways(written: str, arguments: tuple[Argument, ...]) -> None:
    assert prompt(f"---\narguments: {written}\n---\n{{{{a}}}}").arguments == arguments


def test_what_is_given_is_filled_in_once() -> None:
    found = prompt("{{a}} and {{ a }}, {{b}}")
    assert filled(found, {"a": "{{b}} \\1", "b": "x"}, NOW) == "{{b}} \\1 and {{b}} \\1, x"


def test_what_is_given_for_an_argument_without_a_place_comes_after_the_text() -> None:
    found = prompt("---\narguments: [a, b, c]\n---\nAbout {{a}}.")
    assert filled(found, {"a": "x", "b": "two {{a}}", "d": "no argument"}, NOW) == "About x.\n\nb: two {{a}}"


def test_what_is_not_given_is_said_to_be_missing() -> None:
    assert "topic: not given" in filled(prompt("About {{topic}}."), {"topic": "  "}, NOW)


def test_date_and_time_are_now_unless_they_are_given() -> None:
    found = prompt("{{date}} {{time}} {{date:YYYY}} {{x:YYYY}}")
    assert [each.name for each in found.arguments] == ["date", "time"]
    assert filled(found, {}, NOW) == "2026-11-18 09:05 2026 {{x:YYYY}}"
    assert filled(found, {"date": "today"}, NOW) == "today 09:05 2026 {{x:YYYY}}"


@pytest.mark.parametrize("note", ["", "---\na: 1\n---\n", "\ufeff  \n"])
def test_a_note_that_says_nothing_is_no_prompt(note: str) -> None:
    assert read("Empty", note) is None


def test_properties_that_cannot_be_read_do_not_count() -> None:
    assert prompt("---\nname: [\n---\nText").name == "book_review"


@pytest.mark.parametrize(
    ("text", "name"), [("Täg übersicht!", "täg_übersicht"), ("a" * 60, "a" * 40), ("…", ""), ("日記", "日記")]
)
def test_a_name_can_be_typed_as_a_command(text: str, name: str) -> None:
    assert slug(text) == name


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_any_note_can_be_read_and_filled(note: str, values: dict[str, str]) -> None:
    found = read("Note", note)
    if found is not None:
        assert all(not any(char.isspace() for char in name) for name in [found.name])
        filled(found, values, NOW)
