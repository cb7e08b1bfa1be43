"""Changing a section or a block, and nothing around it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from obsidian_mcp.vault.section_edits import Edited, Spills, appended, prepended, with_block, with_body
from obsidian_mcp.vault.sections import find, outline
from obsidian_mcp.vault.structure import Structure

NOTE = "intro\n\n## A\n\nold\n\n### Sub\nmore\n\n## B\n- x\n- y\n\n## C"


def body(note: str, section: str, new: str) -> Edited:
    structure = Structure(note)
    return with_body(structure, find(structure, note, section), new)


def end(note: str, section: str, content: str, inline: bool = False) -> str:
    structure = Structure(note)
    return appended(structure, find(structure, note, section), content, inline).text


def beginning(note: str, section: str, content: str, inline: bool = False) -> str:
    structure = Structure(note)
    return prepended(structure, find(structure, note, section), content, inline).text


def block(note: str, id: str, new: str) -> Edited:
    structure = Structure(note)
    return with_block(structure, find(structure, note, id), new)


BODIES = {
    "blank lines around it stay": ("A", "new", NOTE.replace("old\n\n### Sub\nmore", "new")),
    "the last one": ("C", "new\n", f"{NOTE}\nnew\n"),
    "a list": ("B", "- z", NOTE.replace("- x\n- y", "- z")),
    "nothing is left of it": ("A", "", NOTE.replace("\nold\n\n### Sub\nmore\n", "")),
}


@pytest.mark.parametrize(("section", "new", "expected"), BODIES.values(), ids=BODIES)
def test_a_sections_text_is_replaced(section: str, new: str, expected: str) -> None:
    assert body(NOTE, section, new).text == expected
    windows = body(NOTE.replace("\n", "\r\n"), section, new).text
    assert windows == expected.replace("\n", "\r\n")


def test_a_heading_that_is_repeated_is_left_out_and_told() -> None:
    for repeated in ("## A\n", "# A\n\n", "A\n---\n", "## **a** ##\n"):
        done = body(NOTE, "A", f"{repeated}new\n### Sub\nmore")
        assert done.text == NOTE.replace("old\n\n### Sub", "new\n### Sub")
        assert [note for note in done.notes if "repeated" in note]


def test_the_headings_that_went_are_named() -> None:
    assert [note for note in body(NOTE, "A", "new").notes if "Sub" in note]
    assert body(NOTE, "A", "### Sub\nnew").notes == ()


def test_a_heading_that_ends_the_section_is_told() -> None:
    assert [note for note in body(NOTE, "A", "x\n# Top\ny").notes if "Top" in note]


ENDS = {
    "joins the list that ends there": ("B", "- z", NOTE.replace("- y\n", "- y\n- z\n")),
    "comes after the sub-sections": ("A", "last", NOTE.replace("more\n", "more\nlast\n")),
    "is the last line of a section without text": ("C", "only", f"{NOTE}\nonly"),
    "adds no blank line for its own line end": ("B", "- z\n", NOTE.replace("- y\n", "- y\n- z\n")),
    "is set off by a blank line where it would make a heading": ("A", "---", NOTE.replace("more\n", "more\n\n---\n")),
}


@pytest.mark.parametrize(("section", "content", "expected"), ENDS.values(), ids=ENDS)
def test_what_is_added_at_the_end_of_a_section(section: str, content: str, expected: str) -> None:
    assert end(NOTE, section, content) == expected
    assert end(NOTE.replace("\n", "\r\n"), section, content) == expected.replace("\n", "\r\n")


def test_what_is_added_inline_goes_on_with_the_last_line() -> None:
    assert end(NOTE, "B", " more", inline=True) == NOTE.replace("- y", "- y more")


def test_what_is_added_at_the_beginning_stands_right_below_the_heading() -> None:
    assert beginning(NOTE, "B", "- w") == NOTE.replace("## B\n", "## B\n- w\n")
    assert beginning(NOTE, "C", "x") == f"{NOTE}\nx\n"
    assert beginning("T\n===\ntext", "T", "x") == "T\n===\nx\ntext"


def test_a_text_before_an_underlined_heading_does_not_become_part_of_it() -> None:
    assert end("## A\ntext\n\nTitle\n---\n", "A", "x") == "## A\ntext\nx\n\nTitle\n---\n"
    assert end("## A\n```\n```\nTitle\n---\n", "A", "x") == "## A\n```\n```\nx\n\nTitle\n---\n"


@pytest.mark.parametrize("open", ["```\ncode", "~~~", "<!-- hidden"])
def test_a_text_that_would_swallow_the_next_headings_is_refused(open: str) -> None:
    with pytest.raises(Spills, match="B"):
        end(NOTE, "A", open)
    with pytest.raises(Spills):
        body(NOTE, "A", open)


BLOCKS = {
    "a paragraph": ("text ^p", "^p", "new", "new ^p"),
    "an item": ("- a ^i\n- b", "^i", "new", "- new ^i\n- b"),
    "an item that is a task": ("- [ ] a ^i", "^i", "new", "- [ ] new ^i"),
    "an item with another mark": ("- [ ] a ^i", "^i", "- [x] new", "- [x] new ^i"),
    "an item of several lines": ("- a ^i\n- b", "^i", "one\ntwo", "- one\n  two ^i\n- b"),
    "a text with the id in it": ("text ^p", "^p", "new ^p", "new ^p"),
    "a table": ("| a |\n|---|\n| b |\n\n^t\n\nx", "^t", "| c |\n|---|", "| c |\n|---|\n\n^t\n\nx"),
    "a table without rows": ("| a |\n|---|\n\n^t", "^t", "| c |\n|---|\n| d |", "| c |\n|---|\n| d |\n\n^t"),
    "code": ("```\na\n```\n\n^c", "^c", "```\nb\n```", "```\nb\n```\n\n^c"),
}


@pytest.mark.parametrize(("note", "id", "new", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_a_blocks_text_is_replaced_and_its_id_stays(note: str, id: str, new: str, expected: str) -> None:
    assert block(note, id, new).text == expected


def test_what_is_below_an_item_stays_and_is_told() -> None:
    done = block("- a ^i\n  - child\n- b", "^i", "new")
    assert done.text == "- new ^i\n  - child\n- b"
    assert done.notes


lines = st.sampled_from(
    ["# One", "## Two", "### Three", "text", "- item", "", "", "```", "Title", "===", "> quote", "  ", "| a |", "%%"]
)
notes = st.lists(lines, min_size=1, max_size=14)
contents = st.lists(st.sampled_from(["new", "- new", "", "## New", "```", "---", "  deep"]), min_size=1, max_size=4)


@given(
    notes, contents, st.sampled_from(["\n", "\r\n"]), st.integers(0, 5), st.sampled_from([with_body, end, beginning])
)
def test_what_is_outside_the_section_stays(
    written: list[str], content: list[str], ends: str, number: int, change: object
) -> None:
    note = ends.join(written)
    structure = Structure(note)
    sections = outline(structure, note)
    assume(sections)
    section = sections[number % len(sections)]
    try:
        if change is with_body:
            after = with_body(structure, section, "\n".join(content)).text
        else:
            act = appended if change is end else prepended
            after = act(structure, section, "\n".join(content), False).text
    except Spills:
        return
    assert after.startswith(note[: section.body])
    assert after.endswith(note[section.end :])
    outside = [each.text for each in structure.headings if not section.body <= each.start < section.end]
    now = [each.text for each in Structure(after).headings]
    assert set(outside) <= set(now)


@given(notes)
def test_sections_part_the_note(written: list[str]) -> None:
    note = "\n".join(written)
    structure = Structure(note)
    starts = [heading.start for heading in structure.headings]
    for section in outline(structure, note):
        assert section.start in starts
        assert section.start < section.body <= section.end or section.body == len(note)
        assert section.end == len(note) or section.end in starts


INLINE = {
    "a paragraph": ("one ^a\n\ntwo\n", "one more ^a\n\ntwo\n"),
    "an item with children": ("- one ^a\n  - kid\n", "- one more ^a\n  - kid\n"),
    "CRLF": ("one\r\ntwo ^a\r\n\r\nx\r\n", "one\r\ntwo more ^a\r\n\r\nx\r\n"),
    "an id on its own line": ("> one\n\n^a\n", "> one more\n\n^a\n"),
}


@pytest.mark.parametrize(("before", "after"), INLINE.values(), ids=INLINE)
def test_what_is_added_to_the_line_of_a_block_goes_before_its_id(before: str, after: str) -> None:
    structure = Structure(before)
    assert appended(structure, find(structure, before, "^a"), " more", True).text == after


def test_a_byte_order_mark_is_no_line_before_a_block() -> None:
    note = "\ufeffone ^a\n"
    structure = Structure(note)
    done = prepended(structure, find(structure, note, "^a"), "zero\n", False).text
    assert done.replace("zero\n\n", "") == note


MIXED = {
    "LF before CRLF": ("# H\nx\r\n# I\n", "# H\nx\r\ny\r\n# I\n"),
    "CRLF before LF": ("# H\r\nx\n# I\r\n", "# H\r\nx\ny\n# I\r\n"),
}


@pytest.mark.parametrize(("before", "after"), MIXED.values(), ids=MIXED)
def test_the_line_before_what_is_added_keeps_its_own_end(before: str, after: str) -> None:
    structure = Structure(before)
    assert appended(structure, find(structure, before, "H"), "y", False).text == after
