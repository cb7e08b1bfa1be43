"""A file as a walk through its folder shows it."""

from __future__ import annotations

from typing import NamedTuple


class Seen(NamedTuple):
    """`modified` is in nanoseconds since 1970. Where only names are known, it is 0 and the size is -1."""

    modified: int
    size: int
    path: str
