"""Text inside other text: a string of JSON or YAML, as it reads and where its characters stand."""

from __future__ import annotations

import bisect
import enum
import json
import re
from collections.abc import Callable

_DOUBLED = re.compile("''")
_JSON_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\.")
_YAML_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}|[^\n])")
_YAML_NAMED = dict(zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))


class Coding(enum.Enum):
    """What a text stands in, which says how it has to be written there."""

    PLAIN = "itself"
    UNQUOTED = "a property without quotes"
    SINGLE = "a property in single quotes"
    DOUBLE = "a property in double quotes"
    JSON = "a string of JSON"

    def encode(self, text: str) -> str:
        if self is Coding.SINGLE:
            return text.replace("'", "''")
        if self in (Coding.DOUBLE, Coding.JSON):
            return json.dumps(text, ensure_ascii=False)[1:-1]
        return text

    def can_carry(self, text: str) -> bool:
        """Whether the text means itself there."""
        return self is not Coding.UNQUOTED or not re.search(r":\s|\s#", text)


class Coded:
    """A string as it reads, and where each character of it stands."""

    def __init__(self, raw: str, start: int, end: int, coding: Coding) -> None:
        pattern, decode = _CODES.get(coding, (None, str))
        pieces: list[str] = []
        self._places: list[tuple[int, int]] = [(0, start)]  # of runs of characters: (here, there)
        at, length = start, 0
        for escape in pattern.finditer(raw, start, end) if pattern else ():
            pieces += [raw[at : escape.start()], decode(escape[0])]
            length += escape.start() - at
            self._places += [(length, escape.start()), (length + 1, escape.end())]
            at, length = escape.end(), length + 1
        pieces.append(raw[at:end])
        self.text = "".join(pieces)
        self.coding = coding

    def place(self, at: int) -> int:
        """Where a character of the text stands."""
        here, there = self._places[bisect.bisect_right(self._places, (at, 1 << 62)) - 1]
        return there + at - here


def _json(escape: str) -> str:
    try:
        return str(json.loads(f'"{escape}"'))
    except ValueError:
        return escape[1]  # no escape of JSON's; one character, as everything here


def _yaml(escape: str) -> str:
    if len(escape) > 2:
        return chr(int(escape[2:], 16))
    return _YAML_NAMED.get(escape[1], escape[1])


_CODES: dict[Coding, tuple[re.Pattern[str], Callable[[str], str]]] = {
    Coding.SINGLE: (_DOUBLED, lambda _: "'"),
    Coding.DOUBLE: (_YAML_ESCAPE, _yaml),
    Coding.JSON: (_JSON_ESCAPE, _json),
}


def decoded_escapes(text: str) -> str:
    """What a text says if it stands in double quotes."""
    return _YAML_ESCAPE.sub(lambda escape: _yaml(escape[0]), text)
