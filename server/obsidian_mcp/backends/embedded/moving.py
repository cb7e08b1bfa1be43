"""A move as one act: the file and every link to it, or nothing.

The order is what makes it so. First the journal, with every text as it will be;
then the rename; then the texts; then the journal goes. Killed before the
rename, the next server finds the file at its old path and forgets the journal;
killed after it, it finds the file at its new one and writes what is left. A
note that somebody else has changed since is left as they made it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.backends.files import Folder
from obsidian_mcp.backends.state import State
from obsidian_mcp.errors import Failure
from obsidian_mcp.vault.path import VaultPath

WRITERS = 8
FEW = 4


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One file's bytes, from and to. `path` is where it lies once the move is done."""

    path: VaultPath
    before: bytes
    after: bytes


def carry_out(folder: Folder, state: State, old: VaultPath | None, new: VaultPath, rewrites: Sequence[Rewrite]) -> None:
    """Move the file, if there is one to move, and rewrite; on any failure the vault is as before."""
    state.write_journal(_entry(old, new, rewrites))
    made: list[str] = []
    moved = False
    done: list[Rewrite] = []
    try:
        if old is not None:
            made = folder.rename(old, new)
            moved = True
        _rewrite_all(folder, rewrites, done)
    except Failure:
        for rewrite in reversed(done):
            folder.replace(rewrite.path, rewrite.after, rewrite.before)
        if moved and old is not None:
            folder.rename(new, old)
        folder.remove_folders(made)
        state.clear_journal()
        raise
    state.clear_journal()


def _rewrite_all(folder: Folder, rewrites: Sequence[Rewrite], done: list[Rewrite]) -> None:
    """Side by side, because most of the time goes into waiting for the disk. Raises the first failure."""

    def rewrite(one: Rewrite) -> Failure | None:
        try:
            folder.replace_inside(one.path.value, one.before, one.after)
        except Failure as failure:
            return failure
        done.append(one)
        return None

    if len(rewrites) < FEW:
        failures = [rewrite(one) for one in rewrites]
    else:
        with ThreadPoolExecutor(WRITERS) as pool:
            failures = list(pool.map(rewrite, rewrites))
    for failure in failures:
        if failure is not None:
            raise failure


def recover(folder: Folder, state: State) -> str | None:
    """Finish or forget what a server that was killed had begun; what was done, in a word."""
    entry = state.read_journal()
    if entry is None:
        state.clear_journal()
        return None
    old = VaultPath(entry["old"]) if entry["old"] else None
    new = VaultPath(entry["new"])
    began = old is None or (not folder.spelled_exactly(old) and folder.spelled_exactly(new))
    if began:
        for rewrite in entry["rewrites"]:
            _finish(folder, rewrite)
    for parent in {VaultPath(rewrite["path"]).folder for rewrite in entry["rewrites"]}:
        folder.sweep(parent)
    state.clear_journal()
    return "finished" if began else "forgotten"


def _finish(folder: Folder, rewrite: Mapping[str, Any]) -> None:
    path = VaultPath(rewrite["path"])
    if not folder.spelled_exactly(path):
        return
    current = folder.read(path)
    if _hash(current) == rewrite["before"]:
        folder.replace(path, current, rewrite["after"].encode("utf-8", "surrogateescape"))


def _entry(old: VaultPath | None, new: VaultPath, rewrites: Sequence[Rewrite]) -> dict[str, Any]:
    return {
        "old": old.value if old else None,
        "new": new.value,
        "rewrites": [
            {
                "path": rewrite.path.value,
                "before": _hash(rewrite.before),
                "after": rewrite.after.decode("utf-8", "surrogateescape"),
            }
            for rewrite in rewrites
        ],
    }


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
