"""A vault as it would be after some changes, and what leads there from how it is: each file moved, made, rewritten or
removed once, whatever happened to it in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.vault.changes import Change, Rename, Restore, Trash, Write


@dataclass(slots=True)
class _File:
    """One file: where it is, and where it would be; None: it is not there. A text that was not looked at is None."""

    start: str | None
    path: str | None
    before: bytes | None = None
    after: bytes | None = None
    trash: Trash | None = None
    restore: Restore | None = None


class Staged:
    """`read` tells what the vault itself has at a path, `has` whether there is a file."""

    def __init__(self, read: Callable[[str], bytes | None], has: Callable[[str], bool]) -> None:
        self._read = read
        self._has = has
        self._files: list[_File] = []
        self._at: dict[str, _File | None] = {}  # by where they would be

    def has(self, path: str) -> bool:
        return self._at[path] is not None if path in self._at else self._has(path)

    def text(self, path: str) -> bytes | None:
        """What a file would hold; None if there would be none."""
        if not self.has(path):
            return None
        file = self._file(path)
        if file.after is None and file.start is not None:
            file.before = file.after = self._read(file.start)
        return file.after

    def write(self, path: str, after: bytes) -> None:
        self.text(path)  # so that what it held is known
        self._file(path).after = after

    def make(self, path: str, after: bytes | None, restore: Restore | None = None) -> None:
        file = _File(None, path, after=after, restore=restore)
        self._files.append(file)
        self._at[path] = file

    def remove(self, path: str, trash: Trash | None = None) -> None:
        self.text(path)
        file = self._file(path)
        file.path, file.trash = None, trash
        self._at[path] = None

    def rename(self, path: str, target: str) -> None:
        file = self._file(path)
        self._at[path] = None
        self._at[target] = file
        file.path = target

    def _file(self, path: str) -> _File:
        file = self._at.get(path)
        if file is None:
            file = self._at[path] = _File(path, path)
            self._files.append(file)
        return file

    def changes(self) -> tuple[Change, ...]:
        """What leads there: what is removed, then what moves, what is made, and texts where they lie then."""
        removed: list[Change] = []
        moves: list[Rename] = []
        made: list[Change] = []
        texts: list[Change] = []
        for file in self._files:
            if file.start is not None and file.path is None:
                removed.append(_removal(file, file.start))
            elif file.start is None and file.path is not None:
                made.append(_making(file, file.path))
            elif file.start is not None and file.path is not None:
                moves += [Rename(file.start, file.path)] if file.start != file.path else []
                texts += [Write(file.path, file.before, file.after)] if file.before != file.after else []
        return (*removed, *_in_order(moves), *made, *texts)


def _removal(file: _File, start: str) -> Change:
    if file.trash is not None:
        return Trash(start, file.trash.permanent, file.before, mode=file.trash.mode)
    return Write(start, file.before, None)


def _making(file: _File, path: str) -> Change:
    restored = file.restore
    if restored is not None and restored.before == file.after:
        return replace(restored, path=path)
    return Write(path, None, file.after)


def _in_order(moves: list[Rename]) -> list[Rename]:
    """So that each finds its target free."""
    left, found = list(moves), list[Rename]()
    while left:
        taken = {move.path for move in left}
        free = [move for move in left if move.target not in taken]
        if not free:
            raise InvalidArguments(
                f"{left[0].path} and {left[0].target} have changed places, which can't be undone in one step.",
                "Undo these changes one by one.",
            )
        found += free
        left = [move for move in left if move not in free]
    return found
