"""What was done to the vaults that are served, as a person looks through it: all of them together, and one change."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import SHELL, Failure, InvalidArguments
from obsidian_mcp.operations import comparing, recounting, undoing
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.history import Entry, History, NoSuchEntry, Unreadable
from obsidian_mcp.vault.path import BadPath, VaultPath
from obsidian_mcp.vaults import Opened

MOST = 10_000  # changes that are looked through, or listed
MOST_PATHS = 20  # of one change that are listed


class Changes:
    """`opened` opens the vault of a label. A history that was opened once can be asked again without its vault."""

    def __init__(self, labels: tuple[str, ...], opened: Callable[[str, CallContext], Opened]) -> None:
        self._labels = labels
        self._opened = opened
        self._known: dict[str, History] = {}

    @property
    def several(self) -> bool:
        """Whether a vault has to be named."""
        return len(self._labels) > 1

    def newest(self) -> str:
        """Another text whenever anything was changed, undone or purged. Cheap: no vault is opened."""
        return " ".join(self._newest(label) for label in self._labels)

    def _newest(self, label: str) -> str:
        try:
            found = self._known[label].entries(limit=1) if label in self._known else []
        except Failure:
            return "?"
        return found[0].id if found else "-"

    def listed(self, call: CallContext, vault: str, words: str, most: int) -> dict[str, Any]:
        """Newest first. A vault that can't be asked is told in `problems`, and the others are listed."""
        found: list[tuple[str, Entry]] = []
        problems: dict[str, str] = {}
        for label in self._labels:
            try:
                self._history(label, call)
            except Failure as failure:
                problems[label] = failure.told_to(SHELL)
        seen = self.newest()  # before they are read: what comes meanwhile is news
        wanted = [label for label in self._known if label not in problems and vault in ("", label)]
        for label in wanted:
            found += ((label, entry) for entry in self._matching(label, words, most + 1))
        found.sort(key=lambda each: each[1].time, reverse=True)
        listed = [_listed(label, entry) for label, entry in found[:most]]
        return {"changes": listed, "more": len(found) > most, "problems": problems, "seen": seen}

    def _history(self, label: str, call: CallContext) -> tuple[Opened, History]:
        if label not in self._labels:
            raise InvalidArguments(f"There is no vault {label!r} here.")
        opened = self._opened(label, call)
        history = self._known[label] = recounting.kept(opened.history)
        opened.vault.settle()
        return opened, history

    def _matching(self, label: str, words: str, most: int) -> Iterator[Entry]:
        """Those whose names, summary, client or tool have all of the words."""
        wanted = fold(words).split()
        entries = self._known[label].entries(limit=MOST if wanted else most)
        return islice((entry for entry in entries if _has(entry, wanted)), most)

    def shown(self, call: CallContext, vault: str, id: str) -> dict[str, Any]:
        """One change with what it did to each file."""
        opened, history = self._history(vault, call)
        try:
            entry = history.entry(id)
            _, kept = history.get(entry.id)
        except NoSuchEntry:
            raise undoing.unknown(id) from None
        except Unreadable as problem:
            return {**_listed(vault, entry), "files": [], "more_files": 0, "note": str(problem)}
        shown = kept.done[: comparing.MOST_FILES]
        files = [dataclasses.asdict(file) for file in comparing.compare(shown, lambda path: _held(path, opened))]
        return {**_listed(vault, entry), "files": files, "more_files": len(kept.done) - len(shown)}


def _has(entry: Entry, words: list[str]) -> bool:
    if not words:
        return True
    text = fold("\n".join((entry.id, entry.summary, entry.client, entry.tool, *entry.paths)))
    return all(word in text for word in words)


def _listed(label: str, entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "time": entry.time,
        "tool": entry.tool.removeprefix("obsidian_"),
        "client": entry.client,
        "vault": label,
        "summary": entry.summary,
        "paths": list(entry.paths[:MOST_PATHS]),
        "more_paths": max(0, len(entry.paths) - MOST_PATHS),
        "undone": entry.undone_by is not None,
        "undoes": list(entry.undoes),
    }


def _held(path: str, opened: Opened) -> bytes | None:
    try:
        return opened.vault.current(VaultPath(path))
    except (Failure, BadPath):
        return None
