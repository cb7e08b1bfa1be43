"""What a transaction means to do, as it is kept on disk: typed, and with a version."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.errors import FileFailed
from obsidian_mcp.vault.path import VaultPath

VERSION = 2
READ = (1, 2)  # the first had no old texts


@dataclass(frozen=True, slots=True)
class Act:
    """A step that moves, makes or removes a file, and how a later server sees that it was done.

    `inode` is the file's before a rename; `path` or `target` is where a file must be, or must be no more.
    """

    kind: str
    path: str
    target: str = ""
    inode: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """One file's new text, and its old one. `path` is where it lies once the acts are done, `now` where before."""

    now: str
    path: str
    before: str  # the SHA-256 of the text it replaces
    after: str
    was: str | None = None


def _plain(part: Act | Text) -> dict[str, Any]:
    """Not `asdict`, which copies every text."""
    return {name: getattr(part, name) for name in part.__slots__}


@dataclass(frozen=True, slots=True)
class Journal:
    """What a transaction means to do, as it is kept on disk."""

    doing: str
    acts: tuple[Act, ...]
    texts: tuple[Text, ...]

    def stored(self) -> dict[str, Any]:
        acts, texts = ([_plain(part) for part in parts] for parts in (self.acts, self.texts))
        return {"version": VERSION, "doing": self.doing, "acts": acts, "texts": texts}

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Journal:
        """Raises ValueError, KeyError or TypeError for what is not a journal, and FileFailed for another version's."""
        if stored["version"] not in READ:
            raise FileFailed(f"Its journal is of another version ({stored['version']!r}) than {VERSION}.")
        acts = tuple(Act(**act) for act in stored["acts"])
        texts = tuple(Text(**text) for text in stored["texts"])
        for act in acts:
            VaultPath(act.path)
            if act.kind == "rename":
                VaultPath(act.target)
        for text in texts:
            if not all(
                isinstance(value, str) for value in (text.now, text.path, text.before, text.after, text.was or "")
            ):
                raise TypeError("a text is not one")
        return cls(str(stored["doing"]), acts, texts)


def stored_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def text_bytes(stored: str) -> bytes:
    return stored.encode("utf-8", "surrogateescape")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
