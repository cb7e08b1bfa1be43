"""Notes made to keep a reader busy. Each would take hours, or all memory, if it cost more than its length."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import TypeVar

import pytest

from obsidian_mcp.vault import text
from obsidian_mcp.vault.links.link_names import mark, names_in
from obsidian_mcp.vault.links.reader import in_canvas, in_note
from tests.support.growth import FEW, TIMES, require_linear

T = TypeVar("T")
NOTES: dict[str, Callable[[int], str]] = {
    "an escaped quote that never ends": lambda n: '---\na: ["' + '\\"' * n + "\n---\n",
    "single quotes without end": lambda n: "---\na: [" + "'a''" * n + "\n---\n",
    "links in links": lambda n: "[a](" * (n // 4) + "\n",
    "links with pairs in pairs": lambda n: "[a](" + "(" * n + ")" * n + ")\n",
    "links in angles": lambda n: "[a](<" * n + "\n",
    "titles that never end": lambda n: '[a](b "' + "x" * n * 10 + "\n",
    "titles one after another": lambda n: "[a](b '" * n + "\n",
    "escapes in a title": lambda n: '[a](b "' + '\\"' * n + "\n",
    "opening brackets": lambda n: "[" * n + "\n",
    "wikilinks that never end": lambda n: "[[a" * n + "\n",
    "a definition that never ends": lambda n: "[" + "a\\]" * n + "\n",
    "items in items": lambda n: "- " * n + "x\n",
    "items that are nearly a rule": lambda n: "* " * n + "=\n",
    "numbered items in items": lambda n: "1. " * n + "x\n",
    "a rule across the page": lambda n: "* " * n + "\n",
    "quotes in quotes": lambda n: ">" * n + " x\n",
    "fences in fences": lambda n: "```\nx\n" * n,
    "comments": lambda n: "<!-- " * n + "\n",
    "formulas": lambda n: "$a " * n + "\n",
    "lines of prose": lambda n: "a\n" * n * 10,
    "white space before a parenthesis": lambda n: "[a](b" + " " * n + "\n",
}


def peak_of(work: Callable[[], T]) -> tuple[T, int]:
    """What it gives, and the most bytes that it held."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("what", NOTES)
def test_links_are_found_after_it_in_time_and_room_that_its_length_allows(what: str) -> None:
    def note(size: int) -> str:
        return NOTES[what](size) + "\n\n[[Behind]]\n"

    require_linear(lambda size: in_note(note(size)))
    require_linear(lambda size: names_in("Note.md", note(size).encode()))
    whole = note(FEW * TIMES)
    found, peak = peak_of(lambda: in_note(whole))
    hides = what == "comments"  # which are never closed
    assert ([link.target for link in found if link.target == "Behind"] == ["Behind"]) is not hides
    assert peak < 100 * len(whole) + 1_000_000
    assert mark("behind") in names_in("Note.md", whole.encode())


@pytest.mark.parametrize("piece", ["]:{}", "]({}", "[[{}", "[[{}" + "x" * 3990 + "]]", "](\\({}", "](<{}"])
def test_names_that_are_too_long_are_not_kept(piece: str) -> None:
    """Each another, so that none of them is kept only once."""
    count = 300 if len(piece) > 100 else 3_000
    note = "".join(piece.format(number) for number in range(count)).encode() + b"\n\n[[Behind]]\n"
    keys, peak = peak_of(lambda: names_in("Note.md", note))
    assert mark("behind") in keys
    assert peak < 200 * len(note)


@pytest.mark.parametrize("piece", [".md", " ", "a/", "a"])
@pytest.mark.parametrize("link", ["[[{}]]", "[[b/{}]]", "[[é{}]]", "[x]({})", "[x](b/{})", "[x](<{}>)"])
def test_however_long_a_name_is_the_next_is_found(piece: str, link: str) -> None:
    def note(size: int) -> bytes:
        return f"{link.format(piece * size)}\n\n[[Folder/Behind]]\n".encode()

    require_linear(lambda size: names_in("Note.md", note(size * 10)))
    assert mark("behind") in names_in("Note.md", note(100_000))


def test_a_canvas_of_quotes_is_read() -> None:
    def canvas(size: int) -> str:
        return '{"nodes":[{"file":"A.md"},{"file":"' + '\\"' * size

    require_linear(lambda size: in_canvas(canvas(size)))
    assert in_canvas(canvas(FEW))[0].target == "A.md"


@pytest.mark.parametrize("end", [b"", b"---\n"])
def test_a_frontmatter_of_empty_lines_takes_no_more_room_than_they_do(end: bytes) -> None:
    def note(size: int) -> bytes:
        return b"---\n" + b"\n" * size * 20 + end

    require_linear(lambda size: text.frontmatter_and_body(note(size)))
    whole = note(FEW * TIMES)
    (head, body), peak = peak_of(lambda: text.frontmatter_and_body(whole))
    assert (head, body) == ((whole, b"") if end else (b"", whole))
    assert peak < 4 * len(whole)
