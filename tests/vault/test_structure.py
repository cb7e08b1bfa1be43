"""What Obsidian's own metadata taught, in our own words, and the laws."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obsidian_mcp.vault.frontmatter import place
from obsidian_mcp.vault.structure import Structure
from obsidian_mcp.vault.tags import tags_in
from tests.support.growth import require_linear

LONGER = int(os.environ.get("OBSIDIAN_MCP_LONGER", "1"))

HEADINGS = {
    "all six levels": ("# a\n###### b\n####### c", [("a", 1), ("b", 6)]),
    "closing marks are stripped": ("## a ##\n## b #c\n# d#\n## #", [("a", 2), ("b #c", 2), ("d#", 1), ("", 2)]),
    "an escaped closing mark is text": ("# a \\#", [("a \\#", 1)]),
    "the markup is kept": ("# **a** [[b]] `c`", [("**a** [[b]] `c`", 1)]),
    "underlined ones": ("a\n===\n\nb\n---", [("a", 1), ("b", 2)]),
    "an underlined one of two lines": ("a\n  b\n---\nc", [("a b", 2)]),
    "a rule is none": ("a\n\n---\nb", []),
    "not in code": ("```\n# a\n```\n\n    # b\n", []),
    "not in frontmatter": ("---\n# a\n---\n# b", [("b", 1)]),
    "not in HTML comments": ("<!--\n# a\n-->\n# b", [("b", 1)]),
    "not in comments": ("%%\n# a\n%%\n# b", [("b", 1)]),
    "not in formulas": ("$$\n# a\n$$\n# b", [("b", 1)]),
    "not in quotes, callouts, items or footnotes": ("> # a\n\n> [!x]\n> # b\n\n- # c\n\n[^1]: # d\n", []),
    "after a list": ("- a\n# b", [("b", 1)]),
    "CRLF": ("# a\r\nb\r\n===\r\n", [("a", 1), ("b", 1)]),
    "a byte order mark": ("\ufeff# a", [("a", 1)]),
}


def _body(text: str) -> int:
    return place(text)[2]


@pytest.mark.parametrize(("text", "expected"), HEADINGS.values(), ids=HEADINGS)
def test_a_note_has_these_headings(text: str, expected: list[tuple[str, int]]) -> None:
    assert [(heading.text, heading.level) for heading in Structure(text).headings] == expected


def test_a_heading_knows_its_lines_and_where_its_text_begins() -> None:
    text = "---\na: 1\n---\n  # A\nx\n\nB\n---\ny\n# C"
    found = [(it.line, text[it.start : it.body]) for it in Structure(text).headings]
    assert found == [(4, "  # A\n"), (7, "B\n---\n"), (10, "# C")]


TASKS = {
    "every marker": ("- [ ] a\n* [x] b\n+ [-] c\n1. [/] d\n2) [?] e", "a b c d e"),
    "items in items": ("- a\n\t- [ ] b\n\t\t- [x] c", "b c"),
    "in quotes and callouts": (">>> - [ ] a\n\n> [!todo]\n> - [ ] b\n>   - [ ] c", "a b c"),
    "a number in it is not another": ("- [ ] 1. a", "1. a"),
    "in an item in an item": ("- - [ ] a", "a"),
    "any one character": ("- [é] a\n- [🙂] b\n- []] c", "a b c"),
    "not two characters, and not none": ("- [xx] a\n- [] b", ""),
    "a space must follow": ("- [ ]a\n- [x]\n- [ ]\n  b", ""),
    "a space may be all that follows": ("- [ ] ", ""),
    "only at the start of the item": ("- a [ ] b\n- \\[ ] c\n\n[ ] d", ""),
    "not in a later line of it": ("- a\n  [ ] b\n- c\n\n  [ ] d", ""),
    "not in code": ("```\n- [ ] a\n```\n\n    - [ ] b\n\n-     [ ] c", ""),
    "not in comments": ("<!--\n- [ ] a\n-->\n\n%%\n- [ ] b\n%%", ""),
    "not indented by a zero-width space": ("- a\n\u200b\t- [ ] b", ""),
    "not a heading in an item": ("- # [ ] a", ""),
    "CRLF": ("- [ ] a\r\n- [x] b\r\n", "a b"),
}


@pytest.mark.parametrize(("text", "expected"), TASKS.values(), ids=TASKS)
def test_a_note_has_these_tasks(text: str, expected: str) -> None:
    assert " ".join(task.text for task in Structure(text).tasks) == expected


def test_a_task_is_known_by_the_first_line_of_its_item() -> None:
    text = "x\n> - a\n>   - [/] b #c\n>     d\n>     - e\n"
    (task,) = Structure(text).tasks
    assert (task.line, text[task.start : task.end], task.mark, task.text) == (3, "- [/] b #c", "/", "b #c")


BLOCKS = {
    "a paragraph": ("x\n\na\nb ^i\n\ny", ["a\nb ^i"]),
    "a paragraph with the id on its last line": ("a\n^i", ["a\n^i"]),
    "an item": ("- a\n- b ^i\n- c", ["- b ^i"]),
    "an item with its children": ("- a ^i\n  - b\n    - c\n- d", ["- a ^i\n  - b\n    - c"]),
    "a child": ("- a\n  - b ^i\n  - c", ["- b ^i"]),
    "an item with a paragraph in it": ("- a\n\n  b ^i\n- c", ["- a\n\n  b ^i"]),
    "a whole list": ("x\n\n- a\n  - b\n- c\n\n^i\n", ["- a\n  - b\n- c"]),
    "the last of two lists": ("- a\n\n* b\n* c\n\n^i\n", ["* b\n* c"]),
    "a list after a rule": ("- a\n\n---\n\n- b\n\n^i\n", ["- b"]),
    "a quote": ("> a\n>\n> - b\n\n^i\n", ["> a\n>\n> - b"]),
    "a callout with the id directly under it": ("x\n\n> [!note]\n> a\n^i\n\ny", ["> [!note]\n> a"]),
    "a table": ("|a|\n|-|\n|b|\n\n|c|\n|-|\n|d|\n|e|\n\n^i", ["|c|\n|-|\n|d|\n|e|"]),
    "a table with the id directly under it": ("|a|\n|-|\n|b|\n^i", ["|a|\n|-|\n|b|"]),
    "code": ("x\n\n```\na ^j\n```\n\n^i", ["```\na ^j\n```"]),
    "indented code": ("x\n\n    a\n\n    b\n\n^i", ["    a\n\n    b"]),
    "a formula": ("$$\na\n$$\n^i", ["$$\na\n$$"]),
    "a paragraph before it": ("a\n\n^i", ["a"]),
    "only itself": ("# a\n\n^i", ["^i"]),
    "not parts of a quote": ("> a ^i\n> - b ^j\n> ^k", []),
    "not a cell": ("|a|\n|-|\n| ^i |\n|b ^j", []),
    "not in code": ("`a ^i`\n\n```\n^j\n```", []),
    "not without a space before it": ("a^i\n\nb ^c_d\n\nc ^é\n\nd ^\n", []),
    "not in the middle": ("a ^i b\n\n- c ^j d", []),
    "CRLF": ("a ^i\r\n\r\n- b\r\n- c ^j\r\n\r\n> d\r\n^k\r\n", ["a ^i", "- c ^j", "> d"]),
}


@pytest.mark.parametrize(("text", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_an_id_names_this_block(text: str, expected: list[str]) -> None:
    found = Structure(text).blocks
    assert [text[block.start : block.end] for block in found] == expected
    assert [block.line for block in found] == [text.count("\n", 0, block.start) + 1 for block in found]


def test_an_id_is_kept_as_written_and_twice_if_it_is_there_twice() -> None:
    assert [block.id for block in Structure("a ^One\n\nb ^one\n").blocks] == ["One", "one"]


TAGS = {
    "in order, each once, as first written": ("#b #A\n#a #B/c", ["b", "A", "B/c"]),
    "letters, digits, marks, emoji, any script": (
        "#a_b-c/1 #été #日本 #🙂 #3ea7d3",
        ["a_b-c/1", "été", "日本", "🙂", "3ea7d3"],
    ),
    "not digits alone": ("#1984 #y1984 #1/2", ["y1984", "1/2"]),
    "up to punctuation": ("#a. #b, #c! #d—e #f'g", ["a", "b", "c", "d", "f"]),
    "a slash at the end is not part of it": ("#a/ #/ #1/ #b//", ["a", "b"]),
    "after white space of any kind": ("x\t#a\u00a0#b\u3000#c\n#d", ["a", "b", "c", "d"]),
    "not after a letter or punctuation": ('x#a (#b) "#c" .#d —#e [#f] {#g} :#h', []),
    "not a heading": ("# a\n##b\n#", []),
    "in a heading": ("# a #b\nc #d\n===", ["b", "d"]),
    "in quotes, callouts and lists": (
        "> #a\n>#b\n\n> [!x] #c\n\n- #d\n  - [ ] #e\n\n[^1]:#f",
        ["a", "b", "c", "d", "e", "f"],
    ),
    "in tables, at the start of a cell too": ("|#a|b #c|\n|-|-|\n|#d|x#e|", ["a", "c", "d"]),
    "directly after a tag": ("#a#b #c/#d #1#e", ["a", "b", "c", "d"]),
    "directly after an escape": ("\\[\\[#a b\\]\\] \\|#c \\\\#d", ["a", "c", "d"]),
    "not itself escaped": ("\\#a \\\\\\#b", []),
    "in emphasis": ("**#a** *#b* ==#c== ~~#d~~ x _#e_ y __#f__", ["a", "b", "c", "d", "e", "f"]),
    "at the end of emphasis": ("_see #a_ #b_", ["a", "b"]),
    "with an underscore of its own": ("#a_ and #_b", ["a_", "_b"]),
    "directly after emphasis": ("some_long_#a", ["a"]),
    "not after a mark that is never closed": ("2*#a ==#b", []),
    "directly after code or HTML": ("`x`#a <b>#c</b>", ["a", "c"]),
    "in comments": ("%% #a %% %%#b%%\n\n%%\n#c\n\n    #d\n%% #e", ["a", "b", "c", "d", "e"]),
    "not in code": ("`#a` `` ` #b ``\n\n```\n#c\n```\n\n    #d\n\n-     #e", []),
    "not in an unclosed fence": ("```\n#a", []),
    "after code": ("```\n#a\n```\n#b", ["b"]),
    "code over two lines": ("`x\n#a` #b", ["b"]),
    "not in HTML comments": ("x <!-- #a --> #b\n\n<!-- \n#c\n\n#d -->\n\n#e", ["b", "e"]),
    "not in HTML blocks": ("<div>\n#a\n</div>\n\n#b\n\n<p>x #c</p>", ["b"]),
    "not in the attributes of HTML": ("x <a title=' #a'> #b", ["b"]),
    "not in formulas": ("$ #a$ $x #b y$ $$ #c $$\n\n$$\n#d\n$$\n#e costs $5 #f", ["a", "e", "f"]),
    "not in wikilinks": ("[[a #b|c #d]] ![[#e]] #f", ["f"]),
    "not in a link's destination, but in its text": ("[a #b](c#d) [a #b](#e) [x #f](g ' #h')", ["b", "f"]),
    "not in images": ("![a #b](c) #d", ["d"]),
    "not in link definitions": ("[a #b]: c ' #d'\n#e", ["e"]),
    "in brackets": ("[x #a] [y #b][z]", ["a", "b"]),
    "not in frontmatter": ("---\n# c\na: #b\n---\n#d", ["d"]),
    "CRLF": ("#a\r\n\r\n\t#b\r\n\r\n`\r\n#c`\r\n", ["a"]),
}


@pytest.mark.parametrize(("text", "expected"), TAGS.values(), ids=TAGS)
def test_a_note_has_these_tags(text: str, expected: list[str]) -> None:
    assert Structure(text).tags == expected
    assert tags_in(text, _body(text)) == expected


PIECES = """
#a · #b/c · #d_ · #1 · #e#f · #g/ · text · ``` · ~~~ · ` · `` · # H · --- · === · - - - · <div> · </div> · <pre> ·
</pre> · <!-- · --> · [x #h](B.md) · ![p #i](P.png) · |#j| #k | · |---|---| · \\ · <b> · $ · $$ · %% · [[ · ]] · [
· ]: u · ]( · ) · _ · ** · == · ^id · - [ ] · > · <? · ?> · [^1]: · [r #l]: u · \\[ · 1. · " · ' · ~~ · é · \u00a0 · <b
· *
""".replace("\n", " ").split(" · ")
PREFIXES = ["", "", "", "", "> ", ">", "- ", "1. ", "  ", "    ", "\t", "* ", "   ", "[^1]:", "- [x] "]


def notes() -> st.SearchStrategy[str]:
    piece = st.sampled_from([piece.strip() for piece in PIECES])
    words = st.lists(st.tuples(piece, st.sampled_from([" ", " ", ""])).map("".join), max_size=4).map("".join)
    line = st.builds("{}{}{}".format, st.sampled_from(PREFIXES), words, st.sampled_from(["\n", "\n", "\n\n", "\r\n"]))
    head = st.sampled_from(["", "", "---\na: #x\n---\n", "\ufeff"])
    return st.builds("{}{}".format, head, st.lists(line, max_size=9).map("".join))


@settings(max_examples=400 * LONGER, deadline=None)
@given(notes())
@example("a\n\n#b\n\n[#c]: d")
def test_the_quick_reading_of_tags_is_the_whole_one(text: str) -> None:
    body = _body(text)
    assert tags_in(text, body) == Structure(text, body).tags


@settings(max_examples=200 * LONGER, deadline=None)
@given(st.one_of(notes(), st.text(max_size=60)))
def test_whatever_is_found_stands_there(text: str) -> None:
    found = Structure(text)
    assert all(f"#{tag}" in text for tag in found.tags)
    assert all(f"^{it.id}" in text and found.body <= it.start < it.end for it in found.blocks)
    assert all(
        f"[{it.mark}]" in text[it.start : it.end] and text[it.start : it.end].endswith(it.text) for it in found.tasks
    )
    assert all(found.body <= it.start < it.body <= len(text) for it in found.headings)
    places = [(it.line, it.start) for several in (found.headings, found.blocks, found.tasks) for it in several]
    assert all(line == text.count("\n", 0, start) + 1 for line, start in places)


HOSTILE: dict[str, Callable[[int], str]] = {
    "tags in one line": lambda n: "#a " * n,
    "tags one after another": lambda n: "#a" * n,
    "tags in lines": lambda n: "#a\n" * n,
    "tags with links": lambda n: "- #a [[b]] (#c)\n\n" * n,
    "tags with marks of emphasis": lambda n: "*#a_ " * n,
    "backslashes": lambda n: "\\" * n + "#a",
    "runs of marks": lambda n: "".join("*" * (at % 50) + "#a " for at in range(n // 10)),
    "code that is never closed": lambda n: "#a ` " * n,
    "items that go deep": lambda n: "- #a [ ] b ^c\n" + "- " * n + "#d ^e\n",
    "ids of one table": lambda n: "|a|\n|-|\n" + "|b|\n" * n + "\n^c\n",
    "ids one after another": lambda n: "- a ^b\n\n^c\n\n" * n,
    "a closing mark that is none": lambda n: "# " + "# " * n + "#" * n + "a\n",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_note_costs_more_than_its_length(what: str) -> None:
    def read(size: int) -> object:
        text = HOSTILE[what](size)
        found = Structure(text)
        return tags_in(text, 0), found.tags, found.blocks, found.tasks, found.headings

    require_linear(read)
