from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault import frontmatter, simple_yaml
from obsidian_mcp.vault.frontmatter import Frontmatter, aliases, kind, read, tags


def note(yaml: str) -> str:
    return f"---\n{yaml}\n---\nbody\n"


# Where it stands.

PLACES = {
    "an empty note": ("", "", ""),
    "no frontmatter": ("a: 1\n", "", ""),
    "not at the very first bytes": ("\n---\na: 1\n---\n", "", ""),
    "a space before the opening line": (" ---\na: 1\n---\n", "", ""),
    "four dashes": ("----\na: 1\n----\n", "", ""),
    "never closed": ("---\na: 1\n", "", ""),
    "closed by an indented line": ("---\na: 1\n ---\n", "", ""),
    "closed by a line that goes on": ("---\na: 1\n--- x\n", "", ""),
    "usual": ("---\na: 1\n---\nbody", "a: 1\n", "body"),
    "empty": ("---\n---\nbody", "", "body"),
    "closed at the end of the file": ("---\na: 1\n---", "a: 1\n", ""),
    "blanks after the dashes": ("--- \t\na: 1\n---  \nbody", "a: 1\n", "body"),
    "Windows line ends": ("---\r\na: 1\r\n---\r\nbody", "a: 1\r\n", "body"),
    "a byte order mark": ("\ufeff---\na: 1\n---\nbody", "a: 1\n", "body"),
    "another rule in the body": ("---\na: 1\n---\nbody\n---\n", "a: 1\n", "body\n---\n"),
}


@pytest.mark.parametrize(("text", "yaml", "body"), PLACES.values(), ids=PLACES)
def test_the_properties_and_the_body_are_found(text: str, yaml: str, body: str) -> None:
    found = read(text)
    assert text[found.start : found.end] == yaml
    assert text[found.body :] == (body if found.body else text)
    assert bool(found.body) == bool(yaml or body)
    assert found.values == ({"a": 1} if yaml else {})
    assert (found.problem, found.line) == (None, None)


# What it says.

USUAL: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("a: some text", {"a": "some text"}),
    "several": ("title: One\nyear: 2024", {"title": "One", "year": 2024}),
    "a name with spaces and accents": ("créé le: x\na-b/c.d_e: y", {"créé le": "x", "a-b/c.d_e": "y"}),
    "no value": ("a:\nb: \nc: ~\nd: null\ne: NULL", dict.fromkeys("abcde")),
    "checkboxes": ("a: true\nb: False\nc: TRUE\nd: tRUE", {"a": True, "b": False, "c": True, "d": "tRUE"}),
    "words of YAML 1.1 are text": ("a: yes\nb: no\nc: on\nd: y", {"a": "yes", "b": "no", "c": "on", "d": "y"}),
    "dates and times are text": (
        "a: 2024-05-01\nb: 2024-05-01T10:30\nc: 12:30",
        {"a": "2024-05-01", "b": "2024-05-01T10:30", "c": "12:30"},
    ),
    "leading zeros are decimal": ("a: 007\nb: 0o17\nc: 0x1f\nd: 1_000", {"a": 7, "b": 15, "c": 31, "d": "1_000"}),
    "decimals": ("a: 1.10\nb: 1.0\nc: 1e3\nd: .5\ne: 5.", {"a": 1.1, "b": 1, "c": 1000, "d": 0.5, "e": 5}),
    "numbers with a sign": ("a: +5\nb: +1 555\nc: 1e-7", {"a": 5, "b": "+1 555", "c": 1e-7}),
    "numbers that JSON has not": ("a: .inf\nb: .NaN\nc: 1e999", {"a": ".inf", "b": ".NaN", "c": "1e999"}),
    "an integer beyond doubles": ("a: 12345678901234567890", {"a": 12345678901234567000.0}),
    "hexadecimals beyond doubles": ("a: 0x" + "f" * 300, {"a": "0x" + "f" * 300}),
    "versions and addresses": (
        "a: 1.2.3\nb: https://x.y/?q=a:b#c\nc: C:\\x",
        {"a": "1.2.3", "b": "https://x.y/?q=a:b#c", "c": "C:\\x"},
    ),
    "quotes": ("a: \"x: # y\"\nb: 'it''s'\nc: \"\"\nd: '12'", {"a": "x: # y", "b": "it's", "c": "", "d": "12"}),
    "quotes within text": ('a: x "y" z\nb: o\'clock', {"a": 'x "y" z', "b": "o'clock"}),
    "a list on a line": ("a: [x, 'y, z', \"[[N]]\", 1, true, null]", {"a": ["x", "y, z", "[[N]]", 1, True, None]}),
    "lists with blanks and a last comma": ("a: [ x y , z, ]\nb: []\nc: [ ]", {"a": ["x y", "z"], "b": [], "c": []}),
    "a list of lines": ('a:\n  - x\n  - "y"\n  - 2\nb: 1', {"a": ["x", "y", 2], "b": 1}),
    "a list at the margin": ("a:\n- x\n-\n- y\nb:", {"a": ["x", None, "y"], "b": None}),
    "a list after blank lines": ("a: \n\n  - x\n   \n  - y", {"a": ["x", "y"]}),
    "comments": (
        '# one\na: x # two\nb: # three\n  # four\n  - y # five\nc: x#y\nd: #z\ne: "q" # r\nf: [g] # h',
        {"a": "x", "b": ["y"], "c": "x#y", "d": None, "e": "q", "f": ["g"]},
    ),
    "a template of Templater": ("a: <% tp.date.now() %>", {"a": "<% tp.date.now() %>"}),
    "nothing but comments": ("# one\n\n  # two", {}),
    "spaces that are characters": ("a: \u00a0x\u3000", {"a": "\u00a0x\u3000"}),
}

