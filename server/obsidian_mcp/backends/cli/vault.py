"""The port, answered by Obsidian through its CLI.

The CLI acts; what it claims is checked. Where the vault's folder is reachable
from here, the file itself is the witness: it costs no command and cannot
repeat a mistake of the app. Elsewhere (the app on the other side of a WSL or
container boundary) the CLI is asked again.

Text that the CLI would mangle goes straight to the file: written beside it,
swapped in one step, and then confirmed by the app.
"""

from __future__ import annotations

import contextlib
import datetime
import time
import unicodedata
from collections.abc import Callable, Iterator

from obsidian_mcp.backends.cli import argv, replies
from obsidian_mcp.backends.cli.client import Client
from obsidian_mcp.backends.files import Folder
from obsidian_mcp.call import Call
from obsidian_mcp.errors import CliFailed, Conflict, NoteNotFound, NotText, TimedOut
from obsidian_mcp.vault import config, refusals, text
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath, has_known_extension
from obsidian_mcp.vault.port import FileInfo, NoteCreated, NoteDeleted, Relocation

NOTICES_WITHIN = 5.0  # seconds for the app to notice a file that was written beside it
BETWEEN_LOOKS = 0.05
TRIES = 3


class CliVault:
    def __init__(self, client: Client, folder: Folder | None, call: Call) -> None:
        self._client = client
        self._folder = folder
        self._call = call
        self._listed: list[str] | None = None

    def paths(self) -> list[str]:
        """Asked of the app once in a call for finding a note; after a write, anew."""
        if self._listed is None:
            self._listed = self._list()
        return self._listed

    def _list(self) -> list[str]:
        doing = "listing the vault"
        lines = replies.listed(self._client.ask(argv.files(), doing))
        if len(lines) == 1 and not has_known_extension(lines[0]) and replies.failure(lines[0]):
            raise self._client.failure(lines[0], doing)
        return lines

    def matching(self, name: Name) -> list[str]:
        return name.matches(self.paths())

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        if self._folder:
            return self._folder.spellings(path)
        paths = self._list()
        if path.value in paths:
            return [path]
        return [VaultPath(other) for other in sorted(paths) if fold(other) == fold(path.value)]

    def new_note_folder(self) -> str:
        return config.new_note_folder(self._folder.settings()) if self._folder else ""

    def read(self, path: VaultPath) -> bytes:
        doing = f"reading {path}"
        for _ in range(2):  # twice: the note may change between the two looks at it
            size, known = self._witness(path)
            output = self._client.run(argv.read(path), doing)
            replies.reachable(output)
            seen = replies.note_text(output.stdout, size)
            if seen is not None and known in (None, seen):
                return seen
        reply = replies.payload(output)
        if replies.failure(reply):
            raise self._client.failure(reply, doing)
        if known is not None:
            return known  # the app shows it otherwise than it is on disk: not UTF-8, or a byte order mark
        raise NotText(
            f"{path} is not UTF-8 text, or changes while it is read. Try again if it is a note.", path=path.value
        )

    def create(self, path: VaultPath, content: str, *, overwrite: bool, if_match: str | None) -> NoteCreated:
        doing = f"creating {path}"
        before = self._bytes(path) if self.spellings(path) else None
        if before is not None and not overwrite:
            raise refusals.exists_already(path)
        if before is not None:
            text.require_match(path, before, if_match)
        after = content.encode()
        if argv.can_carry(content) and (content or before is None):
            reply = self._client.act(argv.create(path, content, overwrite=before is not None), doing)
            made = replies.named_path(reply, "Created")
            if made is not None and not _same(made, path.value):
                raise CliFailed(
                    f"Obsidian made {made} instead of {path}, which exists by now. Check both notes.", path=made
                )
            if made is None and not (before is not None and replies.says(reply, "Overwrote", path)):
                raise self._client.failure(reply, doing)
            self._verify(path, after, doing)
        else:
            self._write_file(path, before, after, doing)
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
        self._require_inside(path)
        if if_match is not None:
            text.require_match(path, self._bytes(path), if_match)
        reply = self._client.act(argv.delete(path, permanent), doing)
        if not replies.says(reply, "Deleted permanently" if permanent else "Moved to trash", path):
            raise self._client.failure(reply, doing)
        with _checking(doing):
            if self._is_there(path):
                raise _not_done(doing, f"{path} is still there")
        return NoteDeleted(path.value, deleted=True, trashed=not permanent)

    def move(self, path: VaultPath, target: VaultPath, *, dry_run: bool) -> Relocation:
        doing = f"moving {path} to {target}"
        self._require_inside(path)
        refusals.require_free(path, target, self.spellings(target))
        if dry_run:
            return Relocation(done=False)
        self._make_folder(target)
        command = argv.move(path, target)
        reply = self._client.act(command, doing)
        now = replies.moved_path(reply, "Renamed" if command[0] == "rename" else "Moved", path)
        if now is None or not _same(now, target.value):
            raise self._client.failure(reply, doing)
        with _checking(doing):
            if not self._is_there(target):
                raise _not_done(doing, f"there is no {target}")
            if self._is_there(path):
                raise _not_done(doing, f"{path} is still there")
        return Relocation(done=True)

    def open(self, path: VaultPath, *, new_tab: bool) -> None:
        doing = f"opening {path}"
        self._require_inside(path)
        reply = self._client.ask(argv.open_note(path, new_tab), doing)
        if not replies.says(reply, "Opened", path):
            raise self._client.failure(reply, doing)

    def info(self, path: VaultPath) -> FileInfo:
        self._require_inside(path)
        facts = self._facts(path)
        try:
            data = self._bytes(path)
            size, tag = len(data), text.etag(data)
        except NotText:  # not reachable from here, and the CLI cannot show its bytes
            size, tag = facts.size, None
        return FileInfo(
            path.value, path.stem, path.extension, size, _when(facts.created_ms), _when(facts.modified_ms), tag
        )

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
            before = self._bytes(path)
            text.decoded(path, before)
            text.require_match(path, before, if_match)
            after = place(before)
            by_cli = command(before, after)
            if by_cli is not None:
                reply = self._client.act(by_cli, doing)
                if not replies.says(reply, verb, path):
                    raise self._client.failure(reply, doing)
                self._verify(path, after, doing)
                return after
            try:
                self._write_file(path, before, after, doing)
                return after
            except Conflict:  # it changed after we had looked, and nothing was written: look again
                if attempt == TRIES - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _bytes(self, path: VaultPath) -> bytes:
        return self._folder.read(path) if self._folder else self.read(path)

    def _witness(self, path: VaultPath) -> tuple[int, bytes | None]:
        """The note's size, and its bytes where they can be seen without the app."""
        if self._folder:
            data = self._folder.read(path)
            return len(data), data
        return self._facts(path).size, None

    def _facts(self, path: VaultPath) -> replies.FileFacts:
        doing = f"describing {path}"
        reply = self._client.ask(argv.file(path), doing)
        facts = replies.file_facts(reply)
        if facts is None or not _same(facts.path, path.value):
            raise self._client.failure(reply, doing)
        return facts

    def _require_inside(self, path: VaultPath) -> None:
        if self._folder:
            self._folder.real(path)

    def _is_there(self, path: VaultPath) -> bool:
        return any(_same(other.value, path.value) for other in self.spellings(path))

    def _verify(self, path: VaultPath, expected: bytes, doing: str) -> None:
        try:
            with _checking(doing):
                found = self._bytes(path)
        except NoteNotFound:
            raise _not_done(doing, f"there is no {path}") from None
        if found != expected:
            raise _not_done(doing, f"{path} has {len(found)} bytes that are not the {len(expected)} expected")

    def _make_folder(self, target: VaultPath) -> None:
        if self._folder:
            self._folder.make_folder_for(target)
        elif target.folder and not any(other.startswith(f"{target.folder}/") for other in self.paths()):
            raise CliFailed(
                f"There is no folder {target.folder}, and the vault's files cannot be reached from here to make it. "
                f"Create a note in {target.folder} first, then move {target.filename} there."
            )

    def _write_file(self, path: VaultPath, before: bytes | None, after: bytes, doing: str) -> None:
        """The other road: past the CLI, but not past the app."""
        if self._folder is None:
            raise CliFailed(
                f"The text for {path} cannot be passed to the Obsidian CLI (a backslash before n or t, a carriage "
                "return, or more than 3,000 bytes), and the vault's folder cannot be reached from here. "
                "Nothing was changed. Run obsidian-mcp on the machine that has the vault."
            )
        self._agree(path, before, doing)
        self._call.check(doing)
        if before is None:
            self._folder.write_new(path, after)
        else:
            self._folder.replace(path, before, after)
        self._verify(path, after, doing)
        with _checking(doing):
            self._confirm(path, len(after), doing)

    def _agree(self, path: VaultPath, before: bytes | None, doing: str) -> None:
        """Before the file is touched: the app answers, and sees what we see."""
        if before is not None:
            self._facts(path)
            return
        reply = self._client.ask(argv.file(path), doing)
        if replies.file_facts(reply) is None and not isinstance(replies.failure(reply), NoteNotFound):
            raise self._client.failure(reply, doing)

    def _confirm(self, path: VaultPath, size: int, doing: str) -> None:
        """The app watches its folder; give it a moment to notice."""
        until = time.monotonic() + min(NOTICES_WITHIN, self._call.remaining)
        while True:
            facts = replies.file_facts(self._client.ask(argv.file(path), doing))
            if facts is not None and facts.size == size:
                return
            if time.monotonic() > until:
                raise CliFailed(
                    f"{path} is on disk with the text it should have, but Obsidian has not noticed it yet. "
                    "Check that Obsidian has this folder open; do not write it again."
                )
            time.sleep(BETWEEN_LOOKS)


@contextlib.contextmanager
def _checking(doing: str) -> Iterator[None]:
    """Around the checks that follow a write: running out of time there does not undo it."""
    try:
        yield
    except TimedOut:
        raise TimedOut(
            f"It was carried out, but the limit passed before that could be checked, while {doing}. "
            "Look before trying again: it may have taken effect."
        ) from None


def _is_plain(data: bytes) -> bool:
    """A note that the app will certainly hand back as it was: no CR, no byte order mark."""
    return b"\r" not in data and not data.startswith(b"\xef\xbb\xbf")


def _has_plain_head(head: bytes, body: bytes) -> bool:
    """Frontmatter, or none, that everybody finds the same end of."""
    if not head:
        return not body.startswith(b"---")
    return head.startswith(b"---\n") and head.endswith(b"\n---\n")


def _same(one: str, other: str) -> bool:
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


def _not_done(doing: str, instead: str) -> CliFailed:
    return CliFailed(
        f"Obsidian reported success while {doing}, but {instead}. Somebody may have changed it at the same time. "
        "Read it before trying again."
    )


def _when(milliseconds: int) -> str:
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
