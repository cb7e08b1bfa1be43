"""A note's properties: the YAML between two `---` lines at its head, as Obsidian reads it.

Obsidian uses npm's `yaml` (YAML 1.2, core schema). PyYAML's scanner is one of YAML 1.1, so only its events are used:
what a scalar means is decided by `resolve`, and the few places where the two disagree on the syntax are handled here.
Most notes never get that far: see `simple_yaml`.

A vault is never trusted: values that contain themselves, aliases of aliases and brackets without end are bounded, and
a block beyond the bounds is invalid like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from obsidian_mcp.vault.simple_yaml import Value, parse, resolve, resolve_tagged

_OPENING = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """`start` and `end` are where the YAML stands, without the `---` lines; `body` is where the rest begins.

    Where there is none, all three are 0. Where it is invalid, `problem` says why and `line` (from 1, in the note)
    where, and there are no values: Obsidian doesn't read half a block either.
    """

    start: int
    end: int
    body: int
    values: dict[str, Value]
    problem: str | None = None
    line: int | None = None


class _Invalid(Exception):
    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line  # from 0, in the YAML


def place(text: str) -> tuple[int, int, int]:
    """Where the YAML begins and ends, and where the body begins; all 0 if there is none."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    return (opening.end(), closing.start(), closing.end()) if opening and closing else (0, 0, 0)


def read(text: str) -> Frontmatter:
    start, end, body = place(text)
    if not body:
        return Frontmatter(0, 0, 0, {})
    try:
        values = _values(text[start:end])
    except _Invalid as invalid:
        line = invalid.line + 2
        return Frontmatter(start, end, body, {}, f"Line {line}: {invalid}.", line)
    return Frontmatter(start, end, body, values)


def problem_of(yaml: str) -> str | None:
    """Why a whole file of YAML can't be read; None if it can."""
    try:
        _values(yaml.removeprefix("\ufeff"))
    except _Invalid as invalid:
        return f"Line {invalid.line + 1}: {invalid}."
    return None


def _values(yaml: str) -> dict[str, Value]:
    yaml = yaml.replace("\r\n", "\n")
    values = parse(yaml)
    return read_with_library(yaml) if values is None else values


# Tags, aliases, types.

_NOT_IN_TAGS = r"\s\u2000-\u206f\u2e00-\u2e7f!-,.:-@\[-^`{-~"
_TAG = re.compile(rf"(?=[^{_NOT_IN_TAGS}]*[^{_NOT_IN_TAGS}0-9])[^{_NOT_IN_TAGS}]*[^{_NOT_IN_TAGS}/]")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)?")
_KINDS = frozenset(("text", "multitext", "number", "checkbox", "date", "datetime", "tags", "aliases"))
_KINDS_BY_NAME = {"tags": "tags", "aliases": "aliases", "cssclasses": "multitext"}
_KINDS_BY_TYPE: dict[type, str] = {bool: "checkbox", int: "number", float: "number", list: "multitext"}


def tags(values: Mapping[str, Value]) -> list[str]:
    """Without `#`. What could not be a tag is left out; `tags: a, b` is one value, and none."""
    written = (text.removeprefix("#") for text in _texts(values, "tags"))
    return [text for text in written if _TAG.fullmatch(text)]


def aliases(values: Mapping[str, Value]) -> list[str]:
    return [text for text in _texts(values, "aliases") if text]


def _texts(values: Mapping[str, Value], name: str) -> Iterator[str]:
    """The texts of the first property with the name in any case, be it a list or a single one."""
    value = next((value for key, value in values.items() if key.lower() == name), None)
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            yield item.strip()


def kind(name: str, value: Value, types: Mapping[str, str]) -> str:
    """Obsidian's type of a property: what the vault's `types.json` says of the name, or else what the value is."""
    lower = name.lower()
    declared = types.get(name) or next((kind for key, kind in types.items() if key.lower() == lower), "")
    if declared in _KINDS:
        return declared
    date = _DATE.fullmatch(value) if isinstance(value, str) else None
    of_text = "text" if not date else "datetime" if date[1] else "date"
    return _KINDS_BY_NAME.get(lower) or _KINDS_BY_TYPE.get(type(value), of_text)


# The library.

_MOST_DEPTH = 64
_MOST_USES = 99  # of one anchor, as in Obsidian's library
_MOST_COPIED = 100_000  # characters of YAML that aliases stand for

