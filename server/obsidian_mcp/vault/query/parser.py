"""From the text of a search to its tree.

Obsidian's grammar, with two decisions of ours. Bare words rank, so those that stand side by side are any of them and
not all of them; wherever words stand inside an operator or behind a minus, they filter, and all are meant. And what is
not closed never makes a search wider: a quote or parenthesis ends with the text, a bracket is an error.

    or   := and { "OR" and }
    and  := { ["-"] term }
    term := "(" or ")" | '"' phrase '"' | "/" regex "/" | "[" property [":" value] "]" | operator ":" term | word
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from obsidian_mcp.vault.query import tree
from obsidian_mcp.vault.query.simplify import simplified
from obsidian_mcp.vault.query.tree import (
    And,
    Contains,
    Filter,
    In,
    Not,
    Or,
    Part,
    Pattern,
    Property,
    Query,
    Test,
    Words,
)

DEEPEST = 50  # groups in one another
LONGEST = 4000  # characters
LONGEST_PATTERN = 1000

_OPERATOR = re.compile(r"([^\W\d_][^\W\d_]*(?:-[^\W\d_]+)*):")
_WORD = re.compile(r"[^\s()\"\[\]]+")
_PHRASE = re.compile(r'"((?:[^"\\]|\\.)*)("|\Z|\\\Z)', re.DOTALL)
_REGEX = re.compile(r"/((?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/(?=[\s()\[\]]|\Z)")
_COMPARED = re.compile(r"([<>]=?)\s*")
_TAG = re.compile(r"#[^\s#()\"\[\]]+")
_PARTS = {part.value: part for part in Part}
_CASES = {"match-case": True, "ignore-case": False}
OPERATORS = (*_PARTS, *_CASES)
CONSTANTS = {"TRUE": "TRUE", "FALSE": "FALSE", "EMPTY": "EMPTY", "null": "EMPTY"}

T = TypeVar("T", Filter, Test)


class BadQuery(Exception):
    """A search that can't be read: what is wrong, where, and how to write it."""

    def __init__(self, problem: str, at: int, instead: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.at = at
        self.instead = instead


def parse(text: str) -> Query:
    if len(text) > LONGEST:
        raise BadQuery(f"it has {len(text)} characters", LONGEST, f"Use at most {LONGEST}.")
    return Query(simplified(_Reader(text).filters(0)))


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0
        self._exact = False
        self._within = ""  # the operator whose value is being read
        self._open = 0  # parentheses

    # Groups

    def filters(self, depth: int) -> Filter:
        return self._either(lambda: self._all_filters(depth), lambda parts: Or(tuple(parts)), tree.EVERYTHING, depth)

    def _tests(self, depth: int) -> Test:
        return self._either(lambda: self._all_tests(depth), lambda parts: tree.Any(tuple(parts)), tree.All(()), depth)

    def _either(self, one: Callable[[], T], join: Callable[[Sequence[T]], T], nothing: T, depth: int) -> T:
        if depth > DEEPEST:
            raise BadQuery("too many parentheses in one another", self.at, f"Use at most {DEEPEST}.")
        parts = [one()]
        while self._takes_or():
            parts.append(one())
        parts = [part for part in parts if part != nothing]  # an OR with nothing on one side is passed over
        return nothing if not parts else parts[0] if len(parts) == 1 else join(parts)

    def _group(self, inside: Callable[[], T]) -> T:
        self._open += 1
        found = inside()
        self._open -= 1
        self._takes(")")
        return found

    def _all_filters(self, depth: int) -> Filter:
        parts: list[Filter] = []
        words: list[str] = []
        while self._has_term():
            if self._takes("-"):
                parts.append(Not(self._behind_minus(depth)))
                continue
            found = self._filter(depth)
            if isinstance(found, Words):
                words += found.words
            elif found != tree.EVERYTHING:
                parts.append(found)
        if words:
            parts.insert(0, Words(tuple(words)))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _behind_minus(self, depth: int) -> Filter:
        """Words filter there, and so does a group of them."""
        start = self.at
        if self._takes("("):
            before, self._within = self._within, "-"
            found = self._filters_all(self._group(lambda: self.filters(depth + 1)))
            self._within = before
        else:
            found = self._filter(depth)
        if found == tree.EVERYTHING:
            raise BadQuery("nothing stands after -", start, 'Write what is to be left out: -word or -"a phrase".')
        return self._filters_all(found)

    def _filters_all(self, part: Filter) -> Filter:
        """With every bare word as a filter."""
        if isinstance(part, Words):
            texts = tuple(tree.Text(Contains(word, exact=self._exact)) for word in part.words)
            return texts[0] if len(texts) == 1 else And(texts)
        if isinstance(part, And):
            return And(tuple(self._filters_all(inner) for inner in part.parts))
        if isinstance(part, Or):
            return Or(tuple(self._filters_all(inner) for inner in part.parts))
        return part

    def _all_tests(self, depth: int) -> Test:
        parts: list[Test] = []
        while self._has_term():
            is_no = self._takes("-")
            found = self._test(depth)
            parts.append(tree.No(found) if is_no else found)
        return parts[0] if len(parts) == 1 else tree.All(tuple(parts))

    # Terms

    def _filter(self, depth: int) -> Filter:
        self._require_depth(depth)
        if self._takes("("):
            return self._group(lambda: self.filters(depth + 1))
        if self._is_at("["):
            return self._property()
        if self._is_at('"') or _REGEX.match(self._text, self.at):
            text = self._text_test()
            return tree.EVERYTHING if text == Contains("", True, self._exact) else tree.Text(text)
        operator = _OPERATOR.match(self._text, self.at)
        if operator:
            return self._operated(operator, depth)
        tag = _TAG.match(self._text, self.at)
        if tag:
            self.at = tag.end()
            return In(Part.TAG, Contains(tag[0]))
        return Words((self._word(),))

    def _operated(self, operator: re.Match[str], depth: int) -> Filter:
        name = operator[1].lower()
        if name in _CASES:
            before, self._exact = self._exact, _CASES[name]
            self.at = operator.end()
            found = self._filters_all(self._value_filter(operator, depth))
            self._exact = before
            return found
        return In(self._part(operator), self._value(operator, depth))

    def _part(self, operator: re.Match[str]) -> Part:
        name = operator[1].lower()
        if name not in OPERATORS:
            raise BadQuery(
                f'operator "{operator[1]}" is not recognized',
                operator.start(),
                f'To search for the text, put it in quotes: "{operator[1]}:". The operators are '
                f"{', '.join(OPERATORS)}; a property is [{operator[1]}] or [{operator[1]}:value].",
            )
        if self._within and not (self._within == name == "section") and self._within != "-":
            raise BadQuery(
                f'operator "{operator[1]}" cannot stand within "{self._within}"',
                operator.start(),
                "Put it beside the other, not inside.",
            )
        self.at = operator.end()
        return _PARTS[name]

    def _value_filter(self, operator: re.Match[str], depth: int) -> Filter:
        self._require_value(operator)
        return self._filter(depth + 1)

    def _value(self, operator: re.Match[str], depth: int) -> Test:
        """One term, which may be a group."""
        self._require_value(operator)
        before, self._within = self._within, operator[1].lower()
        found = self._test(depth)
        self._within = before
        return found

    def _require_value(self, operator: re.Match[str]) -> None:
        self._skip_blanks()
        if self.at >= len(self._text) or self._text[self.at] == ")":
            raise BadQuery(
                f"nothing stands after {operator[0]}", operator.end(), f"Write {operator[0]}word or {operator[0]}(…)."
            )

    def _require_depth(self, depth: int) -> None:
        if depth > DEEPEST:
            raise BadQuery("too many parts in one another", self.at, f"Use at most {DEEPEST}.")

    def _test(self, depth: int) -> Test:
        self._require_depth(depth)
        if self._is_at("[") and self._within not in ("", "["):
            self._property()
        if self._takes("("):
            return self._group(lambda: self._tests(depth + 1))
        if self._is_at('"') or _REGEX.match(self._text, self.at):
            return self._text_test()
        operator = _OPERATOR.match(self._text, self.at)
        if operator and self._within != "[":
            name = operator[1].lower()
            if name in _CASES:
                return self._with_case(operator, depth)
            if name == self._within == "section":
                self.at = operator.end()
                return self._value(operator, depth + 1)
            self._part(operator)
        return Contains(self._word(), exact=self._exact)

    def _with_case(self, operator: re.Match[str], depth: int) -> Test:
        before, self._exact = self._exact, _CASES[operator[1].lower()]
        self.at = operator.end()
        self._require_value(operator)
        found = self._test(depth + 1)
        self._exact = before
        return found

    def _text_test(self) -> Test:
        """A phrase or a regular expression."""
        phrase = _PHRASE.match(self._text, self.at)
        if phrase:
            self.at = phrase.end()
            return Contains(re.sub(r"\\(.)", r"\1", phrase[1], flags=re.DOTALL), whole=True, exact=self._exact)
        regex = _REGEX.match(self._text, self.at)
        assert regex is not None
        if len(regex[1]) > LONGEST_PATTERN:
            raise BadQuery("the regular expression is too long", self.at, f"Use at most {LONGEST_PATTERN} characters.")
        self.at = regex.end()
        return Pattern(regex[1].replace("\\/", "/"), self._exact)

    def _word(self) -> str:
        found = _WORD.match(self._text, self.at)
        if found:
            self.at = found.end()
            return found[0]
        char = self._text[self.at]  # a bracket that closes nothing
        self.at += 1
        return char

    # Properties

    def _property(self) -> Filter:
        start = self.at
        if self._within and self._within != "-":
            raise BadQuery(f'a property cannot stand within "{self._within}"', start, "Put it beside the other.")
        end = self._end_of_property(start)
        name, colon, value = _name_and_value(self._text[start + 1 : end])
        if not name:
            raise BadQuery("the brackets name no property", start, "Write [property] or [property:value].")
        self.at = end + 1
        if not colon:
            return Property(name)
        if not value.strip():
            raise BadQuery(
                f"nothing stands after [{name}:",
                start,
                f"Write [{name}] for notes that have it, [{name}:EMPTY] for those where it is empty.",
            )
        return Property(name, _property_test(value, start + 1 + len(name) + 1, self._exact))

    def _end_of_property(self, start: int) -> int:
        at = start + 1
        while at < len(self._text):
            if self._text[at] == '"':
                phrase = _PHRASE.match(self._text, at)
                assert phrase is not None
                at = phrase.end()
                continue
            if self._text[at] == "]":
                return at
            at += 1
        raise BadQuery(
            "the bracket [ is never closed", start, 'Write [property] or [property:value]; to search for a [, "[" .'
        )

    # Characters

    def _skip_blanks(self) -> None:
        """And parentheses that close nothing."""
        while self.at < len(self._text) and (self._text[self.at].isspace() or self._is_stray()):
            self.at += 1

    def _is_stray(self) -> bool:
        return self._text[self.at] == ")" and not self._open

    def _has_term(self) -> bool:
        self._skip_blanks()
        return self.at < len(self._text) and self._text[self.at] != ")" and not self._is_or()

    def _is_or(self) -> bool:
        after = self._text[self.at + 2 : self.at + 3]
        return self._text.startswith("OR", self.at) and (not after or after.isspace() or after in '()"[')

    def _takes_or(self) -> bool:
        self._skip_blanks()
        if not self._is_or():
            return False
        self.at += 2
        return True

    def _is_at(self, mark: str) -> bool:
        return self._text.startswith(mark, self.at)

    def _takes(self, mark: str) -> bool:
        """A minus counts only before something."""
        if not self._is_at(mark) or (mark == "-" and self._text[self.at + 1 : self.at + 2].strip() in ("", "-")):
            return False
        self.at += 1
        return True


def _name_and_value(inside: str) -> tuple[str, bool, str]:
    inside = inside.lstrip()
    quoted = _PHRASE.match(inside)
    rest = inside[quoted.end() :].lstrip() if quoted else ""
    if quoted and rest[:1] in ("", ":"):
        return quoted[1], bool(rest), rest[1:]
    name, colon, value = inside.partition(":")
    return name.strip(), bool(colon), value


class _ValueReader(_Reader):
    """What stands after a property's colon."""

    def __init__(self, text: str, exact: bool) -> None:
        super().__init__(text)
        self._exact = exact
        self._within = "["

    def read(self) -> Test:
        return self._tests(0)

    def _test(self, depth: int) -> Test:
        compared = _COMPARED.match(self._text, self.at)
        if compared:
            self.at = compared.end()
            if not self._has_term():
                raise BadQuery(f"nothing stands after {compared[1]}", self.at, f"Write {compared[1]}5 or a date.")
            test = super()._test(depth)
            return tree.Compared(compared[1], test.text if isinstance(test, Contains) else "")
        found = super()._test(depth)
        if isinstance(found, Contains) and not found.whole and found.text in CONSTANTS:
            return tree.Constant(CONSTANTS[found.text])
        return found


def _property_test(value: str, at: int, exact: bool) -> Test:
    try:
        return _ValueReader(value, exact).read()
    except BadQuery as problem:
        raise BadQuery(problem.problem, at + problem.at, problem.instead) from None
