"""Results that go on: where a page begins, and where the next one does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

from obsidian_mcp.errors import InvalidArguments

T = TypeVar("T")


def fingerprint(*asked: object) -> str:
    """Of what was asked for, so that a cursor is not used for something else."""
    return hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()[:6]


def cursor(offset: int, of: str) -> str:
    return f"{offset}.{of}"


def offset(given: str | None, of: str) -> int:
    """Where to go on. Raises unless the cursor came with the last page of the same question."""
    if given is None:
        return 0
    number, _, rest = given.partition(".")
    if not (number.isascii() and number.isdecimal() and len(number) < 16) or rest != of:
        raise InvalidArguments(
            f"The cursor {given[:40]!r} does not belong to this call.",
            "Give next_cursor of the last result, with all other arguments as they were; or leave it out.",
        )
    return int(number)


def fitting(items: Iterable[T], size: Callable[[T], int], room: int, most: int) -> list[T]:
    """As many as there is room for; one at least, or it would never go on."""
    kept: list[T] = []
    for item in items:
        room -= size(item)
        if kept and (room < 0 or len(kept) >= most):
            break
        kept.append(item)
    return kept
