"""The port: what may be asked of a vault, and what comes back.

Paths are exact here; turning a caller's name into one is the tools' business.
Every method either did what it says, checked, or raises a Failure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from obsidian_mcp.call import CallContext
from obsidian_mcp.vault.active import Active
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath


@dataclass(frozen=True, slots=True)
class NoteCreated:
    path: str
    created: bool
    overwritten: bool
    etag: str
    size: int


@dataclass(frozen=True, slots=True)
class NoteRead:
    path: str
    content: str
    etag: str
    size: int
    lines: int
    next_line: int | None = None


@dataclass(frozen=True, slots=True)
class NoteAppended:
    path: str
    appended: bool
    etag: str
    size: int


@dataclass(frozen=True, slots=True)
class NotePrepended:
    path: str
    prepended: bool
    etag: str
    size: int


@dataclass(frozen=True, slots=True)
class NoteDeleted:
    path: str
    deleted: bool
    trashed: bool


@dataclass(frozen=True, slots=True)
class NoteMoved:
    old_path: str
    path: str
    moved: bool
    links_updated: int | None = None
    notes_changed: list[str] | None = None
    plan: list[dict[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class NoteRenamed:
    old_path: str
    path: str
    renamed: bool
    links_updated: int | None = None
    notes_changed: list[str] | None = None
    plan: list[dict[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class NoteOpened:
    path: str
    opened: bool


@dataclass(frozen=True, slots=True)
class FileInfo:
    path: str
    name: str
    extension: str
    size: int
    created: str
    modified: str
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Relocation:
    """What a move did, or would do. What nobody counts is None."""

    done: bool
    links_updated: int | None = None
    notes_changed: list[str] | None = None
    plan: list[dict[str, str]] | None = None


class Backend(Protocol):
    """One way out to vaults."""

    def open(self, wanted: str, call: CallContext) -> Vault:
        """The vault that a name, an id or a path means, for one call."""

    def active(self, wanted: str, call: CallContext) -> Active | None:
        """The note in front of the person; raises where that can't be known without disturbing them."""

    def health(self, wanted: tuple[str, ...]) -> str:
        """`ok`, `degraded` if the app is missing or not running, `error` if a vault's folder is gone."""


class Vault(Protocol):
    """One vault, for the length of one call."""

    def paths(self) -> list[str]:
        """The files of the vault, to suggest from."""

    def matching(self, name: Name) -> list[str]:
        """The files that a name can mean, in any case and Unicode form."""

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        """What is there under that path: exactly it, or else in another case or Unicode form."""

    def spelled_folder(self, folder: str) -> str:
        """A folder's path as far as it exists already in another case or Unicode form."""

    def new_note_folder(self) -> str:
        """Where a new note goes that is given no folder; empty for the root."""

    def read(self, path: VaultPath) -> bytes:
        """The note's bytes."""

    def create(self, path: VaultPath, content: str, *, overwrite: bool, if_match: str | None) -> NoteCreated:
        """Make the note, and its folders, with exactly this content."""

    def append(self, path: VaultPath, content: str, *, inline: bool, if_match: str | None) -> bytes:
        """Add to the end; the note's bytes afterwards."""

    def prepend(self, path: VaultPath, content: str, *, inline: bool, if_match: str | None) -> bytes:
        """Add behind the frontmatter; the note's bytes afterwards."""

    def delete(self, path: VaultPath, *, permanent: bool, if_match: str | None) -> NoteDeleted:
        """Move to the trash, or remove for good."""

    def move(self, path: VaultPath, target: VaultPath, *, dry_run: bool) -> Relocation:
        """Give the note another path, making its folders."""

    def open(self, path: VaultPath, *, new_tab: bool) -> None:
        """Show the note in the app."""

    def info(self, path: VaultPath) -> FileInfo:
        """What is known of the file."""
