"""A search as a tree.

Two kinds of trees. A `Test` is asked of a text: does it contain this, all of these, none of those. A `Filter` is asked
of a note, and may put a test to one of its parts: its name, a line, a section, a task, a property.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

# What is asked of a text.


@dataclass(frozen=True, slots=True)
class Contains:
    """`whole`: as whole words, where the text is a note's; `exact`: the case of letters counts."""

    text: str
    whole: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression."""

    source: str
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """A property's value that is less or more than another."""

    sign: str
    value: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A property's value that is TRUE, FALSE or EMPTY."""

    name: str


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Any:
    parts: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class No:
    part: Test


Test = Contains | Pattern | Compared | Constant | All | Any | No


# What is asked of a note.


class Part(enum.Enum):
    """A part of a note that a test is put to; of those there are several of, one has to pass it."""

    FILE = "file"
    PATH = "path"
    TAG = "tag"
    CONTENT = "content"
    LINE = "line"
    BLOCK = "block"
    SECTION = "section"
    TASK = "task"
    TODO = "task-todo"
    DONE = "task-done"


@dataclass(frozen=True, slots=True)
class Words:
    """Bare words, which rank: a note has one of them, or of their forms."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """In the note's text, or in its name."""

    test: Test


@dataclass(frozen=True, slots=True)
class In:
    part: Part
    test: Test


@dataclass(frozen=True, slots=True)
class Property:
    """Without a test: a note that has the property."""

    name: str
    test: Test | None = None


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Filter


Filter = Words | Text | In | Property | And | Or | Not

EVERYTHING = And(())


@dataclass(frozen=True, slots=True)
class Query:
    filter: Filter = EVERYTHING

    @property
    def words(self) -> tuple[str, ...]:
        """The bare words, each once."""
        found = (word for part in _positive(self.filter) if isinstance(part, Words) for word in part.words)
        return tuple(dict.fromkeys(found))

    @property
    def needs_word(self) -> bool:
        """Whether nothing is found that has none of the bare words."""
        parts = self.filter.parts if isinstance(self.filter, And) else (self.filter,)
        return any(isinstance(part, Words) for part in parts)

    @property
    def paths(self) -> tuple[Test, ...]:
        """What `path:` asks for: files that the vault excludes are found if it names them."""
        asked = (part.test for part in _positive(self.filter) if isinstance(part, In) and part.part is Part.PATH)
        return tuple(test for test in asked if not isinstance(test, No))


def _positive(part: Filter) -> Iterator[Filter]:
    """The leaves that are not behind a minus."""
    if isinstance(part, And | Or):
        for inner in part.parts:
            yield from _positive(inner)
    elif not isinstance(part, Not):
        yield part
