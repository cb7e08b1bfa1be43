from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from obsidian_mcp.vault.frontmatter import read
from obsidian_mcp.vault.property_edits import Uneditable, edited, renamed_key, renamed_tags


def note(yaml: str) -> str:
    return f"---\n{yaml}\n---\nbody\n"


def setting(text: str, types: dict[str, str] | None = None, **values: Any) -> str:
    return edited(text, values, {}, {}, types or {})


def adding(text: str, types: dict[str, str] | None = None, **items: Any) -> str:
    return edited(text, {}, items, {}, types or {})


def removing(text: str, **items: Any) -> str:
    return edited(text, {}, {}, items, {})


# Setting.

SET: dict[str, tuple[str, Any, str]] = {
    "a text": ("a: 1\nb: 2", "x", "a: x\nb: 2"),
    "a text that needs quotes": ("a: 1\nb: 2", "[[Link]]", 'a: "[[Link]]"\nb: 2'),
    "a text that looks like a number": ("a: 7\nb: 2", "007", 'a: "007"\nb: 2'),
    "a number": ("a: x\nb: 2", 1.5, "a: 1.5\nb: 2"),
    "a checkbox": ("a: true\nb: 2", False, "a: false\nb: 2"),
    "a date": ("a: 2026-01-01", "2026-11-18", "a: 2026-11-18"),
    "an impossible date is a text": ("a: x", "2026-13-45", "a: 2026-13-45"),
    "a map": ("a: x\nb: 2", {"c": [1]}, 'a: {"c": [1]}\nb: 2'),
    "with a comment": ("a: x # c: d\nb: 2", "y", "a: y # c: d\nb: 2"),
    "with blanks": ("a:   x   # c", "y", "a:   y   # c"),
    "in quotes before": ("a: 'it''s' # c", "y", "a: y # c"),
    "after no value": ("a:\nb: 2", "x", "a: x\nb: 2"),
    "after no value and a blank": ("a: \nb: 2", "x", "a: x\nb: 2"),
    "after no value and a comment": ("a: # c\n# d\nb: 2", "x", "a: x # c\n# d\nb: 2"),
    "after a template": ("a: {{date}}\nb: 2", "x", "a: x\nb: 2"),
    "under a quoted name": ('"a" : 1\nb: 2', "x", '"a" : x\nb: 2'),
    "under a name in another case": ("A: 1\nb: 2", "x", "A: x\nb: 2"),
    "under the very name of two": ("A: 1\na: 2", "x", "A: 1\na: x"),
    "after lines of text": ("a: one\n  two\n\n  three # c\nb: 2", "x", "a: x # c\nb: 2"),
    "after quotes over lines": ('a: "one\n  two" # c\nb: 2', "x", "a: x # c\nb: 2"),
    "after a text on the next line": ("a:\n  one\nb: 2", "x", "a: x\nb: 2"),
    "after a block": ("a: |-\n  # one\n\n   two\n# c\nb: 2", "x", "a: x\n# c\nb: 2"),
    "after a block with a comment": ("a: >2+ # c\n   one\n\nb: 2", "x", "a: x # c\n\nb: 2"),
    "after an empty block": ("a: |\n# c\nb: 2", "x", "a: x\n# c\nb: 2"),
    "after a map": ("a: # c\n  d: 1\n  e:\n    - |\n      # f\nb: 2", "x", "a: x # c\nb: 2"),
    "after a list": ("a:\n- x\n# c\n- y\n# d\nb: 2", "x", "a: x\n# d\nb: 2"),
    "several lines": ("a: x # c\nb: 2", "one\n\n  two", "a: |- # c\n  one\n\n    two\nb: 2"),
    "several lines above an indented comment": ("a: x\n  # c\nb: 2", "one\ntwo", 'a: "one\\ntwo"\n  # c\nb: 2'),
    "several lines in place of others": ("a: |\n  x\nb: 2", "one\ntwo\n", "a: |\n  one\n  two\nb: 2"),
    "a list after a text": ("a: x # c\nb: 2", ["y", 1], "a: # c\n  - y\n  - 1\nb: 2"),
    "an empty list": ("a:\n  - x\nb: 2", [], "a: []\nb: 2"),
    "a list after an empty one": ("a: [] # c", ["x"], "a: # c\n  - x"),
    "a list in brackets": ("a: [x, 'y']  # c", ["y", "z, w"], "a: ['y', \"z, w\"]  # c"),
    "a list in brackets without spaces": ("a: [x,y]", ["x", "y", "z"], "a: [x,y,z]"),
    "a list in brackets, all other": ("a: [ x, y ]", ["z"], "a: [ z ]"),
    "a list in brackets over lines": ("a: [\n  x,\n  y # c\n]", ["x", "y", "z"], "a: [\n  x,\n  y,\n  z # c\n]"),
    "a list in brackets on the next line": ("a:\n  [x]\nb: 2", ["x", "y"], "a:\n  [x, y]\nb: 2"),
    "a list of lines": ("a:\n    -  x # c\n    # d\n    -  'y'", ["z", "y"], "a:\n    -  z\n    # d\n    -  'y'"),
    "a list at the margin": ("a:\n- x\n\n- y\nb: 2", ["x", "y", "z"], "a:\n- x\n\n- y\n- z\nb: 2"),
    "a list, at its head": ("a:\n  - x", ["y", "x"], "a:\n  - y\n  - x"),
    "a list in brackets, at its head": ("a: [x]", ["y", "x"], "a: [y, x]"),
    "a list of maps": ("a:\n  - b: 1\n    c: 2\n  - d", [{"b": 1, "c": 2}, "e"], "a:\n  - b: 1\n    c: 2\n  - e"),
    "a list that is a dash": ("a: -", ["x"], "a:\n  - x"),
    "with a tab": ("a:\tx\nb: 2", "y", "a:\ty\nb: 2"),
    "indented": ("  a: 1\n  b: 2", ["x"], "  a:\n    - x\n  b: 2"),
    "in braces": ('{"a": 1, "b": [2]}', 'x"', '{"a": "x\\"", "b": [2]}'),
    "in braces, a list": ('{"b": 1, "a": ["x", "]"]}', ["]", 1], '{"b": 1, "a": ["]", 1]}'),
    "in braces, without a value": ("{a, b: 1}", 2, "{a: 2, b: 1}"),
    "in braces, with a colon alone": ("{a: , b: 1}", 2, "{a: 2 , b: 1}"),
    "in braces, close together": ('{"a":"x, y","b":1}', 2, '{"a":2,"b":1}'),
}


