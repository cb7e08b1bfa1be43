"""Law 2, nothing missing: what a search finds is exactly what a plain reading of all notes finds.

The other reader is `tests/support/plain_search.py`. Every search is asked of the notes by reading them, of an index
that has seen the vault change, and of indexes that are opened anew.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.scan import Scan
from obsidian_mcp.call import CallContext
from obsidian_mcp.index.building import Builder
from obsidian_mcp.index.library import Library
from obsidian_mcp.protocol import clients, results
from obsidian_mcp.tools.find import obsidian_search_notes
from obsidian_mcp.vault.config import VaultConfig
from obsidian_mcp.vault.query.parser import parse
from tests.support import plain_search as plain
from tests.support.memory import Files, context
from tests.support.plain_search import Ask, PlainNote, Text, Value

LONGER = int(os.environ.get("OBSIDIAN_MCP_LONGER", "1"))
EXCLUDED = "Archive/"
# What explains a failure takes minutes here; the smallest example says enough.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
Vault = dict[str, bytes]
Notes = Ask[PlainNote]


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


# Notes. The words are made up, of four letters and without endings: no stemmer takes two of them for one, and one can
# take the place of another without a change of size. What a text costs is drawing it, so its pieces come in pairs.

INLINE = [
    *("zork", "blik", "vump", "kraf", "zork blik", "zorkblik", "zork-blik", "zork_blik", "azork blik zork blik zork"),
    *("ZORK", "ｚｏｒｋ", "zörk", nfd("zörk"), nfd("é"), "q\u0323", "Straße", "STRASSE", "жук", "ЖУК", "σας", "ΣΑΣ"),
    *("日本語", "日本", "本", "カタカナ", "ｶﾞ", "ガ", "zork日本blik", "한국어", "🦊", "zork🦊", "👩🏽\u200d🚀", "ﬁx"),
    *("#zork", "#Zork/Blik", "#日本", nfd("#zörk"), "x#vump", "#42", "`#vump`", "`zork blik`", "[[Zork]]", "a/b", "42"),
    *("(vump)", "blik.", '"zork"', "zork\u200bblik", "zork\u00a0blik", "\u2028vump", "\x00blik", "\ufffd", "\u0301x"),
    "%% #kraf %%",
]
inline = st.sampled_from([*INLINE, *(f"{one} {other}" for one in INLINE for other in INLINE)])
# Each ends what was open before it, so that reading a line at a time is enough.
BLOCKS = [
    *("{}", "{}\n{}", "# {}", "### {} ###", "x {}\n===", "- [ ] {}\n- [x] {}", "- {}\n  - [-] {}\n\t- [ ] {}", ""),
    *("> - [ ] {}\n> {}", "```\n# {}\n- [ ] #vump {}\n\n```", "x\n\n    # {}\n    - [x] #kraf", "<!-- {}\n# {}\n-->"),
    *("%%\n# {}\n\n- [ ] {}\n%%",) * 2,
]
UNCLOSED = ["```\n{}", "%%\n{}", "<!-- {}"]  # unless something later does it
block = st.builds(str.format, st.sampled_from([*BLOCKS * 4, *UNCLOSED]), inline, inline, inline)
PROPERTIES = (
    """
