"""The port: what may be asked of a vault, and what comes back.

Two verbs act: `read` and `commit`. Paths are exact here; turning a caller's name into one is for `operations`. Every
method either did what it says, checked, or raises a Failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from obsidian_mcp.call import CallContext
from obsidian_mcp.vault.active import Active
from obsidian_mcp.vault.changes import ChangeSet, Committed
from obsidian_mcp.vault.config import VaultConfig
from obsidian_mcp.vault.history import By, History
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath

if TYPE_CHECKING:
    from obsidian_mcp.vault.contents import AppAnswers

TRIES = 3  # at a change whose note is changed by another program between the plan and the write


@dataclass(frozen=True, slots=True)
class Stat:
    """What is known of a file without its text. Times are seconds since 1970; `created` may be unknown."""

    size: int
    created: float | None
    modified: float
    etag: str | None


class Vault(Protocol):
    """One vault, for the length of one call."""

    def is_called(self, vault: str) -> bool:
        """Whether that is the vault's name or id."""

    def within(self, absolute: str) -> str | None:
        """A path on the disk as one from the vault's root; None if it lies elsewhere."""

    def paths(self) -> list[str]:
        """The files of the vault, to suggest from."""

    def matching(self, name: Name) -> list[str]:
        """The files that a name can mean, in any case and Unicode form."""

    def has(self, path: VaultPath) -> bool:
        """Whether a file of exactly that spelling is there, in the vault and not outside it."""

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        """What is there under that path: exactly it, or else in another case or Unicode form."""

    def spelled_folder(self, folder: str) -> str:
        """A folder's path as far as it exists already in another case or Unicode form."""

    def canonical(self, path: VaultPath) -> VaultPath:
        """The path to move by. Raises where a symbolic link leads out of the vault, or is the file itself."""

    def settings(self) -> VaultConfig:
        """What the vault's own settings say."""

    def types(self) -> Mapping[str, str]:
        """Which type each property has, as far as the vault says."""

    def config_file(self, name: str) -> Any:
        """What a file of the vault's settings holds, such as `daily-notes.json`; None if there is none.

        Raises NotJson if it means nothing.
        """

    def in_front(self) -> VaultPath | None:
        """The note that the person has in front of them; raises where only the app could tell and there is none."""

    def daily_path(self) -> VaultPath | None:
        """Today's note as the app tells it; None where the vault's settings can be read."""

    def read(self, path: VaultPath) -> bytes:
        """The note's bytes."""

    def current(self, path: VaultPath) -> bytes:
        """The bytes that a change is planned from. The app is not asked where the file itself can be read."""

    def stat(self, path: VaultPath) -> Stat:
        """What is known of the file."""

    def created(self, path: VaultPath) -> float | None:
        """When the file was made, in seconds since 1970; None where that is not kept."""

    def etag(self, path: VaultPath) -> str:
        """The etag of a file of any size and kind."""

    def show(self, path: VaultPath, *, new_tab: bool) -> None:
        """Show the note in the app."""

    def settle(self) -> None:
        """Let the history tell what became of changes that killed servers left, if that can be done at once."""

    def commit(self, doing: str, plan: Callable[[], ChangeSet]) -> Committed:
        """Carry out what is planned, all or nothing, checked.

        The plan is made when nothing else of ours writes, and again if a note has changed before it was written.
        """


@dataclass(frozen=True, slots=True)
class Found:
    """A vault for one call: its index if it keeps its own links, its folder if that is in reach, and else the app; its
    history if one is kept.
    """

    vault: Vault
    index: Index | None
    folder: str | None
    app: AppAnswers | None = None
    history: History | None = None


class Backend(Protocol):
    """One way out to vaults."""

    @property
    def name(self) -> str:
        """As the log and people call it."""

    def open(self, wanted: str, call: CallContext, by: By) -> Found:
        """The vault that a name, an id or a path means, for one call, and by whom."""

    def active(self, wanted: str, call: CallContext) -> Active | None:
        """The note in front of the person; raises where that can't be known without disturbing them."""

    def health(self, wanted: tuple[str, ...]) -> str:
        """`ok`, `degraded` if the app is missing or not running, `error` if a vault's folder is gone."""