@pytest.mark.parametrize(("before", "value", "after"), SET.values(), ids=SET)
def test_a_value_is_replaced_in_its_place(before: str, value: Any, after: str) -> None:
    assert setting(note(before), a=value) == note(after)


NEW: dict[str, tuple[str, Any, str]] = {
    "a text": ("a: 1", "x", "a: 1\nnew: x"),
    "a list": ("a: 1", ["x", "y"], "a: 1\nnew:\n  - x\n  - y"),
    "an empty list": ("a: 1", [], "a: 1\nnew: []"),
    "lists and maps in a list": ("a: 1", [["x"], {"y": None}], 'a: 1\nnew:\n  - ["x"]\n  - {"y": null}'),
    "after a list": ("a:\n- x", 1, "a:\n- x\nnew: 1"),
    "after a comment and a blank line": ("a: 1\n# c\n", 1, "a: 1\n# c\n\nnew: 1"),
    "after a comment alone": ("# c", 1, "# c\nnew: 1"),
    "after a block": ("a: |+\n  x\n", 1, "a: |+\n  x\n\nnew: 1"),
    "after an anchor": ("a: &x 1\nb: *x", 1, "a: &x 1\nb: *x\nnew: 1"),
    "where others are indented": ("  a: 1", [1], "  a: 1\n  new:\n    - 1"),
    "in braces": ('{"a": 1}', "x", '{"a": 1, "new": "x"}'),
    "in braces over lines": ('{\n  "a": 1,\n  "b": 2\n}', [1], '{\n  "a": 1,\n  "b": 2,\n  "new": [1]\n}'),
    "in braces with one line": ('{\n\t"a": 1\n}', 2, '{\n\t"a": 1,\n\t"new": 2\n}'),
    "in empty braces": ("{}", 1, '{"new": 1}'),
}


@pytest.mark.parametrize(("before", "value", "after"), NEW.values(), ids=NEW)
def test_a_new_property_comes_last(before: str, value: Any, after: str) -> None:
    assert setting(note(before), new=value) == note(after)