due: 2026-11-30 · due: "2026-12-24" · due: zork · due: · DUE: 2027 · rank: 5 · rank: 12 · rank: 2.5 · rank: -3 · rank:
[3, 42] · rank: true · done: true · done: false · done: ~ · done: 'true' · größe: ｂｌｉｋ · größe: [zork, Blik, 日本] ·
größe:↵  - vump↵  - zork blik↵  - 42 · größe: [] · tags: zork · tags: ["#Blik", kraf/vump] · tags:↵- zörk↵- 42 · # zork
· aliases: [vump, kraf] · aliases: Blik Zork
""".replace("\n", " ")
    .replace("↵", "\n")
    .strip()
    .split(" · ")
)
BROKEN = ["due: [zork", "zork", "due: zork: blik", "rank: 1\nrank: 2", "'zork"]
lines = st.lists(st.sampled_from(PROPERTIES), unique_by=lambda line: line.partition(":")[0], max_size=4)
front = st.builds(
    lambda lines, end: "\n".join(["---", *lines, *end]),
    lines,
    st.sampled_from([["---", ""], ["---", ""], ["---", ""], ["", ""], *([bad, "---", ""] for bad in BROKEN)]),
)


def encoded(bom: str, front: str, blocks: list[str], ends: str, tail: bytes) -> bytes:
    return (bom + front + "\n\n".join(blocks)).replace("\n", ends).encode() + tail


notes = st.builds(
    encoded,
    st.sampled_from(["", "", "", "\ufeff"]),
    st.one_of(st.just(""), front),
    st.lists(block, max_size=4),
    st.sampled_from(["\n", "\n", "\r\n"]),
    st.sampled_from([b"", b"\n", b"\xff"]),
)
PATHS = [
    *("Zork.md", "blik-vump.md", "Sub/zork blik.md", f"Sub/{nfd('Zörk')}.md", "ＢＬＩＫ.md", "日本語.md", "Sub/🦊.MD"),
    *("Archive/Zork.md", "Archive/vump.md", "Archived.md", "Sub/Deep/Kraf_1.md", "Straße.md", "a.b.md", "x.md.md"),
    *(".hidden/Zork.md", "Sub/.zork.md", "Zork.txt", "zork.canvas", "no-note-md", "N/1.md", "N/2.md", "N/3.md"),
]
ALWAYS = {f"Old/{number}.md": f"{text}\n".encode() for number, text in enumerate(INLINE[::7])}
ALWAYS["Old/Azork Bliky.md"] = b""  # phrases that are parts of its name, and nowhere in it
vaults = st.dictionaries(st.sampled_from(PATHS), notes, max_size=6).map(lambda drawn: {**ALWAYS, **drawn})

# Searches.

WORDS = [
    "zork",
    "BLIK",
    "vump",
    "ｋｒａｆ",
    "zörk",
    nfd("zörk"),
    "日本",
    "語",
    "カ",
    "🦊",
    "жук",
    "σας",
    "42",
    "한국어",
]
WORDS += ["zork-blik", "blik-zork-blik", "kraf-vump", "strasse", "nirgendwo"]
PARTS_OF_WORDS = ["zork", "RK", "ｂｌ", "ö", nfd("zörk"), "本", "ガ", "🦊", "ß", "ЖУ", "_", "4", "k.", "é"]
PHRASES = ["zork blik", "Zork", "rk", "日本", "本", nfd("zörk"), "é", "q\u0323", "🦊", "zork_", "ガ", '"zork"', "#zork"]
PHRASES += ["ZORK-BLIK", "σας", "STRASSE", "k z", "\\", "x", "azork blik", "👩"]
TAGS = ["zork", "ZORK/blik", "kraf", "vump", "日本", "zörk", "blik", "zor", "42"]
PATTERNS = ["^zork", "z.rk", "[0-9]{2}", r"\bblik", "日.?語", "^- .x", "zork|vump", r"a\/b", "blik$"]
THAN = ["5", "2.5", "12", "zork", "2026-12-01", "2027", "2026"]
VALUES: list[Ask[list[Value]]] = [
    *map(plain.has_value, ["zork", "BL", "4", "2026", "rue", "日"]),
    *map(plain.is_value, ["zork", "blik", "2026-12-24", "true", "42", "vump"]),
    *map(plain.is_constant, ["TRUE", "FALSE", "EMPTY", "null"]),
    *(plain.compares(sign, than) for sign in "<>" for than in THAN),
]


def joined(parts: st.SearchStrategy[Ask[plain.T]], most: int) -> st.SearchStrategy[Ask[plain.T]]:
    several = st.lists(parts, min_size=1, max_size=most)
    return st.builds(lambda join, asks: plain.group(join(asks)), st.sampled_from([plain.every, plain.either]), several)


TEXTS = [*map(plain.contains, [*PARTS_OF_WORDS, "#zork"]), *map(plain.phrase, PHRASES)]
text = st.sampled_from(TEXTS)
signed = st.sampled_from([*TEXTS, *TEXTS, *map(plain.no, TEXTS)])
test: st.SearchStrategy[Ask[Text]] = st.one_of(text, joined(signed, 3), joined(joined(signed, 2), 2))
value = st.sampled_from(VALUES)
values = st.one_of(value, value.map(plain.no), st.lists(value, min_size=2, max_size=2).map(plain.either))
tag = st.sampled_from([*map(plain.is_tag, TAGS), *map(plain.no, map(plain.is_tag, TAGS))])
names = st.sampled_from(["due", "Rank", "DONE", nfd("größe"), "tags", "nirgends"])
PLAIN: list[Notes] = [
    *map(plain.anywhere, map(plain.phrase, PHRASES)),
    *(plain.within(part, plain.phrase("")) for part in ("task", "task-todo", "task-done")),
    *(plain.path(plain.contains(part)) for part in ("Archive", "sub/", "ARCHIVE/z")),
    *map(plain.tag, map(plain.is_tag, TAGS)),
    *map(plain.matches, PATTERNS),
]
asked: st.SearchStrategy[Notes] = st.one_of(
    st.sampled_from(PLAIN),
    st.builds(plain.within, st.sampled_from(sorted(plain.PARTS)), test),
    test.map(plain.file),
    st.one_of(text, joined(text, 2)).map(plain.path),  # nothing behind a minus: that would name no file
    st.builds(plain.has_property, names, st.one_of(st.none(), values)),
    joined(tag, 2).map(plain.tag),
)
left_out = st.sampled_from([plain.anywhere(plain.contains(part)) for part in PARTS_OF_WORDS])
filtering = st.one_of(asked, asked, st.one_of(asked, left_out, joined(left_out, 2)).map(plain.no), joined(asked, 2))
bare = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map(plain.bare)
side_by_side = st.one_of(
    bare,
    st.lists(filtering, min_size=1, max_size=2).map(plain.every),
    st.builds(lambda words, rest: plain.every([words, *rest]), bare, st.lists(filtering, min_size=1, max_size=2)),
)
searches = st.one_of(side_by_side, st.lists(side_by_side, min_size=2, max_size=2).map(plain.either))


# The law.


def require_law(library: Library, ask: Notes, files: Vault) -> None:
    everything = plain.notes_of(files.items())
    is_excluded = VaultConfig({"userIgnoreFilters": [EXCLUDED]}).is_excluded()
    matches = library.matching(parse(ask.query), is_excluded, CallContext())
    assert sorted(hit.path for hit in matches.hits) == plain.found(ask, everything, EXCLUDED)
    assert matches.unread == []
    assert set(matches.unmatched) == {word for word in ask.words if not plain.is_somewhere(word, everything)}


@settings(max_examples=40 * LONGER, phases=PHASES)
@given(vaults, st.lists(searches, min_size=6, max_size=6))
def test_by_reading_a_search_finds_what_a_plain_reading_finds(files: Vault, asks: list[Notes]) -> None:
    for ask in asks:
        require_law(Library(Files(files), None), ask, files)


class Folder:
    """A vault in a real folder. Every change gets a time of its own, so that no clock decides what is seen."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: Vault = {}
        self._now = 1_700_000_000_000_000_000

    def write(self, path: str, data: bytes) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        self._now += 1_000_000_007
        if len(data) % 5:  # the others are as young as they are
            os.utime(place, ns=(self._now, self._now))
        self.files[path] = data

    def rename(self, path: str, target: str) -> None:
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).replace(self.root / target)
        self.files[target] = self.files.pop(path)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()
        del self.files[path]


