from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obsidian_mcp.vault.links.link_names import key_of_path, mark, names_in
from obsidian_mcp.vault.links.reader import in_canvas, in_note
from obsidian_mcp.vault.links.resolver import Resolver
from tests.vault.links.test_reader import FOUND, PROPERTIES

BRACKETS = ["[[", "]]", "[", "](", "]:", ")", "(", "<", ">", "|", "#", "\\", "/", "%20", "%C3%A9"]
WORDS = ["é", "e\u0301", "ß", "A", "b.md", "Note 1", "x.png", " ", "\n", "`", "$", "!", '"t"', "---\n", ": "]
SPACES = ["\t", "\r", "\x0b", "\x0c", "\x1c", "\x1f", "\x85", "\xa0", "\u2028", "\u3000"]
PIECES = st.sampled_from([*BRACKETS, *WORDS]) | st.sampled_from(SPACES)
NOTES = st.lists(PIECES, max_size=25).map("".join)


@settings(max_examples=1500, deadline=None)
@given(NOTES | st.text(max_size=40))
@example("[a][b]: x [[ c")
@example("[[A]][[B]]")
@example("[a [b]](Old.md)")
@example("[[Old\x1f]]")
@example("[x](F\x0c/Old.md)")
@example("[x](a\x0bOld.md)")
@example("[r]: Old.md\x1f\n")
@example("[r]: \x0c\nOld.md\n")
@example("[r]: \u3000\nOld.md\n")
def test_every_link_is_mentioned(note: str) -> None:
    """The quick look may say too much, never too little."""
    keys = names_in("Note.md", note.encode("utf-8", "surrogatepass"))
    for link in in_note(note):
        assert mark(key_of_path(link.target.strip())) in keys, link


@pytest.mark.parametrize(
    "text", [text for text, _ in FOUND.values()] + [f"---\n{t}\n---\n" for t, _ in PROPERTIES.values()]
)
def test_every_known_form_is_mentioned(text: str) -> None:
    keys = names_in("Note.md", text.encode())
    assert all(mark(key_of_path(link.target)) in keys for link in in_note(text))


RESOLVED = {
    "a final sigma": ("ΟΔΟΣ.md", "[[ΟΔΟΣ]]"),
    "a space that cannot break": ("Old.md", "[[\u00a0Old]]"),
    "a wide space": ("日本\u3000語.md", "[r]: 日本\u3000語.md"),
    "a space behind the slash": ("F/ Old.md", "[[F/ Old]]"),
    "an extension in the name": ("Old.md.md", "[[Old.md]]"),
    "two extensions in the name": ("Old.md.md.md", "[[Old.md.md]]"),
    "spaces around it": ("Old.md", "[[ Old ]]"),
}


@pytest.mark.parametrize(("path", "text"), RESOLVED.values(), ids=RESOLVED)
def test_what_leads_there_is_mentioned(path: str, text: str) -> None:
    (link,) = in_note(text)
    assert Resolver([path]).resolve(link.target, "Other.md") == path
    assert mark(key_of_path(path)) in names_in("Note.md", text.encode())


def test_a_canvas_mentions_its_files() -> None:
    text = '{"nodes":[{"file":"A/Übung.md"}]}'
    assert mark("übung") in names_in("x.CANVAS", text.encode())
    assert in_canvas(text)


@given(
    st.sampled_from(["A/Note.md", "Note", "x.png", "x.png.md", "É.md"]),
    st.sampled_from(["Note", "x.png", "é", "A/Note"]),
)
def test_a_link_that_leads_to_a_file_shares_its_key(path: str, target: str) -> None:
    if Resolver([path]).resolve(target, "Other.md") == path:
        assert key_of_path(path) == key_of_path(target)