GONE = {
    "a line": ("b: 1\na: x # c\nd: 2", "b: 1\nd: 2"),
    "a list, but not the comment after it": ("a:\n- x\n# c\nb: 1", "# c\nb: 1"),
    "a comment that is indented below it": ("a: x\n  # c\nb: 1", "b: 1"),
    "a block": ("a: |\n  x\n\n  # y\n\nb: 1", "\nb: 1"),
    "brackets over lines": ("a: [x,\n# c\n  y\n]\nb: 1", "b: 1"),
    "the last but a comment": ("# c\na: 1", "# c"),
    "the first in braces": ('{"a": 1, "b": 2}', '{"b": 2}'),
    "the last in braces": ('{"b": {"c": 1}, "a": [1, 2]}', '{"b": {"c": 1}}'),
    "the only one in braces but a comment": ("# c\n{a: 1}", "# c\n"),
    "a value with an anchor": ("a: &x 1\nb: 2", "b: 2"),
}


@pytest.mark.parametrize(("before", "after"), GONE.values(), ids=GONE)
def test_nothing_as_a_value_removes_the_property(before: str, after: str) -> None:
    assert setting(note(before), a=None) == note(after)


WHOLE: dict[str, tuple[str, Any, str]] = {
    "made in an empty note": ("", "x", "---\na: x\n---\n"),
    "made before the body": ("body", "x", "---\na: x\n---\nbody"),
    "made with the note's line ends": ("b\r\nc\n", ["x"], "---\r\na:\r\n  - x\r\n---\r\nb\r\nc\n"),
    "made with the first line end": ("b\nc\r\n", "x", "---\na: x\n---\nb\nc\r\n"),
    "made after a byte order mark": ("\ufeffb", "x", "\ufeff---\na: x\n---\nb"),
    "made before one that never ends": ("---\na: 1\n", "x", "---\na: x\n---\n---\na: 1\n"),
    "filled": ("---\r\n---\r\nb", "x", "---\r\na: x\r\n---\r\nb"),
    "removed": ("---\na: 1\n---\n\nbody", None, "\nbody"),
    "removed after a byte order mark": ("\ufeff---\r\na: 1\r\n\r\n---", None, "\ufeff"),
    "kept where the body would take its place": (
        "---\na: 1\n---\n---\nb: 2\n---\n",
        None,
        "---\n---\n---\nb: 2\n---\n",
    ),
    "not removed with nothing to remove": ("---\n---\nb", None, "---\n---\nb"),
    "Windows line ends": ("---\r\na: 1\r\nb: 2\r\n---\r\n", ["x"], "---\r\na:\r\n  - x\r\nb: 2\r\n---\r\n"),
    "lines with Windows line ends": ("---\r\na: 1\r\n---\r\n", "x\ny", "---\r\na: |-\r\n  x\r\n  y\r\n---\r\n"),
    "mixed line ends": ("---\na: 1\r\nb: 2\n---\n", ["x"], "---\na:\r\n  - x\r\nb: 2\n---\n"),
    "no last line end": ("---\na: 1\n---", 2, "---\na: 2\n---"),
}


@pytest.mark.parametrize(("before", "value", "after"), WHOLE.values(), ids=WHOLE)
def test_the_block_is_made_and_removed(before: str, value: Any, after: str) -> None:
    assert setting(before, a=value) == after


def test_a_long_body_is_left_alone() -> None:
    body = "---\n- [ ] x\r\n" * 500_000
    assert setting(f"---\na: 1\n---\n{body}", a=2) == f"---\na: 2\n---\n{body}"
    assert setting(f"---\na: 1\n---\n{body[4:]}", a=None) == body[4:]


def test_several_properties_are_changed_at_once() -> None:
    before = note("a: 1 # c\nTags: [x]\nb: [1, 2]\nd: 3")
    after = edited(before, {"a": ["x"], "d": None, "new": True}, {"tags": ["y"]}, {"B": [1]}, {})
    assert after == note("a: # c\n  - x\nTags: [x, y]\nb: [2]\nnew: true")


# Types.