def swap(folder: Folder, path: str, target: str, data: bytes) -> None:
    """Other words, of the same size."""
    swapped = folder.files[path].replace(b"zork", b"\0\0\0\0").replace(b"blik", b"zork").replace(b"\0\0\0\0", b"blik")
    folder.write(path, swapped)


CHANGES: list[Callable[[Folder, str, str, bytes], None]] = [
    swap,
    lambda folder, path, target, data: folder.write(target, data),
    lambda folder, path, target, data: folder.write(path, data),
    lambda folder, path, target, data: folder.rename(path, target),
    lambda folder, path, target, data: folder.remove(path),
]
Step = tuple[tuple[Callable[[Folder, str, str, bytes], None], int, str, bytes], list[Notes]]
changes = st.tuples(st.sampled_from(CHANGES), st.integers(0, 30), st.sampled_from(PATHS), notes)


def opened(folder: Folder, file: Path | None) -> contextlib.AbstractContextManager[Library]:
    return opened_on(Scan(VaultRoot(str(folder.root))), file)


@contextlib.contextmanager
def opened_on(disk: Scan, file: Path | None) -> Iterator[Library]:
    library = Library(disk, str(file) if file else None)
    try:
        yield library
    finally:
        if library._store:
            library._store.close()  # it lives as long as its process does


@settings(max_examples=20 * LONGER, phases=PHASES)
@given(vaults, st.lists(st.tuples(changes, st.lists(searches, min_size=2, max_size=2)), min_size=2, max_size=4))
def test_an_index_finds_the_same_after_every_change(files: Vault, steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        folder, kept = Folder(Path(place, "vault")), Path(place, "state", "kept")
        for path, data in files.items():
            folder.write(path, data)
        lasting = [stack.enter_context(opened(folder, file)) for file in (kept, None)]
        for (change, number, target, data), asks in steps:
            for library, ask in itertools.product(lasting, asks):
                require_law(library, ask, folder.files)
            change(folder, sorted(folder.files)[number % len(folder.files)], target, data)
            with opened(folder, kept) as another:
                for library, ask in itertools.product((another, *lasting), asks):
                    require_law(library, ask, folder.files)


@settings(max_examples=15 * LONGER, phases=PHASES)
@given(vaults, st.lists(searches, min_size=15, max_size=15))
def test_an_index_that_was_made_in_the_background_finds_the_same(files: Vault, asks: list[Notes]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, kept = Folder(Path(place, "vault")), Path(place, "state", "kept")
        for path, data in files.items():
            folder.write(path, data)
        assert Builder(Scan(VaultRoot(str(folder.root))), str(kept)).build(CallContext(), lambda done, all: None)
        with opened(folder, kept) as library:
            for ask in asks:
                require_law(library, ask, folder.files)


class Shut(Scan):
    """A folder with files that may not be read."""

    shut: frozenset[str] = frozenset()

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | str | None]]:
        for path, data in super().read_each(paths):
            yield path, "Permission denied" if path in self.shut else data


