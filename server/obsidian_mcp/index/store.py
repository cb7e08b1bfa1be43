"""What is remembered of the notes between runs, in a file of SQLite outside the vault.

One table has the files as they were when they were read, one what they say besides their words, and one their words:
FTS5 without the text itself, which stays in the notes. A note that has changed gets a new row there, and the old one is
passed over from then on: its words could only be taken out by someone who still has them. When too many are passed
over, the words are written anew.

Several servers share the file. Each change is one transaction, so a kill leaves either all of it or nothing; whatever
can't be read, or was written by another version, is thrown away.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from obsidian_mcp.vault.query.ranking import BODY, HEADING, NAME
from obsidian_mcp.vault.words import folded

VERSION = f"2 {unicodedata.unidata_version}"  # of what is stored, and of the tables by which words are told apart
BUSY = 250  # ms that another server's change is waited for
IN_MEMORY = 24 << 20  # bytes of words that are gathered before they are written
MERGED = 16  # parts of the words that are put together at a time: fewer would be written again and again
MOST_STALE = 0.3  # of the rows of words, before they are written anew; and so few rows never are
FEWEST_ROWS = 1000
MOST_LOG = 16 << 20  # bytes that are kept of SQLite's own log

_SCHEMA = f"""
CREATE TABLE made (version TEXT, token TEXT, next INTEGER, rows INTEGER, changes INTEGER);
CREATE TABLE note (id INTEGER PRIMARY KEY, path TEXT UNIQUE, stamp INTEGER, modified INTEGER, size INTEGER);
CREATE TABLE fact (id INTEGER PRIMARY KEY, mentions TEXT, tags TEXT, keys TEXT, properties TEXT, links TEXT);
CREATE VIRTUAL TABLE word USING fts5(name, headings, body, content='', tokenize='ascii');
INSERT INTO word(word, rank) VALUES('hashsize', {IN_MEMORY});
INSERT INTO word(word, rank) VALUES('automerge', {MERGED});
INSERT INTO made VALUES('{VERSION}', lower(hex(randomblob(8))), 1, 0, 1);
"""

Changes = tuple[str, int]  # which file, and how often it was changed
LATEST = 2**63 - 1  # ns; the last time that SQLite can hold
Places = list[tuple[str, str, int, int]]  # of links: their form and their target, and where that stands
T = TypeVar("T")


class Busy(Exception):
    """Another server is writing."""


class Unusable(Exception):
    """There can be no such file here."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A note as it is remembered. `stamp` is None for one that is too young to be told from its next state."""

    path: str
    stamp: int | None
    modified: int
    size: int
    words: tuple[str, str, str]
    mentions: str
    tags: list[str]
    properties: dict[str, Any]


