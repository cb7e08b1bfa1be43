"""All notes, as the index has them: good for as long as it has just been compared with the files.

Each part of a search says two things about the notes: which are certainly found by it, and which may be. Only those
that may be and are not certain are read, and asked the whole search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from obsidian_mcp.call import CallContext
from obsidian_mcp.index.reading import Reading, leading_to
from obsidian_mcp.index.store import Changes, Places, Store
from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.contents import Hit, Matches
from obsidian_mcp.vault.index import Disk, File
from obsidian_mcp.vault.links.link import Form, Link
from obsidian_mcp.vault.links.link_names import mark
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.query import ranking, tree
from obsidian_mcp.vault.query.matching import Matcher, Note
from obsidian_mcp.vault.query.ranking import Word
from obsidian_mcp.vault.query.related import related
from obsidian_mcp.vault.query.tree import Filter, Part, Query
from obsidian_mcp.vault.words import folded, words_in

Ids = set[int]


class Known(NamedTuple):
    """A file that the index has. A tuple, because there may be very many of them."""

    path: str
    id: int
    stamp: int | None
    modified: int


BATCH = 500  # files whose links are kept together


class Indexed:
    """The index after so many `changes`. `files` are those that it has, by their number; `notes` the numbers of the
    notes among them.

    `keep_links` remembers links that had to be read; `unread` are the files that could not be, and why.
    """

    def __init__(
        self,
        store: Store,
        disk: Disk,
        changes: Changes,
        files: Mapping[int, Known],
        notes: Ids,
        keep_links: Callable[[list[tuple[int, Places]]], None] = lambda rows: None,
        unread: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._store = store
        self._disk = disk
        self.changes = changes
        self._files = files
        self._notes = notes
        self._keep_links = keep_links
        self.unread = unread

    def matching(self, query: Query, may_be_found: Callable[[str], bool] | None, call: CallContext) -> Matches:
        universe = self._notes
        if may_be_found is not None:
            universe = {id for id in universe if may_be_found(self._files[id].path)}
        return _Search(self._store, self._disk, self._files, self._notes, universe, query, call).found()

    def tags(self, call: CallContext) -> Iterator[tuple[str, Sequence[str]]]:
        return ((self._files[id].path, tags) for id, tags in self._store.tags() if id in self._files)

    def properties(self, call: CallContext) -> Iterator[tuple[str, Mapping[str, Any]]]:
        return ((self._files[id].path, values) for id, values in self._store.properties() if id in self._files)

    def aliases(self, call: CallContext) -> Iterator[tuple[str, Sequence[str]]]:
        for id, values in self._store.properties("aliases"):
            if id in self._files:
                yield self._files[id].path, frontmatter.aliases(values)

    def links(self, call: CallContext, mentioning: str | None = None) -> Iterator[tuple[str, list[Link]]]:
        """Read exactly when they are first asked for, which takes long, and kept from then on."""
        unread: dict[str, int] = {}
        for id, saved in self._store.links(None if mentioning is None else mark(mentioning)):
            if id not in self._files:
                continue
            if saved is None:
                unread[self._files[id].path] = id
                continue
            links = [Link(start, end, Form[form], target) for form, target, start, end in self._store.places(saved)]
            if found := leading_to(mentioning, links):
                yield self._files[id].path, found
        files = [_file(self._files[id]) for id in unread.values()]
        rows: list[tuple[int, Places]] = []
        for file, data in Reading(self._disk).read(files, call):
            links = links_in(file.path, data.decode("utf-8", "replace"))
            rows.append((unread[file.path], [(link.form.name, link.target, link.start, link.end) for link in links]))
            if len(rows) >= BATCH:
                self._keep_links(rows)
                rows = []
            if found := leading_to(mentioning, links):
                yield file.path, found
        self._keep_links(rows)


def _file(known: Known) -> File:
    return File(known.path, 0, known.modified, 0, 0)


class _Search:
    def __init__(
        self,
        store: Store,
        disk: Disk,
        files: Mapping[int, Known],
        notes: Ids,
        universe: Ids,
        query: Query,
        call: CallContext,
    ) -> None:
        self._store = store
        self._disk = disk
        self._files = files
        self._notes = notes
        self._universe = universe
        self._query = query
        self._call = call
        self._rows = store.rows()
        self._scores: dict[Word, dict[int, float]] = {}
        self._meant: dict[str, list[Word]] = {}
        for word in ranking.ranking_words(query.words):
            self._look_up(word)
        self._matcher = Matcher(query, self._is_having, call)
        self._reading: dict[str, int] = {}

    # Words

    def _look_up(self, word: Word) -> None:
        found = self._scores[word] = self._scored(word)
        self._meant.setdefault(word.written, []).append(word)
        if not found:
            for part in word.parts():
                self._scores[part] = self._scored(part)
                self._meant[word.written].append(part)

    def _scored(self, word: Word) -> dict[int, float]:
        """What each note is worth that has the word, without regard to how rare it is."""
        found: dict[int, float] = {}
        if word.forms is None:
            self._add(found, word.tokens, 1.0)
            return found
        for term in self._store.terms(word.forms.prefix):
            if word.forms.include(term):
                self._add(found, (term,), word.worth_of(term))
        return found

    def _add(self, found: dict[int, float], tokens: tuple[str, ...], worth: float) -> None:
        """SQLite counts rarity in; here it is the rarity of the word with all its forms that counts."""
        rows = self._store.scores(tokens)
        count = len(rows)
        rarity = max(1e-6, math.log((self._rows - count + 0.5) / (count + 0.5))) if count <= self._rows else 1e-6
        for id, score in rows:
            if id in self._notes:
                found[id] = max(found.get(id, 0.0), -score / rarity * worth)

    def _is_having(self, written: tuple[str, ...], note: Note) -> bool:
        return self._reading[note.path] in self._having(written)

    def _having(self, written: Iterable[str]) -> Ids:
        """Of words of which none was looked for, because all of them say nothing, every note has one."""
        meant = [word for text in written for word in self._meant.get(text, ())]
        return {id for word in meant for id in self._scores[word]} if meant else self._notes

    # Notes

    def found(self) -> Matches:
        sure, possible = self._sets(self._query.filter)
        reading = Reading(self._disk)
        certain = sure & self._universe
        doubtful = (possible - sure) & self._universe
        self._reading = {self._files[id].path: id for id in doubtful}
        for file, data in reading.read([_file(self._files[id]) for id in doubtful], self._call):
            if self._matcher.matches(Note(file.path, data)):
                certain.add(self._reading[file.path])
        return Matches(self._hits(certain), self._worth(), self._unmatched(), reading.unread)

    def _worth(self) -> list[tuple[Word, float]]:
        count = len(self._notes)
        return [(word, word.worth * ranking.rarity(count, len(ids))) for word, ids in self._scores.items() if ids]

    def _hits(self, ids: Ids) -> list[Hit]:
        had: dict[int, list[tuple[float, float]]] = {id: [] for id in ids}
        worths = self._worth()
        for word, worth in worths:
            for id, score in self._scores[word].items():
                if id in had:
                    had[id].append((worth, score))
        if ids:
            self._add_others(had)
        files, every = self._files, sum(worth for _, worth in worths)
        return [Hit(files[id].path, ranking.combined(pairs, every), files[id].modified) for id, pairs in had.items()]

    def _add_others(self, had: dict[int, list[tuple[float, float]]]) -> None:
        """What it is worth to have another word for one that a note doesn't have itself."""
        words = [word for word in self._scores if not word.is_part]
        for word, other in related(words).items():
            found = self._store.matching(other.expression) & self._notes
            named = self._store.matching(f"{{name headings}} : ({other.expression})") & found if found else found
            in_text, in_name = (ranking.worth_of_others(word, len(self._notes), len(ids)) for ids in (found, named))
            for id in found & had.keys() - self._scores[word].keys():
                had[id].append((in_name, other.in_name) if id in named else (in_text, other.in_text))

    def _unmatched(self) -> list[str]:
        missing = (word.written for word, ids in self._scores.items() if not ids and not word.is_part)
        return list(dict.fromkeys(missing))

    # What each part of the search says: the notes it certainly finds, and those it may find

    def _sets(self, part: Filter) -> tuple[Ids, Ids]:
        if isinstance(part, tree.And):
            sets = [self._sets(inner) for inner in part.parts]
            everything = (self._notes, self._notes)
            sure, possible = everything
            for one, other in sets:
                sure, possible = sure & one, possible & other
            return sure, possible
        if isinstance(part, tree.Or):
            sets = [self._sets(inner) for inner in part.parts]
            return set().union(*(one for one, _ in sets)), set().union(*(other for _, other in sets))
        if isinstance(part, tree.Not):
            sure, possible = self._sets(part.part)
            return self._notes - possible, self._notes - sure
        found = self._certain(part)
        return (found, found) if found is not None else (set(), self._possible(part))

    def _certain(self, part: Filter) -> Ids | None:
        """What the index answers by itself; None if the notes have to be read."""
        if isinstance(part, tree.Words):
            return self._having(part.words)
        if isinstance(part, tree.Property):
            rows = self._store.properties(folded(part.name))
            return {id for id, values in rows if id in self._notes and self._matcher.has_property(part, values)}
        if isinstance(part, tree.In) and part.part is Part.TAG:
            if _asks_nothing_positive(part.test):
                return None
            return {
                id for id, tags in self._store.tags() if id in self._notes and self._matcher.has_tag(part.test, tags)
            }
        if isinstance(part, tree.In) and part.part in (Part.FILE, Part.PATH):
            return {id for id in self._notes if self._matcher.in_part(part, Note(self._files[id].path, b""))}
        return None

    def _possible(self, part: Filter) -> Ids:
        """Notes that have the words of its phrases; a word that is not in quotes may stand inside another."""
        assert isinstance(part, tree.Text | tree.In)
        found = self._notes
        for phrase in _required_phrases(part.test):
            tokens = words_in(phrase)
            if tokens:
                found = found & self._store.having(tokens)
        if isinstance(part, tree.Text) and found is not self._notes:
            named = {id for id in self._notes if self._is_named(part.test, id)}
            found = found | named
        return found

    def _is_named(self, test: tree.Test, id: int) -> bool:
        assert isinstance(test, tree.Contains)
        return folded(test.text) in folded(Note(self._files[id].path, b"").name)


def _asks_nothing_positive(test: tree.Test) -> bool:
    """Whether a note without any tag could pass."""
    if isinstance(test, tree.No):
        return True
    if isinstance(test, tree.All):
        return all(_asks_nothing_positive(part) for part in test.parts)
    return isinstance(test, tree.Any) and any(_asks_nothing_positive(part) for part in test.parts)


def _required_phrases(test: tree.Test) -> Iterator[str]:
    """Phrases that a text must have to pass."""
    if isinstance(test, tree.Contains) and test.whole:
        yield test.text
    elif isinstance(test, tree.All):
        for part in test.parts:
            yield from _required_phrases(part)
