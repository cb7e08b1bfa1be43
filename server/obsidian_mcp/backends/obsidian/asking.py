"""What is in the vault, asked of the app: for where the vault's folder is out of reach.

One command each, and only a known shape of answer is believed. The app's own
rules hold: its search, its counts, its order of notes that mean the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from obsidian_mcp.backends.obsidian import argv, finds, replies
from obsidian_mcp.backends.obsidian.client import Client
from obsidian_mcp.backends.obsidian.verify import Verifier
from obsidian_mcp.errors import CliFailed, Failure, InvalidArguments
from obsidian_mcp.vault.path import VaultPath

T = TypeVar("T")


class Asking:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._verifier = Verifier(client, None)

    def files(self) -> list[str]:
        return self._verifier.paths()

    def search(self, query: str) -> list[tuple[str, list[finds.Match]]]:
        """Markdown notes, by path, each with the lines that fit; none where only its name does."""
        if not argv.can_ask(query):
            raise InvalidArguments(
                f"A query to Obsidian has at most {argv.MOST_CONTENT} bytes, all of whole characters.",
                "Search for fewer words.",
            )
        return self._ask(argv.search(query), "searching", finds.matches)

    def tags(self) -> list[tuple[str, int]]:
        """With `#`. The counts are of occurrences."""
        return self._ask(argv.tags(), "listing the tags", finds.tags)

    def properties(self) -> list[tuple[str, str, int]]:
        """Name, type, in how many notes."""
        return self._ask(argv.properties(), "listing the properties", finds.properties)

    def backlinks(self, path: VaultPath) -> list[str]:
        return self._ask(argv.backlinks(path), f"listing the links to {path}", finds.backlinks)

    def unresolved(self) -> list[tuple[str, list[str]]]:
        """Links that lead nowhere, and the notes that have them."""
        doing = "listing the broken links"
        found = self._ask(argv.unresolved(), doing, finds.unresolved)
        files = frozenset(self._verifier.paths()) if found else frozenset()
        most = finds.most_parts(files)
        named = [(row.link, finds.named_files(row.sources, files, most)) for row in found]
        if unclear := [row.sources for row, (_, sources) in zip(found, named, strict=True) if sources is None]:
            raise self._client.failure(unclear[0], doing)
        return sorted((link, sources or []) for link, sources in named)

    def orphans(self) -> list[str]:
        """The app names files of every kind; these are the notes."""
        doing = "listing the notes that nothing links to"
        command = argv.orphans()
        found = self._ask(command, doing, finds.orphans)
        self._require_files(found, command, doing)
        return sorted(path for path in found if path.lower().endswith(".md"))

    def query_base(self, path: VaultPath, view: str) -> list[dict[str, str]]:
        if not argv.can_ask(view):
            raise InvalidArguments("The view has a name that can't be given to Obsidian.", "Name another view.")
        return self._ask(argv.query_base(path, view), f"asking {path}", finds.base_rows)

    def _ask(self, command: argv.Command, doing: str, parse: Callable[[str], T | None]) -> T:
        reply = self._client.ask(command, doing)
        found = parse(reply)
        if found is None:
            raise self._failure(command, reply, doing)
        return found

    def _failure(self, command: argv.Command, reply: str, doing: str) -> Failure:
        if replies.is_false_not_found(reply, command[0]):  # and it was asked twice
            return CliFailed(
                f"This Obsidian has no command {command[0]}, which is needed for {doing}.",
                "Turn on the core plugin that it belongs to in Settings > Core plugins, then try again.",
            )
        problem = finds.query_problem(reply) if command[0] == "search:context" else None
        if problem is not None:
            return InvalidArguments(
                f"Obsidian cannot read the query: {problem.rstrip('.')}.",
                'Put text with signs in it, such as a colon, in quotes: "a: b".',
            )
        return self._client.failure(reply, doing)

    def _require_files(self, lines: list[str], command: argv.Command, doing: str) -> None:
        """Raise unless each line names a file. The list of files is asked for only if that is in doubt."""
        doubtful = finds.doubtful(lines)
        if doubtful and not doubtful <= set(self._verifier.paths()):
            raise self._failure(command, "\n".join(lines), doing)
