from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obsidian_mcp.vault.frontmatter import read
from obsidian_mcp.vault.yaml_writing import as_json, block, key, normal, same, written

PLAIN = (
    "x·two words·yes·No·on·y·2026-11-18·2026-11-18T09:30·12:30·1_000·1.2.3·+1 555·-x·--·:x·?x·a:b·a#b·a-·it's·o'clock·"
    'say "x"·(a)·<% tp.x %>·=·<<·...·---·C:\\x·https://a.b/?q=c:d#e·😀·👩‍💻·créé·日本·tRUE·nulls·a, b·a [b]·~x·\u00a0x'
).split("·")


@pytest.mark.parametrize("text", PLAIN)
def test_text_that_reads_back_as_itself_has_no_quotes(text: str) -> None:
    assert written(text) == text


QUOTED = {
    "": '""',
    " x ": '" x "',
    "007": '"007"',
    "1.10": '"1.10"',
    "1e3": '"1e3"',
    "0x1f": '"0x1f"',
    "0o17": '"0o17"',
    "-1": '"-1"',
    ".inf": '".inf"',
    "-.INF": '"-.INF"',
    ".NaN": '".NaN"',
    "1e999": '"1e999"',
    "true": '"true"',
    "False": '"False"',
    "null": '"null"',
    "~": '"~"',
    "[[Link]]": '"[[Link]]"',
    "{{date}}": '"{{date}}"',
    "# x": '"# x"',
    "#x": '"#x"',
    "a # b": '"a # b"',
    "a: b": '"a: b"',
    "a:": '"a:"',
    "- x": '"- x"',
    "-": '"-"',
    "? x": '"? x"',
    "@x": '"@x"',
    "%x": '"%x"',
    "`x": '"`x"',
    "&x": '"&x"',
    "*x": '"*x"',
    "!x": '"!x"',
    "|": '"|"',
    "> x": '"> x"',
    ", x": '", x"',
    '"x"': "'\"x\"'",
    '[it\'s "x"]': '"[it\'s \\"x\\"]"',
    "'x'": "\"'x'\"",
    "a\nb": '"a\\nb"',
    "a\tb": '"a\\tb"',
    "a\r\nb": '"a\\r\\nb"',
    "\x00\x7f\x85": '"\\u0000\\u007f\\u0085"',
    "\u2028\u2029\ufeff": '"\\u2028\\u2029\\ufeff"',
}


@pytest.mark.parametrize(("text", "expected"), QUOTED.items())
def test_text_that_would_be_read_as_something_else_is_quoted(text: str, expected: str) -> None:
    assert written(text) == expected


OTHERS: dict[str, tuple[Any, str]] = {
    "an integer": (5, "5"),
    "a decimal": (1.5, "1.5"),
    "a checkbox": (True, "true"),
    "nothing": (None, "null"),
    "an empty list": ([], "[]"),
    "a list in a list": (["a", 1], '["a", 1]'),
    "a map": ({"a b": [None]}, '{"a b": [null]}'),
}


@pytest.mark.parametrize(("value", "expected"), OTHERS.values(), ids=OTHERS)
def test_what_is_not_text_is_written_as_json(value: Any, expected: str) -> None:
    assert written(value) == written(value, in_brackets=True) == expected


@pytest.mark.parametrize("text", ["a, b", "a]", "{", "?x", ":x", "a::b", "a:?"])
def test_in_brackets_more_needs_quotes(text: str) -> None:
    assert written(text, in_brackets=True) == as_json(text)


NAMES = {"a b": "a b", "1": '"1"', "null": '"null"', ".inf": '".inf"', "a: b": '"a: b"', "---": '"---"', ":x": '":x"'}


@pytest.mark.parametrize(("name", "expected"), NAMES.items())
def test_a_name_is_quoted_if_it_would_be_another(name: str, expected: str) -> None:
    assert key(name) == expected


BLOCKS: dict[str, tuple[str, tuple[str, str] | None]] = {
    "two lines": ("a\nb", ("|-", "  a\n  b\n")),
    "an end of line at the end": ("a\nb\n", ("|", "  a\n  b\n")),
    "a blank line": ("a\n\n b: c", ("|-", "  a\n\n   b: c\n")),
    "a line like that between documents": ("a\n---", ("|-", "  a\n  ---\n")),
    "one line": ("a", None),
    "one line with its end": ("a\n", None),
    "several ends": ("a\nb\n\n", None),
    "a blank first line": ("\na", None),
    "an indented first line": (" a\nb", None),
    "a line of blanks": ("a\n  \nb", None),
    "a tab": ("a\n\tb", None),
    "a Windows line end": ("a\r\nb", None),
}


@pytest.mark.parametrize(("text", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_text_of_plain_lines_is_a_block(text: str, expected: tuple[str, str] | None) -> None:
    assert block(text, "", "\n") == expected


def test_numbers_are_those_of_obsidian() -> None:
    assert (
        as_json(normal([1.0, -0.0, 2**53, 2**60, 1.5, True]))
        == "[1, 0, 9007199254740992.0, 1.152921504606847e+18, 1.5, true]"
    )
    assert same(normal((1.0,)), [1])
    assert not same(True, 1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 1, 10**400, b"x", {"a": {1, 2}}])
def test_what_obsidian_could_not_read_back_is_no_value(value: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        normal(value)


# Laws.

MARKS = st.sampled_from(
    [*"ab1 07.:#-?!&*|>'\"%@`[]{},=~<\\/\n\t_xe+", "\u2028", "\x85", "\r", "null", "true", ".inf", "😀"]
)
TEXTS = st.lists(MARKS, max_size=8).map("".join) | st.text(max_size=12)


@given(TEXTS)
@example("a:?")
@example("...")
def test_whatever_the_text_it_is_read_back_wherever_it_stands(text: str) -> None:
    yaml = (
        f"a: {written(text)}\nb:\n- {written(text)}\nc: [{written(text, in_brackets=True)}, x]\nd: {as_json([text])}\n"
    )
    assert read(f"---\n{yaml}---\n").values == {"a": text, "b": [text], "c": [text, "x"], "d": [text]}


@given(TEXTS)
def test_whatever_the_name_it_is_read_back(name: str) -> None:
    assert read(f"---\n{key(name)}: 1\n---\n").values == {name: 1}


@given(st.lists(TEXTS, min_size=1, max_size=4).map("\n".join), st.sampled_from(["\n", "\r\n"]))
def test_a_block_is_read_back(text: str, line_end: str) -> None:
    if found := block(text, "", line_end):
        mark, lines = found
        assert read(f"---\na: {mark} # c{line_end}{lines}b: 1\n---\n").values == {"a": text, "b": 1}


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53))
def test_a_number_is_read_back(number: float) -> None:
    value = normal(number)
    assert json.dumps(read(f"---\na: {written(value)}\n---\n").values) == json.dumps({"a": value})
