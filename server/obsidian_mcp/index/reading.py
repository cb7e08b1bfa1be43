"""All notes, read now: where there is no index, or it is not ready yet."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.index.entries import is_note, words_of
from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.contents import Hit, Matches
from obsidian_mcp.vault.index import Disk, File
from obsidian_mcp.vault.links.link import Link
from obsidian_mcp.vault.links.link_names import key_of_path, mark, names_in
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.query import ranking
from obsidian_mcp.vault.query.matching import Matcher, Note
from obsidian_mcp.vault.query.ranking import Counts, Word
from obsidian_mcp.vault.query.related import Others, related
from obsidian_mcp.vault.query.tree import Query
from obsidian_mcp.vault.words import searchable, surely_lacks

BETWEEN_CHECKS = 32  # files
BETWEEN_REPORTS = 1000
MOST_FOR_ALIASES = 2_000  # files


class Reading:
    """`told` says how far the index is, for whoever asked for progress."""

    def __init__(self, disk: Disk, files: Sequence[File] = (), told: Callable[[], str] = lambda: "") -> None:
        self._disk = disk
        self._files = files
        self._told = told
        self.unread: list[tuple[str, str]] = []

    def read(self, files: Iterable[File], call: CallContext) -> Iterator[tuple[File, bytes]]:
        """The files that can be read; the others are remembered in `unread`."""
        wanted = {file.path: file for file in files}
        for number, (path, data) in enumerate(self._disk.read_each(wanted)):
            if not number % BETWEEN_CHECKS:
                call.check(f"reading {path}")
                if not number % BETWEEN_REPORTS:
                    call.progress(f"read {number} of {len(wanted)} files{self._told()}")
            if isinstance(data, bytes):
                yield wanted[path], data
            elif data is not None:
                self.unread.append((path, data))

    def notes(self, call: CallContext) -> Iterator[tuple[File, Note]]:
        return ((file, Note(file.path, data)) for file, data in self._bytes_of_notes(call))

    def _bytes_of_notes(self, call: CallContext) -> Iterator[tuple[File, bytes]]:
        return self.read((file for file in self._files if is_note(file.path)), call)

    def matching(self, query: Query, may_be_found: Callable[[str], bool] | None, call: CallContext) -> Matches:
        words = ranking.ranking_words(query.words)
        if any(word.parts() for word in words):
            words = self._with_parts(words, call)
        search = _Search(query, words, call)
        for file, data in self._bytes_of_notes(call):
            search.look_at(file, data, may_be_found is None or may_be_found(file.path))
        return search.found(self.unread)

    def _with_parts(self, words: list[Word], call: CallContext) -> list[Word]:
        """With the parts of those groups that occur nowhere."""
        missing = {word for word in words if word.parts()}
        for _, note in self.notes(call):
            if not missing:
                break
            texts = words_of(note)
            missing = {word for word in missing if not word.counts(texts)}
        return [*words, *(part for word in words if word in missing for part in word.parts())]

    def tags(self, call: CallContext) -> Iterator[tuple[str, list[str]]]:
        for file, note in self.notes(call):
            if note.tags:
                yield file.path, note.tags

    def properties(self, call: CallContext) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for file, note in self.notes(call):
            if note.properties:
                yield file.path, note.properties

    def aliases(self, call: CallContext) -> Iterator[tuple[str, Sequence[str]]]:
        """Of a vault that is read in a moment."""
        if len(self._files) <= MOST_FOR_ALIASES:
            for path, values in self.properties(call):
                yield path, frontmatter.aliases(values)

    def links(self, call: CallContext, mentioning: str | None = None) -> Iterator[tuple[str, list[Link]]]:
        for file, data in self.read(self._files, call):
            if mentioning is not None and mark(mentioning) not in names_in(file.path, data):
                continue
            if found := leading_to(mentioning, links_in(file.path, data.decode("utf-8", "replace"))):
                yield file.path, found


def leading_to(mentioning: str | None, links: list[Link]) -> list[Link]:
    """Those that may lead to a file of that name."""
    return links if mentioning is None else [link for link in links if key_of_path(link.target) == mentioning]


class _Search:
    """One search while the notes go by."""

    def __init__(self, query: Query, words: list[Word], call: CallContext) -> None:
        self._words = words
        self._needs_word = query.needs_word
        plain = all(word.begin.isascii() for word in words)
        self._beginnings = [word.begin.encode() for word in words] if plain else []
        self._written: dict[str, list[Word]] = {}
        for word in words:
            self._written.setdefault(word.written, []).append(word)
        self._matcher = Matcher(query, self._has_one, call)
        self._counts: dict[Word, Counts] = {}
        self._having = dict.fromkeys(words, 0)
        self._others = related([word for word in words if not word.is_part])
        self._found: list[tuple[File, dict[Word, Counts], dict[Word, float], int]] = []
        self._notes = self._length = 0

    def look_at(self, file: File, data: bytes, may_be_found: bool) -> None:
        self._notes += 1
        self._length += len(data)
        self._counts = {}
        if self._may_be_passed_over(file.path, data):
            return
        note = Note(file.path, data)
        texts: tuple[str, ...] = ()
        if self._words:
            texts, named = ("", "", note.searchable), searchable(note.name)
            if any(word.begin in note.searchable or word.begin in named for word in self._words):
                texts = words_of(note)
                self._count(texts)
        if may_be_found and self._matcher.matches(note):
            others = {word: had for word, other in self._others.items() if (had := self._presence(word, other, texts))}
            self._found.append((file, self._counts, others, len(data)))

    def _may_be_passed_over(self, path: str, data: bytes) -> bool:
        """Most notes have none of the words, and that is seen without decoding them."""
        if not self._needs_word or not self._beginnings:
            return False
        return surely_lacks(b"%b\n%b" % (path.encode("utf-8", "replace"), data), self._beginnings)

    def _count(self, texts: tuple[str, ...]) -> None:
        for word in self._words:
            counts = word.counts(texts)
            if counts:
                self._counts[word] = counts
                self._having[word] += 1

    def _presence(self, word: Word, other: Others, texts: Sequence[str]) -> float:
        return 0.0 if word in self._counts else other.presence(texts)

    def _has_one(self, written: tuple[str, ...], note: Note) -> bool:
        """Of words of which none was looked for, because all of them say nothing, every note has one."""
        meant = [word for text in written for word in self._written.get(text, ())]
        return any(word in self._counts for word in meant) if meant else True

    def found(self, unread: list[tuple[str, str]]) -> Matches:
        worth = {word: word.worth * ranking.rarity(self._notes, having) for word, having in self._having.items()}
        average = max(1.0, self._length / max(1, self._notes))
        every = sum(worth[word] for word, having in self._having.items() if having)
        had = collections.Counter(word for _, _, others, _ in self._found for word in others)
        hits = [
            Hit(
                file.path,
                ranking.combined([*_own(counts, worth, length / average), *self._of_others(others, had)], every),
                file.modified,
            )
            for file, counts, others, length in self._found
        ]
        unmatched = [word.written for word, having in self._having.items() if not having and not word.is_part]
        known = [(word, worth[word]) for word, having in self._having.items() if having]
        return Matches(hits, known, list(dict.fromkeys(unmatched)), unread)

    def _of_others(self, others: dict[Word, float], having: Mapping[Word, int]) -> Iterator[tuple[float, float]]:
        """How rare they are is told by the notes that were found: reading all for them would take too long."""
        for word, presence in others.items():
            yield ranking.worth_of_others(word, len(self._found), having[word]), presence


def _own(counts: dict[Word, Counts], worth: dict[Word, float], length: float) -> Iterator[tuple[float, float]]:
    return ((worth[word], word.score(counts[word], length)) for word in counts)