RARE: dict[str, tuple[str, dict[str, Any]]] = {
    "a link without quotes is a list": ("a: [[Note]]", {"a": [["Note"]]}),
    "a template is a map": ("a: {{date}}", {"a": {"{date}": None}}),
    "a template with a format": ("a: {{date:YYYY-MM}}", {"a": {"{date:YYYY-MM}": None}}),
    "a template as a name": ("{{x}}: 1", {"{{x}}": 1}),
    "JSON": ('{"a": 1, "b": [true, null], "c": {"d":"e"}}', {"a": 1, "b": [True, None], "c": {"d": "e"}}),
    "JSON with halves of characters": ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
    "escapes": (r'a: "x\ty\"\u263a\/\x41"', {"a": 'x\ty"☺/A'}),
    "names that are not text": ("1: a\n1.10: b\ntrue: c\nnull: d", {"1": "a", "1.1": "b", "true": "c", "": "d"}),
    "a number and its text are two names": ('1: a\n"1": b', {"1": "b"}),
    "names in two cases": ("a: 1\nA: 2", {"a": 1, "A": 2}),
    "quoted names": ("\"a b\": 1\n'c': 2", {"a b": 1, "c": 2}),
    "a name of emoji": ("😀: x", {"😀": "x"}),
    "no name": ("a: 1\n: x", {"a": 1, "": "x"}),
    "a list as a name": ("? [x, y]\n: z", {"[x, y]": "z"}),
    "maps in lists": ("a:\n  - b: 1\n    c: 2\n  - d", {"a": [{"b": 1, "c": 2}, "d"]}),
    "maps in maps": ("a:\n  b:\n    c: [d]\n  e: 1", {"a": {"b": {"c": ["d"]}, "e": 1}}),
    "a map on a line": ("a: {b: 1, c, d: [e]}\nf: {}", {"a": {"b": 1, "c": None, "d": ["e"]}, "f": {}}),
    "lists in lists": ("a:\n  - - x\n    - y\n  - - z", {"a": [["x", "y"], ["z"]]}),
    "a map in a list on a line": ("a: [b: 1, c:d]", {"a": [{"b": 1}, "c:d"]}),
    "lines kept": ("a: |\n  one\n   two\n\n  three\nb: 1", {"a": "one\n two\n\nthree\n", "b": 1}),
    "lines kept without the last end": ("a: |-\n  one\n\nb: |+\n  two\n", {"a": "one", "b": "two\n\n"}),
    "lines folded": ("a: >\n  one\n  two\n\n  three", {"a": "one two\nthree\n"}),
    "comments in kept lines": ("a: | # c\n  # one\n# two\nb: 1", {"a": "# one\n", "b": 1}),
    "text over lines": ("a: one\n  two\n\n  three\nb: 1", {"a": "one two\nthree", "b": 1}),
    "text on the next line": ("a:\n  one", {"a": "one"}),
    "quotes over lines": ("a: \"one\n  two\"\nb: 'x\n\n  y'", {"a": "one two", "b": "x\ny"}),
    "a list in brackets over lines": ("a: [one, # c\n  two,\n\n # d\n  three\n]", {"a": ["one", "two", "three"]}),
    "a named list in brackets over lines": ("a: &x [one,\n  two\n]", {"a": ["one", "two"]}),
    "a text that looks like a list": ("a:\n  - x\n    - y", {"a": ["x - y"]}),
    "a dash alone": ("a: -\nb: - # c\nc:\n  d: -", {"a": [None], "b": [None], "c": {"d": [None]}}),
    "negative": ("a: -1\nb: -x\nc: [-2.5]\nd: --", {"a": -1, "b": "-x", "c": [-2.5], "d": "--"}),
    "question marks": ("a: ?x\nb: [?y, z?]\n? c\n: d", {"a": "?x", "b": ["?y", "z?"], "c": "d"}),
    "marks at the head of text": ("a: :x\nb: =\nc:: d\n=: e", {"a": ":x", "b": "=", "c:": "d", "=": "e"}),
    "aliases": ("a: &x [1]\nb: *x\nc: &x 2\nd: *x", {"a": [1], "b": [1], "c": 2, "d": 2}),
    "nothing is merged": ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", {"a": {"b": 1}, "c": {"<<": {"b": 1}, "d": 2}}),
    "an alias as a name": ("a: &x y\n*x : z", {"a": "y", "y": "z"}),
    "tags of YAML": (
        "a: !!str 12\nb: !!int '12'\nc: !x 12\nd: !!bool x\ne: ! 12\nf: !important",
        {"a": "12", "b": 12, "c": "12", "d": "x", "e": "12", "f": ""},
    ),
    "dates with a tag are text": ("a: !!timestamp 2001-01-01", {"a": "2001-01-01"}),
    "tabs after a colon, between and at the end": ("a:\tb\tc\t# d\ne: [\tf,\tg ]", {"a": "b\tc", "e": ["f", "g"]}),
    "tabs after a dash": ("a:\n-\tb\n- \tc", {"a": ["b", "c"]}),
    "lines of tabs": ("a: 1\n\t\nb: 2\n\t# c\nd: 3", {"a": 1, "b": 2, "d": 3}),
    "line ends of other alphabets": ('a: x\u2028y\u0085z\nb: "p\u2029q"', {"a": "x\u2028y\u0085z", "b": "p\u2029q"}),
    "control characters": ("a: x\x07y\x7f\ufeffz\u2028", {"a": "x\x07y\x7f\ufeffz\u2028"}),
    "a character that stands in for others": ("a: '\ue000\u2028'", {"a": "\ue000\u2028"}),
    "a carriage return within": ('a: "x\ry"', {"a": "x\ry"}),
    "such a character in a list that is a name": ("? [\u2028]\n: x", {"[\u2028]": "x"}),
    "all lines indented": ("  a: 1\n  b: 2", {"a": 1, "b": 2}),
    "the end of a document": ("a: 1\n...", {"a": 1}),
    "a name of 1,000 characters": ("k" * 1000 + ": 1\n'x': 2", {"k" * 1000: 1, "x": 2}),
}
CASES = USUAL | RARE