@pytest.mark.parametrize("file", ["state/kept", ""], ids=["with an index", "by reading"])
@pytest.mark.parametrize("query", ["zork", "tag:#vump", "-line:kraf", "file:A OR file:B"])
def test_a_note_that_changed_and_may_not_be_read_is_named_and_not_found(tmp_path: Path, file: str, query: str) -> None:
    folder = Folder(tmp_path / "vault")
    disk = Shut(VaultRoot(str(folder.root)))
    with opened_on(disk, tmp_path / file if file else None) as library:
        for text, shut in ((b"zork #vump", set[str]()), (b"blik", {"A.md"})):
            folder.write("A.md", text)
            folder.write("B.md", b"zork #vump")
            disk.shut = frozenset(shut)
            matches = library.matching(parse(query), lambda path: False, CallContext())
            assert {hit.path for hit in matches.hits} == {"A.md", "B.md"} - shut
            assert {path for path, _ in matches.unread} == shut


# Page by page.


def pages(files: Vault, page: int, **asked: object) -> list[dict[str, Any]]:
    """All of them, and none longer than it may be."""
    it = context(Files(files))("Memory", CallContext(), page)
    found: list[dict[str, Any]] = []
    more: dict[str, object] = {}
    while not found or more:
        data = obsidian_search_notes.run(obsidian_search_notes.parse({**asked, **more}), it)
        assert len(json.dumps(data, ensure_ascii=False, separators=(",", ":"))) <= data_limit(asked)
        assert results.size(data) <= page
        found.append(data)
        more = {"cursor": data["next_cursor"]} if "next_cursor" in data else {}
    return found


def data_limit(asked: dict[str, object]) -> int:
    limit = asked.get("max_chars", 4000)
    assert isinstance(limit, int)
    return limit


@settings(max_examples=30 * LONGER, phases=PHASES)
@given(
    vaults,
    st.one_of(searches, st.just(plain.every([]))),
    st.integers(1, 12),
    st.integers(300, 3000),
    st.sampled_from([600, *clients.PAGES.values()]),
    st.sampled_from(["relevance", "modified", "name"]),
    st.sampled_from([[], ["Due", "größe", "aliases"]]),
)
def test_all_pages_together_are_what_is_found_each_once(
    files: Vault, ask: Notes, limit: int, chars: int, page: int, sort: str, show: list[str]
) -> None:
    data = pages(files, page, query=ask.query, limit=limit, max_chars=chars, sort=sort, show=show)
    found = [note["path"] for each in data for note in each["notes"]]
    assert all(len(each["notes"]) <= limit for each in data)
    assert sorted(found) == plain.found(ask, plain.notes_of(files.items()), "nothing is excluded")
    assert {each["total"] for each in data} == {len(found)}


LONG = "q" * 3900
AT_LENGTH: dict[str, tuple[str, dict[str, object]]] = {
    "a property": (f"---\np: {LONG * 3}\n---\nzork", {"query": "zork", "show": ["p"]}),
    "a line": (f"zork {LONG * 3}", {"query": "zork"}),
    "a heading": (f"# {LONG * 3}\nzork", {"query": "zork"}),
    "a word that occurs nowhere": ("zork", {"query": f"zork {LONG}"}),
    "many words that occur nowhere": ("zork", {"query": "zork " + " ".join(f"{n}{LONG[:45]}" for n in range(70))}),
    "what every note says": (f"zork {'blik ' * 60}\n" * 4, {"query": "zork blik", "limit": 100}),
}


@pytest.mark.parametrize(("text", "asked"), AT_LENGTH.values(), ids=AT_LENGTH)
@pytest.mark.parametrize("chars", [500, 4000])
def test_nothing_that_is_long_makes_a_page_too_long(text: str, asked: dict[str, object], chars: int) -> None:
    files = {f"{number}.md": text.encode() for number in range(8)}
    found = [note["path"] for each in pages(files, 3500, **asked, max_chars=chars) for note in each["notes"]]
    assert sorted(found) == sorted(files)