TYPES = {"code": "text", "N": "number", "done": "checkbox", "due": "date", "at": "datetime", "by": "multitext"}
TYPED: dict[str, tuple[str, Any, str]] = {
    "a number for a text": ("code", 7, 'code: "7"'),
    "a checkbox for a text": ("code", True, 'code: "true"'),
    "digits for a text": ("code", "007", 'code: "007"'),
    "a list for a text": ("code", ["x"], "code:\n  - x"),
    "a text for a number": ("n", "5", "n: 5"),
    "a decimal for a number": ("n", " 1.50 ", "n: 1.5"),
    "a text for a checkbox": ("done", "True", "done: true"),
    "a date": ("due", "2026-11-18", "due: 2026-11-18"),
    "a date and time": ("at", "2026-11-18T09:30", "at: 2026-11-18T09:30"),
    "a date and time with seconds": ("at", "2026-11-18T09:30:15", "at: 2026-11-18T09:30:15"),
    "one text for a list": ("by", "x", "by:\n  - x"),
    "one tag": ("tags", "#x", "tags:\n  - x"),
    "a tag twice": ("tags", ["x", "#X", "y"], "tags:\n  - x\n  - y"),
    "a number for an alias": ("aliases", [2024, "x"], 'aliases:\n  - "2024"\n  - x'),
    "one style class": ("cssclasses", "wide", "cssclasses:\n  - wide"),
    "no type": ("other", "5", 'other: "5"'),
}


@pytest.mark.parametrize(("name", "value", "after"), TYPED.values(), ids=TYPED)
def test_a_value_is_written_as_the_type_of_the_property_wants_it(name: str, value: Any, after: str) -> None:
    assert edited("", {name: value}, {}, {}, TYPES) == f"---\n{after}\n---\n"


UNFIT: dict[str, tuple[str, Any, str]] = {
    "no number": ("N", "five", "number"),
    "a checkbox for a number": ("N", True, "number"),
    "a list for a number": ("N", [5], "number"),
    "no checkbox": ("done", "yes", "checkbox"),
    "a number for a checkbox": ("done", 1, "checkbox"),
    "no date": ("due", "tomorrow", "2026-11-18"),
    "a time for a date": ("due", "2026-11-18T09:30", "date"),
    "an impossible date": ("due", "2026-02-30", "date"),
    "a date without a time": ("at", "2026-11-18", "09:30"),
    "a time with a zone": ("at", "2026-11-18T09:30Z", "datetime"),
    "a map for a list": ("by", {"x": 1}, "multitext"),
    "a tag with a blank": ("tags", ["a b"], "blank"),
    "a tag of digits": ("tags", ["2024"], "digit"),
    "a number as a tag": ("tags", [2024], "digit"),
    "a tag with other characters": ("tags", ["a.b"], "letters"),
    "a tag with two #": ("tags", ["##a"], "letters"),
    "no tag": ("tags", [""], "letters"),
    "a number that is not kept": ("x", 2**53 + 1, "text"),
    "no kind of value": ("x", b"y", "bytes"),
    "half a character": ("x", "\ud83d", "read"),
}


@pytest.mark.parametrize(("name", "value", "word"), UNFIT.values(), ids=UNFIT)
def test_a_value_that_the_type_cannot_have_is_refused(name: str, value: Any, word: str) -> None:
    with pytest.raises(Uneditable) as refused:
        edited("", {name: value}, {}, {}, TYPES)
    assert word in refused.value.reason
    assert name in refused.value.reason or name == "tags"


# Adding and removing.