@pytest.mark.parametrize(("yaml", "values"), CASES.values(), ids=CASES)
def test_properties_are_read_as_obsidian_reads_them(yaml: str, values: dict[str, Any]) -> None:
    found = read(note(yaml))
    assert (found.values, found.problem) == (values, None)
    assert json.loads(json.dumps(found.values, allow_nan=False)) == values
    assert _types(found.values) == _types(values)


@pytest.mark.parametrize(("yaml", "values"), CASES.values(), ids=CASES)
def test_windows_line_ends_change_nothing(yaml: str, values: dict[str, Any]) -> None:
    assert read(note(yaml).replace("\n", "\r\n")).values == values


@pytest.mark.parametrize(("yaml", "values"), USUAL.values(), ids=USUAL)
def test_the_library_reads_usual_properties_alike(yaml: str, values: dict[str, Any]) -> None:
    assert frontmatter.read_with_library(yaml + "\n") == values


WITHOUT_LIBRARY = [name for name, (yaml, _) in USUAL.items() if "''" not in yaml]


@pytest.mark.parametrize("name", WITHOUT_LIBRARY)
def test_usual_properties_need_no_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)  # importing it would fail
    yaml, values = USUAL[name]
    assert read(note(yaml)).values == values


def test_the_library_may_lack_its_part_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("yaml.CBaseLoader", raising=False)
    assert read(note('a: {b: ["\\ud83d\\ude00", "\\ud83d", 1]}')).values == {"a": {"b": ["😀", "\ufffd", 1]}}
    assert read(note("a: 1\nb: 'x")).line == 3


