"""The port, answered by Obsidian through its CLI. The CLI acts; what it claims is checked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from obsidian_mcp.backends.files import read, recording, trash, write
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.obsidian import argv, replies
from obsidian_mcp.backends.obsidian.client import Client
from obsidian_mcp.backends.obsidian.direct import DirectWriter
from obsidian_mcp.backends.obsidian.recording import AppRecording
from obsidian_mcp.backends.obsidian.together import TogetherWriter
from obsidian_mcp.backends.obsidian.verify import Verifier, same, spelled_among
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import (
    READ,
    UNKNOWN,
    UNTOUCHED,
    CliFailed,
    Conflict,
    Failure,
    FileFailed,
    TimedOut,
)
from obsidian_mcp.registry import Address
from obsidian_mcp.state import State
from obsidian_mcp.vault import text
from obsidian_mcp.vault.active import Unreadable, from_app
from obsidian_mcp.vault.changes import Change, ChangeSet, Committed, Rename, Restore, Trash, Write
from obsidian_mcp.vault.config import VaultConfig
from obsidian_mcp.vault.history import Recorder
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import TRIES, Stat


class ObsidianVault:
    """`root` is the vault's folder, where it is in reach."""

    def __init__(
        self,
        client: Client,
        root: VaultRoot | None,
        state: State,
        call: CallContext,
        address: Address,
        recorder: Recorder | None = None,
    ) -> None:
        self._client = client
        self._root = root
        self._call = call
        self._verifier = Verifier(client, root)
        self._direct = DirectWriter(client, self._verifier, root, state, call)
        self._together = TogetherWriter(self._verifier, self._direct, root, state, call)
        self._address = address
        self._state = state
        self._recording = AppRecording(recorder, self._verifier, root)
        self._listed: list[str] | None = None

    def is_called(self, vault: str) -> bool:
        return self._address.is_called(vault)

    def within(self, absolute: str) -> str | None:
        return self._address.within(absolute)

    def paths(self) -> list[str]:
        """Asked of the app once until something is planned: it is for finding a note, not for checking a write."""
        if self._listed is None:
            self._listed = self._verifier.paths()
        return self._listed

    def matching(self, name: Name) -> list[str]:
        return name.matches(self.paths())

    def has(self, path: VaultPath) -> bool:
        return read.has(self._root, path) if self._root else path.value in self.paths()

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        return read.spellings(self._root, path) if self._root else spelled_among(self.paths(), path)

    def spelled_folder(self, folder: str) -> str:
        return read.spelled_folder(self._root, folder) if self._root else folder

    def canonical(self, path: VaultPath) -> VaultPath:
        self._verifier.require_inside(path)
        return path

    def settings(self) -> VaultConfig:
        return read.settings(self._root) if self._root else VaultConfig()

    def types(self) -> Mapping[str, str]:
        return read.types(self._root) if self._root else {}

    def config_file(self, name: str) -> Any:
        return read.config_file(self._root, name) if self._root else None

    def in_front(self) -> VaultPath | None:
        doing = "asking for the active note"
        reply = self._client.ask(argv.active(), doing)
        said = replies.evaluated(reply)
        if said is None:
            raise self._client.failure(reply, doing)
        try:
            base, active = from_app(said)
        except Unreadable as problem:
            raise CliFailed(f"Obsidian's answer is not understood while {doing}: {problem}.") from None
        if self._root is not None and not self._root.is_at(base):
            raise CliFailed(f"Another vault answered while {doing}: {base}.")
        return None if active is None else active.path

    def daily_path(self) -> VaultPath | None:
        if self._root is not None:
            return None
        doing = "asking for today's note"
        reply = self._client.ask(argv.daily_path(), doing)
        found = replies.path_line(reply)
        if found is None:
            raise self._client.failure(reply, doing)
        return found

    def read(self, path: VaultPath) -> bytes:
        return self._verifier.shown(path)

    def current(self, path: VaultPath) -> bytes:
        return self._verifier.data(path)

    def stat(self, path: VaultPath) -> Stat:
        self._verifier.require_inside(path)
        facts = self._verifier.facts(path)
        etag, size = self._verifier.digest(path)
        return Stat(size or facts.size, facts.created_ms / 1000, facts.modified_ms / 1000, etag or None)

    def created(self, path: VaultPath) -> float | None:
        self._verifier.require_inside(path)
        return self._verifier.facts(path).created_ms / 1000

    def etag(self, path: VaultPath) -> str:
        return self._verifier.digest(path)[0]

    def show(self, path: VaultPath, *, new_tab: bool) -> None:
        doing = f"opening {path}"
        self._verifier.require_inside(path)
        reply = self._client.ask(argv.open_note(path, new_tab), doing)
        if not replies.says(reply, "Opened", path):
            raise self._client.failure(reply, doing)

    def commit(self, doing: str, plan: Callable[[], ChangeSet]) -> Committed:
        """One change at a time by the app: what it does with links when it moves a note is its own affair. Several
        texts by the files.
        """
        with self._state.locked(self._call, doing):
            self._call.check(doing)  # the wait may have been long
            self._together.recover()
            self._recording.settle()
            for attempt in range(1, TRIES + 1):
                self._listed = None  # what is planned rests on what is there now
                changes = plan()
                self._call.check(doing)
                try:
                    return self._recording.recorded(changes, lambda it: self._carried_out(it, doing))
                except Conflict as conflict:  # it changed after we had looked, and nothing was written: look again
                    if conflict.vault not in (READ, UNTOUCHED) or attempt == TRIES:
                        raise
        raise AssertionError("the last attempt returns or raises")

    def settle(self) -> None:
        with contextlib.suppress(FileFailed), self._state.locked_if_free() as alone:
            if alone:
                self._recording.settle()

    def _carried_out(self, changes: ChangeSet, doing: str) -> ChangeSet:
        first, *texts = changes.changes
        if not texts:
            return replace(changes, changes=(self._carry_out(first, doing),))
        if isinstance(first, Rename) and self._root is not None and all(isinstance(text, Write) for text in texts):
            self._carry_out(first, doing)
            self._together.write_after_move(changes, doing)
            return changes
        return self._together.write(changes, doing)

    def _carry_out(self, change: Change, doing: str) -> Change:
        if isinstance(change, Rename):
            self._move(VaultPath(change.path), VaultPath(change.target), doing)
            return change
        if isinstance(change, Trash):
            return self._delete(change, doing)
        if isinstance(change, Restore):
            self._restore(change, doing)
            return change
        if change.after is None:
            self._remove(change, doing)
        else:
            self._write(VaultPath(change.path), change, doing)
        return change

    def _restore(self, change: Restore, doing: str) -> None:
        """Out of the vault's own trash if it lies there, else anew."""
        path = VaultPath(change.path)
        if self._root is not None and change.to:
            write.require_room(self._root, path)
            trash.restore(self._root, path, change.before, change.to, change.mode)
            self._verifier.require_there(path, doing)
        else:
            self._write(path, Write(change.path, None, change.before or b""), doing)

    def _remove(self, change: Write, doing: str) -> None:
        """A file that we had made. By the file where it is in reach: the app would remove whatever it holds by now."""
        path = VaultPath(change.path)
        if self._root is None:
            self._delete(Trash(change.path, True, change.before), doing)
            return
        self._verifier.facts(path)  # the app answers, and has it
        write.remove(self._root, path, change.before, even_if_open=False)
        self._verifier.require_gone(path, doing)

    def _write(self, path: VaultPath, change: Write, doing: str) -> None:
        """By the CLI where it can carry the text, else by the file."""
        before, after = change.before, change.after or b""
        if before is None and self._root:
            write.require_room(self._root, path)
        command, verb = _command(
            path, change if self._root else replace(change, whole=change.whole or _must_be(change))
        )
        if command is None:
            self._direct.write(path, before, after, doing)
            return
        reply = self._client.act(command, doing)
        made = replies.named_path(reply, "Created") if command[0] == "create" else None
        if made is not None and not same(made, path.value):
            raise CliFailed(
                f"Obsidian made {made} instead of {path}, which exists by now.", "Check both notes.", UNKNOWN, path=made
            )
        if made is None and not (before is not None and replies.says(reply, verb, path)):
            raise self._client.refusal(reply, doing)
        self._verifier.require_data(path, after, doing)

    def _delete(self, change: Trash, doing: str) -> Trash:
        path = VaultPath(change.path)
        self._verifier.require_inside(path)
        before = change.before if change.before is not None else self._kept(path)
        film = read.inode(self._root, path) if self._root is not None and before is None else None
        reply = self._client.act(argv.delete(path, change.permanent), doing)
        trashed = replies.says(reply, "Moved to trash", path) and not change.permanent
        if not trashed and not replies.says(reply, "Deleted permanently", path):
            raise self._client.refusal(reply, doing)
        self._verifier.require_gone(path, doing)
        to = trash.of_inode(self._root, film) if self._root is not None and film is not None else ""
        return replace(change, permanent=not trashed, before=before, to=to)

    def _kept(self, path: VaultPath) -> bytes | None:
        """What a deletion could be taken back with, where that costs no question to the app."""
        return None if self._root is None else recording.kept(self._root, path)

    def _move(self, path: VaultPath, target: VaultPath, doing: str) -> None:
        made = self._make_folder(target)
        try:
            self._ask_to_move(path, target, doing)
        except TimedOut:
            raise  # it may still happen, and need them
        except Failure:
            if self._root:
                write.remove_folders(self._root, made)
            raise

    def _ask_to_move(self, path: VaultPath, target: VaultPath, doing: str) -> None:
        command = argv.move(path, target)
        reply = self._client.act(command, doing)
        now = replies.moved_path(reply, "Renamed" if command[0] == "rename" else "Moved", path)
        if now is None or not same(now, target.value):
            raise self._client.refusal(reply, doing)
        self._verifier.require_there(target, doing)
        self._verifier.require_gone(path, doing)

    def _make_folder(self, target: VaultPath) -> list[str]:
        """The folders that had to be made."""
        if self._root:
            write.require_room(self._root, target)
            return write.make_folder_for(self._root, target)
        if target.folder and not any(other.startswith(f"{target.folder}/") for other in self.paths()):
            raise CliFailed(
                f"There is no folder {target.folder}, and the vault's files cannot be reached from here to make it.",
                f"Create a note in {target.folder} first, then move {target.filename} there.",
            )
        return []