ADDED: dict[str, tuple[str, Any, str]] = {
    "to no property": ("a: 1", ["x"], "a: 1\ntags:\n  - x"),
    "to nothing": ("tags:", ["#x", "y"], "tags:\n  - x\n  - y"),
    "to an empty list": ("tags: []", ["x"], "tags:\n  - x"),
    "to a text": ("tags: x # c\nb: 1", ["y"], "tags: # c\n  - x\n  - y\nb: 1"),
    "to a text in quotes": ("tags: '#x'", ["y"], "tags:\n  - '#x'\n  - y"),
    "to a text over lines": ("tags: a\n  b", ["y"], "tags:\n  - a b\n  - y"),
    "to a block": ("tags: |\n  a", ["y"], 'tags:\n  - "a\\n"\n  - y'),
    "to lines": ("tags:\n    - x # c\n    # d\nb: 1", ["y"], "tags:\n    - x # c\n    - y\n    # d\nb: 1"),
    "to lines at the margin": ("tags:\n- x\n\nb: 1", ["y"], "tags:\n- x\n- y\n\nb: 1"),
    "to lines with nothing first": ("tags:\n  -\n  - x", ["y"], "tags:\n  -\n  - x\n  - y"),
    "to brackets with a last comma": ("tags: [x, ] # c", ["y"], "tags: [x, y, ] # c"),
    "to brackets with a comment": ("tags: [x, # c\n  it's]", ["y"], "tags: [x, # c\n  it's, y]"),
    "to a link without quotes": ("tags: [[x]]", ["y"], "tags: [[x], y]"),
    "to braces": ('{"tags": "x"}', ["y"], '{"tags": ["x", "y"]}'),
    "what is there, in another case": ("tags: [x, Y]", ["#X", "y", "z", "Z"], "tags: [x, Y, z]"),
    "one text": ("tags: [x]", "yes", "tags: [x, yes]"),
    "under a name in another case": ("TAGS: [x]", ["y"], "TAGS: [x, y]"),
}


@pytest.mark.parametrize(("before", "items", "after"), ADDED.values(), ids=ADDED)
def test_items_are_added_at_the_end_of_a_list(before: str, items: Any, after: str) -> None:
    assert adding(note(before), tags=items) == note(after)


def test_items_other_than_tags_are_compared_exactly() -> None:
    assert adding(note("a: [x, 1, true]"), a=["X", "1", 1, True, "#x"]) == note('a: [x, 1, true, X, "1", "#x"]')
    assert removing(note("a: [x, X, 1, true, '1']"), a=["X", 1]) == note("a: [x, true, '1']")


REMOVED: dict[str, tuple[str, Any, str]] = {
    "a line": ("tags:\n  - x # c\n  # d\n  - y", ["x"], "tags:\n  # d\n  - y"),
    "the last line": ("tags:\n- x\n- y # c\nb: 1", ["#Y"], "tags:\n- x\nb: 1"),
    "the first in brackets": ("tags: [x, 'y']", ["x"], "tags: ['y']"),
    "the last in brackets": ("tags: [x, y, ]", ["y"], "tags: [x, ]"),
    "several in brackets": ("tags: [a, b, c, d, e]", ["e", "a", "c"], "tags: [b, d]"),
    "all that are alike": ("tags: [x, y, '#X']", ["x"], "tags: [y]"),
    "the only one, and the name with it": ("tags:\n  - x\nb: 1", ["x"], "b: 1"),
    "a text, and the name with it": ("tags: x\nb: 1", ["x"], "b: 1"),
    "one in braces": ('{"tags": ["x", "y"], "b": 1}', ["y"], '{"tags": ["x"], "b": 1}'),
}


@pytest.mark.parametrize(("before", "items", "after"), REMOVED.values(), ids=REMOVED)
def test_items_are_removed_from_a_list(before: str, items: Any, after: str) -> None:
    assert removing(note(before), tags=items) == note(after)


UNCHANGED: dict[str, Callable[[str], str]] = {
    "set to what it is": lambda text: setting(text, a=7, t="x", l=["x", 1], m={"k": None}, tags="y"),
    "set to what it is, for a type": lambda text: setting(text, {"a": "text", "n": "checkbox"}, a=7.0, T="x"),
    "removing what isn't there": lambda text: setting(text, other=None),
    "adding what is there": lambda text: adding(text, l=["x"], tags=["#Y"], t=["x"]),
    "adding nothing": lambda text: adding(text, l=[], other=[], n=[]),
    "removing no item": lambda text: removing(text, l=["1", "y"], t=["y"], other=["x"], n=["x"], m=["k"]),
    "renaming what isn't there": lambda text: renamed_key(text, "other", "more"),
    "renaming to the same": lambda text: renamed_key(text, "a", "a"),
    "renaming no tag": lambda text: renamed_tags(text, lambda tag: None),
    "renaming a tag to itself": lambda text: renamed_tags(text, lambda tag: tag),
}


@pytest.mark.parametrize("change", UNCHANGED.values(), ids=UNCHANGED)
def test_an_edit_that_changes_nothing_gives_the_same_text(change: Callable[[str], str]) -> None:
    text = "\ufeff---\r\n# c\na: 007 \nt: 'x'\nl: [ x,1 ]\nm: {k}\nn:\ntags: y\r\n\n---  \nbody"
    assert change(text) == text


