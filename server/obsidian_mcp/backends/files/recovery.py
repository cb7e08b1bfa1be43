"""After a kill: what a transaction had begun is finished, and what it had not is forgotten.

The journal holds every text as it would have been, and a note that is still as it was gets it. But time may have
passed: the person, or a server that keeps its state elsewhere, may have edited a note or moved the file once more. So
for a move the file is looked for by its inode, and every link that would lead to its old place, and leads nowhere now,
is made to lead to where it is, in whatever text it stands. The journal is dropped only when nothing is left to do.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from obsidian_mcp import logs
from obsidian_mcp.backends.files import atomic, in_place, read, write
from obsidian_mcp.backends.files.held import hold
from obsidian_mcp.backends.files.journal import Act, Journal, Text, digest, text_bytes
from obsidian_mcp.backends.files.os_errors import translate_os_errors
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.scan import path_of_inode
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Conflict, Failure, FileFailed, InvalidArguments, NoteNotFound
from obsidian_mcp.state import State
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.links.link_names import key_of_path
from obsidian_mcp.vault.links.link_rewrites import Move
from obsidian_mcp.vault.links.writing import apply
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import TRIES


@dataclass(frozen=True, slots=True)
class Recovery:
    """What is needed to put a vault right: where it lies, what was kept, and what is in it."""

    root: VaultRoot
    state: State
    index: Index

    def recover(self) -> None:
        """Finish or forget what a server that was killed had begun.

        The journal is kept where the vault is empty, for then its disk may not be mounted. It is also kept, and
        FileFailed raised, where a link can't be rewritten now: the disk is full, or fails, or a note may not be
        written.
        """
        if not self.root.has_files():
            return
        try:
            stored = self.state.read_journal()
            if stored is not None:
                how = self._recover(Journal.parse(stored))
                logs.log("warning", "an interrupted change was put right", how=how)
        except (ValueError, KeyError, TypeError, AttributeError):
            logs.log("error", "a journal that means nothing was dropped")
        except Failure as failure:
            logs.log("error", "an interrupted change could not be put right", why=failure.message)
            raise FileFailed(
                f"An earlier change was interrupted and can't be finished: {failure.fact}", "Put that right first."
            ) from None
        clear(self.state)

    def _recover(self, journal: Journal) -> str:
        self._sweep(journal)
        moves = [act for act in journal.acts if act.kind == "rename"]
        places = {act: self._place(act, journal) for act in moves}
        began = (
            any(place not in (None, act.path) for act, place in places.items())
            or any(_was_done(self.root, act) for act in journal.acts if act not in moves)
            or _has_begun(self.root, journal)
        )
        if not began:
            for act, place in places.items():
                if place is None:
                    logs.log("error", "a note that was being moved is gone", path=act.path, to=act.target)
            return "forgotten"
        self._finish_texts(journal, {act.target for act, place in places.items() if place != act.target})
        for act, place in places.items():
            if place is not None:
                self._follow(act, place)
        return "finished"

    def _sweep(self, journal: Journal) -> None:
        """Remove the texts that were prepared beside the notes."""
        swept: set[str] = set()
        for text in journal.texts:
            for path in (text.now, text.path):
                parent = path.rpartition("/")[0]
                if parent not in swept:
                    swept.add(parent)
                    with contextlib.suppress(Failure):  # another program's link by now: nothing of ours is in it
                        self.root.require_own(parent)
                        write.sweep(self.root, path)

    # Texts that are as they were

    def _finish_texts(self, journal: Journal, elsewhere: set[str]) -> None:
        """Put in place what was to be written over texts that have not changed. Raises the first that can't be."""
        unfinished: Failure | None = None
        for text in journal.texts:
            if text.path in elsewhere or not self._is_in_the_vault(text.path):
                continue
            try:
                if read.is_file_itself(self.root, text.path):  # else it is gone, or another program's link
                    self._finish(text)
            except (NoteNotFound, Conflict) as failure:
                logs.log("error", "a link could not be rewritten", path=text.path, why=failure.message)
            except Failure as failure:
                unfinished = unfinished or failure
        if unfinished is not None:
            raise unfinished

    def _is_in_the_vault(self, path: str) -> bool:
        """Whether its folder is still one of the vault's own, and not a link that leads elsewhere."""
        try:
            self.root.require_own(path.rpartition("/")[0])
        except Failure as failure:
            logs.log("error", "a link could not be rewritten", path=path, why=failure.message)
            return False
        return True

    def _finish(self, text: Text) -> None:
        current = read.listed(self.root, text.path)
        before, after = _both(text, current)
        if in_place.is_mixture(current, before, after):
            write.finish(self.root, text.path, before, after)

    # Links to a file that is somewhere else by now

    def _place(self, act: Act, journal: Journal) -> str | None:
        """Where the file of a rename is; None if it can't be found."""
        old, new = VaultPath(act.path), VaultPath(act.target)
        for path in (new, old):
            if act.inode is not None and read.inode(self.root, path) == act.inode:
                return path.value
        found = None if act.inode is None else path_of_inode(self.root, act.inode)
        if found is not None:
            return found
        has_new, has_old = (read.spelled_exactly(self.root, path) for path in (new, old))
        if has_new and not has_old:
            return act.target  # its own links have been rewritten, which may make another file of it
        return self._path_of_text(act.target, journal) or (act.path if has_old else None)

    def _path_of_text(self, target: str, journal: Journal) -> str | None:
        """The note that holds what the moved one was to hold."""
        wanted = {digest(text_bytes(text.after)) for text in journal.texts if text.path == target}
        for path in self.index.names.paths(CallContext()) if wanted else ():
            if path.lower().endswith((".md", ".canvas")):
                with contextlib.suppress(Failure):
                    if digest(read.listed(self.root, path)) in wanted:
                        return path
        return None

    def _follow(self, act: Act, place: str) -> None:
        """Make every link lead to the file that would lead to where it was, or was to be, and leads nowhere now."""
        names = self.index.names.snapshot(CallContext())
        link_format = read.settings(self.root).link_format
        for old in (act.path, act.target):
            if old == place or names.exact(old) is not None:
                continue
            move = Move.plan(old, place, names.moved(place, old), link_format)
            for path, _ in list(self.index.mentions.mentioning({key_of_path(old)}, (), CallContext())):
                if path != place and not path.lower().endswith(".base"):
                    self._rewrite(path, move)

    def _replace(self, path: str, before: bytes, after: bytes) -> None:
        """In one step, for this text is on no record."""
        with translate_os_errors(path), hold(self.root.prefix, path) as at:
            atomic.swap(path, at, before, after)

    def _rewrite(self, path: str, move: Move) -> None:
        """In the text as it is now. Another program may be writing it at this moment."""
        for attempt in range(1, TRIES + 1):
            current = read.listed(self.root, path)
            text = current.decode("utf-8", "surrogateescape")
            try:
                rewrites = move.rewrites(path, text)
                if rewrites:
                    self._replace(path, current, text_bytes(apply(text, rewrites)))
                return
            except InvalidArguments as failure:
                logs.log("error", "a link could not be rewritten", path=path, why=failure.message)
                return
            except Conflict:
                if attempt == TRIES:
                    raise


def _has_begun(root: VaultRoot, journal: Journal) -> bool:
    """Of a journal of nothing but texts: whether one of them is in place, or in part."""
    if journal.acts:
        return False
    for text in journal.texts:
        with contextlib.suppress(Failure):
            found = read.listed(root, text.path)
            if digest(found) != text.before and in_place.is_mixture(found, *_both(text, found)):
                return True
    return False


def _was_done(root: VaultRoot, act: Act) -> bool:
    """Whether a file that was to be made is there, or one that was to be removed is not."""
    return read.spelled_exactly(root, VaultPath(act.path)) == (act.kind == "make")


def _both(text: Text, current: bytes) -> tuple[bytes, bytes]:
    """The text that was, and that will be. A journal of the first version has no more of the old than its digest."""
    after = text_bytes(text.after)
    if text.was is not None:
        return text_bytes(text.was), after
    return (current if digest(current) == text.before else after), after


def clear(state: State) -> None:
    """A journal that stays is followed by the next call, which finds nothing left to do."""
    try:
        state.clear_journal()
    except FileFailed as failure:
        logs.log("warning", "the journal of a change that is over could not be removed", why=failure.message)