class Store:
    """One connection to the file. Not for several threads at once."""

    def __init__(self, file: str, patience: float = BUSY / 1000) -> None:
        self.file = file
        self._patience = patience
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None
        self._is_reading = False  # one moment's state: then it stays with the file it has, whatever becomes of that

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def forget(self) -> None:
        """Remove the file."""
        self.close()
        for name in (self.file, f"{self.file}-wal", f"{self.file}-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and (self._is_reading or not self._is_replaced()):
            return self._connection
        if self._is_reading:
            raise Unusable
        self.close()
        try:
            return self._open()
        except (sqlite3.DatabaseError, _Other) as error:
            if _is_busy(error):
                raise Busy from None
            if isinstance(error, sqlite3.OperationalError) and not os.path.exists(self.file):
                raise Unusable from None
        try:
            self.forget()
            return self._open()
        except (OSError, sqlite3.DatabaseError, _Other) as error:
            raise (Busy if _is_busy(error) else Unusable) from None

    def _is_replaced(self) -> bool:
        """Whether another server has thrown the file away."""
        try:
            found = os.stat(self.file)
        except OSError:
            return True
        return self._seen != (found.st_dev, found.st_ino)

    def _open(self) -> sqlite3.Connection:
        os.makedirs(os.path.dirname(self.file), mode=0o700, exist_ok=True)
        # Only if there is none: closing a file gives up every lock that this process has on it, SQLite's too.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        found = os.stat(self.file)
        connection = sqlite3.connect(self.file, isolation_level=None, check_same_thread=False, timeout=self._patience)
        try:
            connection.execute("PRAGMA page_size=8192")  # counts for a new file
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.execute(f"PRAGMA journal_size_limit={MOST_LOG}")
            self._require_schema(connection)
            connection.execute("CREATE VIRTUAL TABLE temp.term USING fts5vocab('main', 'word', 'row')")
        except (sqlite3.DatabaseError, _Other):
            connection.close()
            raise
        self._connection, self._seen = connection, (found.st_dev, found.st_ino)
        return connection

    def _require_schema(self, connection: sqlite3.Connection) -> None:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            made = connection.execute("SELECT version FROM made").fetchone()
            if made is None or made[0] != VERSION:
                raise _Other
            return
        connection.execute("BEGIN EXCLUSIVE")
        try:
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
            connection.execute("COMMIT")
        except sqlite3.DatabaseError:
            connection.execute("ROLLBACK")
            raise

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """What the file says. Raises Busy or Unusable; one that can't be read, or says nonsense, is thrown away."""
        try:
            return question(self._opened())
        except UnicodeEncodeError:
            raise  # what is to be written is at fault, and not the file
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError) as error:
            if _is_busy(error):
                raise Busy from None
            with contextlib.suppress(OSError):
                self.forget()
            raise Unusable from None
        except OSError:
            raise Unusable from None

    # What there is

    def changes(self) -> Changes:
        """Another one after every change, whichever server made it."""
        return self.ask(_changes)

    def begin(self) -> Changes:
        """From now on, until `end`, everything is as it is at this moment."""
        self.ask(lambda db: db.execute("BEGIN"))
        self._is_reading = True
        return self.changes()

    def end(self) -> None:
        self._is_reading = False
        with contextlib.suppress(sqlite3.Error):
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def notes(self) -> list[tuple[str, int, int | None, int]]:
        """Path, number, stamp and time of every note that is remembered."""
        return self.ask(lambda db: db.execute("SELECT path, id, stamp, modified FROM note").fetchall())

    def rows(self) -> int:
        """Of words, with those that are passed over."""
        return self.ask(lambda db: int(db.execute("SELECT rows FROM made").fetchone()[0]))

    def terms(self, prefix: str) -> list[str]:
        """The words that begin so."""
        after = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        rows = self.ask(
            lambda db: db.execute("SELECT term FROM term WHERE term >= ? AND term < ?", (prefix, after)).fetchall()
        )
        return [row[0] for row in rows]

    def scores(self, words: Iterable[str]) -> list[tuple[int, float]]:
        """The rows with these words next to one another, and what that is worth, less being more."""
        phrase = " ".join(words)
        sql = f"SELECT rowid, bm25(word, {NAME}, {HEADING}, {BODY}) FROM word WHERE word MATCH ?"
        return self.ask(lambda db: db.execute(sql, (f'"{phrase}"',)).fetchall())

    def matching(self, expression: str) -> set[int]:
        """The rows that an expression of FTS5's own language finds."""
        rows = self.ask(lambda db: db.execute("SELECT rowid FROM word WHERE word MATCH ?", (expression,)).fetchall())
        return {row[0] for row in rows}

    def having(self, words: Iterable[str]) -> set[int]:
        """The rows with these words next to one another."""
        return self.matching(f'"{" ".join(words)}"')

    def tags(self) -> list[tuple[int, tuple[str, ...]]]:
        """Many notes have the same, which are kept once."""
        known: dict[str, tuple[str, ...]] = {}

        def split(tags: str) -> tuple[str, ...]:
            found = known.get(tags)
            if found is None:
                found = known[tags] = tuple(tags.split("\n"))
            return found

        sql = "SELECT id, tags FROM fact WHERE tags != ''"
        return self.ask(lambda db: [(id, split(tags)) for id, tags in db.execute(sql)])

    def properties(self, key: str | None = None) -> list[tuple[int, dict[str, Any]]]:
        """Of every note that has any, or that has the one with this folded name."""
        where, values = ("keys != ''", ()) if key is None else ("instr(keys, ?)", (f"\n{key}\n",))
        sql = f"SELECT id, properties FROM fact WHERE {where}"
        return self.ask(lambda db: [(id, _mapping(text)) for id, text in db.execute(sql, values)])

    def links(self, marked: str | None = None) -> list[tuple[int, str | None]]:
        """The links of every file that may have one, or one with this mark, as they were saved; None where not."""
        where, values = ("mentions != ''", ()) if marked is None else ("instr(mentions, ?)", (marked,))
        return self.ask(lambda db: db.execute(f"SELECT id, links FROM fact WHERE {where}", values).fetchall())

    def places(self, saved: str) -> Places:
        """What was saved of a file's links: one by one, for those of a large vault would take much memory."""
        return self.ask(lambda db: _places(saved))

    # Changing it

    def save(self, entries: Sequence[Entry], gone: Sequence[int]) -> int:
        """All of it, or nothing. The number of the first entry; the others follow."""
        return self.ask(lambda db: self._save(db, entries, gone))

    def _save(self, db: sqlite3.Connection, entries: Sequence[Entry], gone: Sequence[int]) -> int:
        with _transaction(db):
            for table in ("note", "fact"):
                db.executemany(f"DELETE FROM {table} WHERE id = ?", ((id,) for id in gone))
            first = int(db.execute("SELECT next FROM made").fetchone()[0])
            if entries:
                self._replace(db, list(enumerate(entries, first)))
            count = len(entries)
            db.execute("UPDATE made SET next = next + ?, rows = rows + ?, changes = changes + 1", (count, count))
        return first

    def _replace(self, db: sqlite3.Connection, entries: Sequence[tuple[int, Entry]]) -> None:
        paths = json.dumps([entry.path for _, entry in entries])
        before = "SELECT id FROM note WHERE path IN (SELECT value FROM json_each(?))"
        for table in ("fact", "note"):  # in this order: the second has the paths
            db.execute(f"DELETE FROM {table} WHERE id IN ({before})", (paths,))
        _insert(db, "note", [_note_row(id, entry) for id, entry in entries])
        telling = [(id, entry) for id, entry in entries if entry.mentions or entry.tags or entry.properties]
        _insert(db, "fact", [_fact_row(id, entry) for id, entry in telling])
        _insert(db, "word(rowid, name, headings, body)", [(id, *entry.words) for id, entry in entries])

    def clear(self) -> None:
        """Forget all notes; the numbers go on, so that none is used twice."""
        self.ask(self._clear)

    def _clear(self, db: sqlite3.Connection) -> None:
        with _transaction(db):
            for statement in ("DELETE FROM note", "DELETE FROM fact", "INSERT INTO word(word) VALUES('delete-all')"):
                db.execute(statement)
            db.execute("UPDATE made SET rows = 0, changes = changes + 1")

    def save_links(self, rows: Sequence[tuple[int, Places]], of: Changes) -> None:
        """For files whose links have been read, by their numbers in that file. Those that have changed are gone."""
        self.ask(lambda db: self._save_links(db, rows, of[0]))

    def _save_links(self, db: sqlite3.Connection, rows: Sequence[tuple[int, Places]], token: str) -> None:
        with _transaction(db):
            if _changes(db)[0] == token:
                values = ((json.dumps(links, ensure_ascii=False), id) for id, links in rows)
                db.executemany("UPDATE fact SET links = ? WHERE id = ?", values)

    def is_wasteful(self) -> bool:
        """Whether much of what it holds of words is passed over."""
        there = self.ask(lambda db: int(db.execute("SELECT count(*) FROM note").fetchone()[0]))
        return is_wasteful(self.rows(), there)

    @property
    def is_possible(self) -> bool:
        """Whether the file can be written, or made."""
        there = self.file
        while not os.path.lexists(there) and there != os.path.dirname(there):
            there = os.path.dirname(there)
        return os.access(there, os.W_OK)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        found = 0
        for name in (self.file, f"{self.file}-wal"):
            with contextlib.suppress(OSError):
                found += os.stat(name).st_size
        return found