def _types(value: Any) -> Any:
    """1 and 1.0 and True are equal in Python and differ in JSON."""
    if isinstance(value, dict):
        return {key: _types(item) for key, item in value.items()}
    return [_types(item) for item in value] if isinstance(value, list) else type(value)


# What is invalid.

INVALID = {
    "a name twice": ("a: 1\nb: 2\na: 3", 4),
    "a name twice in a map": ("a:\n  b: 1\n  b: 2", 4),
    "a name twice in brackets": ("a: {b: 1, b: 2}", 2),
    "one number twice": ("01: a\n1: b", 3),
    "a tab as indentation": ("a:\n\tb: 1", 3),
    "a tab before a dash": ("a:\n\t- b", 3),
    "two colons": ("a: 1\nb: c: d", 3),
    "a colon at the end": ("a: b:", 2),
    "a colon after quotes": ('a: "b": c', 2),
    "text that begins with @": ("a: @b", 2),
    "text that begins with %": ("a: %b", 2),
    "text that begins with a backtick": ("a: `b`", 2),
    "text that begins with a comma": ("a: ,b", 2),
    "text that begins with a bracket": ("a: 1\nb: ]", 3),
    "text in bold": ("a: **b**", 2),
    "text in italics": ("a: *b*", 2),
    "an embed": ("a: ![[b.png]]", 2),
    "a link of Markdown": ("a: [b](http://c)", 2),
    "two links": ("a: [[b]], [[c]]", 2),
    "an unfinished list": ("a: 1\nb: [c, d\ne: 2", 3),
    "an unfinished quote": ("a: 1\nb: 'c\ne: 2", 3),
    "text after quotes": ('a: "b" c', 2),
    "text after a quoted name": ('"a":b', 2),
    "an unknown escape": (r'a: "\d"', 2),
    "half a character": (r'a: "\ud83d"', 2),
    "a list on the line of its name": ("a: - b", 2),
    "two commas": ("a: [b,, c]", 2),
    "a list after a value": ("a: b\n- c", 3),
    "text after kept lines": ("a: | b", 2),
    "a line without a colon": ("a: 1\nb\nc: 2", 3),
    "a line without a colon first": ("a\nb: 1", 3),
    "a last line without a colon": ("a: 1\nb", 3),
    "an odd indentation": ("a:\n  b: 1\n c: 2", 4),
    "an odd indentation of a list": ("a:\n  - b\n - c", 4),
    "an odd first line": (" a: 1\nb: 2", 3),
    "quotes that go on at the margin": ('a: "b\nc"', 3),
    "quotes that go on before their name": ('a:\n  b: "c\n  d"', 4),
    "brackets that go on at the margin": ("a: [b,\nc]", 3),
    "a comment right after quotes": ('a: "b"#c', 2),
    "a comment right after brackets": ("a: [b]#c", 2),
    "a second document": ("a: 1\n--- b", 3),
    "a second document after an end": ("a: 1\n...\nb: 2", 4),
    "a directive": ("%YAML 1.1", 3),
    "an alias of nothing": ("a: *x", 2),
    "an alias of what is still open": ("a: &x [*x]", 2),
    "a tag that is not known": ("a: !x!y z", 2),
    "a name of 1,100 characters": ("k" * 1100 + ": 1", 2),
    "a list, not properties": ("- a\n- b", 2),
    "a text, not properties": ("some text", 2),
    "no space after the colon": ("a:b", 2),
    "every stand-in taken": ("'" + "".join(map(chr, range(0xE000, 0xF900))) + "\u2028': 1", 2),
}