# What is refused.

REFUSED: dict[str, tuple[Callable[[], str], int | None]] = {
    "invalid YAML": (lambda: setting(note("a: 1\nb: c: d"), a=2), 3),
    "a name twice": (lambda: setting(note("a: 1\na: 2"), a=2), 3),
    "a name in braces twice": (lambda: setting(note("{a: 1, a: 2}"), a=2), 2),
    "a name written with ?": (lambda: setting(note("b: 1\n? a\n: 2"), b=2), 3),
    "several documents": (lambda: setting(note("a: 1\n..."), a=2), 3),
    "an anchor": (lambda: setting(note("a: &x 1\nb: *x"), a=2), 2),
    "an anchor on a name": (lambda: setting(note("&x a: 1\nb: *x"), b=2), 2),
    "an alias": (lambda: adding(note("a: &x [1]\nb: *x"), b=[2]), 3),
    "a tag of YAML": (lambda: setting(note("a: !!str 1"), a=2), 2),
    "removing what an alias needs": (lambda: setting(note("a: &x 1\nb: *x"), a=None), 2),
    "removing what ends a block that keeps blank lines": (lambda: setting(note("a: |+\n  x\nb: 1\n\nc: 2"), b=None), 4),
    "a number and its text as names": (lambda: setting(note('1: a\n"1": b'), a=2), None),
    "two names in other cases": (lambda: setting(note("ab: 1\nAB: 2"), Ab=3), None),
    "a property twice": (lambda: edited(note("tags: x"), {"tags": []}, {"Tags": ["y"]}, {}, {}), None),
    "a new property twice": (lambda: edited("", {"a": 1, "A": 2}, {}, {}, {}), None),
    "adding to a map": (lambda: adding(note("a: {{date}}"), a=["x"]), None),
    "adding to a date": (lambda: adding(note("due: 2026-11-18"), TYPES, due=["x"]), None),
    "renaming to what is there": (lambda: renamed_key(note("a: 1\nb: 2"), "a", "B"), 3),
    "renaming a tag to what is none": (lambda: renamed_tags(note("tags: x"), lambda tag: "a b"), None),
}


