"""One change as the ledger keeps it: what is shown of it, and the bytes from which it can be taken back.

A change set is stored as a line of JSON that says what follows, then the texts, all compressed by zlib. Of a write, the
text before is stored whole and the text after by what differs, so a change can be shown and taken back whatever the
note holds by now. A text from LONG on, most of which stays, would fill the ledger with copies of itself: of that only
what differs is stored, both ways, with the SHA-256 of both texts. Either can then be made from the other: such a note
has to be as the change left it, or found it.

Strings are stored with `surrogatepass`: a file's name need not be UTF-8, and reaches us with lone surrogates.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any

from obsidian_mcp.alike import common_ends
from obsidian_mcp.vault.changes import Change, ChangeSet, Rename, Restore, Trash, Write
from obsidian_mcp.vault.history import Difference, KeptChanges, Unreadable, digest

VERSION = b"\x01"  # of what is stored; its first byte
LONG = 64 * 1024  # bytes of a text, from which on it is not stored whole if most of it stays
LEVEL = 3  # of zlib: less than half of the usual one's time, for a tenth more bytes

_LETTERS = "bcdfghjkmnpqrstvwxz"  # no vowels, so no words; no l, which looks like 1
_SIGNS = _LETTERS + "23456789"
_SHORTEST = 4
_STEP = 231_131  # has no factor in common with 19 and 27, so each number gets an id of its own


# What a listing needs


def short_id(number: int) -> str:
    """A letter and three signs or more; next to nothing in common with the id of the next number."""
    length, size = _SHORTEST, len(_LETTERS) * len(_SIGNS) ** (_SHORTEST - 1)
    while number >= size:
        number, length, size = number - size, length + 1, size * len(_SIGNS)
    rest, signs = number * _STEP % size, ""
    for _ in range(length - 1):
        rest, at = divmod(rest, len(_SIGNS))
        signs = _SIGNS[at] + signs
    return _LETTERS[rest] + signs


def moved(changes: ChangeSet) -> list[tuple[str, str]]:
    """Where each file that is elsewhere afterwards was and is, whatever places it had in between."""
    began: dict[str, str] = {}
    for change in changes.changes:
        if isinstance(change, Rename):
            began[change.target] = began.pop(change.path, change.path)
        elif isinstance(change, Trash) or (isinstance(change, Write) and change.after is None):
            began.pop(change.path, None)
    return [(old, new) for new, old in began.items() if old != new]


# Encoding

_Row = list[Any]


def encode(changes: ChangeSet, long: int = LONG) -> bytes:
    rows: list[_Row] = []
    texts: list[bytes] = []
    for change in changes.changes:
        row, parts = _stored(change, long)
        rows.append(row)
        texts += (part for part in parts if part is not None)
    said = [changes.doing, rows, changes.made, changes.unmade]
    line = json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return VERSION + zlib.compress(line + b"\n" + b"".join(texts), LEVEL)


def decode(data: bytes) -> KeptChanges:
    """Raises Unreadable for anything that was not made by `encode`."""
    if data[:1] != VERSION:
        raise Unreadable(f"It begins with {data[:1]!r} and not with {VERSION!r}.")
    try:
        line, _, texts = zlib.decompress(data[1:]).partition(b"\n")
        doing, rows, made, unmade = json.loads(line.decode("utf-8", "surrogatepass"))
        reader = _Texts(texts)
        changes = tuple(_parsed(row, reader) for row in rows)
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise Unreadable(str(error)) from None
    if not isinstance(doing, str) or not reader.is_at_end or not all(map(_is_list_of_paths, (made, unmade))):
        raise Unreadable("It does not end where it should.")
    return KeptChanges(doing, changes, tuple(made), tuple(unmade))


def _is_list_of_paths(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _stored(change: Change, long: int) -> tuple[_Row, Iterable[bytes | None]]:
    """What is said of a change, and the texts that follow."""
    if isinstance(change, Rename):
        return ["rename", change.path, change.target], ()
    if isinstance(change, Trash):
        return ["trash", change.path, change.permanent, _size(change.before), change.to, change.mode], (change.before,)
    if isinstance(change, Restore):
        return ["restore", change.path, _size(change.before), change.to, change.mode], (change.before,)
    return _stored_write(change, long)


def _stored_write(change: Write, long: int) -> tuple[_Row, Iterable[bytes | None]]:
    before, after = change.before, change.after
    if before is None or after is None:
        return ["write", change.path, change.whole, _size(before), 0, 0, _size(after)], (before, after)
    if change.whole and before == after:  # a witness: that it is as it was left, and no more, has to be known
        same = digest(before)
        return ["differ", change.path, True, len(before), 0, 0, 0, same, same], (b"", b"")
    head, tail = common_ends(before, after)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(before) >= long and head + tail > len(old):
        digests = (digest(before), digest(after))
        return ["differ", change.path, change.whole, head, tail, len(old), len(new), *digests], (old, new)
    return ["write", change.path, change.whole, len(before), head, tail, len(new)], (before, new)


def _parsed(row: object, texts: _Texts) -> Change | Difference:
    match row:
        case ["rename", str(path), str(target)]:
            return Rename(path, target)
        case ["trash", str(path), bool(permanent), size, str(to), int() | None as mode]:
            return Trash(path, permanent, texts.maybe(size), to, mode)
        case ["restore", str(path), size, str(to), int() | None as mode]:
            return Restore(path, texts.maybe(size), to, mode)
        case ["write", str(path), bool(whole), size, int(head), int(tail), new]:
            before, middle = texts.maybe(size), texts.maybe(new)
            return Write(path, before, _joined(before or b"", head, tail, middle), whole)
        case ["differ", str(path), bool(whole), int(head), int(tail), old, new, str(was), str(then)]:
            return Difference(path, head, tail, texts.take(old), texts.take(new), (was, then), whole)
    raise ValueError("a change is not one")


class _Texts:
    """The texts one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def maybe(self, size: object) -> bytes | None:
        return None if size is None else self.take(size)

    def take(self, size: object) -> bytes:
        if not isinstance(size, int) or not 0 <= size <= len(self._data) - self._at:
            raise ValueError("a text is not there")
        self._at += size
        return self._data[self._at - size : self._at]

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._data)


def _joined(before: bytes, head: int, tail: int, middle: bytes | None) -> bytes | None:
    if min(head, tail) < 0 or head + tail > len(before):
        raise ValueError("a difference lies outside its text")
    return None if middle is None else before[:head] + middle + before[len(before) - tail :]


def _size(text: bytes | None) -> int | None:
    return None if text is None else len(text)