def _changes(db: sqlite3.Connection) -> Changes:
    token, changes = db.execute("SELECT token, changes FROM made").fetchone()
    return str(token), int(changes)


def _mapping(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError
    return found


def _places(text: str) -> Places:
    return [(str(form), str(target), int(start), int(end)) for form, target, start, end in json.loads(text)]


def is_wasteful(rows: int, notes: int) -> bool:
    return rows > FEWEST_ROWS and rows - notes > rows * MOST_STALE


class _Other(Exception):
    """Written by another version."""


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _insert(db: sqlite3.Connection, into: str, rows: Sequence[Sequence[Any]]) -> None:
    """All rows by one statement, or as many as it may have values: SQLite works without the GIL until it is done, and
    the next notes are read meanwhile. Row by row, it would wait for the GIL at every one of them.
    """
    if not rows:
        return
    row = f"({','.join('?' * len(rows[0]))})"
    most = db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // len(rows[0])
    for at in range(0, len(rows), most):
        some = rows[at : at + most]
        db.execute(f"INSERT INTO {into} VALUES {','.join([row] * len(some))}", list(itertools.chain(*some)))


def _note_row(id: int, entry: Entry) -> tuple[Any, ...]:
    return id, entry.path, entry.stamp, min(entry.modified, LATEST), entry.size


def _fact_row(id: int, entry: Entry) -> tuple[Any, ...]:
    keys = "".join(f"\n{folded(name)}\n" for name in entry.properties)
    values = json.dumps(entry.properties, ensure_ascii=False) if entry.properties else ""
    return id, entry.mentions, "\n".join(entry.tags), keys, values, None


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and any(word in str(error) for word in ("locked", "busy"))
