"""The port, answered from disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from obsidian_mcp.backends.files import read, record, recording, transaction, write
from obsidian_mcp.backends.files.recovery import Recovery
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CHANGED, Conflict, Failure, FileFailed, WithoutApp
from obsidian_mcp.registry import Address, Located
from obsidian_mcp.vault.changes import ChangeSet, Committed
from obsidian_mcp.vault.config import VaultConfig
from obsidian_mcp.vault.history import Recorder
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath, is_path
from obsidian_mcp.vault.port import TRIES, Stat


class FilesVault:
    """`swept` are the folders in which what a killed server left has been cleared away."""

    def __init__(
        self,
        root: VaultRoot,
        recovery: Recovery,
        swept: set[str],
        call: CallContext,
        address: Address | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._root = root
        self._recovery = recovery
        self._index = recovery.index
        self._state = recovery.state
        self._swept = swept
        self._call = call
        self._recorder = recorder
        self._address = address or Address(Located(str(root.path), {}), str(root.path))

    def is_called(self, vault: str) -> bool:
        return self._address.is_called(vault)

    def within(self, absolute: str) -> str | None:
        return self._address.within(absolute)

    def paths(self) -> list[str]:
        """What may be suggested: files that the vault excludes can be named, but are not offered."""
        try:
            excluded = self.settings().is_excluded()
        except Failure:  # then more is suggested than should be
            excluded = VaultConfig().is_excluded()
        return [path for path in self._index.names.paths(self._call) if not excluded(path)]

    def matching(self, name: Name) -> list[str]:
        return self._index.names.matching(name, self._call)

    def has(self, path: VaultPath) -> bool:
        return read.has(self._root, path)

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        return read.spellings(self._root, path)

    def spelled_folder(self, folder: str) -> str:
        return read.spelled_folder(self._root, folder)

    def canonical(self, path: VaultPath) -> VaultPath:
        return self._root.canonical(path)

    def settings(self) -> VaultConfig:
        return read.settings(self._root)

    def types(self) -> Mapping[str, str]:
        return read.types(self._root)

    def config_file(self, name: str) -> Any:
        return read.config_file(self._root, name)

    def in_front(self) -> VaultPath | None:
        raise WithoutApp(
            "Which note is in front of the person can only be told by the Obsidian app, which is not asked here.",
            "Give the note's name.",
        )

    def daily_path(self) -> VaultPath | None:
        return None

    def read(self, path: VaultPath) -> bytes:
        return read.note(self._root, path)

    current = read

    def stat(self, path: VaultPath) -> Stat:
        etag, size = read.digest(self._root, path)
        created, modified = read.times(self._root, path)
        return Stat(size, created, modified, etag)

    def created(self, path: VaultPath) -> float | None:
        return read.times(self._root, path)[0]

    def etag(self, path: VaultPath) -> str:
        return read.digest(self._root, path)[0]

    def show(self, path: VaultPath, *, new_tab: bool) -> None:
        self._root.real(path)
        raise WithoutApp(
            f"{path} cannot be shown: this vault is served from its files, without the Obsidian app.",
            "Install Obsidian and start the server with --backend obsidian, or read the note instead.",
        )

    def settle(self) -> None:
        recording.settle_if_free(self._recorder, self._root, self._state)

    def commit(self, doing: str, plan: Callable[[], ChangeSet]) -> Committed:
        """Lock, recover, plan, act, check; and plan again where a note was changed before it was written."""
        with self._state.locked(self._call, doing):
            self._call.check(doing)  # the wait may have been long
            with contextlib.suppress(FileFailed):  # logged; only that note, and a transaction, has to wait for it
                record.recover(self._root, self._state)
            if self._state.has_journal:
                with contextlib.suppress(FileFailed):  # logged; only a transaction has to wait for it
                    self._recovery.recover()
            if self._recorder is not None:
                recording.settle(self._recorder, self._root)
            for attempt in range(1, TRIES + 1):
                changes = plan()
                self._sweep_once(changes.changes[0].path)
                self._call.check(doing)  # and so may the planning
                try:
                    return self._recorded(changes)
                except Conflict as conflict:  # an editor wrote after we had looked, and we have not: look again
                    if conflict.vault is CHANGED or attempt == TRIES:
                        raise
        raise AssertionError("the last attempt returns or raises")

    def _recorded(self, changes: ChangeSet) -> Committed:
        def act(changes: ChangeSet) -> ChangeSet:
            done = transaction.commit(self._root, self._recovery, changes, self._uses_local_trash)
            write.remove_folders(self._root, changes.unmade)
            return done

        if self._recorder is None:
            return recording.recorded(None, changes, act)
        beside = recording.witnesses(self._root, changes)
        return recording.recorded(self._recorder, recording.prepared(self._root, changes), act, beside)

    def _uses_local_trash(self) -> bool:
        return self.settings().uses_local_trash

    def _sweep_once(self, path: str) -> None:
        """Before the first write to a folder: clear away what a killed server left there."""
        folder = path.rpartition("/")[0]
        if folder not in self._swept and is_path(path):
            self._swept.add(folder)
            write.sweep_beside(self._root, VaultPath(path))