def _command(path: VaultPath, change: Write) -> tuple[argv.Command | None, str]:
    """The command that makes this change, and the verb by which it says that it has; None if no command can."""
    before, after = change.before, change.after or b""
    if before is None or change.whole:
        content = _carried(after) if after or before is None else None
        return (None if content is None else argv.create(path, content, overwrite=before is not None)), "Overwrote"
    if after.startswith(before):
        addition = _carried(after[len(before) :]) if _is_plain(before) else None
        return (argv.append(path, addition) if addition else None), "Appended to"
    head, body = text.frontmatter_and_body(before)
    if after.startswith(head) and after.endswith(body) and len(after) > len(before):
        plain = _is_plain(before) and _has_plain_head(head, body)
        addition = _carried(after[len(head) : len(after) - len(body)]) if plain else None
        return (argv.prepend(path, addition) if addition else None), "Prepended to"
    return None, ""


def _must_be(change: Write) -> bool:
    """Whether only the whole text can be given to the app, where the file is out of reach."""
    return _command(VaultPath(change.path), change)[0] is None


def _carried(data: bytes) -> str | None:
    """As a text that the command line carries whole, if it is one."""
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return content if argv.can_carry(content) else None


def _is_plain(data: bytes) -> bool:
    """A note that the app will certainly hand back as it was: no CR, no byte order mark."""
    return b"\r" not in data and not data.startswith(b"\xef\xbb\xbf")


def _has_plain_head(head: bytes, body: bytes) -> bool:
    """Frontmatter, or none, of which every reader finds the same end."""
    if not head:
        return not body.startswith(b"---")
    return head.startswith(b"---\n") and head.endswith(b"\n---\n") and head != b"---\n---\n"
