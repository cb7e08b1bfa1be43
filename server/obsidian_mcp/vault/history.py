"""The history of a vault as values, and as two ports: one for what makes changes, one for what tells of them.

The ledger itself is in `history/`; a backend knows no more of it than `Recorder`, a tool no more than `History`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from obsidian_mcp.vault import merging
from obsidian_mcp.vault.changes import Change, ChangeSet, NotAsBefore, Rename, Restore, Trash, Write


class By(NamedTuple):
    """Who makes a change. `session` tells two clients of one name apart."""

    tool: str = ""
    client: str = ""
    session: str = ""


NOBODY = By()
MOST_IDS = 10  # of those that an undo took back, in its summary


class NoSuchEntry(LookupError):
    """There is no entry of this id: there never was, or the bounds have taken it."""


class Unreadable(ValueError):
    """What is stored is not a change set, or not one of this version, or was too large to be stored."""


@dataclass(frozen=True, slots=True)
class Intent:
    """A change that is about to be made. `session` tells two clients of one name apart; `undoes` are ids."""

    time: float
    tool: str
    client: str
    summary: str
    changes: ChangeSet
    undoes: tuple[str, ...] = ()
    session: str = ""


class Entry(NamedTuple):
    """A change that was made, without its texts. `size` is what they take in the ledger; None: they were too large.

    A tuple, because a listing makes thousands: a frozen dataclass takes several times as long to make.
    """

    id: str
    time: float
    tool: str
    client: str
    session: str
    summary: str
    paths: tuple[str, ...]
    undoes: tuple[str, ...]
    undone_by: str | None
    size: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The write of a long text: what differs between `head` bytes at its beginning and `tail` bytes at its end."""

    path: str
    head: int
    tail: int
    before: bytes
    after: bytes
    digests: tuple[str, str]  # of the whole texts, before and after
    whole: bool = False

    @property
    def is_witness(self) -> bool:
        """Whether it changed nothing, and only tells how the file was left."""
        return self.digests[0] == self.digests[1]

    def write(self, text: bytes) -> Write:
        """The write itself, from either of its texts. Raises NotAsBefore for any other."""
        found, (before, after) = digest(text), self.digests
        if found == after:
            return Write(self.path, self._around(text, self.before), text, self.whole)
        if found == before:
            return Write(self.path, text, self._around(text, self.after), self.whole)
        raise NotAsBefore(f"{self.path} is neither as it was before the change nor as it was after it")

    def _around(self, text: bytes, middle: bytes) -> bytes:
        return text[: self.head] + middle + text[len(text) - self.tail :]


@dataclass(frozen=True, slots=True)
class KeptChanges:
    """A change set as it was kept: a write of a long text is a Difference."""

    doing: str
    changes: tuple[Change | Difference, ...]
    made: tuple[str, ...] = ()
    unmade: tuple[str, ...] = ()

    @property
    def done(self) -> tuple[Change | Difference, ...]:
        """Without the witnesses: what was changed."""
        return tuple(each for each in self.changes if not (isinstance(each, Difference) and each.is_witness))

    def rebuilt(self, read: Callable[[str], bytes | None]) -> ChangeSet:
        """The change set itself. `read` tells what a path holds now; it is asked for long texts only.

        Raises NotAsBefore where one of those is not as the change left it.
        """
        held: dict[str, bytes | str | None] = {}  # walking back: a text, or the path that has it now, or nothing
        found: list[Change] = []
        for change in reversed(self.changes):
            if isinstance(change, Difference):
                place = held.get(change.path, change.path)
                text = read(place) if isinstance(place, str) else place
                if text is None:
                    raise NotAsBefore(f"{change.path} is gone")
                change = change.write(text)
            found.append(change)
            _step_back(held, change)
        return ChangeSet(self.doing, tuple(reversed(found)), self.made, self.unmade)


def _step_back(held: dict[str, bytes | str | None], change: Change) -> None:
    if isinstance(change, Rename):
        held[change.path] = held.get(change.target, change.target)
        held[change.target] = None
    else:
        held[change.path] = None if isinstance(change, Restore) else change.before


class Recorder(Protocol):
    """The history, for what makes a change. Raises a Failure where it can't be kept, and then nothing may be done."""

    def begin(self, changes: ChangeSet) -> str:
        """What is about to be done; its id. Nobody else may be changing the vault."""

    def finish(self, id: str, changes: ChangeSet | None = None) -> None:
        """It was done: as it was meant, or as these changes tell. Raises nothing: it was done."""

    def settled(self, id: str, changes: ChangeSet | None = None) -> None:
        """The same of what another server had begun."""

    def abandon(self, id: str) -> None:
        """It was not done. Raises nothing."""

    def pending(self) -> list[tuple[str, KeptChanges]]:
        """What killed servers left unsaid, oldest first."""


