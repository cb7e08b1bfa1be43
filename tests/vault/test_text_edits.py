"""Finding a text in a note, and putting another in its place."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.line_ends import typed
from obsidian_mcp.vault.text_edits import apart, places, replaced


def found(text: str, wanted: str) -> list[str]:
    return [text[begin:end] for begin, end in places(text, wanted, 0, len(text)).spans]


FOUND = {
    "a word": ("one two", "two", ["two"], False),
    "each of two": ("a a", "a", ["a", "a"], False),
    "two that overlap": ("aaa", "aa", ["aa", "aa"], False),
    "lines typed plainly in a note of Windows": ("a\r\nb\r\nc", "a\nb", ["a\r\nb"], False),
    "lines of Windows in a plain note": ("a\nb", "a\r\nb", ["a\nb"], False),
    "a line end before": ("a\r\nb", "\nb", ["\r\nb"], False),
    "in a note of mixed line ends": ("a\nb\r\nc", "a\nb\nc", ["a\nb\r\nc"], False),
    "straight quotes for curly ones": ("say “hi” to O’Neil", 'say "hi" to O\'Neil', ["say “hi” to O’Neil"], True),
    "a hyphen for a dash": ("1 – 2 — 3", "1 - 2 - 3", ["1 – 2 — 3"], True),
    "one blank for several": ("a  \t b", "a b", ["a  \t b"], True),
    "a blank for one that does not break": ("10\u00a0km", "10 km", ["10\u00a0km"], True),
    "three dots for an ellipsis": ("wait…", "wait...", ["wait…"], True),
    "blanks at the end of a line": ("a  \nb", "a\nb", ["a  \nb"], True),
    "another Unicode form": (
        unicodedata.normalize("NFD", "café"),
        "café",
        [unicodedata.normalize("NFD", "café")],
        True,
    ),
    "nothing": ("one two", "three", [], True),
    "another case, which counts": ("One", "one", [], True),
}


@pytest.mark.parametrize(("text", "wanted", "expected", "is_loose"), FOUND.values(), ids=FOUND)
def test_a_text_is_found(text: str, wanted: str, expected: list[str], is_loose: bool) -> None:
    assert found(text, wanted) == expected
    assert places(text, wanted, 0, len(text)).is_loose is is_loose


def test_only_the_part_that_is_asked_for_is_looked_at() -> None:
    text = "a\r\nb\r\na\r\nb\r\n"
    assert places(text, "a\nb", 6, len(text)).spans == [(6, 10)]


def test_places_that_overlap_are_replaced_from_the_first_on() -> None:
    assert apart([(0, 2), (1, 3), (2, 4)]) == [(0, 2), (2, 4)]


def test_a_new_text_gets_the_line_ends_of_its_place() -> None:
    assert replaced("a\r\nb\r\nc", [(3, 4)], "x\ny") == "a\r\nx\r\ny\r\nc"
    assert replaced("a\nb\nc", [(2, 3)], "x\r\ny") == "a\nx\ny\nc"
    assert replaced("b", [(0, 1)], "x\ny") == "x\ny"


def test_a_character_is_not_cut() -> None:
    assert found("wait\u2026", "wait..") == []


def test_a_long_run_of_blanks_is_passed_over_once() -> None:
    """It would take hours if it was tried from each of them."""
    text = " " * 1_000_000 + "x"
    assert places(text, ' "y', 0, len(text)).spans == []


pieces = st.sampled_from(["a", "b", "é", "e\u0301", " ", "\n", "\r\n", "\r", "“", "-", "\ufeff", "#", "日"])
notes = st.lists(pieces, max_size=40).map("".join)


@given(notes, notes.filter(bool), notes)
def test_what_is_outside_the_places_stays(text: str, wanted: str, new: str) -> None:
    spans = apart(places(text, wanted, 0, len(text)).spans)
    after = replaced(text, spans, new)
    kept = [
        text[end:begin]
        for end, begin in zip([0, *(end for _, end in spans)], [*(begin for begin, _ in spans), None], strict=True)
    ]
    rest = after
    for part in kept:
        assert part in rest
        rest = rest[rest.index(part) + len(part) :]
    assert after.startswith(kept[0])
    assert after.endswith(kept[-1])


@given(notes, notes.filter(lambda new: "\r" not in new))
def test_an_edit_and_its_inverse_restore_the_note(before: str, new: str) -> None:
    """In a note that ends its lines in one way."""
    for ends in ("\n", "\r\n"):
        text = typed(before).replace("\r", "").replace("\n", ends) + f"{ends}unique{ends}"
        (span,) = places(text, "unique", 0, len(text)).spans
        after = replaced(text, [span], f"<{new}>")
        back = places(after, f"<{new}>", 0, len(after))
        if len(back.spans) == 1:
            assert replaced(after, back.spans, "unique") == text


@given(notes, notes.filter(bool))
def test_what_is_found_exactly_is_what_was_asked_for(text: str, wanted: str) -> None:
    result = places(text, wanted, 0, len(text))
    if not result.is_loose:
        assert {typed(text[begin:end]) for begin, end in result.spans} == {typed(wanted)}
