"""How a value is written in YAML, so that Obsidian reads back what was given.

A text is plain where that is read as the same text by YAML 1.2, as Obsidian's own printer (npm's `yaml`) decides it:
`yes`, dates and `12:30` need no quotes; `007`, `[[Link]]` and `a: b` do. Text of several lines is a block (`|-`) where
that is plain to see, and else one line with `\\n`. What is no list of single values is JSON, which is YAML too.
"""

from __future__ import annotations

import json
import re
from typing import Any

from obsidian_mcp.vault.simple_yaml import Value, resolve

# What a reader could take for the end of a line, for an indentation, or for no text at all.
_SPECIAL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_ESCAPED_IN_JSON = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_MARKS = re.compile(r"[,\[\]{}#&*!|>'\"%@` ]|[-?](?: |$)|.*(?:: |:$| #| $)")
_MARKS_IN_BRACKETS = re.compile(r"[?:]|.*(?:[\[\]{},]|:[?:])")
_NUMBER = re.compile(  # more than `resolve` takes for one: Obsidian has numbers that JSON has not
    r"[-+]?(?:\.?[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|0[ox][0-9a-fA-F]+|[-+]?\.(?:inf|nan)", re.IGNORECASE
)
_MOST_EXACT = 2**53  # JavaScript's numbers are doubles


def normal(value: Any) -> Value:
    """The value as Obsidian would have it, where 1.0 is 1. Raises ValueError for what JSON can't hold."""
    if isinstance(value, list | tuple):
        return [normal(item) for item in value]
    if isinstance(value, dict):
        return {str(key): normal(item) for key, item in value.items()}
    if value is None or isinstance(value, bool | str):
        return value
    if not isinstance(value, int | float):
        raise ValueError(f"{type(value).__name__} is not a kind of value that a property can have")
    return _number(value)


def _number(value: int | float) -> int | float:
    try:
        double = float(value)
    except OverflowError:
        double = float("inf")
    if double != value or double in (float("inf"), float("-inf")):
        raise ValueError(f"{str(value)[:40]} can't be kept exactly as a number: give it as text")
    return int(double) if double.is_integer() and abs(double) < _MOST_EXACT else double


def same(one: Value, other: Value) -> bool:
    """As JSON: `1` and `true` differ, which are equal in Python."""
    return json.dumps(one) == json.dumps(other)


def written(value: Value, *, in_brackets: bool = False) -> str:
    """On one line, after `name: ` or `- `, or among others in brackets."""
    if isinstance(value, str):
        return _text(value, in_brackets)
    return "[]" if value == [] else as_json(value)


def as_json(value: Value) -> str:
    return _ESCAPED_IN_JSON.sub(lambda char: f"\\u{ord(char[0]):04x}", json.dumps(value, ensure_ascii=False))


def key(name: str) -> str:
    """What would be no text as a value, and what could be a line between documents, is quoted."""
    return _quoted(name) if name.startswith(("---", "...", "?", ":")) else _text(name, in_brackets=False)


def block(text: str, indent: str, line_end: str) -> tuple[str, str] | None:
    """The mark after the name and the lines below it; None if the text is not one of plain lines."""
    lines = text.removesuffix("\n").split("\n")
    is_plain = len(lines) > 1 and lines[0][:1] not in ("", " ") and lines[-1] and not any(map(str.isspace, lines))
    if not is_plain or any(map(_SPECIAL.search, lines)):
        return None
    indented = (f"{indent}  {line}" if line else "" for line in lines)
    return "|" if text.endswith("\n") else "|-", "".join(line + line_end for line in indented)


def _text(text: str, in_brackets: bool) -> str:
    is_text = isinstance(resolve(text), str) and not _NUMBER.fullmatch(text)
    return text if is_text and _is_plain(text, in_brackets) else _quoted(text)


def _is_plain(text: str, in_brackets: bool) -> bool:
    if not text or _SPECIAL.search(text) or _MARKS.match(text):
        return False
    return not (in_brackets and _MARKS_IN_BRACKETS.match(text))


def _quoted(text: str) -> str:
    """In double quotes; in single ones where that saves escapes, as Obsidian has it."""
    if '"' in text and "'" not in text and not _SPECIAL.search(text):
        return f"'{text}'"
    return as_json(text)
