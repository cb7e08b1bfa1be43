"""What the notes say, whatever is done to them, to the index and to the servers that share it."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.scan import Scan
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Cancelled, Failure, TimedOut
from obsidian_mcp.index import entries
from obsidian_mcp.index import library as library_module
from obsidian_mcp.index import reading as reading_module
from obsidian_mcp.index import store as store_module
from obsidian_mcp.index.library import Library
from obsidian_mcp.index.names import SECOND
from obsidian_mcp.index.store import Changes, Entry, Store
from obsidian_mcp.tools.find import obsidian_list_links, obsidian_list_properties, obsidian_search_notes
from obsidian_mcp.vault.contents import Matches
from obsidian_mcp.vault.index import Closed, Disk, File, Stamps, Survey, stamp_in
from obsidian_mcp.vault.query.parser import parse
from tests.support.memory import Files, context

PATIENCE = 60.0
LONG_AGO = 1_700_000_000  # seconds: a time that has settled
WORDS = ("zork", "blik", "vump")


class Folder(Scan):
    """A vault in a real folder, whose reading can be counted, kept waiting, and made to fail."""

    def __init__(self, root: Path) -> None:
        root.mkdir(exist_ok=True)
        super().__init__(VaultRoot(str(root)))
        self.root = root
        self.reads: list[str] = []
        self.unreadable: set[str] = set()
        self.before_reading: Callable[[], None] = lambda: None
        self._seconds = itertools.count(LONG_AGO)

    def put(self, path: str, text: str | bytes) -> Path:
        """Written long ago, and each time at another time."""
        place, at = self.root / path, next(self._seconds)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        os.utime(place, (at, at))
        return place

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | str | None]]:
        self.before_reading()
        for path, data in super().read_each(paths):
            self.reads.append(path)
            yield path, "Input/output error" if path in self.unreadable else data


Opening = Callable[..., Library]


@pytest.fixture
def vault(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "vault")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "state" / "index.sqlite"


@pytest.fixture
def opened(vault: Folder, kept: Path) -> Iterator[Opening]:
    """Libraries on it, each as a server of its own would have it."""
    made: list[Library] = []

    def make(file: Path | None = kept, disk: Disk = vault) -> Library:
        made.append(Library(disk, str(file) if file else None))
        return made[-1]

    yield make
    for library in made:
        wait_for_builder(library)
        for store in (library._store, *library._idle):
            if store is not None:
                store.close()


def wait_for_builder(library: Library) -> None:
    if library._builder is not None and library._builder._thread is not None:
        library._builder._thread.join(PATIENCE)
        assert not library._builder.is_running


def search(library: Library, query: str, call: CallContext | None = None) -> Matches:
    return library.matching(parse(query), lambda path: False, call or CallContext(PATIENCE))


def found(library: Library, query: str) -> list[str]:
    return sorted(hit.path for hit in search(library, query).hits)


def links(library: Library) -> dict[str, list[str]]:
    return {path: [link.target for link in some] for path, some in library.links(CallContext(PATIENCE))[0]}


def read_plainly(root: Path, word: str) -> list[str]:
    """The notes that have it, by a reading that knows nothing of an index."""
    return sorted(
        os.path.relpath(os.path.join(folder, name), root)
        for folder, folders, names in os.walk(root)
        for name in names
        if name.lower().endswith(".md") and "/." not in os.path.join(folder[len(str(root)) :], name)
        if not os.path.islink(os.path.join(folder, name))
        if word.encode() in Path(folder, name).read_bytes()
    )


# Nothing stale.


def put_back(place: Path, text: str) -> None:
    """Another text, and the time that it had."""
    before = place.stat()
    place.write_text(text)
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))


def made_anew(place: Path, text: str) -> None:
    before = place.stat()
    place.unlink()
    place.write_text(text)
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))


def renamed_over(place: Path, text: str) -> None:
    before, new = place.stat(), place.with_suffix(".new")
    new.write_text(text)
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.replace(place)


def swapped(one: Path, other: Path) -> None:
    between = one.with_suffix(".between")
    one.rename(between)
    other.rename(one)
    between.rename(other)


def into_folder(place: Path) -> None:
    place.unlink()
    place.mkdir()
    (place / "In.md").write_text("zork vump")


def into_file(folder: Path) -> None:
    for inner in folder.iterdir():
        inner.unlink()
    folder.rmdir()
    folder.write_text("vump")


def into_link(place: Path, target: Path) -> None:
    place.rename(place.with_name("Was.md"))
    place.symlink_to(target)


def out_of_link(place: Path) -> None:
    place.unlink()
    place.write_text("blik vump")


def in_time(place: Path, text: str, seconds: int) -> None:
    place.write_text(text)
    os.utime(place, (seconds, seconds))


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit in place that keeps the size": lambda root: (root / "A.md").write_text("blik"),
    "an edit with the time put back": lambda root: put_back(root / "A.md", "blik"),
    "a replacement by a rename, with the time put back": lambda root: renamed_over(root / "A.md", "blik"),
    "a note deleted and made again": lambda root: made_anew(root / "A.md", "vump"),
    "a touch": lambda root: (root / "A.md").touch(),
    "a note that was emptied": lambda root: (root / "A.md").write_text(""),
    "a note that was deleted": lambda root: (root / "A.md").unlink(),
    "a new note": lambda root: (root / "New.md").write_text("vump"),
    "two notes that swap their names": lambda root: swapped(root / "A.md", root / "B.md"),
    "a folder that was moved": lambda root: (root / "Sub").rename(root / "Deep"),
    "a folder that was moved into another": lambda root: (root / "Sub").rename(root / "Like.md" / "Sub"),
    "a folder that was hidden": lambda root: (root / "Sub").rename(root / ".Sub"),
    "another case": lambda root: (root / "A.md").rename(root / "a.MD"),
    "another extension": lambda root: (root / "A.md").rename(root / "A.txt"),
    "a note that became a folder": lambda root: into_folder(root / "A.md"),
    "a folder that became a note": lambda root: into_file(root / "Like.md"),
    "a note that became a link": lambda root: into_link(root / "A.md", root / "B.md"),
    "a link that became a note": lambda root: out_of_link(root / "Link.md"),
    "a folder that became a link": lambda root: into_link(root / "Sub", root / "Like.md"),
    "a second name of the file": lambda root: os.link(root / "A.md", root / "Sub" / "Hard.md"),
    "a time before 1970": lambda root: in_time(root / "A.md", "blik", -5),
    "a time to come": lambda root: in_time(root / "A.md", "blik", 4_000_000_000),
    "a time beyond what SQLite counts": lambda root: in_time(root / "A.md", "blik", 13_000_000_000),
}


@pytest.mark.parametrize("with_index", [True, False], ids=["index", "reading"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_next_search_finds(
    vault: Folder, kept: Path, opened: Opening, change: Callable[[Path], object], with_index: bool
) -> None:
    for path, text in {"A.md": "zork", "B.md": "blik", "Sub/C.md": "zork blik", "Like.md/D.md": "vump"}.items():
        vault.put(path, text)
    (vault.root / "Link.md").symlink_to(vault.root / "A.md")
    lasting = opened(kept if with_index else None)
    assert found(lasting, "zork") == ["A.md", "Sub/C.md"]
    change(vault.root)
    for library in (lasting, lasting, opened(kept if with_index else None)):
        assert {word: found(library, word) for word in WORDS} == {
            word: read_plainly(vault.root, word) for word in WORDS
        }


class Stepping(Files):
    """Files whose times are those of a file system with such a step, on a clock that the test turns."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.now = 2_000_000_000 * SECOND + 1
        self.times: dict[str, tuple[int, int]] = {}  # of the text, and of the file's own data

    def put(self, path: str, text: bytes, modified: int | None = None) -> None:
        now = self.now - self.now % self.step
        self[path], self.times[path] = text, (now if modified is None else modified, now)

    def changed_files(
        self, endings: tuple[str, ...], known: Stamps, closed: list[tuple[str, Closed]]
    ) -> tuple[list[File], int]:
        files = [
            File(path, hash((times, len(self[path]))), times[0], len(self[path]), max(times))
            for path, times in self.times.items()
        ]
        changed = [file for file in files if stamp_in(known, file.path) != file.stamp]
        return changed, len(files) - len(changed)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is too young to be told from its next state: what was just written would be read again."""
    monkeypatch.setattr(entries, "is_settled", lambda changed, now: True)


STEPS = {"FAT": 2 * SECOND, "HFS+": SECOND, "exFAT": SECOND // 100, "ext4": 4_000_000}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_change_within_the_step_of_a_look_is_found(
    opened: Opening, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    disk = Stepping(step)
    monkeypatch.setattr(time, "time_ns", lambda: disk.now)
    library = opened(disk=disk)
    disk.put("A.md", b"zork")
    assert found(library, "zork") == ["A.md"]
    disk.now += step // 2
    disk.put("A.md", b"blik")
    assert found(library, "blik") == ["A.md"]
    assert found(library, "zork") == []


@pytest.mark.parametrize("step", [STEPS["HFS+"], STEPS["ext4"]], ids=["HFS+", "ext4"])
def test_a_change_within_the_step_of_a_look_is_found_though_its_time_was_put_back(
    opened: Opening, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """What sync and unpacking do. The time of the file's own data can't be put back, but is kept in steps too."""
    disk = Stepping(step)
    monkeypatch.setattr(time, "time_ns", lambda: disk.now)
    library = opened(disk=disk)
    disk.put("A.md", b"zork", modified=LONG_AGO * SECOND)
    assert found(library, "zork") == ["A.md"]
    disk.now += step // 2
    disk.put("A.md", b"blik", modified=LONG_AGO * SECOND)
    assert found(library, "blik") == ["A.md"]


def test_a_note_that_can_no_longer_be_read_is_named_and_not_found_by_what_it_said(
    vault: Folder, opened: Opening
) -> None:
    library = opened()
    vault.put("A.md", "zork")
    assert found(library, "zork") == ["A.md"]
    vault.put("A.md", "blik")
    vault.unreadable.add("A.md")
    matches = search(library, "zork")
    assert [path for path, _ in matches.unread] == ["A.md"]
    assert matches.hits == []
    vault.unreadable.clear()
    assert found(library, "blik") == ["A.md"]


def test_a_note_that_could_not_be_read_and_is_gone_is_no_longer_named(vault: Folder, opened: Opening) -> None:
    library = opened()
    vault.put("A.md", "zork")
    vault.put("B.md", "zork")
    vault.unreadable.add("B.md")
    assert [path for path, _ in search(library, "zork").unread] == ["B.md"]
    (vault.root / "B.md").unlink()
    assert search(library, "zork").unread == []


NAMES = [
    "🦊.md",
    unicodedata.normalize("NFD", "Zörk.md"),
    unicodedata.normalize("NFC", "Zörk.md"),
    "日本/語.md",
    " .md",
]


def test_names_in_every_script_are_kept_apart(vault: Folder, opened: Opening) -> None:
    for name in NAMES:
        vault.put(name, "zork")
    for library in (opened(), opened(), opened(None)):
        assert found(library, "zork") == sorted(NAMES)
        assert found(library, "file:zörk") == sorted(NAMES[1:3])


# Kept between runs.


@pytest.mark.usefixtures("settled")
def test_another_run_reads_nothing_that_has_not_changed(vault: Folder, opened: Opening) -> None:
    for number in range(5):
        vault.put(f"{number}.md", f"zork [[{number}]] #tag")
    found(opened(), "zork")
    vault.reads.clear()
    another = opened()
    assert len(found(another, "zork tag:#tag")) == 5
    assert len(another.tags(CallContext())[0]) == 5
    assert vault.reads == []
    vault.put("3.md", "blik")
    assert found(another, "blik") == ["3.md"]
    assert vault.reads == ["3.md"]


@pytest.mark.usefixtures("settled")
def test_links_are_read_once(vault: Folder, opened: Opening) -> None:
    vault.put("A.md", "[[B]]")
    assert links(opened()) == {"A.md": ["B"]}
    vault.reads.clear()
    assert links(opened()) == {"A.md": ["B"]}
    assert vault.reads == []


LINKED = {
    "a canvas whose file has a line end in its name": (
        "C.canvas",
        '{"nodes":[{"type":"file","file":"a\\nb.md"},{"type":"text","text":"[[q]]"}]}',
    ),
    "an encoded line end": ("A.md", "[x](a%0Ab.md) [[q]]"),
    "a tab": ("A.md", "[[a\tb]]"),
    "NUL": ("A.md", "[[a\x00b]]"),
}


@pytest.mark.parametrize(("path", "text"), LINKED.values(), ids=LINKED)
def test_links_are_the_same_when_they_come_from_the_index(vault: Folder, opened: Opening, path: str, text: str) -> None:
    vault.put(path, text)
    assert links(opened()) == links(opened()) == links(opened(None))


# Made in the background.


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(library_module, "FEW", 5)
    return 5


@pytest.mark.usefixtures("settled")
def test_the_first_search_is_answered_by_reading_and_later_ones_by_the_index(
    vault: Folder, opened: Opening, few: int
) -> None:
    paths = sorted(f"{number}.md" for number in range(3 * few))
    for path in paths:
        vault.put(path, "zork")
    library = opened()
    assert found(library, "zork") == paths
    wait_for_builder(library)
    vault.reads.clear()
    assert found(library, "zork") == paths
    assert vault.reads == []


def test_progress_says_how_far_the_index_is(
    vault: Folder, opened: Opening, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_module, "BETWEEN_REPORTS", 1)
    monkeypatch.setattr(reading_module, "BETWEEN_CHECKS", 1)
    for number in range(3 * few):
        vault.put(f"{number}.md", "zork")
    builder_reads, may_build = threading.Event(), threading.Event()

    def hold_the_builder() -> None:
        if threading.current_thread() is not threading.main_thread():
            builder_reads.set()
            assert may_build.wait(PATIENCE)

    vault.before_reading = hold_the_builder
    messages: list[str] = []
    library = opened()
    search(library, "zork")
    assert builder_reads.wait(PATIENCE)
    search(library, "zork", CallContext(PATIENCE, lambda seconds, message: messages.append(message)))
    may_build.set()
    assert messages[0].startswith(f"read 0 of {3 * few} files")
    assert messages[-1].endswith(f"of {3 * few}")
    assert "the index has" in messages[-1]


@pytest.mark.usefixtures("settled")
def test_one_note_that_cannot_be_read_does_not_keep_the_others_from_being_remembered(
    vault: Folder, opened: Opening
) -> None:
    """It is larger than what is read before an answer, and stays unread."""
    vault.put("Large.md", b"")
    os.truncate(vault.root / "Large.md", 65 << 20)
    vault.put("A.md", "zork")
    library = opened()
    found(library, "zork")
    wait_for_builder(library)
    vault.reads.clear()
    assert found(library, "zork") == ["A.md"]
    assert "A.md" not in vault.reads


def test_notes_from_the_future_are_remembered(vault: Folder, opened: Opening, few: int) -> None:
    """As after a copy from a machine whose clock is wrong."""
    for number in range(3 * few):
        os.utime(vault.put(f"{number}.md", "zork"), (4_000_000_000, 4_000_000_000))
    library = opened()
    found(library, "zork")
    wait_for_builder(library)
    vault.reads.clear()
    assert len(found(library, "zork")) == 3 * few
    assert vault.reads == []


def test_the_index_does_not_grow_with_the_number_of_edits(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "FEWEST_ROWS", 20)
    disk = Files({"A.md": b""})
    library = opened(disk=disk)
    for number in range(200):
        disk["A.md"] = b"zork w%d and some more text" % number
        if not number % 20:
            wait_for_builder(library)
        assert len(search(library, f"w{number}").hits) == 1
    wait_for_builder(library)
    assert library._store is not None
    assert library._store.rows() <= 60
    assert library._store.size < 2_000_000 + store_module.MOST_LOG


# Servers that share it, and what becomes of the file meanwhile. What another server does is done at the worst moment.


@contextlib.contextmanager
def just_after_begin(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> Iterator[None]:
    """Once, when a search has begun to look into the index."""
    begin = Store.begin

    def begin_and_act(store: Store) -> Changes:
        monkeypatch.setattr(Store, "begin", begin)
        seen = begin(store)
        act()
        return seen

    monkeypatch.setattr(Store, "begin", begin_and_act)
    yield
    assert Store.begin is begin, "no search has begun"


def test_an_index_that_is_forgotten_during_a_search_leaves_the_answer_right(
    vault: Folder, kept: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.put("A.md", "zork")
    library = opened()
    found(library, "zork")
    with just_after_begin(monkeypatch, Store(str(kept)).forget):
        matches = search(library, "zork")
    assert [hit.path for hit in matches.hits] == ["A.md"]
    assert matches.unmatched == []


def test_an_index_that_another_server_has_open_on_windows_is_emptied(
    vault: Folder, kept: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.put("A.md", "zork")
    library = opened()
    assert library.build(CallContext(), lambda *_: None)
    assert library.count() == 1

    def refuse(path: object) -> None:
        raise PermissionError(f"{path} is open in another program")

    monkeypatch.setattr(os, "unlink", refuse)
    library.forget()
    assert library.count() == 0


def test_an_index_that_is_made_anew_during_a_search_leaves_the_answer_right(
    vault: Folder, kept: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("A.md", "B.md", "C.md"):
        vault.put(path, path.replace(".", " "))
    library = opened()
    found(library, "md")

    def rebuild() -> None:
        another = opened()
        another.forget()
        vault.put("0.md", "0")
        for path in ("C.md", "B.md", "A.md"):  # in another order
            (vault.root / path).rename(vault.root / f"{path}.away")
        for path in ("C.md", "B.md", "A.md"):
            (vault.root / f"{path}.away").rename(vault.root / path)
            found(another, "md")

    with just_after_begin(monkeypatch, rebuild):
        assert found(library, "a") == ["A.md"]
    assert found(library, "a") == ["A.md"]


def test_links_are_not_kept_for_another_note_when_the_index_is_made_anew_meanwhile(
    vault: Folder, kept: Path, opened: Opening
) -> None:
    vault.put("A.md", "[[to a]]")
    vault.put("B.md", "[[to b]]")
    library, another = opened(), opened()
    found(library, "to")
    first, _, _, _ = min(Store(str(kept)).notes(), key=lambda row: row[1])

    def rebuild() -> None:
        vault.before_reading = lambda: None
        another.forget()
        (vault.root / first).rename(vault.root / "away")
        found(another, "to")
        (vault.root / "away").rename(vault.root / first)
        found(another, "to")

    vault.before_reading = rebuild
    right = {"A.md": ["to a"], "B.md": ["to b"]}
    assert links(library) == right
    assert links(another) == links(opened()) == right


def test_what_a_slower_server_saves_meanwhile_is_compared_too(
    vault: Folder, kept: Path, opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked at the files earlier, and knows nothing of the new note."""
    vault.put("A.md", "blik")
    vault.put("New.md", "zork")
    library = opened()
    found(library, "zork")
    vault.put("A.md", "vump")
    save = Store.save

    def late(store: Store, entries: list[Entry], gone: list[int]) -> int:
        monkeypatch.setattr(Store, "save", save)
        slower = Store(str(kept))
        slower.save([], [id for path, id, _, _ in slower.notes() if path == "New.md"])
        slower.close()
        return save(store, entries, gone)

    monkeypatch.setattr(Store, "save", late)
    assert found(library, "zork") == ["New.md"]
    assert Store.save is save


