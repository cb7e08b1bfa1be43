"""A file of a vault as an address: `obsidian://vault/<vault>/<path>`, which Obsidian itself opens.

One is written in one way, and read in several: hosts encode what they were given again, or not at all, and people
leave `.md` out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from obsidian_mcp.vault.path import VaultPath, is_path
from obsidian_mcp.vault.spelling import SCHEME, Unreadable, decoded

PREFIX = f"{SCHEME}vault/"


@dataclass(frozen=True, slots=True)
class Address:
    """The names that the vault may have, and the paths that may be meant, the likeliest first."""

    vaults: tuple[str, ...]
    paths: tuple[VaultPath, ...]


def written(vault: str, path: str) -> str:
    """Every segment percent-encoded: hosts split at spaces, and `#` and `?` mean something in an address."""
    return f"{_root(vault)}/{quote(path)}"


def template(vault: str) -> str:
    """`{+path}` keeps the slashes of a path."""
    return f"{_root(vault)}/{{+path}}"


def _root(vault: str) -> str:
    return PREFIX + quote(vault, safe="")


def read(uri: str) -> Address | None:
    """As it was encoded once, not at all, or twice; None if it is no address of a file in a vault."""
    if uri[: len(PREFIX)].lower() != PREFIX:
        return None
    vault, slash, path = uri[len(PREFIX) :].partition("/")
    vaults, paths = _ways(vault), _ways(path)
    usable = [VaultPath(text) for way in paths for text in _with_and_without_extension(way) if is_path(text)]
    return Address(vaults, tuple(dict.fromkeys(usable))) if slash and vault else None


def _ways(text: str) -> tuple[str, ...]:
    """Decoded once, as it stands, decoded twice; each once."""
    try:
        once = decoded(text)
        ways: Sequence[str] = (once, text, decoded(once))
    except Unreadable:
        ways = (text,)
    return tuple(dict.fromkeys(ways))


def _with_and_without_extension(path: str) -> tuple[str, ...]:
    return (path,) if path[-3:].lower() == ".md" else (path, f"{path}.md")
