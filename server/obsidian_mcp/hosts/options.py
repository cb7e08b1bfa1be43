"""The options in a host's entry, and what becomes of them when more are given."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from obsidian_mcp import long_paths, settings
from obsidian_mcp.errors import VaultNotFound
from obsidian_mcp.hosts.known import ERRORS_AS_RESULTS, own_words
from obsidian_mcp.registry import Located

Given = dict[str, list[str]]


def given_by(entry: Mapping[str, Any]) -> Given | None:
    """What an entry's arguments say; None if they start no server."""
    args = entry.get("args", [])
    if not isinstance(args, list) or not all(isinstance(word, str) for word in args):
        return None
    try:
        given, rest = settings.split(own_words(args))
    except settings.UsageError:
        return None
    return None if rest else given


def vaults_of(entry: Mapping[str, Any]) -> list[str]:
    """Those that an entry names, by its arguments or its environment."""
    own = entry.get("env")
    environ = {name: value for name, value in own.items() if isinstance(value, str)} if isinstance(own, dict) else {}
    try:
        return list(settings.load(given_by(entry) or {}, environ).vaults)
    except settings.UsageError:
        return []


def added(entry: Mapping[str, Any], words: Sequence[str], environ: Mapping[str, str]) -> list[str] | None:
    """An entry's options with those of the words; a vault comes after those that are there, anything else instead.

    None if the entry's own can't be understood.
    """
    old, new = given_by(entry), settings.split(words)[0]
    if old is None:
        return None
    both = {**old, **new}
    if "vault" in new:
        here = [vault for vault in vaults_of(entry) if not is_gone(vault, environ)]
        both["vault"] = _together(here, new["vault"], environ)
    if both == old:
        return own_words(list(entry.get("args", [])))
    return words_of(both)


def without_false(words: Sequence[str]) -> list[str]:
    """A flag that is switched off is one that isn't there."""
    return [word for word in words if not (word.startswith("--") and word.endswith("=false"))]


def _together(old: Sequence[str], new: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    known = {place_of(vault, environ) for vault in old}
    return [*old, *(vault for vault in dict.fromkeys(new) if place_of(vault, environ) not in known)]


def is_gone(vault: str, environ: Mapping[str, str]) -> bool:
    """Whether it is a folder that is not there any more. First in an entry, it would be what every call means."""
    return settings.looks_like_path(vault) and not os.path.isdir(settings.at_home(vault, environ))


def place_of(vault: str, environ: Mapping[str, str]) -> str:
    """What tells whether two names mean one vault: its folder."""
    try:
        return os.path.normcase(long_paths.real(Located(vault, environ).folder))
    except (VaultNotFound, OSError, ValueError):
        return vault


def words_of(given: Given) -> list[str]:
    """As an entry has them."""
    name, value = ERRORS_AS_RESULTS
    is_usual = given.get(name.removeprefix("--")) == [value]
    words = [name, value] if is_usual else []
    for option in settings.OPTIONS:
        values = given.get(option.name, [])
        if option.flag:
            words += [f"--{option.name}"] if values and values[-1].lower() in settings.TRUE else []
        elif not (is_usual and f"--{option.name}" == name):
            words += [word for each in values for word in (f"--{option.name}", each)]
    return words
