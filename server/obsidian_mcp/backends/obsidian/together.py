"""Writing several files together, which no command of the CLI does: past the CLI, but not past the app.

The app is asked first, so that nothing is written without it; then the texts are put in place by one transaction on the
files, all of them or none; then the app is asked until it has noticed the first, which stands for the others: to ask it
for each of a thousand notes would take longer than to write them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import NoReturn

from obsidian_mcp import logs
from obsidian_mcp.backends.files import record, recording, transaction
from obsidian_mcp.backends.files.recovery import Recovery
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.obsidian.direct import DirectWriter
from obsidian_mcp.backends.obsidian.verify import Verifier, checking
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CliFailed, FileFailed
from obsidian_mcp.state import State
from obsidian_mcp.vault import merging
from obsidian_mcp.vault.changes import Change, ChangeSet, Write
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath


class TogetherWriter:
    def __init__(
        self, verifier: Verifier, direct: DirectWriter, root: VaultRoot | None, state: State, call: CallContext
    ) -> None:
        self._verifier = verifier
        self._direct = direct
        self._root = root
        self._state = state
        self._call = call

    def write(self, changes: ChangeSet, doing: str) -> ChangeSet:
        """Only while no other server writes."""
        root, first = self._root, changes.changes[0]
        writes = [change for change in changes.changes if isinstance(change, Write) and _is_rewrite(change)]
        if root is None or len(writes) < len(changes.changes) or not isinstance(first, Write):
            raise CliFailed(
                f"The Obsidian app does one thing at a time, so it can't be asked to do all of {doing} or nothing.",
                "Do it one by one, or serve the vault's folder without the app: --backend embedded.",
            )
        path = VaultPath(first.path)
        earlier = self._verifier.facts(path)
        self._call.check(doing)
        done = transaction.commit(root, self._recovery(root), changes, lambda: False)
        with checking(doing):
            self._direct.confirm(path, len(first.after or b""), earlier, doing)
        return done

    def write_after_move(self, changes: ChangeSet, doing: str) -> None:
        """The texts of a change that begins with a move, which the app has made and mended links for as it likes.

        A note in which anything else has changed meanwhile stays as it is.
        """
        assert self._root is not None
        wanted: list[Change] = []
        for text in changes.changes[1:]:
            now = recording.held(self._root, text.path)
            if not isinstance(text, Write) or text.before is None or text.after is None or now in (None, text.after):
                continue
            if not merging.is_confined(text.before, text.after, now or b""):
                logs.log("warning", "a note was changed while a move was undone, and stays so", path=text.path)
                continue
            wanted.append(Write(text.path, now, text.after))
        if wanted:
            with checking(doing):
                self.write(ChangeSet(changes.doing, tuple(wanted)), doing)

    def recover(self) -> None:
        """Finish what a server that was killed had begun to write. Only while no other server writes."""
        if self._root is None:
            return
        with contextlib.suppress(FileFailed):  # logged; only that note has to wait for it
            record.recover(self._root, self._state)
        with contextlib.suppress(FileFailed):  # logged; only what is written together has to wait for it
            if self._state.has_journal:
                self._recovery(self._root).recover()

    def _recovery(self, root: VaultRoot) -> Recovery:
        return Recovery(root, self._state, Index(_NoIndex(), _NoIndex()))


def _is_rewrite(change: Write) -> bool:
    return change.before is not None and change.after is not None


class _NoIndex:
    """With the app there is no index of ours. It is wanted for a move that a server without the app had begun."""

    def snapshot(self, call: CallContext) -> Resolver:
        self._refuse()

    def paths(self, call: CallContext) -> list[str]:
        self._refuse()

    def matching(self, name: Name, call: CallContext) -> list[str]:
        self._refuse()

    def namesakes(self, path: str, call: CallContext) -> list[str]:
        self._refuse()

    def mentioning(self, keys: Iterable[str], others: Iterable[str], call: CallContext) -> Iterator[tuple[str, bytes]]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise FileFailed(
            "A move by a server without the app was interrupted, and only such a server can finish it "
            "(--backend embedded)."
        )
