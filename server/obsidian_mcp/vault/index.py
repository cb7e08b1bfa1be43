"""The index as a port: what may be asked of it, and what it asks of the vault's folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from obsidian_mcp.call import CallContext
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.names import Name


class Gone(Exception):
    """There is no such folder any more."""


class Closed(Exception):
    """A folder that could not be listed, and why. `is_ours` is False for another user's, such as `lost+found`."""

    def __init__(self, why: str, is_permission: bool, is_ours: bool) -> None:
        super().__init__(why)
        self.why = why
        self.is_permission = is_permission
        self.is_ours = is_ours


@dataclass(frozen=True, slots=True)
class Listing:
    """What one folder holds, and when that last changed."""

    changed: int
    files: tuple[str, ...]
    folders: tuple[str, ...]


class File(NamedTuple):
    """A file as a folder shows it. `modified` is in nanoseconds since 1970; `stamp` tells one state from another.

    A tuple, because there may be very many of them.
    """

    path: str
    stamp: int
    modified: int
    size: int
    touched: int  # when anything about it last changed, as far as the system tells


Stamps = Mapping[str, Mapping[str, int | None]]  # of files by their names, by folder


def stamp_in(stamps: Stamps, path: str) -> int | None:
    folder, _, name = path.rpartition("/")
    return stamps.get(folder, {}).get(name)


@dataclass(frozen=True, slots=True)
class Survey:
    """The files of a vault, its folders, and the folders that could not be listed."""

    files: list[File]
    folders: list[str]
    closed: list[tuple[str, Closed]]


class Disk(Protocol):
    """The vault's folder, as an index looks at it."""

    def changed(self, folder: str) -> int:
        """When a folder's entries last changed. Raises Gone or Closed."""

    def listing(self, folder: str) -> Listing:
        """One folder's files and folders, without hidden ones. Raises Gone or Closed."""

    def stamp(self, path: str) -> int | None:
        """What tells one state of a file from another without reading it; None for a link, or for nothing."""

    def read_stamped(self, paths: Iterable[str]) -> Iterator[tuple[str, int, int, bytes]]:
        """Path, stamp, time of the last change and bytes of each file that is there and is not a link."""

    def read(self, path: str) -> bytes:
        """The bytes of a regular file that a listing has named."""

    def survey(self) -> Survey:
        """Every file and folder that is there."""

    def changed_files(
        self, endings: tuple[str, ...], known: Stamps, closed: list[tuple[str, Closed]]
    ) -> tuple[list[File], int]:
        """The files whose names end so, are not links and have another stamp than is known; and how many have that.

        Folders that can't be listed are added to `closed`.
        """

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | str | None]]:
        """The bytes of each file; why it can't be read; or None if it is gone, or has become a link."""


class NamesIndex(Protocol):
    """Which files there are."""

    def snapshot(self, call: CallContext) -> Resolver:
        """The files there are now, to be kept. Raises if a folder could not be listed."""

    def paths(self, call: CallContext) -> list[str]: ...

    def matching(self, name: Name, call: CallContext) -> list[str]:
        """The files that a name can mean, in any case and Unicode form."""

    def namesakes(self, path: str, call: CallContext) -> list[str]:
        """The other files that links of the same name could mean."""


class MentionsIndex(Protocol):
    """Which files mention which names in links."""

    def mentioning(self, keys: Iterable[str], others: Iterable[str], call: CallContext) -> Iterator[tuple[str, bytes]]:
        """The files with a link that could mean one of these, and those others, with their bytes, in path order."""


@dataclass(frozen=True, slots=True)
class Index:
    names: NamesIndex
    mentions: MentionsIndex
