"""Taking changes back: planned from what the history keeps and from what the vault holds now.

A change is taken back only where everything that it touched is as it left it. A note that lies elsewhere by now is
found; one that was edited since is left alone, unless the edits lie on other lines and may stay (`merge`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AlreadyExists, Conflict, Hint, InvalidArguments, NoteNotFound
from obsidian_mcp.operations.staging import Staged
from obsidian_mcp.operations.tracing import Trace
from obsidian_mcp.vault import diffs, merging
from obsidian_mcp.vault.changes import Change, ChangeSet, NotAsBefore, NoWayBack, Rename, Restore, Trash
from obsidian_mcp.vault.contents import Contents
from obsidian_mcp.vault.history import Difference, Entry, History, KeptChanges, NoSuchEntry, Unreadable, digest
from obsidian_mcp.vault.path import VaultPath, is_path
from obsidian_mcp.vault.port import Vault

MOST_IDS = 100  # characters of ids in a message
MOST_SHOWN = 800  # characters of what was changed since


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back, or would be; `merged` are the notes in which later edits stay."""

    changes: ChangeSet
    merged: list[str]


def undo(
    entries: Sequence[Entry],
    vault: Vault,
    history: History,
    contents: Contents | None,
    call: CallContext,
    *,
    merge: bool,
    dry_run: bool,
) -> Undone:
    """Take back these changes, given newest first, together or not at all. For a dry run nothing is done."""
    ids = tuple(entry.id for entry in entries)
    doing = f"undoing {' '.join(ids)}"
    made: list[Undone] = []

    def plan() -> ChangeSet:
        planned = _Plan(vault, history, contents, call, merge)
        unmade: list[str] = []
        for entry in entries:
            call.check(doing)
            unmade += planned.take_back(entry)
        found = planned.staged.changes()
        if not found:
            raise InvalidArguments(
                f"There is nothing to undo: everything is as it was before {' '.join(ids)[:MOST_IDS]}."
            )
        folders = sorted(set(unmade), key=lambda folder: folder.count("/"))
        changes = ChangeSet(doing, found, unmade=tuple(folders), undoes=ids)
        made.append(Undone(changes, planned.merged))
        return changes

    if dry_run:
        plan()
    else:
        vault.commit(doing, plan)
    return made[-1]


