"""What the app does, with its entry in the history: from the bytes before and after.

The app rewrites links by itself when it moves a note. The notes that it may rewrite are looked at before and after;
those that differ then are part of the change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from obsidian_mcp.backends.files import recording, write
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.obsidian.verify import Verifier
from obsidian_mcp.errors import Failure, NoteNotFound
from obsidian_mcp.vault.changes import Change, ChangeSet, Committed, Rename, Trash, Write
from obsidian_mcp.vault.history import Recorder
from obsidian_mcp.vault.path import VaultPath


class AppRecording:
    """`root` is the vault's folder, where it is in reach."""

    def __init__(self, recorder: Recorder | None, verifier: Verifier, root: VaultRoot | None) -> None:
        self._recorder = recorder
        self._verifier = verifier
        self._root = root

    def recorded(self, changes: ChangeSet, act: Callable[[ChangeSet], ChangeSet]) -> Committed:
        """Only while no other server writes."""
        root = self._root
        if self._recorder is None:
            return Committed(act(changes))
        if root is None:
            return recording.recorded(self._recorder, self._with_texts(changes), act)
        beside = recording.witnesses(root, changes) if not changes.watched else ()
        changes = recording.prepared(root, changes)
        watched = _watched(root, changes)
        intent = replace(changes, changes=(*changes.changes, *watched))

        def carried_out(_: ChangeSet) -> ChangeSet:
            done = act(changes)
            write.remove_folders(root, changes.unmade)
            targets = {change.target for change in changes.changes if isinstance(change, Rename)}
            rewritten = [found for each in watched if (found := _rewritten(root, each, targets)) is not None]
            return replace(done, changes=(*done.changes, *rewritten))

        return recording.recorded(self._recorder, intent, carried_out, beside)

    def _with_texts(self, changes: ChangeSet) -> ChangeSet:
        """What will be deleted, as the app shows it."""
        found = (
            replace(each, before=self._shown(each.path) or None) if isinstance(each, Trash) else each
            for each in changes.changes
        )
        return replace(changes, changes=tuple(found))

    def settle(self) -> None:
        """Say what became of the changes that killed servers left."""
        if self._recorder is None:
            return
        if self._root is not None:
            recording.settle(self._recorder, self._root)
            return
        for id, changes in self._recorder.pending():
            if recording.settle_one(self._recorder, id, changes, self._shown):
                self._recorder.settled(id)

    def _shown(self, path: str) -> bytes | None:
        try:
            return self._verifier.data(VaultPath(path))
        except NoteNotFound:
            return None
        except Failure:  # no text, or none that the app shows: it is there
            return b""


def _watched(root: VaultRoot, changes: ChangeSet) -> list[Write]:
    """Where they will be, with what they hold now: writes that change nothing, to be replaced by what they became."""
    moves = {change.path: change.target for change in changes.changes if isinstance(change, Rename)}
    found = ((path, recording.held(root, path)) for path in changes.watched)
    return [Write(moves.get(path, path), held, held) for path, held in found if held is not None]


def _rewritten(root: VaultRoot, watched: Write, moved: set[str]) -> Change | None:
    """What became of it; of a moved file also that it is as it was, for an undo to compare with."""
    now = recording.held(root, watched.path)
    if now == watched.before:
        return replace(watched, whole=True) if watched.path in moved else None
    return None if now is None else replace(watched, after=now)