# What YAML 1.1 takes for the end of a line, for no text at all, or for a mark, and 1.2 for a character like any other.
_FOREIGN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\?(?=[^\s,\[\]{}])")
_PRIVATE_USE = range(0xE000, 0xF900)

# What PyYAML refuses and Obsidian reads: tabs that are no indentation, a value that is a dash, a property without a
# name, a character written as two halves.
_MENDS: list[tuple[re.Pattern[str], Any]] = [
    (re.compile(r"^ *\t[ \t]*+(?=#|$)", re.MULTILINE), ""),
    (re.compile(r"^( *- *)\t[ \t]*+(?=[^\s?:-][^:\n]*$)", re.MULTILINE), r"\1 "),
    (re.compile(r"^([^#\n\"']*[^\s#\"']: +)-(?= *(?:#.*)?$)", re.MULTILINE), r"\1[~]"),
    (re.compile(r"^( *):(?= |$)", re.MULTILINE), r"\1~:"),
    (
        re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"),
        lambda pair: bytes.fromhex(pair[1] + pair[2]).decode("utf-16-be"),
    ),
]
_REASONS = {
    "mapping values": 'a text with ": " in it needs quotes, and a property of a property needs a line of its own',
    "cannot start any token": "a text that begins with @, ` or % needs quotes, and a tab can't indent",
    "block sequence entries": 'a list begins on the line after its name, and a text that begins with "- " needs quotes',
    "could not find expected ':'": "this is neither `name: value` nor part of a value",
    "expected ',' or": "a list or map in brackets is not closed, or has text in it that needs quotes",
    "expected key": "this is indented differently from the lines around it, or follows a value that has ended",
    "end of stream": "a quote is not closed",
    "alphabetic or numeric": "a text that begins with * or & needs quotes",
}


def read_with_library(yaml: str) -> dict[str, Value]:
    """The properties in any YAML, with line ends as `\\n`."""
    try:
        root = _Builder(yaml).root()
    except _Invalid:
        mended = yaml
        for pattern, instead in _MENDS:
            mended = pattern.sub(instead, mended)
        if mended == yaml:
            raise
        root = _Builder(mended).root()
    if root is not None and not isinstance(root, dict):
        raise _Invalid("the properties are not lines of `name: value`", 0)
    return root or {}


def _events(yaml: str) -> Iterator[Any]:
    import yaml as library  # loaded when the first note needs it

    try:
        yield from library.parse(yaml, Loader=getattr(library, "CBaseLoader", library.BaseLoader))
    except library.YAMLError as error:
        raise _invalid(error) from None


def _invalid(error: Any) -> _Invalid:
    """Quotes and brackets that don't end are shown where they begin, which is the context; the rest where it ends."""
    problem = getattr(error, "problem", None) or "this is not YAML"
    in_block = "block" in (getattr(error, "context", None) or "block")
    mark = getattr(error, "problem_mark" if in_block else "context_mark", None)
    reason = next((reason for part, reason in _REASONS.items() if part in problem), problem)
    return _Invalid(reason, mark.line if mark else 0)


def _veil(yaml: str) -> dict[str, str]:
    """Characters that stand in for those which PyYAML would not take for text."""
    foreign = set(_FOREIGN.findall(yaml))
    used = set(yaml)
    veil = dict(zip(foreign, (char for char in map(chr, _PRIVATE_USE) if char not in used), strict=False))
    if len(veil) < len(foreign):
        raise _Invalid("there are too many kinds of unusual characters", 0)
    return veil


@dataclass(slots=True)
class _Open:
    """A list or map of which not all has been read. `key` is that of a map whose value comes next."""

    into: Any
    start: Any
    anchor: str | None
    is_flow: bool
    column: int  # where its keys or dashes stand; what belongs to them stands further right
    key: str | None = None
    seen: set[tuple[bool, Value]] = field(default_factory=set)
    copied: int = 0


@dataclass(slots=True)
class _Anchored:
    value: Any
    size: int  # in characters, with what its aliases stand for
    uses: int = 0


