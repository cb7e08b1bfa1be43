"""Changing many notes as one act: every file is looked at, and what has to change changes together or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CliFailed
from obsidian_mcp.vault.changes import ChangeSet
from obsidian_mcp.vault.contents import Contents, Unread
from obsidian_mcp.vault.path import is_path
from obsidian_mcp.vault.port import Vault

BETWEEN_REPORTS = 1000  # files


class Planned(Protocol):
    """What would be done, and what is to be told of it."""

    @property
    def changes(self) -> ChangeSet: ...


P = TypeVar("P", bound=Planned)


class _Nothing(Exception):
    """There is nothing to change."""


def carried_out(doing: str, plan: Callable[[], P], vault: Vault, *, dry_run: bool) -> P:
    """The plan that was carried out, or for a dry run would be. Where it changes nothing, there is no change."""
    if dry_run:
        return plan()
    made: list[P] = []

    def changes() -> ChangeSet:
        made.append(plan())
        if not made[-1].changes.changes:
            raise _Nothing
        return made[-1].changes

    with contextlib.suppress(_Nothing):
        vault.commit(doing, changes)
    return made[-1]


def in_reach(contents: Contents | None) -> Contents:
    """The notes themselves. Raises where only the app can be asked, which tells them one by one."""
    if contents is None:
        raise CliFailed(
            "The vault's folder cannot be reached from here, and the app alone can't change many notes as one.",
            "Run obsidian-mcp on the machine that has the vault, or change the notes one by one.",
        )
    return contents


class EveryFile:
    """The files of a vault as they are now, whatever the index remembers; and those that could not be looked at."""

    def __init__(self, contents: Contents, call: CallContext) -> None:
        self._contents = contents
        self._call = call
        self.unread: Unread = []

    def ending(self, *endings: str) -> Iterator[tuple[str, bytes]]:
        """Those whose names end so, with their bytes."""
        survey = self._contents.survey(self._call)
        self.unread = [(folder or "the vault's folder", closed.why) for folder, closed in survey.closed]
        named = (file.path for file in survey.files if file.path.lower().endswith(endings))
        return self._read(sorted(path for path in named if is_path(path)))

    def _read(self, paths: list[str]) -> Iterator[tuple[str, bytes]]:
        left = dict.fromkeys(paths)
        for number, (path, data) in enumerate(self._contents.read_all(paths, self._call)):
            if not number % BETWEEN_REPORTS:
                self._call.progress(f"read {number} of {len(paths)} files")
            del left[path]
            yield path, data
        self.unread += [(path, "it could not be read") for path in left]
