"""Who a request says it is for, and which page it comes from: the headers Host and Origin.

A browser always sends the true ones, so they tell a page from elsewhere, and a name that was made to point at this
machine (DNS rebinding), from a program that is meant to come in.
"""

from __future__ import annotations

import functools
import re

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
OBSIDIAN = "app://obsidian.md"  # the app's own windows, whose plugins can read the vault anyway
ANY_ORIGIN = "*"
_HOST = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::\d{1,5})?")


@functools.lru_cache(100)
def without_port(host: str) -> str:
    """Of a Host header, in lower case; empty if it is not one."""
    found = _HOST.fullmatch(host.strip())
    return found[1].lower() if found else ""


def is_served_here(origin: str, host: str) -> bool:
    """Whether a page of that origin came from the very address that it now asks."""
    return origin.lower() == f"http://{host.strip().lower()}"
