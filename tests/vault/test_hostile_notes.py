"""Notes made to keep a reader busy. Each would take hours, or all memory, if it cost more than its length."""

from __future__ import annotations

import tracemalloc

import pytest

from obsidian_mcp.vault import text
from obsidian_mcp.vault.links.link_names import mark, names_in
from obsidian_mcp.vault.links.reader import in_canvas, in_note

MANY = 100_000
NOTES = {
    "an escaped quote that never ends": '---\na: ["' + '\\"' * MANY + "\n---\n",
    "single quotes without end": "---\na: [" + "'a''" * MANY + "\n---\n",
    "links in links": "[a](" * (MANY // 4) + "\n",
    "links with pairs in pairs": "[a](" + "(" * MANY + ")" * MANY + ")\n",
    "links in angles": "[a](<" * MANY + "\n",
    "titles that never end": '[a](b "' + "x" * MANY * 10 + "\n",
    "titles one after another": "[a](b '" * MANY + "\n",
    "escapes in a title": '[a](b "' + '\\"' * MANY + "\n",
    "opening brackets": "[" * MANY + "\n",
    "wikilinks that never end": "[[a" * MANY + "\n",
    "a definition that never ends": "[" + "a\\]" * MANY + "\n",
    "items in items": "- " * MANY + "x\n",
    "items that are nearly a rule": "* " * MANY + "=\n",
    "numbered items in items": "1. " * MANY + "x\n",
    "a rule across the page": "* " * MANY + "\n",
    "quotes in quotes": ">" * MANY + " x\n",
    "fences in fences": "```\nx\n" * MANY,
    "comments": "<!-- " * MANY + "\n",
    "formulas": "$a " * MANY + "\n",
    "lines of prose": "a\n" * MANY * 10,
    "white space before a parenthesis": "[a](b" + " " * MANY + "\n",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("what", NOTES)
def test_links_are_found_behind_it_in_time_and_room_that_its_length_allows(what: str) -> None:
    note = NOTES[what] + "\n\n[[Behind]]\n"
    tracemalloc.start()
    try:
        found = in_note(note)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    hides = what == "comments"  # which are never closed
    assert ([link.target for link in found if link.target == "Behind"] == ["Behind"]) is not hides
    assert peak < 100 * len(note) + 1_000_000
    assert mark("behind") in names_in("Note.md", note.encode())


@pytest.mark.timeout(120)
@pytest.mark.parametrize("piece", ["]:{}", "]({}", "[[{}", "[[{}" + "x" * 3990 + "]]", "](\\({}", "](<{}"])
def test_names_that_are_too_long_are_not_kept(piece: str) -> None:
    """Each another, so that none of them is kept only once."""
    count = 300 if len(piece) > 100 else 30_000
    note = "".join(piece.format(number) for number in range(count)).encode() + b"\n\n[[Behind]]\n"
    tracemalloc.start()
    try:
        keys = names_in("Note.md", note)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert mark("behind") in keys
    assert peak < 200 * len(note)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("piece", [".md", " ", "a/", "a"])
@pytest.mark.parametrize("link", ["[[{}]]", "[[b/{}]]", "[[é{}]]", "[x]({})", "[x](b/{})", "[x](<{}>)"])
def test_however_long_a_name_is_the_next_is_found(piece: str, link: str) -> None:
    note = f"{link.format(piece * MANY * 30)}\n\n[[Folder/Behind]]\n"
    assert mark("behind") in names_in("Note.md", note.encode())


@pytest.mark.timeout(120)
def test_a_canvas_of_quotes_is_read() -> None:
    assert in_canvas('{"nodes":[{"file":"A.md"},{"file":"' + '\\"' * MANY)[0].target == "A.md"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("end", [b"", b"---\n"])
def test_a_frontmatter_of_empty_lines_takes_no_more_room_than_they_do(end: bytes) -> None:
    note = b"---\n" + b"\n" * MANY * 20 + end
    tracemalloc.start()
    try:
        head, body = text.frontmatter_and_body(note)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (head, body) == ((note, b"") if end else (b"", note))
    assert peak < 4 * len(note)
