from __future__ import annotations

import pytest

from obsidian_mcp.vault.links.reader import in_canvas, in_note

FOUND = {
    "a wikilink": ("[[Note]]", ["Note"]),
    "an alias": ("[[Note|shown]]", ["Note"]),
    "a heading": ("[[Note#Part]]", ["Note"]),
    "a nested heading": ("[[Note#A#B]]", ["Note"]),
    "a block": ("[[Note#^id]]", ["Note"]),
    "an embed with a size": ("![[Pic.png|100x50]]", ["Pic.png"]),
    "a bar in a table": ("| [[Note\\|shown]] |", ["Note"]),
    "a path": ("[[A/B/Note]]", ["A/B/Note"]),
    "space around": ("[[ Note ]]", ["Note"]),
    "a single bracket inside": ("[[Sq]uare]]", ["Sq]uare"]),
    "a heading of the note itself": ("[[#Part]]", []),
    "several on a line": ("[[A]] and [[B]], [[C]]", ["A", "B", "C"]),
    "a bracket too many": ("[[[A]]]", ["A"]),
    "opened twice": ("[[A [[B]]", ["B"]),
    "never closed": ("[[A", []),
    "over two lines": ("[[A\nB]]", []),
    "escaped": ("\\[[A]]", []),
    "a Markdown link": ("[x](Note.md)", ["Note.md"]),
    "an image": ("![x](Pic.png)", ["Pic.png"]),
    "percent-encoded": ("[x](My%20Note.md#Part)", ["My Note.md"]),
    "in angle brackets": ("[x](<My Note.md>)", ["My Note.md"]),
    "with a title": ('[x](Note.md "title")', ["Note.md"]),
    "with a title in single quotes": ("[x](Note.md 'ti(t)le')", ["Note.md"]),
    "relative": ("[x](../A/./Note.md)", ["../A/./Note.md"]),
    "with parentheses": ("[x](Note_(2).md)", ["Note_(2).md"]),
    "an escaped parenthesis": ("[x](Note\\).md)", ["Note).md"]),
    "brackets in the text": ("[a [b] c](Note.md)", ["Note.md"]),
    "an image inside a link": ("[![x](Pic.png)](Note.md)", ["Pic.png", "Note.md"]),
    "a wikilink inside brackets": ("[see [[A]]](B.md)", ["A", "B.md"]),
    "percent-encoded beyond ASCII": ("[x](Caf%C3%A9.md)", ["Café.md"]),
    "a backslash before a space": ("[x](a\\ b) [[B]]", ["B"]),
    "an angle never closed": ("[x](<Note.md) [[B]]", ["B"]),
    "an empty item": ("-\n\n  [[A]]", ["A"]),
    "an item that begins with code": ("-     [[A]]\n- [[B]]", ["B"]),
    "parentheses in too many others": ("[x](" + "(" * 33 + ")" * 33 + ") [[B]]", ["B"]),
    "a nearly empty destination": ("[x]((", []),
    "a list that is nearly a rule": ("* * *x [[A]]", ["A"]),
    "the underlining of a heading": ("[a\n===\nb](C.md)", []),
    "a definition": ("[label]: Note.md", ["Note.md"]),
    "a definition with brackets and title": ("[label]: <My Note.md> 'title'", ["My Note.md"]),
    "a footnote is not a definition": ("[^1]: Note.md", []),
    "a web address": ("[x](https://a.b/Note.md) [y](mailto:a@b.c)", []),
    "only a heading": ("[x](#Part)", []),
    "no bracket opened": ("x](Note.md)", []),
    "space in a bare destination": ("[x](My Note.md)", []),
    "in a heading": ("# [[A]]", ["A"]),
    "in a list": ("- [[A]]\n  - [[B]]\n\n    [[C]]\n1. [[D]]", ["A", "B", "C", "D"]),
    "in a task": ("- [ ] [[A]] [x](B.md)", ["A", "B.md"]),
    "in a quote": ("> [[A]]\n> > [x](B.md)", ["A", "B.md"]),
    "in a callout": ("> [!note] [[A]]\n> [[B]]", ["A", "B"]),
    "in emphasis": ("**[[A]]** _[x](B.md)_", ["A", "B.md"]),
    "CRLF": ("[[A]]\r\n[x](B.md)\r\n\r\n[l]: C.md\r\n", ["A", "B.md", "C.md"]),
    "after a closed fence": ("```\n[[A]]\n```\n[[B]]", ["B"]),
    "a price is no formula": ("costs $5 and [[A]] is $6", ["A"]),
    "a percent sign alone": ("100% [[A]]", ["A"]),
    "a lone backtick": ("a ` b [[A]]", ["A"]),
    "text over two lines": ("[foo\nbar](A.md)", ["A.md"]),
    "text over two lines of a quote": ("> [foo\n> bar](A.md)", ["A.md"]),
    "a lone backtick, with CRLF": ("It`s\r\n\r\n[[A]]\r\n\r\nalso`x", ["A"]),
    "a price, with CRLF": ("$5 x\r\n\r\n[[A]]\r\n\r\n5$", ["A"]),
    "a lone backtick in another item": ("- a ` b\n- [[A]]\n- c ` d", ["A"]),
    "a lone backtick in a heading": ("# a ` b\n[[A]]\n# c ` d", ["A"]),
    "a lone backtick in a table": ("| a ` b |\n|---|\n| [[A]] |\n| c ` d |", ["A"]),
    "a lone backtick in a cell": ("| a ` b | [[A]] ` |\n|---|---|", ["A"]),
    "an item with a fence at the margin after it": ("- [[A]]\n```\n[[no]]\n```\n[[B]]", ["A", "B"]),
    "an item in a quote after a tab": ("> \t- [[A]]", ["A"]),
    "an item in an item with a heading": ("- # H\n\t- [[A]]", ["A"]),
    "after a fence in two quotes": ("> > ```\n> > [[no]]\n> [[A]]\n\n[[B]]", ["A", "B"]),
    "after a closing fence that is indented": ("```\n[[no]]\n   ```\n[[A]]", ["A"]),
    "a backtick on both sides of a quote": ("a ` b\n> c ` [[A]]", ["A"]),
    "a backtick in one quote and in the next": ("> a ` [[A]]\n\n> b ` c", ["A"]),
    "after HTML with the marks of a fence": ("<pre>\n```\n</pre>\n[[A]]", ["A"]),
    "after a comment in a line that never ends": ("a <!-- b [[A]]\n\n[[B]]", ["A", "B"]),
    "a comment of Obsidian's inside a line": ("a %% [[A]] %% b", ["A"]),
    "two percent signs": ("100%% [[A]]\n\n[[B]]", ["A", "B"]),
    "two percent signs at the head of a line": ("%% [[A]]\n\n[[B]]", ["A", "B"]),
    "after a comment on lines of its own": ("%%\n[[no]]\n%%\n[[A]]", ["A"]),
    "two dollar signs that are never closed": ("$$ [[A]]\n\n[[B]]", ["A", "B"]),
    "after an item that begins with code in a fence": ("- ```\n  [[no]]\n  ```\n- [[A]]", ["A"]),
    "a footnote": ("[^1]: See [[A]]\n\n    and [[B]]", ["A", "B"]),
    "a definition in a paragraph is text": ("text\n[r]: A.md [[B]]", ["B"]),
    "a wikilink after a label": ("[see]: [[A]]", ["A"]),
    "of links in links the inner one": ("[a [b](A.md) c](B.md)", ["A.md"]),
    "the underlining of one item by another": ("- [[A]]\n-\n- [[B]]", ["A", "B"]),
    "a price in another item": ("- $5\n- [[A]] x$", ["A"]),
    "a tab behind a marker": ("-\tfoo\n\n\t[[A]]", ["A"]),
    "a tab behind a number": ("1.\tfoo\n\n\t[[A]]", ["A"]),
    "a speaker is no definition": ("[Bob]: I read [[A]] today", ["A"]),
    "a definition with the rest on the next line": ("[r]:\nA.md", ["A.md"]),
    "a destination on the next line": ("[x](\r\nA.md)", ["A.md"]),
    "after a quoted fence that its quote ended": ("> ```\n> code\n\n[[A]]", ["A"]),
    "after a fence in an item that the item ended": ("- ```\n  code\n\nText [[A]]", ["A"]),
    "text indented without a blank line": ("text\n    [[A]]", ["A"]),
}
HIDDEN = {
    "a code span": "`[[A]]`",
    "a double code span": "``[[A]] ` [[B]]``",
    "a code span over two lines": "`a\n[[A]]`",
    "a fence": "```\n[[A]]\n```",
    "a fence with a language": "```md\n[x](A.md)\n```\n",
    "a tilde fence": "~~~\n[[A]]\n```\n[[B]]\n~~~",
    "a longer fence": "````\n```\n[[A]]\n```\n````",
    "a fence that never ends": "```\n[[A]]\n",
    "a fence in a list": "- item\n  ```\n  [[A]]\n  ```",
    "a fence in a quote": "> ```\n> [[A]]\n> ```",
    "indented code": "text\n\n    [[A]]\n    [x](B.md)",
    "indented code by a tab": "\t[[A]]",
    "indented code in a list": "- item\n\n      [[A]]",
    "math": "$[[A]]$",
    "a block of math": "$$\n[[A]]\n\n[[B]]\n$$",
    "an HTML comment": "<!-- [[A]]\n\n[[B]] -->",
    "a closing fence indented by four": "```\n[[A]]\n    ```\n[[B]]",
    "a closing fence in a quote": "```\n[[A]]\n> ```\n[[B]]",
    "a fence in two quotes": "> > ```\n> > [[A]]",
    "a fence in an item in a quote": "> - ```\n>   [[A]]",
    "a block of HTML": "<div>\n[[A]]\n</div>",
    "preformatted text": "<pre>\n\n[[A]]\n</pre>",
    "an attribute": '<span title="[[A]]">x</span>',
    "an address in angle brackets": "<https://a.b/[[A]]>",
    "an HTML comment in a line": "x <!-- [[A]] --> y",
    "settings of a plugin": "%% kanban:settings\n```\n[[A]]\n```\n%%",
    "a long Obsidian comment": "%%\n[[A]]\n\n[x](B.md)\n%%",
    "an escaped bracket": "\\[x](A.md)",
    "code after a lone backtick": "don`t\n```\nx=` [[A]]\n```",
    "indented code under a heading": "# H\n    [[A]]",
    "indented code under an underlined heading": "Title\n===\n    [[A]]",
    "indented code under a fence": "```\nx\n```\n    [[A]]",
    "indented code after a list in a quote": "> - item\n\n    [[A]]",
    "indented code under a rule": "* * *\n\n    [[A]]",
    "indented code after a list that a heading ended": "- a\n# H\n\n    [[A]]",
    "a destination with more behind its brackets": "[x](<A.md> junk)",
}
PROPERTIES = {
    "quoted": ('related: "[[A]]"', ["A"]),
    "single quotes": ("related: '[[A|x]]'", ["A"]),
    "a list": ('links:\n  - "[[A]]"\n  - "[[B#h]]"', ["A", "B"]),
    "a flow list": ('links: ["[[A]]", "[[B]]"]', ["A", "B"]),
    "in text": ("note: see [[A]] there", ["A"]),
    "unquoted brackets are a list": ("links: [[A]]", []),
    "a comment": ("a: 1 # [[A]]", []),
    "a block of text": ("a: |\n  [[A]] x\n\n  [[B]]\nb: 1", ["A", "B"]),
    "a folded block": ("a: >-\n  see\n  [[A]]\nb: [[C]]", ["A"]),
    "quotes over several lines": ('a: "see\n  [[A]]\n  there"\nb: [[C]]', ["A"]),
    "a Markdown link": ('a: "[x](A%20b.md)"\nc: see [y](<B c.md>)', ["A b.md", "B c.md"]),
    "escapes in double quotes": ('a: "[[Caf\\xE9]] [[B\\u0020c]] [[\\"D\\"]]"', ["Café", "B c", '"D"']),
    "brackets that are escapes": ('a: "\\x5B[A]] [[B]]"', ["B"]),
    "quotes that begin with an apostrophe": ("a: '''[[A]]'", ["A"]),
    "quotes over several lines with an apostrophe": ("a: 'see\n  [[Bob''s]] [[B]]'\nc: [[C]]", ["Bob's", "B"]),
    "an apostrophe in single quotes": ("a: '[[Bob''s]]'", ["Bob's"]),
}


