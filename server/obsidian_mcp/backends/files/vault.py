"""The port, answered from disk."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Iterator

from obsidian_mcp.backends.files import transaction as moving
from obsidian_mcp.backends.files.transaction import Rewrite
from obsidian_mcp.backends.files.write import Folder
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Conflict, Failure, FileFailed, ObsidianNotRunning
from obsidian_mcp.index.names import Index, keys_of
from obsidian_mcp.state import State
from obsidian_mcp.vault import config, refusals, text
from obsidian_mcp.vault.links.link_rewrites import Edit, Move, apply
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import FileInfo, NoteCreated, NoteDeleted, Relocation

TRIES = 3
MOST_LISTED = 50


class EmbeddedVault:
    def __init__(self, folder: Folder, index: Index, state: State, call: CallContext) -> None:
        self._folder = folder
        self._index = index
        self._state = state
        self._call = call

    def paths(self) -> list[str]:
        """What may be suggested: files that the vault excludes can be named, but are not offered."""
        try:
            excluded = config.is_excluded(self._folder.settings())
        except Failure:  # then more is suggested than should be
            excluded = config.is_excluded({})
        return [path for path in self._index.paths() if not excluded(path)]

    def matching(self, name: Name) -> list[str]:
        return self._index.matching(name)

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        return self._folder.spellings(path)

    def spelled_folder(self, folder: str) -> str:
        return self._folder.spelled_folder(folder)

    def new_note_folder(self) -> str:
        return config.new_note_folder(self._folder.settings())

    def read(self, path: VaultPath) -> bytes:
        return self._folder.read(path)

    def create(self, path: VaultPath, content: str, *, overwrite: bool, if_match: str | None) -> NoteCreated:
        after = content.encode()
        with self._writing(f"creating {path}", path):
            there = self.spellings(path)
            if there:
                before = self._folder.read(there[0])
                if not overwrite:
                    raise refusals.exists_already(path)
                text.require_match(path, text.etag(before), if_match)
                self._folder.replace(there[0], before, after)
            else:
                self._folder.require_room(path)
                self._create(path, after)
        return NoteCreated(path.value, not there, bool(there), text.etag(after), len(after))

    def append(self, path: VaultPath, content: str, *, inline: bool, if_match: str | None) -> bytes:
        return self._add(path, lambda before: text.appended(before, content, inline), f"appending to {path}", if_match)

    def prepend(self, path: VaultPath, content: str, *, inline: bool, if_match: str | None) -> bytes:
        return self._add(
            path, lambda before: text.prepended(before, content, inline), f"prepending to {path}", if_match
        )

    def delete(self, path: VaultPath, *, permanent: bool, if_match: str | None) -> NoteDeleted:
        with self._writing(f"deleting {path}", path):
            if if_match is not None:
                text.require_match(path, self._folder.digest(path)[0], if_match)
            if permanent:
                self._folder.remove(path)
            elif config.uses_local_trash(self._folder.settings()) or not self._folder.to_system_trash(path):
                self._folder.to_local_trash(path)
        return NoteDeleted(path.value, deleted=True, trashed=not permanent)

    def move(self, path: VaultPath, target: VaultPath, *, dry_run: bool) -> Relocation:
        path, target = self._folder.canonical(path), self._folder.canonical(target)
        if dry_run:
            refusals.require_free(path, target, self.spellings(target))
            return _relocation(self._edits(path, target), done=False)
        with self._writing(f"moving {path} to {target}", path):
            refusals.require_free(path, target, self.spellings(target))
            edits = self._edits(path, target)
            rewrites = [
                _rewrite(at, target.value if at == path.value else at, data, found) for at, data, found in edits
            ]
            moving.relocate(self._folder, self._state, path, target, rewrites)
        return _relocation(edits, done=True)

    def open(self, path: VaultPath, *, new_tab: bool) -> None:
        self._folder.real(path)
        raise ObsidianNotRunning(
            f"{path} cannot be shown: this vault is served from its files, without the Obsidian app. "
            "Install Obsidian and start the server with --backend obsidian, or read the note instead."
        )

    def info(self, path: VaultPath) -> FileInfo:
        tag, size = self._folder.digest(path)
        created, modified = self._folder.times(path)
        return FileInfo(path.value, path.stem, path.extension, size, _when(created), _when(modified), tag)

    def _add(self, path: VaultPath, place: Callable[[bytes], bytes], doing: str, if_match: str | None) -> bytes:
        with self._writing(doing, path):
            for attempt in range(TRIES):
                before = self._folder.read(path)
                text.decoded(path, before)
                text.require_match(path, text.etag(before), if_match)
                after = place(before)
                try:
                    self._folder.replace(path, before, after)
                    return after
                except Conflict:  # an editor wrote after we had looked, and we have not: look again
                    if attempt == TRIES - 1:
                        raise
        raise AssertionError("the last attempt returns or raises")

    @contextlib.contextmanager
    def _writing(self, doing: str, path: VaultPath) -> Iterator[None]:
        with self._state.locked(self._call, doing):
            self._call.check(doing)  # the wait may have been long
            if self._state.has_journal:
                with contextlib.suppress(FileFailed):  # logged; only another move has to wait for it
                    moving.recover(self._folder, self._state)
            self._index.sweep_once(path)
            yield

    def _edits(self, path: VaultPath | None, target: VaultPath) -> list[tuple[str, bytes, list[Edit]]]:
        """What must be rewritten, and where, for every link to lead where it led."""
        move = Move.plan(path.value if path else None, target.value, self._index.snapshot(), self._link_format())
        mentioning = self._index.mentioning(keys_of(target, *([path] if path else [])))
        if path is not None and path.extension.lower() in ("md", "canvas"):
            mentioning.setdefault(path.value)
        found = []
        for at, read in sorted(mentioning.items()):
            data = self._folder.read_inside(at) if read is None else read
            edits = move.edits(at, data.decode("utf-8", "surrogateescape"))
            if edits:
                found.append((at, data, edits))
        return found

    def _create(self, path: VaultPath, data: bytes) -> None:
        """A new note must not capture links that mean another of the same name."""
        edits = self._edits(None, path) if self._index.namesakes(path) else []
        if edits:
            rewrites = [_rewrite(at, at, old, found) for at, old, found in edits]
            moving.create(self._folder, self._state, path, data, rewrites)
        else:
            self._folder.write_new(path, data)

    def _link_format(self) -> str:
        return config.link_format(self._folder.settings(), self._folder.is_obsidians)


def _rewrite(now: str, path: str, data: bytes, edits: list[Edit]) -> Rewrite:
    after = apply(data.decode("utf-8", "surrogateescape"), edits)
    return Rewrite(now, path, data, after.encode("utf-8", "surrogateescape"))


def _relocation(edits: list[tuple[str, bytes, list[Edit]]], done: bool) -> Relocation:
    notes = [path for path, _, _ in edits][:MOST_LISTED]
    count = sum(len(found) for _, _, found in edits)
    if done:
        return Relocation(True, count, notes)
    plan = [{"note": path, "from": edit.before, "to": edit.after} for path, _, found in edits for edit in found]
    return Relocation(False, count, notes, plan[:MOST_LISTED])


def _when(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
