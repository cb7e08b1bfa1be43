"""One walk through a vault's folder that counts, and finds what would be in the way. No file is opened."""

from __future__ import annotations

import os
import time

from obsidian_mcp.backends.files import cloud
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.scan import Scan
from obsidian_mcp.backends.files.windows import is_own_folder
from obsidian_mcp.vault.census import Census
from obsidian_mcp.vault.index import Closed

NOTE = ".md"
MARK = ".obsidian"


def count(root: VaultRoot, seconds: float) -> Census:
    """Of all that is not hidden, for so long at most: a folder that is named by mistake may be a whole disk."""
    found, scan, todo, end = Census(), Scan(root), [""], time.monotonic() + seconds
    while todo:
        if time.monotonic() > end:
            found.is_whole = False
            break
        folder = todo.pop()
        try:
            with os.scandir(root.place(folder)) as entries:
                todo += [_inside(folder, name) for name in _counted(found, folder, list(entries))]
        except OSError as error:
            why = scan.unlisted(folder, error)
            if isinstance(why, Closed) and why.is_ours:
                found.closed.append((folder, why.why))
    for paths in (found.closed, found.away, found.vaults):
        paths.sort()
    return found


def _counted(found: Census, folder: str, entries: list[os.DirEntry[str]]) -> list[str]:
    """The folders in a folder, once the rest is counted."""
    inner = []
    for entry in entries:
        name = cloud.real_name(entry.name)
        if name[0] == ".":
            if name == MARK and folder and entry.is_dir():
                found.vaults.append(folder)
            continue
        if is_own_folder(entry):
            inner.append(name)
            found.folders += 1
        elif cloud.is_away(entry):
            found.away.append(_inside(folder, cloud.own_name(name)))
            _count_file(found, cloud.own_name(name))
        elif entry.is_file():
            _count_file(found, name)
    return inner


def _count_file(found: Census, name: str) -> None:
    if name.lower().endswith(NOTE):
        found.notes += 1
    else:
        found.others += 1


def _inside(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