@pytest.mark.parametrize(("text", "targets"), FOUND.values(), ids=FOUND)
def test_a_link_is_found(text: str, targets: list[str]) -> None:
    assert [link.target for link in in_note(text)] == targets


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN)
def test_what_is_hidden_is_no_link(text: str) -> None:
    assert in_note(text) == []
    assert [link.target for link in in_note(f"[[Before]]\n\n{text}")] == ["Before"]


@pytest.mark.parametrize(("lines", "targets"), PROPERTIES.values(), ids=PROPERTIES)
def test_a_property_may_hold_links(lines: str, targets: list[str]) -> None:
    assert [link.target for link in in_note(f"---\n{lines}\n---\n[[Body]]")] == [*targets, "Body"]


def test_a_links_place_is_its_target_alone() -> None:
    text = "a [[ My Note#h|x]] b ![y](<P q.png#z> 't') [l](%C3%A9.md)"
    assert [text[link.start : link.end] for link in in_note(text)] == ["My Note", "P q.png", "%C3%A9.md"]


@pytest.mark.parametrize("text", ["- [x](https://a.b/c)\n" * 20_000, "$x " * 20_000, "`a ``b " * 8_000, "[" * 50_000])
def test_a_long_note_is_read_in_one_pass(text: str) -> None:
    assert in_note(text) == []


def test_a_byte_order_mark_is_no_text() -> None:
    assert in_note("\ufeff```\ncode\n\n[[A]]\n```") == []


CANVAS = r"""{"nodes":[{"type":"file","file":"A/B \"x\".md"},{"type":"text","text":"\"file\":\"C.md\""},
{"type":"text","text":"- [[D]]\n```\n[[no]]\n```\n[caf\u00e9](Caf%C3%A9.md) \ud83d\ude00 [[E\u00e9|x]]"},
{"type":"group","label":"[[no]]","background":"P/q.png"}],"edges":[]}"""


def test_a_canvas_has_links_in_its_nodes() -> None:
    links = in_canvas(CANVAS)
    assert [link.target for link in links] == ['A/B "x".md', "D", "Café.md", "Eé", "P/q.png"]
    written = [CANVAS[link.start : link.end] for link in links]
    assert written == [r"A/B \"x\".md", "D", "Caf%C3%A9.md", r"E\u00e9", "P/q.png"]
