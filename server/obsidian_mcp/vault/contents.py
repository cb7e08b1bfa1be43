"""What the notes of a vault say, as a port: what may be asked of all of them together.

Whoever answers compares every file with what is remembered of it before each answer, so no answer is older than the
question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from obsidian_mcp.call import CallContext
from obsidian_mcp.vault.links.link import Link
from obsidian_mcp.vault.path import VaultPath

if TYPE_CHECKING:  # the first call waits for what is loaded here
    from obsidian_mcp.vault.index import Survey
    from obsidian_mcp.vault.links.resolver import Resolver
    from obsidian_mcp.vault.query.ranking import Word
    from obsidian_mcp.vault.query.tree import Query


class Hit(NamedTuple):
    path: str
    score: float
    modified: int


@dataclass(frozen=True, slots=True)
class Matches:
    """`words` are those that were looked for, with what each is worth; `unmatched` those that occur nowhere.

    `unread` are the folders and notes that could not be looked at, and why.
    """

    hits: list[Hit]
    words: list[tuple[Word, float]]
    unmatched: list[str]
    unread: list[tuple[str, str]] = field(default_factory=list)


Choose = Callable[[str, list[Link]], list[Link]]
Unread = list[tuple[str, str]]  # folders and notes that could not be looked at, and why


class Contents(Protocol):
    """What goes through all notes also tells which could not be looked at."""

    def matching(self, query: Query, is_excluded: Callable[[str], bool], call: CallContext) -> Matches:
        """The notes that a search finds, in no order. Those that the vault excludes only if `path:` names them."""

    def survey(self, call: CallContext) -> Survey:
        """Every file there is now."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a note that was found; None if it is gone since."""

    def read_all(self, paths: Iterable[str], call: CallContext) -> Iterator[tuple[str, bytes]]:
        """The bytes of those that are still there, in their order."""

    def properties(self, call: CallContext) -> tuple[list[tuple[str, Mapping[str, Any]]], Unread]:
        """The properties of every note that has any."""

    def aliases(self, call: CallContext) -> list[tuple[str, Sequence[str]]]:
        """The other names of every note that has some, if that is known without reading all notes; else of none."""

    def tags(self, call: CallContext) -> tuple[list[tuple[str, Sequence[str]]], Unread]:
        """The tags of every note that has any, those in its text too."""

    def links(
        self, call: CallContext, mentioning: str | None = None, choose: Choose | None = None
    ) -> tuple[list[tuple[str, list[Link]]], Unread]:
        """The links of every file that has any, or those that may lead to a file of that name (`links/link_names`).

        `choose` keeps some of a file's links as they go by: all of a large vault's would take much memory. It may be
        called twice for a file.
        """

    def resolver(self, call: CallContext) -> Resolver:
        """The files there are, ready for links to be looked up."""


class AppAnswers(Protocol):
    """What the app tells of all notes, where their folder is out of reach."""

    def files(self) -> list[str]: ...

    def search(self, query: str) -> list[tuple[str, list[tuple[int, str]]]]:
        """Paths, with the lines that match."""

    def tags(self) -> list[tuple[str, int]]: ...

    def properties(self) -> list[tuple[str, str, int]]:
        """Name, type, in how many notes."""

    def backlinks(self, path: VaultPath) -> list[str]: ...

    def unresolved(self) -> list[tuple[str, list[str]]]:
        """Links that lead nowhere, with the notes they are in."""

    def orphans(self) -> list[str]: ...

    def query_base(self, path: VaultPath, view: str) -> list[dict[str, str]]:
        """The rows of a view: `path`, and the columns by the names that the app shows."""