@pytest.mark.parametrize(("change", "line"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused_with_its_line(change: Callable[[], str], line: int | None) -> None:
    with pytest.raises(Uneditable) as refused:
        change()
    assert refused.value.line == line
    assert refused.value.reason == str(refused.value)
    assert not refused.value.reason.startswith("Line")


# Renaming.

KEYS = {
    "a name": ("a: 1\nold: [x] # c\nb: 2", "new", "a: 1\nnew: [x] # c\nb: 2"),
    "a name in another case": ("Old:\n- x", "new", "new:\n- x"),
    "only its case": ("old: 1", "Old", "Old: 1"),
    "to a name that needs quotes": ("old: 1", "a: b", '"a: b": 1'),
    "in double quotes": ('"old" : 1', "new", '"new" : 1'),
    "in single quotes": ("'old': 1", "new", "'new': 1"),
    "in single quotes, to one with a quote": ("'old': 1", "it's", "it's: 1"),
    "in braces": ('{"x": 1, "old": 2}', "new", '{"x": 1, "new": 2}'),
}


@pytest.mark.parametrize(("before", "new", "after"), KEYS.values(), ids=KEYS)
def test_a_property_is_renamed_in_its_place(before: str, new: str, after: str) -> None:
    assert renamed_key(note(before), "old", new) == note(after)


TAGS = {
    "lines": ("Tags:\n- x\n- old # c", "Tags:\n- x\n- new # c"),
    "brackets": ("tags: [x, old , y]", "tags: [x, new , y]"),
    "quotes and #": ("tags:\n  - '#old'\n  - \"old/a\"", "tags:\n  - '#new'\n  - \"new/a\""),
    "a text": ("tags: old # c\nb: old", "tags: new # c\nb: old"),
    "a text in quotes": ('tags: "#old"', 'tags: "#new"'),
    "a text with escapes": ('tags: "\\x6fld"', "tags: new"),
    "a text in a block": ("tags: |\n  old\nb: 1", 'tags: "new\\n"\nb: 1'),
    "blanks in quotes": ("tags: [' old ']", "tags: [' new ']"),
    "a word that is no text": ("tags: [true/x, a]", 'tags: ["true", a]'),
    "braces": ('{"tags": ["old", "#old/a"]}', '{"tags": ["new", "#new/a"]}'),
    "a text in braces": ("{tags: old}", "{tags: new}"),
    "what is no tag": ("tags: [old.x, old x, 7, old]", "tags: [old.x, old x, 7, new]"),
    "what would be there twice": ("tags:\n  - old # c\n  - New\n  - x", "tags:\n  - New\n  - x"),
    "what would be there twice, in brackets": ("tags: [x, old, '#old', y]", "tags: [x, new, y]"),
    "what would be there twice, first": ("tags: [old, new/a, NEW]", "tags: [new/a, NEW]"),
}


def _renamed(tag: str) -> str | None:
    return "true" if tag == "true/x" else "new" + tag[3:] if tag == "old" or tag.startswith("old/") else None


@pytest.mark.parametrize(("before", "after"), TAGS.values(), ids=TAGS)
def test_tags_are_renamed_in_their_places(before: str, after: str) -> None:
    assert renamed_tags(note(before), _renamed) == note(after)


def test_a_note_without_tags_has_none_to_rename() -> None:
    for text in ("body", note("a: old"), note("tags:"), note("tags: 7")):
        assert renamed_tags(text, lambda tag: "new") == text


# Laws. A note is made of pieces here, so that it is known without our readers which of its bytes are foreign.

WRITTEN = r"""
x · x y · 007 · 1.10 · true · ~ · 2024-01-01 · 12:30 · 'it''s' · "q" · [a, b] · [a,b,] · [ "x, y" , 'z' ] · [[N]] · a:b
{{date}} · {k: 1, l: [m]} · # c · http://a.b/#c · "a\nb" · "[[N]]" · 😀 · [] · {} · <% t %> · x # c
"q"  # c · [it's, b] # c · "q⏎  r" # c · one⏎  two · one⏎⏎  two # c · 'a⏎⏎  b' · [a, # c⏎  b⏎] · [⏎  a,⏎  b⏎  ]
{k: 1,⏎  l: 2} · x⏎  # c · ⏎  - a⏎  - 'b' # c
⏎- a⏎# c⏎- b · ⏎    - a⏎⏎    - b⏎    # c · ⏎  - k: 1⏎    l: 2⏎  - z · # c⏎  # d⏎  - a · ⏎  -⏎  - a
⏎  - - a⏎    - b · ⏎  - |⏎    # t⏎    u⏎  - v · ⏎  k: 1⏎  l:⏎    - d · ⏎  text · ⏎  [a, b] · ⏎    -  a⏎    -  "b"
|⏎  x⏎   y · |-⏎  x⏎⏎  # y · |2-⏎   x⏎  y · >⏎  a⏎  b⏎⏎  c · >-⏎    a⏎  # c · | # c⏎  x · |
"""
FORMS = ["", "x  ", *(form.replace("⏎", "\n") for line in WRITTEN.split("\n")[1:-1] for form in line.split(" · "))]
NAMES = ["a", "B", "tags", "c d", "'q'", '"r s"', "é", "1", "x-y", "😀", "e ", "Aliases", "{{k}}"]
BETWEEN = st.sampled_from(["", "", "", "\n", "# c\n", "\n# - c: d\n", " \n"])
NEW_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.sampled_from(["x", "007", "a\nb", "# x", "", "[[N]]", "é: 😀"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["k", "l m"]), inner, max_size=2),
    max_leaves=5,
)


@st.composite
def pieces(draw: st.DrawFn) -> tuple[list[str], int]:
    """The head, the lines of each property with what stands between them, and the end; and which is wanted."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    found = [draw(st.sampled_from(["---\n", "\ufeff---  \n"])), draw(BETWEEN)]
    for name in names:
        form = draw(st.sampled_from(FORMS))
        found += [f"{name}:{'' if form[:1] == chr(10) else ' '}{form}\n", draw(BETWEEN)]
    found.append(draw(st.sampled_from(["---", "---\nbody\n---\n", "--- \n\nbody"])))
    if draw(st.booleans()):
        found = [piece.replace("\n", "\r\n") for piece in found]
    return found, draw(st.integers(1, len(names))) * 2


def _values(text: str) -> dict[str, Any]:
    found = read(text)
    assert found.problem is None, text
    return found.values


def _name(piece: str) -> str:
    return next(iter(_values(f"---\n{piece}---\n")))


@given(pieces(), NEW_VALUES)
def test_setting_changes_the_lines_of_the_property_alone(made: tuple[list[str], int], value: Any) -> None:
    found, at = made
    text, name = "".join(found), _name(found[at])
    assume(value is not None and name not in ("tags", "Aliases"))
    after = edited(text, {name: value}, {}, {}, {})
    assert after.startswith("".join(found[:at]))
    assert after.endswith("".join(found[at + 1 :]))
    assert json.dumps(_values(after)) == json.dumps({**_values(text), name: value})
    assert edited(after, {name: value}, {}, {}, {}) == after


@given(pieces())
def test_removing_takes_the_lines_of_the_property_alone(made: tuple[list[str], int]) -> None:
    found, at = made
    text, name = "".join(found), _name(found[at])
    left = [*found[:at], *found[at + 1 :]]
    is_empty = not "".join(left[1:-1]).strip()
    bom, body = "\ufeff" if text.startswith("\ufeff") else "", found[-1].partition("\n")[2]
    assert edited(text, {name: None}, {}, {}, {}) == (bom + body if is_empty else "".join(left))


@given(pieces(), st.lists(st.sampled_from(["new", "x: y", "Z"]), min_size=1, max_size=2, unique=True))
def test_adding_and_removing_restore_a_list(made: tuple[list[str], int], items: list[str]) -> None:
    found, at = made
    text, name = "".join(found), _name(found[at])
    old = _values(text)[name]
    assume(name != "tags" and not isinstance(old, dict))
    after = edited(text, {}, {name: items}, {}, {})
    assert after.startswith("".join(found[:at]))
    assert after.endswith("".join(found[at + 1 :]))
    listed = [] if old is None else old if isinstance(old, list) else [old]
    assert _values(after) == {**_values(text), name: listed + items}
    if isinstance(old, list) and old:
        assert edited(after, {}, {}, {name: items}, {}) == text


@given(pieces(), st.sampled_from(["new", "a: b", "null", "---", "1.5"]))
def test_renaming_a_property_and_back_restores_its_bytes(made: tuple[list[str], int], new: str) -> None:
    found, at = made
    text, name = "".join(found), _name(found[at])
    after = renamed_key(text, name, new)
    written = found[at].split(":", 1)
    assert after.startswith("".join(found[:at]))
    assert after.endswith(":" + written[1] + "".join(found[at + 1 :])) or "{{" in found[at]
    assert list(_values(after).items()) == [(new if key == name else key, item) for key, item in _values(text).items()]


@given(pieces())
def test_setting_a_new_property_and_removing_it_restores_the_note(made: tuple[list[str], int]) -> None:
    text = "".join(made[0])
    after = edited(text, {"new": ["x", "y"], "newer": "z"}, {}, {}, {})
    assert after.startswith("".join(made[0][:-1]))
    assert edited(after, {"new": None}, {}, {"newer": ["z"]}, {}) == text


@given(
    st.dictionaries(st.sampled_from(["a", "b c", "D"]), NEW_VALUES, min_size=1),
    NEW_VALUES,
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_we_wrote_is_restored_by_setting_it_back(values: dict[str, Any], other: Any, line_end: str) -> None:
    assume(None not in values.values() and other is not None)
    text = edited(f"body{line_end}", values, {}, {}, {})
    name, old = next(iter(values.items()))
    assert edited(edited(text, {name: other}, {}, {}, {}), {name: old}, {}, {}, {}) == text


@given(st.text(max_size=40), st.text(max_size=5), NEW_VALUES)
def test_whatever_the_note_only_the_property_differs(yaml: str, name: str, value: Any) -> None:
    text = note(yaml)
    try:
        after = edited(text, {name: value}, {}, {}, {})
    except Uneditable:
        return
    old, new = _values(text), _values(after)
    assert after.endswith("body\n")
    assert {key: item for key, item in new.items() if key.lower() != name.lower()} == {
        key: item for key, item in old.items() if key.lower() != name.lower()
    }
