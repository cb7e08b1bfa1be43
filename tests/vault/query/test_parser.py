"""The search language: what a text means, and what is said of one that means nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from obsidian_mcp.vault.query import parser, tree
from obsidian_mcp.vault.query.parser import BadQuery, parse
from obsidian_mcp.vault.query.tree import (
    EVERYTHING,
    All,
    And,
    Any,
    Compared,
    Constant,
    Contains,
    Filter,
    In,
    No,
    Not,
    Or,
    Part,
    Pattern,
    Property,
    Words,
)
from tests.support.growth import require_linear

LONGER = int(os.environ.get("OBSIDIAN_MCP_LONGER", "1"))


def words(text: str) -> Words:
    return Words(tuple(text.split()))


def has(text: str) -> Contains:
    return Contains(text)


def phrase(text: str) -> Contains:
    return Contains(text, whole=True)


def text(test: tree.Test) -> tree.Text:
    return tree.Text(test)


A, B, C = has("a"), has("b"), has("c")

TREES: dict[str, tuple[str, Filter]] = {
    "nothing": (" ", EVERYTHING),
    "bare words": ("a  b\tc", words("a b c")),
    "words of every script": ("日本 café 🦊 12:30", words("日本 café 🦊 12:30")),
    "words beside a filter are still one group": ("a [p] b", And((words("a b"), Property("p")))),
    "words in parentheses are words": ("(a b) c", words("a b c")),
    "OR binds weaker than what stands side by side": (
        "a [p] OR b [q]",
        Or((And((words("a"), Property("p"))), And((words("b"), Property("q"))))),
    ),
    "parentheses bind": ("[p] ([q] OR [r])", And((Property("p"), Or((Property("q"), Property("r")))))),
    "or is a word": ("a or b Or c", words("a or b Or c")),
    "OR with nothing beside it": ("OR [p] OR OR", Property("p")),
    "a word that begins with OR": ("ORa ORB", words("ORa ORB")),
    "a phrase": ('"a b"', text(phrase("a b"))),
    "a phrase with escapes": (r'"a \"b\\"', text(phrase('a "b\\'))),
    "an empty phrase": ('a ""', words("a")),
    "a phrase beside a word": ('a"b"', And((words("a"), text(phrase("b"))))),
    "a regular expression": (r"/a b\/c/", text(Pattern("a b/c"))),
    "a slash in a class": ("/[/]/", text(Pattern("[/]"))),
    "a slash that is never closed is text": ("/a a/b/c /", words("/a a/b/c")),
    "minus": ("-a", Not(text(A))),
    "minus before a phrase": ('-"a b"', Not(text(phrase("a b")))),
    "minus before an operator": ("-tag:a -[p]", And((Not(In(Part.TAG, A)), Not(Property("p"))))),
    "minus before a group means all of it": ("-(a b)", Not(And((text(A), text(B))))),
    "minus before a group with OR": ("-(a OR b)", Not(Or((text(A), text(B))))),
    "minus in a group after minus": ("-(a -b)", Not(And((text(A), Not(text(B)))))),
    "minus before nothing is passed over": ("a - b --c", words("a b --c")),
    "a minus inside a word": ("a-b", words("a-b")),
    "operators, in any case": ("Tag:a PATH:b", And((In(Part.TAG, A), In(Part.PATH, B)))),
    "an operator and a blank": ("file: a", In(Part.FILE, A)),
    "an operator takes one term": ("line:a b", And((words("b"), In(Part.LINE, A)))),
    "an operator with a phrase": ('content:"a b"', In(Part.CONTENT, phrase("a b"))),
    "an operator with a group": ("section:(a b OR -c)", In(Part.SECTION, Any((All((A, B)), No(C))))),
    "an operator with a group in a group": ("block:((a OR b) c)", In(Part.BLOCK, All((Any((A, B)), C)))),
    "every task": ('task:""', In(Part.TASK, phrase(""))),
    "tasks": ("task-todo:a task-done:/b/", And((In(Part.TODO, A), In(Part.DONE, Pattern("b"))))),
    "section in section": ("section:(section:a)", In(Part.SECTION, A)),
    "a tag": ("tag:#a/b", In(Part.TAG, has("#a/b"))),
    "a tag without the operator": ("#a -#b", And((In(Part.TAG, has("#a")), Not(In(Part.TAG, has("#b")))))),
    "a # alone is passed over": ("# a", words("a")),
    "marks alone are looked for": ("&& =>", And((text(Contains("&&")), text(Contains("=>"))))),
    "the case of letters": ("match-case:a", text(Contains("a", exact=True))),
    "the case of letters in a part": ("line:(match-case:a b)", In(Part.LINE, All((Contains("a", exact=True), B)))),
    "a property": ("[a b]", Property("a b")),
    "a property's value": ("[p:a]", Property("p", A)),
    "a property's exact value": ('[p:"a b"]', Property("p", phrase("a b"))),
    "a property's values": ("[p:a OR b]", Property("p", Any((A, B)))),
    "a property whose value is not so": ("[p:-a]", Property("p", No(A))),
    "a property in quotes": ('["a:b":c]', Property("a:b", C)),
    "a bracket in a value": ('[p:"]"]', Property("p", phrase("]"))),
    "a colon in a value": ("[p:a:b]", Property("p", has("a:b"))),
    "a date": ("[p:<2026-12-01]", Property("p", Compared("<", "2026-12-01"))),
    "a range": ("[p:>=1 <2.5]", Property("p", All((Compared(">=", "1"), Compared("<", "2.5"))))),
    "constants": ("[p:TRUE OR FALSE]", Property("p", Any((Constant("TRUE"), Constant("FALSE"))))),
    "what is empty": ("[p:EMPTY] [q:null]", And((Property("p", Constant("EMPTY")), Property("q", Constant("EMPTY"))))),
    "a constant in quotes is text": ('[p:"TRUE"]', Property("p", phrase("TRUE"))),
    "a value that is a pattern": ("[p:/a b/]", Property("p", Pattern("a b"))),
    "an unclosed quote": ('a "b c', And((words("a"), text(phrase("b c"))))),
    "an unclosed quote that ends with a backslash": ('"a\\', text(phrase("a"))),
    "an unclosed parenthesis": ("line:(a b", In(Part.LINE, All((A, B)))),
    "an unclosed group": ("[p] ([q] OR [r]", And((Property("p"), Or((Property("q"), Property("r")))))),
    "a parenthesis that closes nothing": (")a) b", words("a b")),
}


@pytest.mark.parametrize(("query", "expected"), TREES.values(), ids=TREES)
def test_a_query_means(query: str, expected: Filter) -> None:
    assert parse(query).filter == expected


# The query, where it goes wrong, and a part of the repair that is a query itself.
ERRORS: dict[str, tuple[str, int, str]] = {
    "an unknown operator": ("a TODO:b", 2, '"TODO:"'),
    "an unknown operator, as a property": ("a status:b", 2, "[status:value]"),
    "an address": ("http://a.b", 0, '"http:"'),
    "an unknown operator in a group": ("line:(a b:c)", 8, '"b:"'),
    "an unknown operator after minus": ("a -b:c", 3, '"b:"'),
    "an operator without a value": ("a tag:", 6, "tag:word"),
    "an operator without a value in a group": ("(a tag:) b", 7, "tag:(…)"),
    "a minus before nothing": ('a -""', 3, '-"a phrase"'),
    "a minus before an empty group": ("a -()", 3, "-word"),
    "an unclosed bracket": ("a [p:b", 2, "[property:value]"),
    "an unclosed bracket, meant as text": ("a [ b", 2, '"["'),
    "an unclosed quote in a bracket": ('[p:"b]', 0, "[property]"),
    "brackets without a name": ("[]", 0, "[property]"),
    "brackets without a name but with a value": ("a [:b]", 2, "[property:value]"),
    "a property without a value": ("a [p: ]", 2, "[p:EMPTY]"),
}


def problem_of(query: str) -> BadQuery | None:
    try:
        parse(query)
    except BadQuery as problem:
        return problem
    return None


@pytest.mark.parametrize(("query", "at", "repair"), ERRORS.values(), ids=ERRORS)
def test_what_cannot_be_read_is_an_error_with_its_place_and_its_repair(query: str, at: int, repair: str) -> None:
    problem = problem_of(query)
    assert problem is not None
    assert problem.at == at
    assert repair in problem.instead
    assert parse(repair).filter != EVERYTHING


NESTED = {
    "an operator in another": ("line:(a tag:b)", 8),
    "an operator directly after another": ("line:tag:b", 5),
    "an operator in itself": ("line:(line:b)", 6),
    "a property in an operator": ("line:(a [p])", 8),
    "a property directly after an operator": ("section:[p]", 8),
    "a bracket in an operator that is never closed": ("line:(a [p)", 8),
}


@pytest.mark.parametrize(("query", "at"), NESTED.values(), ids=NESTED)
def test_what_cannot_stand_in_an_operator_is_an_error(query: str, at: int) -> None:
    problem = problem_of(query)
    assert problem is not None
    assert problem.at == at
    assert problem.instead


TOO_MUCH = {
    "too long": ("a" * (parser.LONGEST + 1), parser.LONGEST, parser.LONGEST),
    "too deep": ("(" * 60 + "a", parser.DEEPEST + 1, parser.DEEPEST),
    "too deep in an operator": ("line:" + "(" * 60 + "a", parser.DEEPEST + 6, parser.DEEPEST),
    "too deep in a property": ("[p:" + "(" * 60 + "a]", parser.DEEPEST + 4, parser.DEEPEST),
    "a pattern that is too long": (f"b /{'a' * 2000}/", 2, parser.LONGEST_PATTERN),
}


@pytest.mark.parametrize(("query", "at", "most"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_is_too_much_is_an_error_with_its_limit(query: str, at: int, most: int) -> None:
    problem = problem_of(query)
    assert problem is not None
    assert problem.at == at
    assert str(most) in problem.instead


# Not as examples of the test below: hypothesis gives its tests a deeper stack than a call has.
@pytest.mark.parametrize(
    "operator", ["match-case:", "ignore-case:", "section:", "line:(match-case:", "-(", "-match-case:"]
)
def test_operators_without_end_are_an_error_or_a_query_and_nothing_else(operator: str) -> None:
    query = (operator * parser.LONGEST)[: parser.LONGEST - 1].rpartition(":")[0] + ":a"
    problem = problem_of(query if ":" in operator else (operator * parser.LONGEST)[: parser.LONGEST])
    assert problem is None or problem.instead


def test_words_are_told_once_and_not_those_that_filter() -> None:
    query = parse("b a -c line:d b [p:e] OR (a f)")
    assert sorted(query.words) == ["a", "b", "f"]
    assert parse("path:a -path:b ([p] OR path:c) file:d").paths == (A, C)


PIECES = (
    """
