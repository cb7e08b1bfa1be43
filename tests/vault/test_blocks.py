from __future__ import annotations

import pytest

from obsidian_mcp.vault.blocks import Kind, leaves

P, H, R, C, X = Kind.PARAGRAPH, Kind.HEADING, Kind.ROW, Kind.CODE, Kind.HTML
BLOCKS = {
    "a paragraph of two lines": ("a\nb", [(P, "a\nb")]),
    "two paragraphs": ("a\n\nb", [(P, "a"), (P, "b")]),
    "a heading": ("# a\nb", [(H, " a"), (P, "b")]),
    "a heading without text": ("#\na", [(H, ""), (P, "a")]),
    "not a heading": ("#a", [(P, "#a")]),
    "seven number signs": ("####### a", [(P, "####### a")]),
    "an underlined heading": ("a\nb\n---\nc", [(H, "a\nb"), (P, "c")]),
    "a rule after a blank line": ("a\n\n---\nb", [(P, "a"), (P, "b")]),
    "a fence": ("```\na\n```\nb", [(C, "```\na\n```"), (P, "b")]),
    "a fence ends with its item": ("- ```\n  a\nb", [(C, "```\na"), (P, "b")]),
    "a fence at the margin ends an item": ("- a\n```\nb\n```\nc", [(P, "a"), (C, "```\nb\n```"), (P, "c")]),
    "indented code": ("a\n\n    b", [(P, "a"), (C, "    b")]),
    "a lazy line": ("> a\nb", [(P, "a\nb")]),
    "an indented lazy line": ("> a\n      b", [(P, "a\nb")]),
    "a quote ends at a blank line": ("> a\n\nb", [(P, "a"), (P, "b")]),
    "a tab in part": (">\t- a\n>\t  b", [(P, "a\nb")]),
    "an item by a tab": ("-\ta\n\n\tb", [(P, "a"), (P, "b")]),
    "an item of code": ("-     a", [(C, "    a")]),
    "an empty item takes no second blank line": ("-\n\n  a", [(P, "a")]),
    "a number other than one interrupts nothing": ("a\n2. b", [(P, "a\n2. b")]),
    "HTML up to a blank line": ("<div>\na\n\nb", [(X, "<div>\na"), (P, "b")]),
    "preformatted HTML": ("<pre>\n\na\n</pre>\nb", [(X, "<pre>\n\na\n</pre>"), (P, "b")]),
    "a tag alone on its line": ("<b>\na", [(X, "<b>\na")]),
    "a tag alone interrupts nothing": ("a\n<b>\nc", [(P, "a\n<b>\nc")]),
    "a table": ("a|b\n-|-\nc|d\n\ne", [(R, "a|b"), (R, "c|d"), (P, "e")]),
    "a table after text": ("x\na|b\n-|-\nc|d", [(P, "x"), (R, "a|b"), (R, "c|d")]),
    "a table needs as many cells": ("a|b\n-|-|-\nc", [(P, "a|b\n-|-|-\nc")]),
    "a list ends a table": ("a|b\n-|-\n- c", [(R, "a|b"), (P, "c")]),
    "a comment": ("%%\na\n%%\nb", [(Kind.COMMENT, "%%\na\n%%"), (P, "b")]),
    "a formula": ("$$\na\n\nb\n$$\nc", [(Kind.MATH, "$$\na\n\nb\n$$"), (P, "c")]),
    "text after a comment": ("%%\na\n%% b", [(Kind.COMMENT, "%%\na\n%% b"), (P, " b")]),
    "a footnote": ("[^1]: a\n\n    b\n\nc", [(P, "a"), (P, "b"), (P, "c")]),
    "CRLF": ("a\r\n\r\n```\r\nb\r\n```\r\nc", [(P, "a\r"), (C, "```\r\nb\r\n```\r"), (P, "c")]),
}


@pytest.mark.parametrize(("text", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_a_note_has_these_blocks(text: str, expected: list[tuple[Kind, str]]) -> None:
    found = [(leaf.kind, "\n".join(text[begin:end] for begin, end in leaf.spans)) for leaf in leaves(text)]
    assert found == expected


def test_a_heading_knows_its_level_and_what_it_lies_in() -> None:
    found = [(leaf.level, leaf.depth) for leaf in leaves("# a\n> ## b\n> - c\n>   ===\nd\n---\n") if leaf.kind is H]
    assert found == [(1, 0), (2, 1), (1, 2), (2, 0)]


def test_a_byte_order_mark_is_not_text() -> None:
    assert [leaf.kind for leaf in leaves("\ufeff# a")] == [H]


def test_a_second_blank_line_ends_an_item_that_has_nothing_in_it() -> None:
    assert [leaf.depth for leaf in leaves("-\n\n  a")] == [0]
    assert [leaf.depth for leaf in leaves("-\n  a\n\n  b")] == [1, 1]
