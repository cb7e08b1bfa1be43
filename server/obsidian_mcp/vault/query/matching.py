"""Whether a note is what a search asks for, by a plain reading of it.

The index only says which notes need not be read; what is found is decided here.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import InvalidArguments, TimedOut
from obsidian_mcp.vault import frontmatter, sections
from obsidian_mcp.vault.query import tree
from obsidian_mcp.vault.query.tree import Filter, Part, Test
from obsidian_mcp.vault.structure import Structure
from obsidian_mcp.vault.tags import tags_in
from obsidian_mcp.vault.words import folded, searchable, whole_word_places

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_DATE = re.compile(r"\d{4}-\d\d")
_COUNTED = re.compile(r"\{(\d{1,9})(?:,(\d{0,9}))?\}")
MOST_REPEATS = 10_000  # by counts in braces, of a regular expression as a whole
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


class Note:
    """A note as it is read, each part of it when it is first asked for."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self._data = data

    @functools.cached_property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")

    @functools.cached_property
    def folded(self) -> str:
        return folded(self.text)

    @property
    def file(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def name(self) -> str:
        return stem(self.path)

    @functools.cached_property
    def searchable(self) -> str:
        return searchable(self.text)

    @functools.cached_property
    def front(self) -> frontmatter.Frontmatter:
        return frontmatter.read(self.text)

    @property
    def properties(self) -> Mapping[str, Any]:
        return self.front.values

    @functools.cached_property
    def structure(self) -> Structure:
        return Structure(self.text, self.front.body)

    @functools.cached_property
    def tags(self) -> list[str]:
        """Of its properties and its text, without #, each once."""
        found = (*frontmatter.tags(self.properties), *tags_in(self.text, self.front.body))
        return list({folded(tag): tag for tag in reversed(found)}.values())[::-1]

    @functools.cached_property
    def parts(self) -> dict[Part, list[tuple[str, str]]]:
        return {}

    def texts(self, part: Part) -> list[tuple[str, str]]:
        """The texts of a part, each with its folded form."""
        if part not in self.parts:
            if part is Part.LINE:  # folding leaves line ends as they are
                self.parts[part] = list(zip(self.text.split("\n"), self.folded.split("\n"), strict=True))
            else:
                self.parts[part] = [(text, folded(text)) for text in self._texts(part)]
        return self.parts[part]

    def _texts(self, part: Part) -> Iterator[str]:
        if part is Part.FILE:
            yield self.file
        elif part is Part.PATH:
            yield self.path
        elif part is Part.CONTENT:
            yield self.text
        elif part is Part.BLOCK:
            yield from _BLANK_LINE.split(self.text)
        elif part is Part.SECTION:
            for start, end in sections.flat(self.structure, self.text):
                yield self.text[start:end]
        else:
            for task in self.structure.tasks:
                if part is Part.TASK or (part is Part.TODO) == (task.mark == " "):
                    yield task.text


def stem(path: str) -> str:
    """A note's name, without its folder and .md."""
    name = path.rpartition("/")[2]
    return name[:-3] if name[-3:].lower() == ".md" else name


class Matcher:
    """A filter as a question to notes. `words` says whether a note has one of these words or their forms.

    Regular expressions have the call's time and no more. Raises for one that can't be read.
    """

    def __init__(self, query: tree.Query, words: Callable[[tuple[str, ...], Note], bool], call: CallContext) -> None:
        self._filter = query.filter
        self._words = words
        self._call = call
        self._patterns = {test: _compiled(test) for test in _patterns(query.filter)}

    def matches(self, note: Note) -> bool:
        return self._matches(self._filter, note)

    def _matches(self, part: Filter, note: Note) -> bool:
        if isinstance(part, tree.And):
            return all(self._matches(inner, note) for inner in part.parts)
        if isinstance(part, tree.Or):
            return any(self._matches(inner, note) for inner in part.parts)
        if isinstance(part, tree.Not):
            return not self._matches(part.part, note)
        if isinstance(part, tree.Words):
            return self._words(part.words, note)
        if isinstance(part, tree.Text):
            return self._in_text(part.test, note)
        if isinstance(part, tree.Property):
            return self.has_property(part, note.properties)
        return self.in_part(part, note)

    def _in_text(self, test: Test, note: Note) -> bool:
        return self._passes(test, note.text, lambda: note.folded, is_text=True) or self._passes(
            test, note.name, lambda: folded(note.name)
        )

    def in_part(self, part: tree.In, note: Note) -> bool:
        if part.part is Part.TAG:
            return self.has_tag(part.test, note.tags)
        if part.part is Part.CONTENT:
            return self._passes(part.test, note.text, lambda: note.folded, is_text=True)
        is_text = part.part not in (Part.FILE, Part.PATH)
        if is_text and not all(needed in note.folded for needed in _needed(part.test)):
            return False
        return any(
            self._passes(part.test, text, lambda plain=plain: plain, is_text)  # type: ignore[misc]  # bound now
            for text, plain in note.texts(part.part)
        )

    def has_tag(self, test: Test, tags: Iterable[str]) -> bool:
        """`tag:a` is a or a/b. A pattern or a group is asked of each."""
        keys = [folded(tag) for tag in tags]
        return self._any_leaf(test, lambda leaf: any(self._is_tag(leaf, key) for key in keys))

    def _is_tag(self, leaf: Test, key: str) -> bool:
        if isinstance(leaf, tree.Contains):
            wanted = folded(leaf.text.removeprefix("#")).rstrip("/")
            return key == wanted or key.startswith(f"{wanted}/")
        return isinstance(leaf, tree.Pattern) and self._finds(leaf, f"#{key}")

    def has_property(self, part: tree.Property, properties: Mapping[str, Any]) -> bool:
        key = folded(part.name)
        values = [value for name, value in properties.items() if folded(name) == key]
        if part.test is None:
            return bool(values)
        items = [item for value in values for item in _items(value)]
        return bool(values) and self._any_leaf(
            part.test, lambda leaf: any(self._is_value(leaf, item) for item in items)
        )

    def _any_leaf(self, test: Test, ask: Callable[[Test], bool]) -> bool:
        if isinstance(test, tree.All):
            return all(self._any_leaf(inner, ask) for inner in test.parts)
        if isinstance(test, tree.Any):
            return any(self._any_leaf(inner, ask) for inner in test.parts)
        if isinstance(test, tree.No):
            return not self._any_leaf(test.part, ask)
        return ask(test)

    def _is_value(self, leaf: Test, value: Any) -> bool:
        if isinstance(leaf, tree.Constant):
            return value is {"TRUE": True, "FALSE": False, "EMPTY": None}[leaf.name]
        if value is None:
            return False
        if isinstance(leaf, tree.Compared):
            return _compares(leaf, value)
        text = as_text(value)
        if isinstance(leaf, tree.Pattern):
            return self._finds(leaf, text)
        assert isinstance(leaf, tree.Contains)
        wanted, found = (leaf.text, text) if leaf.exact else (folded(leaf.text), folded(text))
        return wanted == found if leaf.whole else wanted in found

    def _passes(self, test: Test, text: str, plain: Callable[[], str], is_text: bool = False) -> bool:
        """A phrase means whole words in a text, and any part of a name."""
        if isinstance(test, tree.All):
            return all(self._passes(inner, text, plain, is_text) for inner in test.parts)
        if isinstance(test, tree.Any):
            return any(self._passes(inner, text, plain, is_text) for inner in test.parts)
        if isinstance(test, tree.No):
            return not self._passes(test.part, text, plain, is_text)
        if isinstance(test, tree.Pattern):
            return self._finds(test, text)
        assert isinstance(test, tree.Contains)
        wanted, found = (_composed(test.text), _composed(text)) if test.exact else (_plain(test.text), plain())
        if test.whole and is_text and wanted:
            return any(True for _ in whole_word_places(found, wanted))
        return wanted in found

    def _finds(self, pattern: tree.Pattern, text: str) -> bool:
        try:
            text = text.replace("\r\n", "\n").removesuffix("\r")  # or $ would stand before what ends the line
            limit = max(0.01, self._call.remaining)
            return self._patterns[pattern].search(text, timeout=limit, concurrent=True) is not None  # without the GIL
        except TimeoutError:
            raise TimedOut(
                f"The regular expression /{pattern.source}/ took longer than the limit of {self._call.limit:g} s.",
                "Write a simpler one, or narrow the search by words or path: first.",
            ) from None


def _needed(test: Test) -> Iterator[str]:
    """What a text must contain to pass, folded."""
    if isinstance(test, tree.Contains):
        yield _plain(test.text)
    elif isinstance(test, tree.All):
        for part in test.parts:
            yield from _needed(part)


_plain = functools.lru_cache(maxsize=1000)(folded)


def _composed(text: str) -> str:
    """Where the case of letters counts, their Unicode form doesn't."""
    return unicodedata.normalize("NFC", text)


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def as_text(value: Any) -> str:
    """A property's value as a person would type it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _compares(leaf: tree.Compared, value: Any) -> bool:
    """As numbers if both are, else as texts: dates begin with what counts most. A number and a text don't compare."""
    text, wanted = as_text(value).strip(), leaf.value.strip()
    numbers = [_NUMBER.fullmatch(text) is not None, _NUMBER.fullmatch(wanted) is not None]
    if isinstance(value, bool) or not text or (any(numbers) and not all(numbers) and not _DATE.match(text)):
        return False
    left, right = (float(text), float(wanted)) if all(numbers) else (folded(text), folded(wanted))
    return {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[leaf.sign]  # type: ignore[operator]  # of one kind


def _patterns(part: Filter | Test) -> Iterator[tree.Pattern]:
    if isinstance(part, tree.Pattern):
        yield part
    elif isinstance(part, tree.And | tree.Or | tree.All | tree.Any):
        for inner in part.parts:
            yield from _patterns(inner)
    elif isinstance(part, tree.Not | tree.No):
        yield from _patterns(part.part)
    elif isinstance(part, tree.Text | tree.In) or (isinstance(part, tree.Property) and part.test is not None):
        assert part.test is not None
        yield from _patterns(part.test)


def _compiled(pattern: tree.Pattern) -> Any:
    """By a library whose searches can be given a time: Python's own can't be stopped."""
    import regex  # not before there is one to read

    counted = (max(int(number or 0) for number in found) for found in _COUNTED.findall(pattern.source))
    if math.prod(max(1, count) for count in counted) > MOST_REPEATS:  # it takes long even to read
        raise InvalidArguments(
            f"The regular expression /{pattern.source}/ repeats too often.",
            f"Use at most {MOST_REPEATS} repeats in all.",
        )
    flags = regex.MULTILINE | (0 if pattern.exact else regex.IGNORECASE)
    try:
        return regex.compile(pattern.source, flags)
    except (regex.error, OverflowError, RecursionError, ValueError) as problem:
        raise InvalidArguments(
            f"The regular expression /{pattern.source}/ can't be read: {problem}.",
            'To search for the text itself, put it in quotes: "…".',
        ) from None


def named_by_path(query: tree.Query, call: CallContext) -> Callable[[str], bool]:
    """Whether a file is one that `path:` asks for."""
    tests = [tree.In(Part.PATH, test) for test in query.paths]
    if not tests:
        return lambda path: False
    matcher = Matcher(query, lambda words, note: False, call)
    return lambda path: any(matcher.in_part(test, Note(path, b"")) for test in tests)
