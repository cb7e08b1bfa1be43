"""The file of the index: what it keeps, who may read it, and what becomes of it when it is not what it should be."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.scan import Scan
from obsidian_mcp.call import CallContext
from obsidian_mcp.index.library import Library
from obsidian_mcp.index.store import Busy, Entry, Store, Unusable
from obsidian_mcp.vault.query.parser import parse

PATIENCE = 60.0
LONG_AGO = 1_700_000_000
SENTENCE = "The lighthouse keeper counted seven grey herons before breakfast"


def entry(path: str, text: str = "zork", **properties: object) -> Entry:
    return Entry(path, 1, 1, len(text), ("", "", text), "", ["tag"], properties)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "vault" / "index.sqlite"


@pytest.fixture
def store(file: Path) -> Iterator[Store]:
    made = Store(str(file))
    yield made
    made.close()


def paths(store: Store) -> list[str]:
    return sorted(path for path, _, _, _ in store.notes())


# What it keeps.


def test_what_was_saved_is_there_in_another_run(store: Store, file: Path) -> None:
    first = store.save([entry("A.md", size=3), entry("B.md", "blik")], [])
    store.close()
    another = Store(str(file))
    assert paths(another) == ["A.md", "B.md"]
    assert another.having(["blik"]) == {first + 1}
    assert list(another.properties("size")) == [(first, {"size": 3})]
    another.close()


def test_all_is_saved_where_a_statement_may_have_few_values(store: Store) -> None:
    store.ask(lambda db: db.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 13))
    first = store.save([entry(f"{number}.md", f"zork word{number}") for number in range(7)], [])
    assert len(paths(store)) == len(store.tags()) == len(store.having(["zork"])) == 7
    assert store.having(["word6"]) == {first + 6}


def test_a_note_that_has_changed_is_there_once_under_a_new_number(store: Store) -> None:
    before = store.save([entry("A.md")], [])
    after = store.save([entry("A.md", "blik")], [])
    assert before != after
    assert [id for _, id, _, _ in store.notes()] == [after]
    assert [id for id, _ in store.tags()] == [after]


def test_numbers_are_never_used_twice(store: Store) -> None:
    first = store.save([entry("A.md")], [])
    store.clear()
    assert (paths(store), store.rows(), store.having(["zork"])) == ([], 0, set())
    assert store.save([entry("A.md")], []) > first


def test_a_save_that_fails_half_way_has_saved_nothing(store: Store) -> None:
    store.save([entry("A.md")], [])
    before = store.changes()
    with pytest.raises(UnicodeEncodeError):
        store.save([entry("B.md"), entry("\ud800.md")], [1])
    assert (paths(store), store.changes()) == (["A.md"], before)
    store.save([entry("C.md")], [])
    assert paths(store) == ["A.md", "C.md"]


def test_a_reader_sees_no_later_change_until_it_ends(store: Store, file: Path) -> None:
    store.save([entry("A.md")], [])
    reader = Store(str(file))
    assert reader.begin() == store.changes()
    store.save([entry("B.md")], [1])
    store.save_links([(2, [("WIKI", "x", 2, 3)])], store.changes())
    assert paths(reader) == ["A.md"]
    reader.end()
    assert paths(reader) == ["B.md"]
    assert reader.changes() == store.changes()
    reader.close()


def test_another_servers_change_is_waited_for_no_longer_than_the_patience(store: Store, file: Path) -> None:
    store.save([entry("A.md")], [])
    impatient, other = Store(str(file), 0.01), sqlite3.connect(file, isolation_level=None)
    assert paths(impatient) == ["A.md"]
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy):
        impatient.save([entry("B.md")], [])
    assert paths(impatient) == ["A.md"]
    other.execute("ROLLBACK")
    other.close()
    impatient.save([entry("B.md")], [])
    assert paths(store) == ["A.md", "B.md"]
    impatient.close()


# Who may read it, and what.


def test_only_this_user_may_read_it(store: Store, file: Path) -> None:
    before = os.umask(0)
    try:
        store.save([entry("A.md")], [])
    finally:
        os.umask(before)
    assert {stat.S_IMODE(each.stat().st_mode) for each in file.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_it_has_no_sentence_of_a_note(tmp_path: Path, file: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "A.md").write_text(f"---\nstatus: draft\n---\n# {SENTENCE}\n\n{SENTENCE}.\n\n- [ ] {SENTENCE} [[Link]]\n")
    library = Library(Scan(VaultRoot(str(vault))), str(file))
    assert len(library.matching(parse("lighthouse"), lambda path: False, CallContext(PATIENCE)).hits) == 1
    list(library.links(CallContext(PATIENCE)))
    everything = b"".join(each.read_bytes() for each in file.parent.iterdir()).lower()
    assert b"lighthouse" in everything
    for few_words in ("keeper counted", "lighthouse keeper", "grey herons", "before breakfast"):
        assert few_words.encode() not in everything


# What is not what it should be.


def changed(*statements: str) -> Callable[[Path], None]:
    def act(file: Path) -> None:
        with sqlite3.connect(file) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    return act


def truncated(part: float) -> Callable[[Path], None]:
    return lambda file: os.truncate(file, int(file.stat().st_size * part))


def overwritten(start: float, data: bytes) -> Callable[[Path], None]:
    def act(file: Path) -> None:
        with open(file, "r+b") as whole:
            whole.seek(int(file.stat().st_size * start) // 8192 * 8192)
            whole.write(data)

    return act


def made_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def made_link(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.parent / "nowhere" / "at all")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "of no bytes": lambda file: file.write_bytes(b""),
    "garbage": lambda file: file.write_bytes(bytes(range(256)) * 200),
    "a text": lambda file: file.write_text("not a database"),
    "cut in half": truncated(0.5),
    "cut to one page": lambda file: os.truncate(file, 8192),
    "cut within a page": lambda file: os.truncate(file, 10_000),
    "with a garbled header": overwritten(0, b"SQLite format 4\0"),
    "with its second half overwritten": overwritten(0.5, bytes(100_000)),
    "of another version": changed("UPDATE made SET version = '0'"),
    "without a version": changed("DELETE FROM made"),
    "of another schema": changed("ALTER TABLE made RENAME TO other"),
    "without notes": changed("DROP TABLE note"),
    "without facts": changed("DROP TABLE fact"),
    "without words": changed("DROP TABLE word"),
    "with other columns": changed("ALTER TABLE fact RENAME COLUMN tags TO other"),
    "with a number that is a text": changed("UPDATE made SET changes = 'x'"),
    "with garbled words": changed("UPDATE word_data SET block = x'00' WHERE id > 10"),
    "with garbled properties": changed("UPDATE fact SET properties = '{'"),
    "with garbled links": changed("UPDATE fact SET links = 'zz'"),
    "with a path that is not text": changed("UPDATE note SET path = CAST(x'ff' AS TEXT) WHERE id = 1"),
    "a FIFO": made_fifo,
    "a link to nowhere": made_link,
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(30):
        note = folder / f"{number}.md"
        note.write_text(f"---\nsize: {number}\n---\nzork w{number} [[to {number}]] #tag{number}\n" * 3)
        os.utime(note, (LONG_AGO, LONG_AGO))
    return folder


def require_right(library: Library) -> None:
    """Every kind of question."""

    def found(query: str) -> int:
        return len(library.matching(parse(query), lambda path: False, CallContext(PATIENCE)).hits)

    assert [found(query) for query in ("zork", '"w7"', "[size]", '[size:"7"]', "tag:tag7", "-zork")] == [
        *(30, 1, 30, 1, 1, 0)
    ]
    assert [path for path, _ in library.links(CallContext(PATIENCE), "to 7")[0]] == ["7.md"]
    assert len(library.links(CallContext(PATIENCE))[0]) == 30
    assert len(library.tags(CallContext(PATIENCE))[0]) == 30
    assert len(library.properties(CallContext(PATIENCE))[0]) == 30


def end(library: Library) -> None:
    if library._builder and library._builder._thread:
        library._builder._thread.join(PATIENCE)
    for each in (library._store, *library._idle):
        if each:
            each.close()


def opened(vault: Path, file: Path) -> Library:
    return Library(Scan(VaultRoot(str(vault))), str(file))


@pytest.mark.parametrize("is_open", [False, True], ids=["found by a new server", "found by the server that has it"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_index_is_made_anew_without_a_word_if_it_is(
    vault: Path, file: Path, damage: Callable[[Path], object], is_open: bool
) -> None:
    library = opened(vault, file)
    require_right(library)
    if not is_open:
        end(library)
    damage(file)
    if not is_open:
        library = opened(vault, file)
    require_right(library)
    require_right(library)
    end(library)


def test_nothing_is_kept_where_a_folder_has_its_place(vault: Path, file: Path) -> None:
    (file / "inner").mkdir(parents=True)
    library = opened(vault, file)
    require_right(library)
    end(library)
    assert (file / "inner").is_dir()


def test_nothing_is_kept_where_its_folder_cannot_be_made(vault: Path, file: Path) -> None:
    file.parent.parent.mkdir()
    file.parent.write_text("a file")
    library = opened(vault, file)
    require_right(library)
    end(library)
    with pytest.raises(Unusable):
        Store(str(file)).notes()


def test_a_full_disk_leaves_every_answer_right(vault: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store = Store._open

    def open_full(store: Store) -> sqlite3.Connection:
        connection = open_store(store)
        connection.execute("PRAGMA max_page_count = 14")
        return connection

    monkeypatch.setattr(Store, "_open", open_full)
    library = opened(vault, file)
    require_right(library)
    end(library)
    monkeypatch.setattr(Store, "_open", open_store)
    require_right(library)
    end(library)


def test_an_index_that_was_deleted_while_it_is_open_is_made_anew(vault: Path, file: Path) -> None:
    library = opened(vault, file)
    for names in (("",), ("-wal",), ("-shm",), ("-wal", "-shm"), ("", "-wal", "-shm")):
        require_right(library)
        for name in names:
            Path(f"{file}{name}").unlink(missing_ok=True)
        require_right(library)
        another = opened(vault, file)
        require_right(another)
        end(another)
    end(library)


def test_a_second_connection_leaves_the_locks_of_the_first(store: Store, file: Path) -> None:
    """Else another process that ends takes SQLite's log away under both."""
    store.save([entry("A.md")], [])
    second = Store(str(file))
    assert paths(second) == ["A.md"]
    words = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM made').fetchall(); c.close()"
    )
    subprocess.run([sys.executable, "-c", words, str(file)], check=True)
    assert Path(f"{file}-wal").exists()
    second.close()
