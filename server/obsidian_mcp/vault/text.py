"""A note's bytes: what they are called, where additions go, how they are cut into pages."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from json.encoder import encode_basestring

from obsidian_mcp.errors import Conflict, NotText
from obsidian_mcp.vault.path import VaultPath

MOST_OF_CHARACTER = 6  # bytes that one takes in JSON: \u0001
_ESCAPED = bytes(range(32)) + b'"\\'  # what JSON writes as more than one byte
BOM = b"\xef\xbb\xbf"

# Opens on the very first line, closes on a line of its own; the closing one may be the last.
_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n")
_CLOSING = re.compile(rb"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


class Digest:
    """Bytes as they come → an etag: the first 16 hex digits of their SHA-256."""

    def __init__(self, data: bytes = b"") -> None:
        self._hash = hashlib.sha256(data)

    def update(self, data: bytes) -> None:
        self._hash.update(data)

    def etag(self) -> str:
        return self._hash.hexdigest()[:16]


def etag(data: bytes) -> str:
    return Digest(data).etag()


def require_match(path: VaultPath, found: str, if_match: str | None) -> None:
    """Raise unless the note has the etag that the caller saw."""
    if if_match is not None and if_match != found:
        raise Conflict(
            f"{path} has changed: its etag is {found}, not {if_match}.",
            "Read the note again, then decide.",
            path=path.value,
            etag=found,
        )


def decoded(path: VaultPath, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NotText(
            f"{path} is not UTF-8 text, so it can be moved, renamed, deleted and described, but not read or added to.",
            path=path.value,
        ) from None


def appended(before: bytes, content: str, inline: bool) -> bytes:
    """The note with the content on a line of its own at the end."""
    starts_line = inline or not before or before.endswith(b"\n")
    return before + (b"" if starts_line else b"\n") + content.encode()


def prepended(before: bytes, content: str, inline: bool) -> bytes:
    """The note with the content before its body, after its frontmatter, or after a byte order mark alone."""
    head, body = frontmatter_and_body(before)
    if not head and body.startswith(BOM):
        head, body = BOM, body[len(BOM) :]  # in the middle of a text it would be a character like any other
    if head not in (b"", BOM) and not head.endswith(b"\n"):
        head += b"\n"  # even inline: text after the closing --- on its line would undo the properties
    ends_line = inline or content.endswith("\n")
    return head + content.encode() + (b"" if ends_line else b"\n") + body


def frontmatter_and_body(data: bytes) -> tuple[bytes, bytes]:
    opening = _OPENING.match(data)
    closing = _CLOSING.search(data, opening.end()) if opening else None
    end = closing.end() if closing else 0
    return data[:end], data[end:]


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a note. `next_line` is where it goes on, `next_char` the character of that line if not the first."""

    content: str
    lines: int
    next_line: int | None = None
    next_char: int | None = None


def page(text: str, room: int, start_line: int = 1, start_char: int = 1, max_lines: int | None = None) -> Page:
    """As much as takes no more than `room` bytes in JSON. The pages put together are the note, byte for byte.

    It is cut at the end of a line; within one only where a line alone is longer than a page.
    """
    lines = line_count(text)
    first = _skip_lines(text, 0, start_line - 1)
    after_line = _skip_lines(text, first, 1)
    begin = min(first + start_char - 1, after_line)
    end = len(text) if max_lines is None else _skip_lines(text, after_line, max_lines - 1)
    cut = _fitting(text, begin, end, room)
    if cut < end:
        cut = text.rfind("\n", begin, cut) + 1 or cut
    content = text[begin:cut]
    if cut == len(text):
        return Page(content, lines)
    line_begin = text.rfind("\n", 0, cut) + 1
    next_line = start_line + text.count("\n", first, cut)
    return Page(content, lines, next_line, cut - line_begin + 1 if cut > line_begin else None)


def line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _fitting(text: str, begin: int, end: int, room: int) -> int:
    """How far the text from `begin` on fits. It goes on by a character at least, or reading would never end."""
    if (end - begin) * MOST_OF_CHARACTER <= room:
        return end
    end = min(end, begin + room)  # no character takes less than a byte
    if _json_size(text[begin:end]) <= room:
        return end
    low, high = begin + 1, end
    while low < high:
        middle = (low + high + 1) // 2
        if _json_size(text[begin:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _json_size(text: str) -> int:
    """What the text takes within a JSON string, where some characters are written as two bytes or six."""
    return len(encode_basestring(text).encode()) - 2


def most_json_size(data: bytes) -> int:
    """No less than what a text takes within a JSON string, and found much sooner."""
    longer = len(data) - len(data.translate(None, _ESCAPED))
    return len(data) + longer * (MOST_OF_CHARACTER - 1)


def _skip_lines(text: str, at: int, count: int) -> int:
    """Where the text goes on after so many lines."""
    for _ in range(count):
        newline = text.find("\n", at)
        if newline < 0:
            return len(text)
        at = newline + 1
    return at
