"""Where a person's vaults may be: Obsidian's own list, and folders with `.obsidian` in the usual places.

The search is bounded, in depth, folders and seconds: a home folder can hold millions of files. Nothing is opened, and
links are not followed.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from obsidian_mcp import long_paths, registry

MARK = ".obsidian"
MOST_FOLDERS = 20_000
LONGEST = 10.0  # seconds
DEPTH = 4  # below the home folder: ~/Documents/Notes/Private/Vault
# What holds many folders and no vault.
PASSED_OVER = frozenset({"appdata", "applications", "library", "node_modules", "site-packages", "snap", "venv"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A vault that may be meant; `note` is what tells it from others."""

    name: str
    path: str
    note: str = ""


def candidates(environ: Mapping[str, str], here: str, platform: str = sys.platform) -> list[Candidate]:
    """The likeliest first: the one around this folder, the one that is open, those Obsidian knows, any others."""
    found: dict[str, Candidate] = {}
    home = home_of(environ)
    for each in (*_around(here, home), *_registered(environ, platform), *_nearby(environ, home, platform)):
        found.setdefault(_known_by(each.path), each)
    return list(found.values())


def home_of(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or ""


def is_vault(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, MARK))


def warning(folder: str, home: str) -> str:
    """Why a folder is surely not what is meant; empty if it may be."""
    real = long_paths.real(folder)
    if os.path.dirname(real) == real:
        return f"{folder} is the whole disk, not a vault: every text file on it would be served"
    if home and _known_by(real) == _known_by(home):
        return f"{folder} is your home folder, not a vault: every text file in it would be served"
    return ""


def vault_above(folder: str) -> str:
    """The nearest folder above that is a vault; empty if none is."""
    at = os.path.dirname(long_paths.real(folder))
    while os.path.dirname(at) != at:
        if is_vault(at):
            return at
        at = os.path.dirname(at)
    return ""


def _around(here: str, home: str) -> Iterator[Candidate]:
    """The vault in which the command was started, unless that is the home folder."""
    at = here if is_vault(here) else vault_above(here)
    if at and not warning(at, home):
        yield Candidate(os.path.basename(at), at, "you are in it")


def _registered(environ: Mapping[str, str], platform: str) -> list[Candidate]:
    known = [vault for vault in registry.registered(environ, platform) if os.path.isdir(vault.path)]
    known.sort(key=lambda vault: not vault.open)
    return [Candidate(vault.name, vault.path, "open in Obsidian" if vault.open else "in Obsidian") for vault in known]


def _nearby(environ: Mapping[str, str], home: str, platform: str) -> Iterator[Candidate]:
    for path in walk(_roots(environ, home, platform), time.monotonic):
        yield Candidate(os.path.basename(path), path)


def _roots(environ: Mapping[str, str], home: str, platform: str) -> list[tuple[str, int]]:
    """Folders to look through, and how deep. The clouds of macOS lie in a folder that is passed over otherwise."""
    roots = [(home, DEPTH)] if home else []
    if platform == "darwin" and home:
        library = os.path.join(home, "Library")
        roots.append((os.path.join(library, "Mobile Documents", "iCloud~md~obsidian", "Documents"), 2))
        roots.append((os.path.join(library, "Mobile Documents", "com~apple~CloudDocs"), DEPTH))
        roots.append((os.path.join(library, "CloudStorage"), DEPTH + 1))
    clouds = (environ.get(name, "") for name in ("OneDrive", "OneDriveConsumer", "OneDriveCommercial"))
    return roots + [(cloud, DEPTH) for cloud in clouds if os.path.isabs(cloud)]


def walk(roots: list[tuple[str, int]], clock: Callable[[], float]) -> Iterator[str]:
    """Folders that are vaults, the nearest first; what lies inside one is not looked for."""
    todo, seen, end = deque(roots), 0, clock() + LONGEST
    while todo and seen < MOST_FOLDERS and clock() < end:
        folder, depth = todo.popleft()
        seen += 1
        inner = _folders_in(folder)
        if MARK in inner and (folder, depth) not in roots:
            yield folder
        elif depth > 0:
            todo.extend((os.path.join(folder, name), depth - 1) for name in inner if _may_hold_one(name))


def _may_hold_one(name: str) -> bool:
    return name[0] != "." and name.lower() not in PASSED_OVER


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _known_by(path: str) -> str:
    return os.path.normcase(long_paths.real(path))