class _Builder:
    """Events → values, without recursion: the depth of the YAML is not that of the stack."""

    def __init__(self, yaml: str) -> None:
        veil = _veil(yaml)
        self._yaml = _FOREIGN.sub(lambda found: veil[found[0]], yaml) if veil else yaml
        self._unveil = {ord(cover): char for char, cover in veil.items()}
        self._open = [_Open([], None, None, False, -1)]  # the outermost is the list of documents
        self._anchors: dict[str | None, _Anchored | None] = {}  # no value while what it names is still open
        self._copied = 0

    def root(self) -> Value:
        takes = {
            "ScalarEvent": self._scalar,
            "SequenceStartEvent": self._begin,
            "MappingStartEvent": self._begin,
            "SequenceEndEvent": self._finish,
            "MappingEndEvent": self._finish,
            "AliasEvent": self._alias,
        }
        for event in _events(self._yaml):
            if take := takes.get(type(event).__name__):
                take(event)
        return next(iter(self._open[0].into), None)

    def _scalar(self, event: Any) -> None:
        if event.style in ("'", '"'):
            self._check_lines(event.start_mark, event.end_mark, False)
        text = event.value.translate(self._unveil) if self._unveil else event.value
        is_plain = event.implicit[0] and event.tag is None
        value = resolve(text) if is_plain else resolve_tagged(text, event.tag)
        self._anchors[event.anchor] = _Anchored(value, len(text))
        self._place(value, event.start_mark, event.end_mark)

    def _begin(self, event: Any) -> None:
        if len(self._open) > _MOST_DEPTH:
            raise _Invalid(f"lists and maps are more than {_MOST_DEPTH} deep", event.start_mark.line)
        into: Any = {} if type(event).__name__ == "MappingStartEvent" else []
        self._anchors[event.anchor] = None
        has_own_column = not event.flow_style and event.anchor is None and event.tag is None
        column = event.start_mark.column if has_own_column else self._open[-1].column
        self._open.append(_Open(into, event.start_mark, event.anchor, bool(event.flow_style), column))

    def _finish(self, event: Any) -> None:
        done = self._open.pop()
        if done.is_flow:
            self._check_lines(done.start, event.end_mark, True)
        self._open[-1].copied += done.copied
        self._anchors[done.anchor] = _Anchored(done.into, event.end_mark.index - done.start.index + done.copied)
        self._place(done.into, done.start, event.end_mark)

    def _alias(self, event: Any) -> None:
        line = event.start_mark.line
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            raise _Invalid(f"*{event.anchor[:40]} is an alias of nothing, or of itself; a text needs quotes", line)
        anchored.uses += 1
        self._copied += anchored.size
        self._open[-1].copied += anchored.size
        if anchored.uses > _MOST_USES or self._copied > _MOST_COPIED:
            raise _Invalid(f"there are too many aliases like *{event.anchor[:40]}", line)
        self._place(anchored.value, event.start_mark, event.end_mark)

    def _check_lines(self, start: Any, end: Any, is_flow: bool) -> None:
        """What quotes or brackets hold stands further right than what it belongs to, and apart from a comment."""
        if self._yaml.startswith("#", end.index):
            raise _Invalid("a comment needs a space before it", end.line)
        if start.line == end.line or self._open[-1].is_flow:
            return
        _, *lines = self._yaml[start.index : end.index].split("\n")
        for number, line in enumerate(lines, start.line + 1):
            text = line.lstrip(" ")
            further = len(line) - len(text) - self._open[-1].column
            is_bracket = further == 0 and number == end.line and len(text) == 1  # as Obsidian allows
            is_free = not text or (is_flow and (is_bracket or text.lstrip("\t")[:1] in ("", "#")))
            if further <= 0 and not is_free:
                raise _Invalid("a value that goes on here has to be indented", number)

    def _place(self, value: Any, start: Any, end: Any) -> None:
        """Put a value where it belongs: it may turn out to be a key."""
        around = self._open[-1]
        if around is self._open[0] and around.into:
            raise _Invalid("the YAML ends before this line and begins again", start.line)
        if isinstance(around.into, list):
            around.into.append(value)
        elif around.key is not None:
            around.into[around.key] = value
            around.key = None
        else:
            around.key = self._key(around, value, start, end)

    def _key(self, around: _Open, value: Any, start: Any, end: Any) -> str:
        """As Obsidian spells it: null is empty. A list or map is its source."""
        if isinstance(value, list | dict):
            return self._yaml[start.index : end.index].translate(self._unveil)
        identity = (isinstance(value, bool), value)  # True is 1 in Python
        if identity in around.seen:
            raise _Invalid(f"`{str(value)[:40]}` is there twice", start.line)
        around.seen.add(identity)
        return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
