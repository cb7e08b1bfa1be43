"""The YAML that most notes have, read without a library.

Nearly every frontmatter is `key: value` lines, lists on one line, and lists of `- item` lines. Those are read here, a
line at a time, many times faster than a YAML library does it. Where a line could mean anything else the whole block is
left to the library: a test holds that both agree wherever this one answers.

`resolve` is the core schema of YAML 1.2, which Obsidian uses: `yes`, `12:30`, `1_000` and dates are text.
"""

from __future__ import annotations

import re
from typing import Any, Final

Value = str | int | float | bool | None | list[Any] | dict[str, Any]  # what JSON can hold; dates are text

_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_NUMBER = re.compile(rf"0o(?P<octal>[0-7]+)|0x(?P<hex>[0-9a-fA-F]+)|(?P<decimal>{_FLOAT})")
_BASES = {"octal": 8, "hex": 16}
_TAGGED: Final[dict[str, tuple[type, ...]]] = {
    "tag:yaml.org,2002:int": (int,),
    "tag:yaml.org,2002:float": (float, int),
    "tag:yaml.org,2002:bool": (bool,),
    "tag:yaml.org,2002:null": (type(None),),
}
_MOST_EXACT = 2**53  # JavaScript's numbers are doubles
_RESOLVED = frozenset("0123456789+-.~nNtTfF")  # what a plain scalar begins with that may be other than text

_PROPERTY = re.compile(r"([^\W\d](?:[\w /.-]*[\w/.-])?):(?: +(.*))?", re.DOTALL)
_ITEM = re.compile(r"( *)-(?: +(.*))?", re.DOTALL)
_QUOTED = re.compile(r"(?:\"([^\"\\]*)\"|'([^']*)')(?: *| +#.*)", re.DOTALL)
_FLOW_ITEM = re.compile(r" *(?:\"([^\"\\]*)\" *|'([^']*)' *|(\w[^,:#\"'\[\]{}]*+))(?:,|(?=\]))", re.DOTALL)
_PLAIN = 3
_FLOW_END = re.compile(r" *\](?: *| +#.*)", re.DOTALL)
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_LONGEST_KEY = 1000  # YAML's limit is 1,024 with what stands around it
_UNSURE: Final = ...


def resolve(text: str) -> Value:
    """What a plain (unquoted) scalar means."""
    if text and text[0] not in _RESOLVED:
        return text
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    return _number(number) if number else text


def resolve_tagged(text: str, tag: str | None) -> Value:
    """What a quoted scalar means: it is text, unless a tag says otherwise and is right."""
    if not text.isascii():  # an escape can write half a character; two halves are one
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    value = resolve(text)
    return value if type(value) in _TAGGED.get(tag or "", ()) else text


def _number(found: re.Match[str]) -> Value:
    """An integer that a double can't hold is the nearest double, and one that no double can hold is text."""
    kind = found.lastgroup or ""
    try:
        value = float(int(found[kind], _BASES[kind]) if kind in _BASES else found[kind])
    except OverflowError:
        return found[0]
    if value.is_integer() and abs(value) < _MOST_EXACT:
        return int(value)
    return found[0] if value in (float("inf"), float("-inf")) else value


def parse(yaml: str) -> dict[str, Value] | None:
    """The properties, or None where the library has to say. Line ends are `\\n`."""
    if "\t" in yaml or "\r" in yaml:
        return None
    values: dict[str, Value] = {}
    name = ""  # the property whose list may follow
    items: list[Value] = []
    indent: str | None = None
    for line in yaml.split("\n"):
        if found := _PROPERTY.fullmatch(line):
            name, written = found.groups()
            if name in values or name in _WORDS or len(name) > _LONGEST_KEY:
                return None
            value = _value(written)
            if value is _UNSURE:
                return None
            values[name] = value
            if value is not None or (written and written[0] != "#"):
                name = ""
            indent = None
        elif found := _ITEM.fullmatch(line):
            if indent is None and name:
                indent = found[1]
                values[name] = items = []
            value = _value(found[2])
            if value is _UNSURE or indent != found[1]:
                return None
            items.append(value)
        elif line.lstrip(" ")[:1] not in ("", "#"):
            return None
    return values


def _value(written: str | None) -> Any:
    """What stands after `name:` or `-`, with a comment perhaps."""
    if not written:
        return None
    if written[0] in _INDICATORS:
        return _indicated(written)
    comment = written.find(" #")
    text = (written if comment < 0 else written[:comment]).rstrip(" ")
    if text[-1] == ":" or ": " in text:
        return _UNSURE
    return resolve(text)


def _indicated(written: str) -> Any:
    if written[0] == "[":
        return _flow(written)
    if written[0] == "#":
        return None
    quoted = _QUOTED.fullmatch(written)
    return quoted[quoted.lastindex or 1] if quoted else _UNSURE


def _flow(written: str) -> Any:
    """A list on one line."""
    items: list[Value] = []
    at = 1
    while not _FLOW_END.fullmatch(written, at):
        found = _FLOW_ITEM.match(written, at)
        if not found:
            return _UNSURE
        kind = found.lastindex or _PLAIN
        items.append(resolve(found[kind].rstrip(" ")) if kind == _PLAIN else found[kind])
        at = found.end()
    return items