class History(Protocol):
    """The history, for what tells of it. Raises a Failure where it can't be read."""

    @property
    def by(self) -> By:
        """Who asks."""

    @property
    def last(self) -> str | None:
        """The id of the change that this call has made."""

    def entries(
        self,
        since: float | None = None,
        note: str | None = None,
        client: str | None = None,
        limit: int = ...,
    ) -> list[Entry]:
        """Newest first. `note` is a path that it has, or had."""

    def entry(self, id: str) -> Entry:
        """Raises NoSuchEntry."""

    def get(self, id: str) -> tuple[Entry, KeptChanges]:
        """Raises NoSuchEntry, or Unreadable if what it did was not kept or can't be read."""

    def purge(self) -> int:
        """Forget everything; how many entries there were."""

    def latest(self) -> Entry | None:
        """The last change of who asks that is not undone and not itself an undo."""


class VaultHistory(Recorder, History, Protocol):
    """Both."""


HistoryIn = Callable[[str, By], VaultHistory]  # in which file, and for whom


# What became of a change, and what it is called


def happened(kept: KeptChanges, read: Callable[[str], bytes | None]) -> bool:
    """Whether a change was made, by what its files hold now. Some of it is as good as all: what was begun is finished
    before this is asked.
    """
    acts = [change for change in kept.changes if not _is_text(change)]
    if acts:
        return any(_act_happened(act, read) for act in acts)
    return any(_text_happened(change, read(change.path)) for change in kept.changes)


def _is_text(change: Change | Difference) -> bool:
    if isinstance(change, Write):
        return change.before is not None and change.after is not None
    return isinstance(change, Difference)


def _act_happened(change: Change | Difference, read: Callable[[str], bytes | None]) -> bool:
    if isinstance(change, Rename):
        return read(change.target) is not None and read(change.path) is None
    removes = isinstance(change, Trash) or (isinstance(change, Write) and change.after is None)
    return (read(change.path) is None) == removes


def _text_happened(change: Change | Difference, now: bytes | None) -> bool:
    if now is None:
        return False
    if isinstance(change, Difference):
        try:
            return change.write(now).after == now
        except NotAsBefore:
            return False
    if not isinstance(change, Write) or change.before is None or change.after is None or now == change.before:
        return False
    return now == change.after or merging.includes(change.before, change.after, now)


def touched(changes: ChangeSet) -> tuple[str, ...]:
    """Every path that it names, in its order."""
    paths: dict[str, None] = {}
    for change in changes.changes:
        paths[change.path] = None
        if isinstance(change, Rename):
            paths[change.target] = None
    return tuple(paths)


def summary(changes: ChangeSet) -> str:
    """What was done, in one line."""
    if changes.undoes:
        more = len(changes.undoes) - MOST_IDS
        return f"Undid {' '.join(changes.undoes[:MOST_IDS])}" + (f" and {more} more" if more > 0 else "")
    renames = [change for change in changes.changes if isinstance(change, Rename)]
    others = [change for change in changes.changes if not isinstance(change, Rename) and not _is_text(change)]
    texts = [change for change in changes.changes if isinstance(change, Write) and _is_rewrite(change)]
    said = [_moves(renames)] if renames else []
    said += [_acts(others)] if others else []
    if texts:
        said.append(f"{'rewrote links in' if said else 'changed'} {_files([each.path for each in texts])}")
    return _sentence(", ".join(said))


def _is_rewrite(change: Write) -> bool:
    """And not one that is only watched."""
    return change.before is not None and change.after is not None and change.before != change.after


def _moves(renames: list[Rename]) -> str:
    if len(renames) > 1:
        return f"moved {len(renames)} files"
    ((old, new),) = [(each.path, each.target) for each in renames]
    verb = "renamed" if old.rpartition("/")[0] == new.rpartition("/")[0] else "moved"
    return f"{verb} {old} to {new}"


def _acts(acts: Sequence[Change]) -> str:
    return ", ".join(f"{verb} {_files(paths)}" for verb, paths in _by_verb(acts).items())


def _by_verb(acts: Sequence[Change]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for act in acts:
        found.setdefault(_verb(act), []).append(act.path)
    return found


def _verb(act: Change) -> str:
    if isinstance(act, Trash):
        return "deleted for good" if act.permanent else "deleted"
    if isinstance(act, Restore):
        return "put back"
    return "removed" if isinstance(act, Write) and act.after is None else "created"


def _files(paths: list[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{len(paths)} files"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
