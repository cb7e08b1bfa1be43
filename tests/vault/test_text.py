from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.errors import Conflict, NotText
from obsidian_mcp.vault import text
from obsidian_mcp.vault.path import VaultPath

NOTE = VaultPath("Note.md")
LINES = st.text(st.sampled_from("ab -\n\r\u2028"), max_size=60)


@given(LINES, st.text(min_size=1), st.booleans())
def test_appending_keeps_every_byte_and_adds_the_content_last(before: str, content: str, inline: bool) -> None:
    after = text.appended(before.encode(), content, inline)
    assert after.startswith(before.encode())
    assert after.endswith(content.encode())
    assert len(after) - len(before.encode()) - len(content.encode()) in ((0,) if inline else (0, 1))


@given(LINES | LINES.map(lambda body: f"---\na: 1\n---\n{body}"), st.text(min_size=1), st.booleans())
def test_prepending_keeps_every_byte_and_the_frontmatter_first(before: str, content: str, inline: bool) -> None:
    data = before.encode()
    head, body = text.frontmatter_and_body(data)
    after = text.prepended(data, content, inline)
    assert head + body == data
    assert after.startswith(head)
    assert after.endswith(body)
    assert content.encode() in after[len(head) :]


BOMS = {
    "alone": (b"", b"new\n"),
    "before a text": (b"old", b"new\nold"),
    "before frontmatter": (b"---\na: 1\n---\nold", b"---\na: 1\n---\nnew\nold"),
    "again after frontmatter": (b"---\n---\n" + text.BOM, b"---\n---\nnew\n" + text.BOM),
    "before frontmatter without an end": (b"---\na: 1", b"new\n---\na: 1"),
}


@pytest.mark.parametrize(("before", "after"), BOMS.values(), ids=BOMS)
def test_a_byte_order_mark_stays_at_the_head_when_text_is_prepended(before: bytes, after: bytes) -> None:
    assert text.prepended(text.BOM + before, "new", False) == text.BOM + after


@given(LINES, st.integers(1, 5))
def test_the_pages_put_together_are_the_note(note: str, lines: int) -> None:
    parts, line = [], 1
    while True:
        page = text.page(note, 1000, line, max_lines=lines)
        parts.append(page.content)
        assert page.content.count("\n") <= lines
        if page.next_line is None:
            break
        assert (page.next_line, page.next_char) == (line + lines, None)
        line = page.next_line
    assert "".join(parts) == note
    assert page.lines == note.count("\n") + (not note.endswith("\n") and note != "")


@given(
    st.text(st.sampled_from('ab\n\r\t"\\\x01éあ👩\u200d\u0301'), max_size=80),
    st.integers(6, 40),
    st.none() | st.integers(1, 3),
)
def test_pages_fit_their_room_and_are_cut_within_a_line_only_where_it_is_longer(
    note: str, room: int, lines: int | None
) -> None:
    parts, line, char = [], 1, 1
    while True:
        page = text.page(note, room, line, char, lines)
        parts.append(page.content)
        assert in_json(page.content) <= room
        if page.next_line is None:
            break
        if page.next_char is not None:
            assert "\n" not in page.content
            assert in_json(page.content + note[len("".join(parts))]) > room
        line, char = page.next_line, page.next_char or 1
    assert "".join(parts) == note


def in_json(content: str) -> int:
    return len(json.dumps(content, ensure_ascii=False).encode()) - 2


@given(st.text(st.characters(codec="utf-8")))
def test_what_a_text_takes_in_json_is_never_more_than_was_reckoned(note: str) -> None:
    assert len(json.dumps(note, ensure_ascii=False).encode()) - 2 <= text.most_json_size(note.encode())


def test_a_page_is_cut_at_a_line() -> None:
    note = ("x" * 98 + "\n") * 1000
    assert text.page(note, 50_050, 1) == text.Page(("x" * 98 + "\n") * 500, 1000, 501)


def test_a_line_longer_than_a_page_goes_on_at_a_character() -> None:
    note = f"first\n{'é' * 10}\nlast"
    assert text.page(note, 10) == text.Page("first\n", 3, 2)
    assert text.page(note, 10, 2) == text.Page("é" * 5, 3, 2, 6)
    assert text.page(note, 10, 2, 6) == text.Page("é" * 5, 3, 2, 11)
    assert text.page(note, 10, 2, 11) == text.Page("\nlast", 3)


def test_a_line_has_no_more_characters_than_it_has() -> None:
    assert text.page("one\ntwo\n", 100, 1, 99) == text.Page("two\n", 2)
    assert text.page("one\ntwo\n", 100, 1, 99, 1) == text.Page("", 2, 2)
    assert text.page("one\ntwo\n", 100, 9, 9) == text.Page("", 2)


def test_an_etag_is_short_and_tells_notes_apart() -> None:
    assert len(text.etag(b"a")) == 16
    assert text.etag(b"a") != text.etag(b"a\n")
    text.require_match(NOTE, text.etag(b"a"), None)
    text.require_match(NOTE, text.etag(b"a"), text.etag(b"a"))
    with pytest.raises(Conflict):
        text.require_match(NOTE, text.etag(b"a"), text.etag(b"b"))


def test_bytes_that_are_not_utf8_are_not_text() -> None:
    assert text.decoded(NOTE, "é".encode()) == "é"
    with pytest.raises(NotText):
        text.decoded(NOTE, b"\xff")


FRONTMATTER = {
    "none": (b"text\n", b""),
    "plain": (b"---\na: 1\n---\nx", b"---\na: 1\n---\n"),
    "empty": (b"---\n---\nx", b"---\n---\n"),
    "with CRLF": (b"---\r\na\r\n---\r\nx", b"---\r\na\r\n---\r\n"),
    "trailing spaces": (b"--- \na\n---\t\nx", b"--- \na\n---\t\n"),
    "never closed": (b"---\na: 1\n", b""),
    "to the end": (b"---\na\n---", b"---\na\n---"),
    "a rule inside is text": (b"---\na\n--- x\n---\nb", b"---\na\n--- x\n---\n"),
    "four dashes do not open": (b"----\na\n---\n", b""),
    "not on the first line": (b"\n---\na\n---\n", b""),
    "the first closing line counts": (b"---\na\n---\nb\n---\n", b"---\na\n---\n"),
}


@pytest.mark.parametrize(("data", "head"), FRONTMATTER.values(), ids=FRONTMATTER)
def test_frontmatter_ends_here(data: bytes, head: bytes) -> None:
    assert text.frontmatter_and_body(data) == (head, data[len(head) :])
