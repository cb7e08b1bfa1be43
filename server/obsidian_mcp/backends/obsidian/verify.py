"""Checking before and after: what is in the vault, seen as directly as possible.

Where the vault's folder is in reach, the file itself is the witness: that costs
no command and cannot repeat a mistake of the app. Elsewhere (the app on the
other side of a WSL or container boundary) the CLI is asked.
"""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Iterator

from obsidian_mcp.backends.files import read
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.obsidian import argv, process, replies
from obsidian_mcp.backends.obsidian.client import Client
from obsidian_mcp.errors import UNKNOWN, Cancelled, CliFailed, Failure, NoteNotFound, NotText
from obsidian_mcp.vault import text
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.path import VaultPath, has_known_extension, is_path


class Unverified(CliFailed):
    """A success that was claimed and did not happen."""


class Verifier:
    def __init__(self, client: Client, root: VaultRoot | None) -> None:
        self._client = client
        self._root = root

    def paths(self) -> list[str]:
        doing = "listing the vault"
        lines = replies.listed(self._client.ask(argv.files(), doing))
        if lines and not self._is_listed(lines[0]):
            raise self._client.failure("\n".join(lines), doing)
        if not lines and self._root and self._root.has_files():
            raise self._client.failure("", doing)
        return lines

    def _is_listed(self, line: str) -> bool:
        """Whether a line is a file's path and not a sentence."""
        if has_known_extension(line):
            return True
        if self._root and is_path(line):
            return bool(read.spellings(self._root, VaultPath(line)))
        return is_path(line) and replies.failure(line) is None

    def require_inside(self, path: VaultPath) -> None:
        """Raise if a symbolic link would lead out of the vault, as far as that can be seen from here."""
        if self._root:
            self._root.real(path)

    def facts(self, path: VaultPath) -> replies.FileFacts:
        doing = f"describing {path}"
        reply = self._client.ask(argv.file(path), doing)
        facts = replies.file_facts(reply)
        if facts is None or not same(facts.path, path.value):
            raise self._client.failure(reply, doing)
        return facts

    def data(self, path: VaultPath) -> bytes:
        """The note's bytes, before or after a write."""
        return read.note(self._root, path) if self._root else self.shown(path)

    def digest(self, path: VaultPath) -> tuple[str, int]:
        """Etag and size; nothing where the folder is out of reach and the CLI cannot show the bytes."""
        if self._root:
            return read.digest(self._root, path)
        try:
            data = self.shown(path)
        except NotText:
            return "", 0
        return text.etag(data), len(data)

    def shown(self, path: VaultPath) -> bytes:
        """The note's bytes as the app shows them, told from noise and from error sentences by a witness."""
        doing = f"reading {path}"
        for _ in range(2):  # twice: the note may change between the two looks at it
            size, known = self._witness(path)
            output = self._client.run(argv.read(path), doing, size + process.MOST_OUTPUT)
            replies.reachable(output)
            seen = replies.note_text(output.stdout, size)
            if seen is not None and known in (None, seen):
                return seen
            if known is not None and replies.is_loss_of(output.stdout, known):
                return known
        reply = replies.payload(output)
        if replies.failure(reply):
            raise self._client.failure(reply, doing)
        if known is None:
            raise NotText(
                f"{path} is not UTF-8 text, or changes while it is read.",
                "Try again if it is a note.",
                path=path.value,
            )
        raise CliFailed(
            f"Obsidian shows another text for {path} than its file holds.",
            "It may be changing right now: try again. If that goes on, check that Obsidian has this folder open.",
            path=path.value,
        )

    def _witness(self, path: VaultPath) -> tuple[int, bytes | None]:
        """The note's size, and its bytes where they can be seen without the app."""
        if self._root:
            data = read.note(self._root, path)
            return len(data), data
        return self.facts(path).size, None

    def require_data(self, path: VaultPath, expected: bytes, doing: str) -> None:
        """Raise unless a write has left exactly this."""
        with checking(doing):
            try:
                found = self.data(path)
            except NoteNotFound:
                raise not_done(doing, f"there is no {path}") from None
            if found != expected:
                raise not_done(doing, f"{path} has {len(found)} bytes that are not the {len(expected)} expected")

    def require_gone(self, path: VaultPath, doing: str) -> None:
        with checking(doing):
            if self._is_there(path):
                raise not_done(doing, f"{path} is still there")

    def require_there(self, path: VaultPath, doing: str) -> None:
        with checking(doing):
            if not self._is_there(path):
                raise not_done(doing, f"there is no {path}")

    def _is_there(self, path: VaultPath) -> bool:
        """Whether a file of that name, in that case, is there."""
        if self._root:
            return read.spelled_exactly(self._root, path)
        try:
            return same(self.facts(path).path, path.value)
        except NoteNotFound:
            return False


@contextlib.contextmanager
def checking(doing: str) -> Iterator[None]:
    """Around the checks that follow a write: a failure there does not undo it, and must not sound as if it did."""
    try:
        yield
    except (Cancelled, Unverified):
        raise
    except Failure as failure:
        fact = f"It was carried out, but that could not be checked, while {doing}"
        raise failure.within(fact, UNKNOWN) from None


def not_done(doing: str, instead: str) -> Unverified:
    return Unverified(
        f"Obsidian reported success while {doing}, but {instead}. It may have been changed at the same time.",
        "Read it before trying again.",
        UNKNOWN,
    )


def spelled_among(paths: list[str], path: VaultPath) -> list[VaultPath]:
    """The files that the path can mean: exactly it, or else those that differ in case or Unicode form."""
    if path.value in paths:
        return [path]
    return [VaultPath(other) for other in sorted(paths) if fold(other) == fold(path.value) and is_path(other)]


def same(one: str, other: str) -> bool:
    """One path in two Unicode forms: the app may answer in another than it was asked in."""
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
