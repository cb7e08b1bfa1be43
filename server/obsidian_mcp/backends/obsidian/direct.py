"""Writing the file directly, for text that the CLI would mangle: past the CLI, but not past the app.

The app is asked first, so that nothing is written without it; the file is
rewritten, if it still is what it was; then the bytes are read back, and the app
is asked until it has noticed.
"""

from __future__ import annotations

import time

from obsidian_mcp.backends.files import record, write
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.obsidian import argv, replies
from obsidian_mcp.backends.obsidian.client import Client
from obsidian_mcp.backends.obsidian.verify import Unverified, Verifier, checking
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CHANGED, CliFailed, NoteNotFound
from obsidian_mcp.state import State
from obsidian_mcp.vault.path import VaultPath

NOTICES_WITHIN = 5.0  # seconds
BETWEEN_LOOKS = 0.05


class DirectWriter:
    def __init__(
        self, client: Client, verifier: Verifier, root: VaultRoot | None, state: State, call: CallContext
    ) -> None:
        self._client = client
        self._verifier = verifier
        self._root = root
        self._state = state
        self._call = call

    def write(self, path: VaultPath, before: bytes | None, after: bytes, doing: str) -> None:
        """Only while no other server writes."""
        if self._root is None:
            raise CliFailed(
                f"The text for {path} cannot be passed to the Obsidian CLI (a backslash before n or t, a carriage "
                "return, or more than 3,000 bytes), and the vault's folder cannot be reached from here.",
                "Run obsidian-mcp on the machine that has the vault.",
            )
        earlier = self._agreed(path, before, doing)
        self._call.check(doing)
        write.sweep_beside(self._root, path)
        if before is None:
            write.write_new(self._root, path, after)
        else:
            record.replace(self._root, self._state, path, before, after)
        self._verifier.require_data(path, after, doing)
        with checking(doing):
            self.confirm(path, len(after), earlier, doing)

    def _agreed(self, path: VaultPath, before: bytes | None, doing: str) -> replies.FileFacts | None:
        """The app answers, and sees a note where we see one."""
        if before is not None:
            return self._verifier.facts(path)
        reply = self._client.ask(argv.file(path), doing)
        if isinstance(replies.failure(reply), NoteNotFound):
            return None
        if replies.file_facts(reply) is None:
            raise self._client.failure(reply, doing)
        raise CliFailed(
            f"Obsidian has a note {path} that is not in the vault's folder as it is seen from here.",
            "Check that Obsidian has this folder open.",
        )

    def confirm(self, path: VaultPath, size: int, earlier: replies.FileFacts | None, doing: str) -> None:
        """The app watches its folder; give it a moment to notice."""
        until = time.monotonic() + min(NOTICES_WITHIN, self._call.remaining)
        while True:
            reply = self._client.ask(argv.file(path), doing)
            facts, failure = replies.file_facts(reply), replies.failure(reply)
            if failure and not isinstance(failure, NoteNotFound):
                raise self._client.failure(reply, doing)
            is_newer = earlier is None or earlier.size != size or (facts and facts.modified_ms != earlier.modified_ms)
            if facts is not None and facts.size == size and is_newer:
                return
            if time.monotonic() > until:
                raise Unverified(
                    f"{path} is on disk with the text it should have, but Obsidian has not noticed it yet.",
                    "Check that Obsidian has this folder open; do not write it again.",
                    CHANGED,
                )
            time.sleep(BETWEEN_LOOKS)