@pytest.mark.parametrize(("yaml", "line"), INVALID.values(), ids=INVALID)
def test_one_mistake_makes_the_whole_invalid(yaml: str, line: int) -> None:
    text = note(yaml)
    found = read(text)
    assert found.problem is not None
    assert found.problem.startswith(f"Line {line}: ")
    assert found.problem.endswith(".")
    assert len(found.problem) < 150
    assert found == Frontmatter(4, text.index("\n---\nbody") + 1, text.index("body"), {}, found.problem, line)


def _bomb(width: int, depth: int) -> str:
    lines = [f"a0: &a0 [{', '.join('x' * width)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, depth)]
    return "\n".join(lines)


BOUNDED = {
    "aliases of aliases": _bomb(9, 20),
    "one long text often": f"a: &x '{'y' * 20_000}'\nb: [{'*x, ' * 50}]",
    "one alias often": f"a: &x y\nb: [{'*x, ' * 100}]",
    "brackets": "a: " + "[" * 100_000,
    "closed brackets": "a: " + "[" * 1000 + "]" * 1000,
    "braces": "a: " + "{a: " * 50_000,
    "dashes": "a:\n" + "- " * 50_000,
    "indentation": "\n".join(" " * n + "a:" for n in range(500)),
    "tabs": "\t" * 100_000 + "x",
    "question marks": "? " * 50_000,
}


@pytest.mark.parametrize("yaml", BOUNDED.values(), ids=BOUNDED)
def test_what_would_grow_without_end_is_invalid(yaml: str) -> None:
    found = read(note(yaml))
    assert found.problem is not None
    assert found.values == {}


def test_what_is_within_the_bounds_is_read() -> None:
    assert read(note("a: &x y\nb: [" + "*x, " * 99 + "]")).values["b"] == ["y"] * 99
    assert read(note("a: " + "[" * 63 + "]" * 63)).problem is None
    assert len(read(note("".join(f"'k{n}': [{n}]\n" for n in range(3000)))).values) == 3000


# Laws.

PIECES = st.sampled_from(
    "a b key x\u00e9 null true 1 007 1.5 0x1f ~ 2024-01-01 12:30 - -1 : # ? ! & * | > % @ ` ' \" '' [ ] { } , \\ \t "
    "\u2028 &x *x !!str [a,b] {{d}} [[N]] 'q' \"q\" http://x.y?z#w 😀".split(" ")
) | st.sampled_from(["\n", "\n  ", "\n- ", "\n  - ", ": ", ", ", " # ", " ", "  ", "\r\n", "a: ", "\nb: "])
SOUP = st.lists(PIECES, max_size=14).map("".join)

WRITTEN = st.sampled_from(
    "·x·x y·1·1.50·007·true·~·2024-01-01·12:30·yes·x: y·x:·x#y·x # y·#x·a:b·-·- x·-1·+1·'q'·'it''s'·'q·x'y·[1, ~, x'y]·"
    '"q"·"a\\"b"·"q" # c·"q"#c·"q" x·"·[]·[a, b]·[a b ,c]·[a,]·["a", b] # c·[a]b·[a: b]·[a #b]·[[N]]·[,]·["[[N]]"]·'
    "{a: 1}·{{d}}·|·>-·*x·&x y·@x·!t·? x·<% x %>·=·.5·.inf·x  ".split("·")
)
NAMES = st.sampled_from(["a", "b", "c", "d e", "tags", "x-y", "é", "null", "True", "a.b", "1", "_", "a "])
LINES = (
    st.tuples(NAMES, st.sampled_from([":", ": ", ":  "]), WRITTEN).map("".join)
    | st.tuples(st.sampled_from(["", "  ", " "]), st.sampled_from(["- ", "-", "-  "]), WRITTEN).map("".join)
    | st.sampled_from(["", "  ", "# c: d", "  # c", "  x", "..."])
)


@given(st.lists(LINES, max_size=6).map("\n".join) | SOUP.map(lambda soup: "a: " + soup) | SOUP)
def test_the_quick_reader_and_the_library_agree(yaml: str) -> None:
    quick = simple_yaml.parse(yaml + "\n")
    if quick is not None:
        slow = frontmatter.read_with_library(yaml + "\n")
        assert (quick, _types(quick)) == (slow, _types(slow))
        assert list(quick) == list(slow)


@given(SOUP | st.text())
def test_whatever_stands_there_the_values_are_json(yaml: str) -> None:
    found = read(note(yaml))
    json.dumps(found.values, allow_nan=False).encode()
    assert (found.problem is None) == (found.line is None)
    assert not (found.problem and found.values)
    assert all(isinstance(name, str) for name in found.values)


TEXT = st.text(max_size=20)  # a name may have 1,000 characters, and an escape is twelve
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, JSON, max_size=5))
def test_json_is_read_as_json(values: dict[str, Any]) -> None:
    assert read(note(json.dumps(values))).values == values


