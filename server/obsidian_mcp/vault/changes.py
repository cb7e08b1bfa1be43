"""What is to be done to a vault, as values: a change knows what was there before, so it can be taken back.

Paths are text from the vault's root: a note that no tool can name may hold a link that has to be rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class NotAsBefore(ValueError):
    """A change does not fit what is there."""


class NoWayBack(ValueError):
    """A change whose text was not kept."""


@dataclass(frozen=True, slots=True)
class Write:
    """Give a file other bytes. None before: the file is made; None after: it is removed.

    `whole` says that all of the text is meant to be replaced, whatever the two have in common.
    """

    path: str
    before: bytes | None
    after: bytes | None
    whole: bool = False

    def inverse(self) -> Write:
        return Write(self.path, self.after, self.before, self.whole)


@dataclass(frozen=True, slots=True)
class Rename:
    """Give a file another path."""

    path: str
    target: str

    def inverse(self) -> Rename:
        return Rename(self.target, self.path)


@dataclass(frozen=True, slots=True)
class Trash:
    """Delete a file. What it held and where it went are filled in when it is done.

    `to` is a path below the vault's root, such as `.trash/Note.md`; empty for another trash, or for none.
    """

    path: str
    permanent: bool = False
    before: bytes | None = None
    to: str = ""
    mode: int | None = None  # who may read and write it, if that is known

    def inverse(self) -> Restore:
        if self.before is None and not self.to:
            raise NoWayBack(f"{self.path} was too large to be kept, or could not be read")
        return Restore(self.path, self.before, self.to, self.mode)


@dataclass(frozen=True, slots=True)
class Restore:
    """Put a deleted file back: out of the vault's own trash if it still lies there as it was, else anew.

    None before: what it held was not kept, and it can only come from there.
    """

    path: str
    before: bytes | None
    to: str = ""
    mode: int | None = None

    def inverse(self) -> Trash:
        return Trash(self.path, not self.to, self.before, self.to, self.mode)


Change = Write | Rename | Trash | Restore


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Changes that are made together or not at all, in this order. `doing` completes "while …".

    `made` are the folders that it brings into being, the outermost first, and `unmade` those that it removes if they
    are empty then. `undoes` are the ids of the changes that it takes back. `watched` are files that the app may rewrite
    on its own account.
    """

    doing: str
    changes: tuple[Change, ...]
    made: tuple[str, ...] = ()
    unmade: tuple[str, ...] = ()
    undoes: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()

    def inverse(self) -> ChangeSet:
        """What takes all of it back. Raises NoWayBack where that can't be."""
        changes = tuple(change.inverse() for change in reversed(self.changes))
        return ChangeSet(f"undoing: {self.doing}", changes, self.unmade, self.made)

    @property
    def changes_nothing(self) -> bool:
        """Whether every file has afterwards what it had before."""
        return all(isinstance(change, Write) and change.before == change.after for change in self.changes)

    @property
    def is_transaction(self) -> bool:
        """Whether a kill in the middle could leave it half done."""
        return len(self.changes) > 1 or any(isinstance(change, Rename) for change in self.changes)


@dataclass(frozen=True, slots=True)
class Committed:
    """What was done. `changes` are the planned ones, with what only the doing could tell; `id` is their history's."""

    changes: ChangeSet
    id: str | None = None


def applied(files: Mapping[str, bytes], changes: ChangeSet) -> dict[str, bytes]:
    """A vault as a dictionary, after the changes. Raises NotAsBefore where one doesn't fit."""
    after = dict(files)
    for change in changes.changes:
        if isinstance(change, Write):
            _require(after.get(change.path) == change.before, change)
            if change.after is None:
                del after[change.path]
            else:
                after[change.path] = change.after
        elif isinstance(change, Rename):
            _require(change.path in after and change.target not in after, change)
            after[change.target] = after.pop(change.path)
        elif isinstance(change, Trash):
            _require(change.path in after and change.before in (None, after[change.path]), change)
            del after[change.path]
        else:
            _require(change.path not in after and change.before is not None, change)
            after[change.path] = change.before or b""
    return after


def _require(fits: bool, change: Change) -> None:
    if not fits:
        raise NotAsBefore(f"{change.path} is not as it was")