def test_eight_searches_and_a_writer_at_once_are_all_answered_rightly(vault: Folder, opened: Opening) -> None:
    for number in range(20):
        vault.put(f"{number}.md", "common")
    library, written = opened(), [0]
    vault.put("W.md", "w0")

    def write() -> None:
        for number in range(1, 40):
            new = vault.root / "W.new"
            new.write_text(" ".join(f"w{each}" for each in range(number + 1)))
            new.replace(vault.root / "W.md")
            written[0] = number

    def look() -> None:
        for _ in range(25):
            assert found(library, f"w{written[0]}") == ["W.md"]
            assert len(found(library, "common")) == 20

    with ThreadPoolExecutor(9) as pool:
        for done in [pool.submit(write), *(pool.submit(look) for _ in range(8))]:
            done.result(PATIENCE)


@pytest.mark.usefixtures("settled")
def test_a_search_that_takes_long_holds_up_no_other(vault: Folder, opened: Opening) -> None:
    vault.put("A.md", "zork")
    library = opened()
    found(library, "zork")
    reads, may_go_on = threading.Event(), threading.Event()

    def wait() -> None:
        if threading.current_thread() is not threading.main_thread():
            reads.set()
            assert may_go_on.wait(PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        vault.before_reading = wait
        slow = pool.submit(found, library, "/z.rk/")
        assert reads.wait(PATIENCE)
        try:
            assert found(library, "zork") == ["A.md"]
            vault.put("B.md", "zork")
            assert found(library, "zork") == ["A.md", "B.md"]
        finally:
            may_go_on.set()
        assert slow.result(PATIENCE) == ["A.md"]


ENDINGS = {"a file that has changed is read": ("zork", True), "a note is asked": ("line:(zork)", False)}


@pytest.mark.parametrize(("query", "changed"), ENDINGS.values(), ids=ENDINGS)
def test_a_search_that_is_cancelled_leaves_everything_free_while(
    vault: Folder, opened: Opening, query: str, changed: bool
) -> None:
    vault.put("A.md", "zork")
    library = opened()
    found(library, "zork")
    if changed:
        vault.put("A.md", "zork blik")
    call = CallContext(PATIENCE)
    vault.before_reading = call.cancel
    with pytest.raises(Cancelled):
        search(library, query, call)
    vault.before_reading = lambda: None
    assert not library._lock.locked()
    assert not any(reader._connection and reader._connection.in_transaction for reader in library._idle)
    assert found(library, query) == ["A.md"]


def test_a_pattern_that_never_ends_has_the_time_of_the_call(vault: Folder, opened: Opening) -> None:
    vault.put("A.md", "x" * 100 + "!")
    library = opened()
    found(library, "x")
    with pytest.raises(TimedOut):
        search(library, "/^(x|xx)+[yz]$/", CallContext(0.2))
    with pytest.raises(Failure):
        search(library, "x", CallContext(0))
    assert not library._lock.locked()
    assert found(library, "file:A") == ["A.md"]


# What can't be listed.


SHUT = ("Shut", Closed("Permission denied", True, True))


class ClosedFolder(Files):
    def survey(self) -> Survey:
        whole = super().survey()
        return Survey(whole.files, whole.folders, [SHUT])

    def changed_files(
        self, endings: tuple[str, ...], known: Stamps, closed: list[tuple[str, Closed]]
    ) -> tuple[list[File], int]:
        closed.append(SHUT)
        return super().changed_files(endings, known, closed)


ASKED = {
    "a search": (obsidian_search_notes, {"query": "zork"}),
    "properties": (obsidian_list_properties, {}),
    "values": (obsidian_list_properties, {"property": "tags"}),
    "broken links": (obsidian_list_links, {"kind": "broken"}),
    "orphans": (obsidian_list_links, {"kind": "orphans"}),
    "backlinks": (obsidian_list_links, {"kind": "backlinks", "name": "A.md"}),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_a_folder_that_cannot_be_listed_is_named_in(asked: tuple[object, dict[str, str]]) -> None:
    tool, arguments = asked
    it = context(ClosedFolder({"A.md": b"zork #tag"}))("Memory", CallContext(PATIENCE), 20_000)
    data = tool.run(tool.parse(arguments), it)  # type: ignore[attr-defined]  # tools, of several kinds
    assert "Shut" in data["note"]


@pytest.mark.usefixtures("settled")
def test_an_answer_that_is_kept_goes_with_the_next_change(vault: Folder, opened: Opening) -> None:
    vault.put("A.md", "#one")
    library = opened()
    for tag in ("one", "two", "three"):
        vault.put("A.md", f"#{tag} [[{tag}]]")
        wait_for_builder(library)
        for _ in range(2):
            found(library, tag)
            assert [list(tags) for _, tags in library.tags(CallContext(PATIENCE))[0]] == [[tag]]
            assert links(library) == {"A.md": [tag]}