# Tags, aliases, types.

TAGS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a list": ({"tags": ["a", "b/c"]}, ["a", "b/c"]),
    "a text": ({"tags": "a"}, ["a"]),
    "with #": ({"tags": ["#a", "##b"]}, ["a"]),
    "several in one text are none": ({"tags": "a, b"}, []),
    "with a space": ({"tags": ["a b", "c"]}, ["c"]),
    "not text": ({"tags": [1, True, None, ["x"], {"y": None}, "a"]}, ["a"]),
    "digits alone": ({"tags": ["2024", "2024a", "1/2"]}, ["2024a", "1/2"]),
    "other characters": ({"tags": ["a.b", "a,b", "a–b", "a_b-c", "é", "日本", "😀"]}, ["a_b-c", "é", "日本", "😀"]),
    "a slash at the end": ({"tags": ["a/", "/", ""]}, []),
    "any case, the first one": ({"x": 1, "Tags": ["a"], "tags": ["b"]}, ["a"]),
    "the old name": ({"tag": ["a"]}, []),
    "none": ({}, []),
    "no value": ({"tags": None}, []),
    "a number": ({"tags": 5}, []),
}


@pytest.mark.parametrize(("values", "expected"), TAGS.values(), ids=TAGS)
def test_tags_are_those_that_obsidian_takes(values: dict[str, Any], expected: list[str]) -> None:
    assert tags(values) == expected


ALIASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a list": ({"aliases": ["One", "Two, three", 4, None, " ", ""]}, ["One", "Two, three"]),
    "a text": ({"Aliases": "One, two"}, ["One, two"]),
    "the old name": ({"alias": "One"}, []),
}


@pytest.mark.parametrize(("values", "expected"), ALIASES.values(), ids=ALIASES)
def test_aliases_may_have_spaces(values: dict[str, Any], expected: list[str]) -> None:
    assert aliases(values) == expected


TYPES = {"Due": "date", "n": "text", "odd": "of-a-plugin", "tags": "tags", "done": "checkbox"}
KINDS: dict[str, tuple[str, Any, str]] = {
    "declared": ("n", 5, "text"),
    "declared in another case": ("due", "soon", "date"),
    "declared, though there is no value": ("done", None, "checkbox"),
    "declared as what only a plugin knows": ("odd", 5, "number"),
    "tags": ("Tags", "a", "tags"),
    "aliases": ("aliases", None, "aliases"),
    "style classes": ("cssclasses", "wide", "multitext"),
    "a checkbox": ("a", False, "checkbox"),
    "an integer": ("a", 1, "number"),
    "a decimal": ("a", 1.5, "number"),
    "a list": ("a", [], "multitext"),
    "a date": ("a", "2024-05-01", "date"),
    "a time": ("a", "2024-05-01T10:30", "datetime"),
    "a time with seconds": ("a", "2024-05-01T10:30:15", "datetime"),
    "a time with a zone is text": ("a", "2024-05-01T10:30:15Z", "text"),
    "almost a date": ("a", "2024-5-1", "text"),
    "a text": ("a", "x", "text"),
    "nothing": ("a", None, "text"),
    "a map": ("a", {"b": 1}, "text"),
}


@pytest.mark.parametrize(("name", "value", "expected"), KINDS.values(), ids=KINDS)
def test_the_type_of_a_property_is_declared_or_follows_from_its_value(name: str, value: Any, expected: str) -> None:
    assert kind(name, value, TYPES) == expected