a · word · ORx · OR · - · -- · ( · ) · " · \\ · / · [ · ] · : · < · >= · # · #a · tag: · line: · section: · task-todo: ·
match-case: · ignore-case: · path: · unknown: · [p: · [p] · TRUE · EMPTY · "a b" · /a/ · 日本 · é · 🦊 · \x00 · \u2028
""".replace("\n", " ")
    .strip()
    .split(" · ")
)
pieces = st.one_of(st.sampled_from(PIECES), st.builds(str.__mul__, st.sampled_from(PIECES), st.integers(1, 400)))
queries = st.lists(st.tuples(pieces, st.sampled_from(["", " "])).map("".join), max_size=12).map("".join)


@settings(max_examples=300 * LONGER)
@given(st.one_of(queries, st.text(max_size=40)))
def test_every_text_is_a_query_or_an_error_with_a_place_in_it(query: str) -> None:
    problem = problem_of(query)
    if problem is None:
        assert isinstance(parse(query).words, tuple)
    else:
        assert 0 <= problem.at <= len(query)
        assert problem.problem
        assert problem.instead


plain_words = st.lists(st.sampled_from(["zork", "blik", "-vump"]), min_size=1, max_size=2).map(" ".join)
closed = st.recursive(
    st.one_of(plain_words, plain_words.map('"{}"'.format), plain_words.map("line:({})".format)),
    lambda inner: st.one_of(
        inner.map("({})".format), inner.map("-({})".format), st.lists(inner, min_size=2, max_size=3).map(" ".join)
    ),
    max_leaves=5,
)


@settings(max_examples=200 * LONGER)
@given(closed)
@example('a (b -("c d"))')
def test_a_quote_or_parenthesis_that_is_not_closed_ends_with_the_text(query: str) -> None:
    assert parse(query.rstrip('")')) == parse(query)


HOSTILE: dict[str, Callable[[int], str]] = {
    "words": lambda n: "a " * (n // 2),
    "one word": lambda n: "a" * n,
    "quotes": lambda n: '"' * n,
    "escaped quotes": lambda n: '"' + '\\"' * (n // 2),
    "slashes": lambda n: "/a " * (n // 3),
    "classes that are never closed": lambda n: "/[a " * (n // 4),
    "backslashes after a slash": lambda n: "/" + "\\" * n,
    "brackets": lambda n: "[" * n,
    "brackets with quotes": lambda n: '[""' * (n // 3),
    "properties": lambda n: "[a]" * (n // 3),
    "values": lambda n: f"[a:{'b OR ' * (n // 5)}b]",
    "minuses": lambda n: "-a " * (n // 3),
    "ORs": lambda n: "OR " * (n // 3),
    "groups": lambda n: "(a)" * (n // 3),
    "hyphens": lambda n: "a-" * (n // 2),
    "letters before a colon": lambda n: "a-" * (n // 2) + ":",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_query_costs_more_than_its_length(what: str) -> None:
    def read(size: int) -> None:
        with contextlib.suppress(BadQuery):
            parse(HOSTILE[what](size // 2))

    require_linear(read)
