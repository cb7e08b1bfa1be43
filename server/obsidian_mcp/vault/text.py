"""A note's bytes: what they are called, where additions go, how they are cut into pages."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from obsidian_mcp.errors import Conflict, NotText, TooLarge
from obsidian_mcp.vault.path import VaultPath

PAGE_CHARACTERS = 50_000
LONGEST_LINE = 1024 * 1024

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
    content: str
    lines: int
    next_line: int | None


def page(path: VaultPath, text: str, start_line: int, max_lines: int | None) -> Page:
    """Some lines of a note. The pages put together are the note, byte for byte."""
    lines = line_count(text)
    if start_line == 1 and max_lines is None and lines > 1 and len(text) <= PAGE_CHARACTERS:
        return Page(text, lines, None)  # most notes, whole
    begin = _skip_lines(text, 0, start_line - 1)
    last = lines if max_lines is None else min(lines, start_line - 1 + max_lines)
    end, number = begin, start_line - 1
    while number < last:
        after = _skip_lines(text, end, 1)
        if number >= start_line and after - begin > PAGE_CHARACTERS:
            break
        end, number = after, number + 1
    content = text[begin:end]
    more = number < lines
    size = len(content.rstrip("\n").encode("utf-8", "surrogatepass"))
    if number == start_line and size > LONGEST_LINE:
        raise TooLarge(
            f"Line {start_line} of {path} has {size} bytes; a reply holds {LONGEST_LINE} of one line.",
            f"Read on from line {start_line + 1}." if more else "",
            path=path.value,
        )
    return Page(content, lines, number + 1 if more else None)


def line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _skip_lines(text: str, at: int, count: int) -> int:
    """Where the text goes on after so many lines."""
    for _ in range(count):
        newline = text.find("\n", at)
        if newline < 0:
            return len(text)
        at = newline + 1
    return at
