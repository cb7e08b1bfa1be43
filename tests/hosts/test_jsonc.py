"""One member of a JSON text is changed, and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obsidian_mcp.hosts.jsonc import with_entry, without_entry
from obsidian_mcp.hosts.tree import Broken, parse

ENTRY = {"command": "/bin/obsidian-mcp", "args": ["--vault", "/v"]}

SETTINGS = """// my settings
{
    "theme": "dark", // at night
    /* servers */
    "mcpServers": {
        // the first
        "other": { "command": "x", "args": [] }, // keep
    },
    "last": 1,
}
"""


def test_comments_order_and_trailing_commas_stay() -> None:
    after = with_entry(SETTINGS, "mcpServers", "obsidian", ENTRY)
    assert after == SETTINGS.replace(
        "// keep\n",
        """// keep
        "obsidian": {
            "command": "/bin/obsidian-mcp",
            "args": [
                "--vault",
                "/v"
            ]
        },
""",
    )
    assert without_entry(after, "mcpServers", "obsidian") == SETTINGS


def test_an_entry_that_is_there_is_replaced_where_it_stands() -> None:
    before = '{\n  "mcpServers": {\n    "obsidian": {"command": "old"}, // mine\n    "other": 1\n  }\n}'
    after = with_entry(before, "mcpServers", "obsidian", {"command": "new"})
    assert after == before.replace('"old"', '"new"')
    assert with_entry(after, "mcpServers", "obsidian", {"command": "new"}) == after


def test_a_missing_section_is_made_and_an_empty_file_filled() -> None:
    made = '{\n  "a": 1,\n  "s": {\n    "n": {\n      "x": 1\n    }\n  }\n}'
    assert with_entry('{\n  "a": 1\n}', "s", "n", {"x": 1}) == made
    filled = '{\n  "s": {\n    "n": {\n      "x": 1\n    }\n  }\n}\n'
    for empty in ("", "  \n", "{}\n"):
        assert with_entry(empty, "s", "n", {"x": 1}) == filled
    assert without_entry("", "s", "n") == ""


def test_windows_line_ends_a_mark_and_tabs_stay() -> None:
    before = '\ufeff{\r\n\t"s": {\r\n\t\t"a": 1\r\n\t}\r\n}\r\n'
    after = with_entry(before, "s", "n", {"x": 1})
    assert after == before.replace('"a": 1', '"a": 1,\r\n\t\t"n": {\r\n\t\t\t"x": 1\r\n\t\t}')
    assert without_entry(after, "s", "n") == before


def test_one_line_stays_one_line() -> None:
    before = '{"s": {"a": 1}, "b": 2}'
    after = with_entry(before, "s", "n", {"x": 1})
    assert after == '{"s": {"a": 1, "n": {"x": 1}}, "b": 2}'
    assert with_entry(after, "s", "n", {"x": 2}) == after.replace('"x": 1', '"x": 2')
    assert without_entry(after, "s", "n") == before


BROKEN = {
    "no end": "{",
    "no value": '{"a": }',
    "no comma": '{"a": 1 "b": 2}',
    "no colon": '{"a" 1}',
    "no name": "{1: 2}",
    "two ends": "{}}",
    "a comment that does not end": "{} /* x",
    "a tab in a text": '{"a": "\t"}',
    "a bad escape": '{"a": "\\x"}',
    "no object": "[1]",
    "a section that is no object": '{"s": []}',
    "a section twice": '{"s": {}, "s": {}}',
    "too deep": '{"a":' * 500 + "1" + "}" * 500,
    "not a number": '{"a": 01}',
    "nothing but a word": "hello",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_said_and_not_mended(text: str) -> None:
    with pytest.raises(Broken):
        with_entry(text, "s", "n", {})


@pytest.mark.parametrize("text", ["// x\n{}", '{"a": 1,}', '{"s": {"a": [1,]}}'])
def test_a_host_without_comments_is_not_given_any(text: str) -> None:
    parse(text, comments=True)
    with pytest.raises(Broken, match="does not allow"):
        parse(text, comments=False)


names = st.sampled_from(["a", "b", "c", "obsidian", 'q"uote', "{", "//", "ü"])
scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text(max_size=6)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
gaps = st.sampled_from(["", " ", "\n", "\n\t", " // c1\n", "/* c2 */", "\r\n  ", "\r", "// c3\r"])


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A file of a host in any style, and what it means."""

    def write(value: Any) -> str:
        if isinstance(value, dict):
            parts = [f"{gap()}{json.dumps(name)}{gap()}:{gap()}{write(inner)}{gap()}" for name, inner in value.items()]
            return "{" + ",".join(parts) + (draw(st.sampled_from(["", ","])) if parts else "") + gap() + "}"
        if isinstance(value, list):
            return "[" + ",".join(gap() + write(inner) + gap() for inner in value) + gap() + "]"
        return json.dumps(value)

    def gap() -> str:
        return draw(gaps)

    whole = draw(st.dictionaries(names, values, max_size=3))
    if draw(st.booleans()):
        whole["servers"] = draw(st.dictionaries(names, values, max_size=3))
    return gap() + write(whole) + gap(), whole


def comments_of(text: str) -> list[str]:
    without_texts = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    return re.findall(r"//[^\r\n]*|/\*.*?\*/", without_texts)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts())
def test_any_text_gains_and_loses_the_entry_and_nothing_else(made: tuple[str, dict[str, Any]]) -> None:
    text, whole = made
    assert parse(text).value == whole
    after = with_entry(text, "servers", "obsidian", ENTRY)
    old = whole.get("servers", {}).get("obsidian")
    entry = {**old, **ENTRY} if isinstance(old, dict) else ENTRY
    expected = {**whole, "servers": {**whole.get("servers", {}), "obsidian": entry}}
    assert parse(after).value == expected
    assert list(parse(after).value) == list(expected)
    replaced = "obsidian" in whole.get("servers", {})  # then the comments inside the old entry go with it
    assert replaced or comments_of(after) == comments_of(text)
    assert with_entry(after, "servers", "obsidian", ENTRY) == after
    gone = without_entry(after, "servers", "obsidian")
    expected["servers"].pop("obsidian")
    assert parse(gone).value == expected
    assert replaced or comments_of(gone) == comments_of(text)
