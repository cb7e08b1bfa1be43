"""One write to one note, on record outside the vault until it is on disk.

What an addition needs is its own text and the length of the old one: the old text is not touched, so the record need
not be on disk itself. Anything else overwrites, and waits until the record is. A record is followed only where the
note holds what a write can have left in the middle; so one that has outlived its write does no harm.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass

from obsidian_mcp import logs
from obsidian_mcp.backends.files import atomic, in_place, read
from obsidian_mcp.backends.files.held import HeldPath, hold
from obsidian_mcp.backends.files.journal import digest
from obsidian_mcp.backends.files.os_errors import translate_os_errors
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.errors import Conflict, Failure, FileFailed, NoteNotFound
from obsidian_mcp.state import State
from obsidian_mcp.vault.path import VaultPath

VERSION = 2
KNOWN = (1, VERSION)  # the first had no foot


@dataclass(frozen=True, slots=True)
class Record:
    """`before` and `after` are the texts from `start` on; `head` is the SHA-256 of what both have before it.

    Where they are equally long, they go to the last block that differs, and `foot` is the SHA-256 of what is after it.
    """

    path: str
    start: int
    head: str
    before: bytes
    after: bytes
    foot: str | None = None

    @classmethod
    def of(cls, path: str, before: bytes, after: bytes) -> Record:
        start = in_place.difference(before, after)
        head = digest(before[:start])
        if len(before) != len(after):
            return cls(path, start, head, before[start:], after[start:])
        end = in_place.same_end(before, after, start)
        return cls(path, start, head, before[start:end], after[start:end], digest(before[end:]))

    def stored(self) -> bytes:
        """A line that says what follows, then both texts as they are."""
        said = {"version": VERSION, "path": self.path, "start": self.start, "head": self.head, "foot": self.foot}
        texts = hashlib.sha256(self.before)
        texts.update(self.after)  # and not one long text made of both
        sizes = {"sizes": [len(self.before), len(self.after)], "texts": texts.hexdigest()}
        return b"".join((json.dumps({**said, **sizes}).encode(), b"\n", self.before, self.after))

    @classmethod
    def parse(cls, stored: bytes) -> Record:
        """Raises ValueError, KeyError or TypeError for what is not a whole record, FileFailed for another version's."""
        line, _, rest = stored.partition(b"\n")
        said = json.loads(line)
        if said["version"] not in KNOWN:
            raise FileFailed(f"Its record is of another version ({said['version']!r}) than {VERSION}.")
        old, new = said["sizes"]
        if digest(rest[: old + new]) != said["texts"]:
            raise ValueError("it was not written to its end")
        path = VaultPath(said["path"]).value
        return cls(path, int(said["start"]), str(said["head"]), rest[:old], rest[old : old + new], said.get("foot"))


def replace(root: VaultRoot, state: State, path: VaultPath, before: bytes, after: bytes) -> None:
    """Give a note other bytes, if it still has those it had. Only while no other server writes."""
    inside = root.inside(path)
    with translate_os_errors(path), hold(root.prefix, inside) as at:
        if state.slot.is_set:
            _require_other(state, inside)
            atomic.swap(path.value, at, before, after)  # which needs no record
            return
        _write(state, path.value, at, Record.of(inside, before, after), before, after)
        atomic.require_written(path.value, at, after)


def _write(state: State, path: str, at: HeldPath, record: Record, before: bytes, after: bytes) -> None:
    try:
        state.slot.write(record.stored(), flushed=bool(record.before))
        in_place.rewrite(path, at, before, after, flushed=True)
    except in_place.Torn:
        raise
    except (Failure, OSError):
        _clear(state)
        raise
    _clear(state)


def _require_other(state: State, path: str) -> None:
    """Raise if the write that could not be finished is this note's: its text is not what it seems."""
    try:
        record = Record.parse(state.slot.read())
    except (ValueError, KeyError, TypeError, FileFailed):
        return
    if record.path == path:
        raise FileFailed(
            f"An earlier write to {path} was interrupted and can't be finished now.", "Put that right first.", path=path
        )


def put_right(root: VaultRoot, state: State) -> None:
    """At a call's beginning: what a killed server left, unless another server is at it."""
    if state.slot.is_set:
        with state.locked_if_free() as alone:
            if alone:
                recover(root, state)


def recover(root: VaultRoot, state: State) -> None:
    """Finish a write that was interrupted. Only while no other server writes.

    The record is kept where the vault is empty, for then its disk may not be mounted; it is also kept, and FileFailed
    raised, where the note can't be written now.
    """
    if not state.slot.is_set or not root.has_files():
        return
    try:
        record = Record.parse(state.slot.read())
        logs.log("warning", "an interrupted write was put right", path=record.path, how=_recover(root, state, record))
    except (ValueError, KeyError, TypeError):
        logs.log("warning", "a write that was interrupted before it began was forgotten")
    except Failure as failure:
        logs.log("error", "an interrupted write could not be put right", why=failure.message)
        raise FileFailed(
            f"An earlier write was interrupted and can't be finished: {failure.fact}", "Put that right first."
        ) from None
    _clear(state)


def _recover(root: VaultRoot, state: State, record: Record) -> str:
    where = root.place(record.path)
    if not read.is_file_itself(root, record.path) or os.path.realpath(where) != where:
        return "forgotten: there is no such note any more"
    try:
        with translate_os_errors(record.path), hold(root.prefix, record.path) as at:
            return _finish(at, record)
    except NoteNotFound:
        return "forgotten: there is no such note any more"
    except Conflict:
        kept = f"; the old text is in {state.slot.keep()}" if record.before else ""
        return f"left alone: another program has written it{kept}"


def _finish(at: HeldPath, record: Record) -> str:
    found = atomic.read(at)
    end = len(found) if record.foot is None else record.start + len(record.before)
    head, rest, foot = found[: record.start], found[record.start : end], found[end:]
    if digest(head) != record.head or (record.foot is not None and digest(foot) != record.foot):
        raise atomic.changed_meanwhile(record.path)
    if rest == record.before:
        return "forgotten: it had not begun"
    in_place.finish(record.path, at, head + record.before + foot, head + record.after + foot)
    return "finished"


def _clear(state: State) -> None:
    """One that stays is looked at by the next call, which finds nothing left to do."""
    try:
        state.slot.clear()
    except FileFailed as failure:
        logs.log("warning", "the record of a write that is over could not be cleared", why=failure.message)
