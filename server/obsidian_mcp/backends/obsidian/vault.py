"""The port, answered by Obsidian through its CLI. The CLI acts; what it claims is checked."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from obsidian_mcp.backends.files.write import Folder
from obsidian_mcp.backends.obsidian import argv, replies
from obsidian_mcp.backends.obsidian.client import Client
from obsidian_mcp.backends.obsidian.direct import DirectWriter
from obsidian_mcp.backends.obsidian.verify import Verifier, same
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CliFailed, Conflict, Failure, TimedOut
from obsidian_mcp.state import State
from obsidian_mcp.vault import config, refusals, text
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import FileInfo, NoteCreated, NoteDeleted, Relocation

TRIES = 3


class CliVault:
    def __init__(self, client: Client, folder: Folder | None, state: State, call: CallContext) -> None:
        self._client = client
        self._folder = folder
        self._look = Verifier(client, folder)
        self._road = DirectWriter(client, self._look, folder, state, call)
        self._listed: list[str] | None = None

    def paths(self) -> list[str]:
        """Asked of the app once in a call: it is for finding a note, not for checking a write."""
        if self._listed is None:
            self._listed = self._look.paths()
        return self._listed

    def matching(self, name: Name) -> list[str]:
        return name.matches(self.paths())

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        return self._look.spellings(path)

    def spelled_folder(self, folder: str) -> str:
        return self._folder.spelled_folder(folder) if self._folder else folder

    def new_note_folder(self) -> str:
        return config.new_note_folder(self._folder.settings()) if self._folder else ""

    def read(self, path: VaultPath) -> bytes:
        return self._look.shown(path)

    def create(self, path: VaultPath, content: str, *, overwrite: bool, if_match: str | None) -> NoteCreated:
        doing = f"creating {path}"
        before = self._look.data(path) if self.spellings(path) else None
        if before is not None and not overwrite:
            raise refusals.exists_already(path)
        if before is not None:
            text.require_match(path, text.etag(before), if_match)
        elif self._folder:
            self._folder.require_room(path)
        after = content.encode()
        if argv.can_carry(content) and (content or before is None):
            reply = self._client.act(argv.create(path, content, overwrite=before is not None), doing)
            made = replies.named_path(reply, "Created")
            if made is not None and not same(made, path.value):
                raise CliFailed(
                    f"Obsidian made {made} instead of {path}, which exists by now. Check both notes.", path=made
                )
            if made is None and not (before is not None and replies.says(reply, "Overwrote", path)):
                raise self._client.refusal(reply, doing)
            self._look.require_data(path, after, doing)
        else:
            self._road.write(path, before, after, doing)
        return NoteCreated(path.value, before is None, before is not None, text.etag(after), len(after))

    def append(self, path: VaultPath, content: str, *, inline: bool, if_match: str | None) -> bytes:
        def place(before: bytes) -> bytes:
            return text.appended(before, content, inline)

        def command(before: bytes, after: bytes) -> argv.Command | None:
            addition = after[len(before) :].decode()
            return argv.append(path, addition) if _is_plain(before) and argv.can_carry(addition) else None

        return self._add(path, place, command, "Appended to", f"appending to {path}", if_match)

    def prepend(self, path: VaultPath, content: str, *, inline: bool, if_match: str | None) -> bytes:
        def place(before: bytes) -> bytes:
            return text.prepended(before, content, inline)

        def command(before: bytes, after: bytes) -> argv.Command | None:
            head, body = text.frontmatter_and_body(before)
            addition = after[len(head) : len(after) - len(body)].decode()
            plain = _is_plain(before) and _has_plain_head(head, body)
            return argv.prepend(path, addition) if plain and argv.can_carry(addition) else None

        return self._add(path, place, command, "Prepended to", f"prepending to {path}", if_match)

    def delete(self, path: VaultPath, *, permanent: bool, if_match: str | None) -> NoteDeleted:
        doing = f"deleting {path}"
        self._look.require_inside(path)
        if if_match is not None:
            text.require_match(path, self._look.digest(path)[0], if_match)
        reply = self._client.act(argv.delete(path, permanent), doing)
        trashed = replies.says(reply, "Moved to trash", path) and not permanent
        if not trashed and not replies.says(reply, "Deleted permanently", path):
            raise self._client.refusal(reply, doing)
        self._look.require_gone(path, doing)
        return NoteDeleted(path.value, deleted=True, trashed=trashed)

    def move(self, path: VaultPath, target: VaultPath, *, dry_run: bool) -> Relocation:
        self._look.require_inside(path)
        refusals.require_free(path, target, self.spellings(target))
        if dry_run:
            return Relocation(done=False)
        made = self._make_folder(target)
        try:
            self._move(path, target, f"moving {path} to {target}")
        except TimedOut:
            raise  # it may still happen, and need them
        except Failure:
            if self._folder:
                self._folder.remove_folders(made)
            raise
        return Relocation(done=True)

    def open(self, path: VaultPath, *, new_tab: bool) -> None:
        doing = f"opening {path}"
        self._look.require_inside(path)
        reply = self._client.ask(argv.open_note(path, new_tab), doing)
        if not replies.says(reply, "Opened", path):
            raise self._client.failure(reply, doing)

    def info(self, path: VaultPath) -> FileInfo:
        self._look.require_inside(path)
        facts = self._look.facts(path)
        tag, size = self._look.digest(path)
        created, modified = _when(facts.created_ms), _when(facts.modified_ms)
        return FileInfo(path.value, path.stem, path.extension, size or facts.size, created, modified, tag or None)

    def _add(
        self,
        path: VaultPath,
        place: Callable[[bytes], bytes],
        command: Callable[[bytes, bytes], argv.Command | None],
        verb: str,
        doing: str,
        if_match: str | None,
    ) -> bytes:
        """Add to a note by the CLI where it can carry the text, else by the file."""
        for attempt in range(TRIES):
            before = self._look.data(path)
            text.decoded(path, before)
            text.require_match(path, text.etag(before), if_match)
            after = place(before)
            by_cli = command(before, after)
            if by_cli is not None:
                reply = self._client.act(by_cli, doing)
                if not replies.says(reply, verb, path):
                    raise self._client.refusal(reply, doing)
                self._look.require_data(path, after, doing)
                return after
            try:
                self._road.write(path, before, after, doing)
                return after
            except Conflict:  # it changed after we had looked, and nothing was written: look again
                if attempt == TRIES - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _move(self, path: VaultPath, target: VaultPath, doing: str) -> None:
        command = argv.move(path, target)
        reply = self._client.act(command, doing)
        now = replies.moved_path(reply, "Renamed" if command[0] == "rename" else "Moved", path)
        if now is None or not same(now, target.value):
            raise self._client.refusal(reply, doing)
        self._look.require_there(target, doing)
        self._look.require_gone(path, doing)

    def _make_folder(self, target: VaultPath) -> list[str]:
        """The folders that had to be made."""
        if self._folder:
            self._folder.require_room(target)
            return self._folder.make_folder_for(target)
        if target.folder and not any(other.startswith(f"{target.folder}/") for other in self.paths()):
            raise CliFailed(
                f"There is no folder {target.folder}, and the vault's files cannot be reached from here to make it. "
                f"Create a note in {target.folder} first, then move {target.filename} there."
            )
        return []


def _is_plain(data: bytes) -> bool:
    """A note that the app will certainly hand back as it was: no CR, no byte order mark."""
    return b"\r" not in data and not data.startswith(b"\xef\xbb\xbf")


def _has_plain_head(head: bytes, body: bytes) -> bool:
    """Frontmatter, or none, that everybody finds the same end of."""
    if not head:
        return not body.startswith(b"---")
    return head.startswith(b"---\n") and head.endswith(b"\n---\n") and head != b"---\n---\n"


def _when(milliseconds: int) -> str:
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