class _Plan:
    """One attempt at a plan: what is read is what is there now."""

    def __init__(
        self, vault: Vault, history: History, contents: Contents | None, call: CallContext, merge: bool
    ) -> None:
        self._vault = vault
        self._history = history
        self._contents = contents
        self._call = call
        self._merge = merge
        self.staged = Staged(self._read, self._has)
        self.merged: list[str] = []

    def take_back(self, entry: Entry) -> tuple[str, ...]:
        """Stage what takes it back; the folders that go with it."""
        require_undoable(entry)
        trace = Trace(entry, self._history, self._contents, self._call, self.staged)
        try:
            _, whole = self._history.get(entry.id)
            kept = self._without_witnesses(whole, trace)
            changes = kept.rebuilt(lambda path: self.staged.text(trace.place_of_kept(path, kept)))
            for change in changes.inverse().changes:
                self._stage(change, trace)
        except (Unreadable, NoWayBack) as problem:
            raise InvalidArguments(f"{entry.id} ({entry.summary}) cannot be undone: {problem}.") from None
        except NoSuchEntry:
            raise unknown(entry.id) from None
        except NotAsBefore as problem:
            raise Conflict(
                f"{entry.id} cannot be undone: {problem}. {trace.blame(entry.paths)}".rstrip(),
                trace.advice(merge=False),
            ) from None
        return changes.made

    def _without_witnesses(self, kept: KeptChanges, trace: Trace) -> KeptChanges:
        """Raises where somebody has written into a file that was only moved, unless that may stay."""
        rest: list[Change | Difference] = []
        for change in kept.changes:
            if not isinstance(change, Difference) or not change.is_witness:
                rest.append(change)
                continue
            text = self.staged.text(change.path)
            if text is None or digest(text) == change.digests[1]:
                continue
            if not self._merge:
                raise Conflict(
                    f"{change.path} was changed after {trace.entry.id} ({trace.entry.summary}). "
                    f"{trace.blame((change.path,))}".rstrip(),
                    trace.advice(merge=True),
                    path=change.path,
                )
            self.merged.append(change.path)
        return replace(kept, changes=tuple(rest))

    def _stage(self, change: Change, trace: Trace) -> None:
        if isinstance(change, Rename):
            self._move(change, trace)
        elif isinstance(change, Restore):
            self._require_free(change.path)
            self.staged.make(change.path, change.before, change)
        elif isinstance(change, Trash):
            path = self._as_left(change.path, change.before, trace)
            self.staged.remove(path, change)
        elif change.before is None:
            self._require_free(change.path)
            self.staged.make(change.path, change.after)
        elif change.after is None:
            self.staged.remove(self._as_left(change.path, change.before, trace))
        else:
            self._rewrite(change.path, change.before, change.after, trace)

    def _rewrite(self, path: str, before: bytes, after: bytes, trace: Trace) -> None:
        place = trace.place(path, before)
        now = self.staged.text(place)
        if now == before:
            self.staged.write(place, after)
            return
        if now is None:
            self._gone(path, trace)
        both = merging.merged(before, after, now)
        if both is None or not self._merge:
            self._changed(place, before, now, trace, can_merge=both is not None)
        self.merged.append(place)
        self.staged.write(place, both)

    def _as_left(self, path: str, before: bytes | None, trace: Trace) -> str:
        """Where a file is that is to be removed. One that was changed since is somebody's work.

        Another with the same text is not it: it is looked for by the moves that are on record alone.
        """
        place = path if self.staged.has(path) else trace.moved_to(path) or path
        now = self.staged.text(place)
        if now is None:
            self._gone(path, trace)
        if now != before:
            self._changed(place, before or b"", now, trace, can_merge=False)
        return place

    def _move(self, change: Rename, trace: Trace) -> None:
        if not self.staged.has(change.path):
            where = trace.moved_to(change.path)
            if where is None:
                self._gone(change.path, trace)
            raise Conflict(
                f"{change.path} was moved to {where} since. {trace.blame((change.path, where))}".rstrip(),
                trace.advice(merge=False),
                path=where,
            )
        if change.path.casefold() != change.target.casefold():
            self._require_free(change.target)
        self.staged.rename(change.path, change.target)

    def _require_free(self, path: str) -> None:
        if self.staged.has(path):
            raise AlreadyExists(
                f"There is another {path} now, so the one that was there cannot be put back.",
                "Rename that one first.",
                path=path,
            )

    def _gone(self, path: str, trace: Trace) -> NoReturn:
        blamed = trace.blame((path,))
        fact = f"{path} is gone, so {trace.entry.id} cannot be undone. {blamed}".rstrip()
        raise NoteNotFound(fact, trace.advice(merge=False) if blamed else "", path=path)

    def _changed(self, path: str, left: bytes, now: bytes, trace: Trace, *, can_merge: bool) -> NoReturn:
        told, shown = trace.blame((path,)), ""
        fact = f"{path} was changed after {trace.entry.id} ({trace.entry.summary})"
        if not told:
            texts = (text.decode("utf-8", "replace") for text in (left, now))
            shown = diffs.unified(*texts)[:MOST_SHOWN]
            told = "It can't be merged: it is not sure which lines are whose." if self._merge else ""
            fact += ", by a person or another program"
        raise Conflict(
            f"{fact}. {told}".rstrip(), trace.advice(merge=can_merge and not self._merge, shown=shown), path=path
        )

    def _read(self, path: str) -> bytes | None:
        try:
            if is_path(path):
                return self._vault.current(VaultPath(path))
            return None if self._contents is None else self._contents.read(path)
        except NoteNotFound:
            return None

    def _has(self, path: str) -> bool:
        if is_path(path):
            return self._vault.has(VaultPath(path))
        return self._read(path) is not None


def require_undoable(entry: Entry) -> None:
    if entry.undone_by is not None:
        raise InvalidArguments(
            f"{entry.id} ({entry.summary}) is undone already, by {entry.undone_by}.",
            f"To do it again, undo {entry.undone_by}.",
        )


def unknown(id: str) -> InvalidArguments:
    return InvalidArguments(
        f"There is no change {id[:40]!r} in the history of this vault.",
        Hint("The ids are in obsidian_list_changes.", "obsidian-mcp history lists the ids."),
    )
