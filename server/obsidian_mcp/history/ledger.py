"""Every change that was made to a vault, so that it can be told and taken back.

An entry is begun before the change acts, and is pending until it is told how that ended. So after a kill there is an
entry for whatever may have happened, and the caller, who can read the files, says whether it did (`settle`). Only done
entries are listed. What an undo undoes is marked in the transaction that says that the undo is done.

An entry has a number, which orders them, and an id made from it, which people say. Numbers are never used twice, even
after a purge: a model may still have the old id in mind.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from typing import Any

from obsidian_mcp.history.entries import decode, encode, moved, short_id
from obsidian_mcp.history.file import TABLES, LedgerFile, pages, pragma
from obsidian_mcp.vault.changes import Change, ChangeSet, Trash, Write
from obsidian_mcp.vault.history import Entry, Intent, KeptChanges, NoSuchEntry, Unreadable, touched

DAYS = 90
MOST_BYTES = 200 << 20
PATIENCE = 5.0  # seconds that another server's transaction is waited for
MOST_SHOWN = 100
_DAY = 86_400
_NAMES = 4  # tool, client, session and summary, before the paths

_made = tuple.__new__  # of an Entry: its own makes a tuple of its arguments first, and a listing makes thousands
_COLUMNS = "id, time, said, undoes, undone_by, size"

# The note at a path, under the names that it had before it came there, and has had since it left.
_OF_NOTE = """
WITH RECURSIVE
  back (path, until) AS (
    SELECT :note, 9223372036854775807
    UNION SELECT old, n FROM back JOIN moved ON new = path AND n < until),
  forth (path, since) AS (
    SELECT :note, -1
    UNION SELECT new, n FROM forth JOIN moved ON old = path AND n > since)
SELECT n FROM back JOIN place USING (path) WHERE n <= until
UNION SELECT n FROM forth JOIN place USING (path) WHERE n >= since
"""


class Ledger:
    """Raises Busy or Unusable (see `file`) from everything that it does."""

    def __init__(
        self,
        file: str,
        days: float = DAYS,
        most_bytes: int = MOST_BYTES,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._file = LedgerFile(file, patience)
        self._days = days
        self._most_bytes = most_bytes
        self._clock = clock

    def close(self) -> None:
        self._file.close()

    # A change, from its beginning to its end

    def begin(self, intent: Intent) -> str:
        """What is about to be done; the id. On disk before this returns if a text would be gone for good."""
        data = self._kept(intent.changes)
        said = _said(intent.tool, intent.client, intent.session, " ".join(intent.summary.splitlines()))
        values = (intent.time, _stored(intent.client), _stored(intent.session), said, " ".join(intent.undoes))

        def begun(db: sqlite3.Connection) -> str:
            number = int(db.execute("SELECT next FROM made").fetchone()[0])
            db.execute("UPDATE made SET next = next + 1")
            id = short_id(number)
            columns = "n, id, pending, time, client, session, said, undoes"
            db.execute(f"INSERT INTO entry ({columns}) VALUES (?, ?, 1, ?, ?, ?, ?, ?)", (number, id, *values))
            _put(db, number, intent.changes, data)
            return id

        return self._file.change(begun, durable=any(map(_removes, intent.changes.changes)))

    def finish(self, id: str, changes: ChangeSet | None = None) -> bool:
        """It was done: as it was meant, or as these changes tell. Whether it is on record (and was not purged)."""
        data = None if changes is None else self._kept(changes)

        def finished(db: sqlite3.Connection) -> bool:
            row = db.execute("SELECT n, pending, undoes FROM entry WHERE id = ?", (id,)).fetchone()
            if row is None or not row[1]:
                return row is not None
            if changes is not None:
                _put(db, row[0], changes, data)
            db.execute("UPDATE entry SET pending = 0 WHERE n = ?", row[:1])
            for undone in row[2].split():
                _mark(db, undone, id)
            self._bound(db, row[0])
            return bool(db.execute("SELECT count(*) FROM entry WHERE n = ?", row[:1]).fetchone()[0])

        return self._file.change(finished)

    def abandon(self, id: str) -> None:
        """It was not done, and there is no entry."""
        self._file.change(lambda db: _remove(db, "SELECT n FROM entry WHERE id = ? AND pending", (id,)))

    def pending(self) -> list[Entry]:
        """What killed servers left, oldest first. Only while no other server writes: else it may be what that does."""
        return self._entries("pending", {}, "ORDER BY n")

    def settle(self, id: str, happened: bool) -> None:
        """What became of a pending one."""
        if happened:
            self.finish(id)
        else:
            self.abandon(id)

    # What was done

    def entries(
        self,
        since: float | None = None,
        note: str | None = None,
        client: str | None = None,
        limit: int = MOST_SHOWN,
    ) -> list[Entry]:
        """Newest first. `note` is a path that it has, or had; no text is read."""
        oldest = self._clock() - self._days * _DAY
        since = oldest if since is None else max(since, oldest)
        tests = {"time >= :since": since, "client = :client": client, f"n IN ({_OF_NOTE})": note}
        where = " AND ".join(["NOT pending", *(test for test, value in tests.items() if value is not None)])
        values = {"since": since, "client": _stored(client or ""), "note": _stored(note or ""), "limit": limit}
        return self._entries(where, values, "ORDER BY n DESC LIMIT :limit")

    def entry(self, id: str) -> Entry:
        """Raises NoSuchEntry."""
        for found in self._entries("NOT pending AND id = :id", {"id": _asked(id)}, ""):
            return found
        raise NoSuchEntry(id)

    def get(self, id: str) -> tuple[Entry, KeptChanges]:
        """Also a pending one. Raises NoSuchEntry, or Unreadable if what it did was not kept or can't be read."""
        sql = f"SELECT {_COLUMNS}, data FROM entry LEFT JOIN content USING (n) WHERE id = ?"
        asked = _asked(id)

        def got(db: sqlite3.Connection) -> tuple[Entry, bytes | None] | None:
            row = db.execute(sql, (asked,)).fetchone()
            return None if row is None else (_entry(row[:-1]), row[-1])

        found = self._file.ask(got) if self._file.exists else None
        if found is None:
            raise NoSuchEntry(id)
        entry, data = found
        if not isinstance(data, bytes):
            raise Unreadable(f"What {entry.id} did was too large to be kept.")
        return entry, decode(data)

    def latest(self, client: str, session: str = "") -> Entry | None:
        """This session's last change, else the client's, that is not undone and not itself an undo.

        None for a client without a name: it could be any other's.
        """
        if not client:
            return None
        where = "NOT pending AND undone_by IS NULL AND undoes = '' AND client = :client"
        values = {"client": _stored(client), "session": _stored(session) if session else None}
        return next(iter(self._entries(where, values, "ORDER BY session = :session DESC, n DESC LIMIT 1")), None)

    @property
    def count(self) -> int:
        if not self._file.exists:
            return 0
        return self._file.ask(lambda db: int(db.execute("SELECT count(*) FROM entry WHERE NOT pending").fetchone()[0]))

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self._file.size

    def purge(self) -> None:
        """Everything is gone, what is pending too, and every file that was set aside; other servers go on."""

        def purged(db: sqlite3.Connection) -> None:
            for table in TABLES:
                db.execute(f"DELETE FROM {table}")

        if self._file.exists:
            self._file.change(purged)
            self._file.shrink()
        self._file.remove_aside()

    def _entries(self, where: str, values: dict[str, Any], order: str) -> list[Entry]:
        if not self._file.exists:
            return []
        sql = f"SELECT {_COLUMNS} FROM entry WHERE {where} {order}"
        return self._file.ask(lambda db: [_entry(row) for row in db.execute(sql, values)])

    # Bounds

    def _kept(self, changes: ChangeSet) -> bytes | None:
        """Nothing if it would take more than half of the room from all the others."""
        data = encode(changes)
        return data if len(data) <= self._most_bytes // 2 else None

    def _bound(self, db: sqlite3.Connection, newest: int) -> None:
        """Oldest first, the newest never; and the file is as small as it may be."""
        _remove(db, "SELECT n FROM entry WHERE time < ? AND NOT pending", (self._clock() - self._days * _DAY,))
        most = self._most_bytes // pragma(db, "page_size")
        while pages(db) > most:
            if not _remove(db, "SELECT n FROM entry WHERE NOT pending AND n != ? ORDER BY n LIMIT 1", (newest,)):
                break
        for _ in range(pragma(db, "page_count") - most):
            db.execute("PRAGMA incremental_vacuum(1)")  # one at a time: Python takes a single step


def _removes(change: Change) -> bool:
    return (isinstance(change, Trash) and change.permanent) or (isinstance(change, Write) and change.after is None)


def _put(db: sqlite3.Connection, number: int, changes: ChangeSet, data: bytes | None) -> None:
    """What an entry did, in place of what it was to do."""
    for table in ("content", "place", "moved"):
        db.execute(f"DELETE FROM {table} WHERE n = ?", (number,))
    said = db.execute("SELECT said FROM entry WHERE n = ?", (number,)).fetchone()[0].split(b"\0")[:_NAMES]
    paths = [_stored(path) for path in touched(changes)]
    size = None if data is None else len(data)
    db.execute("UPDATE entry SET said = ?, size = ? WHERE n = ?", (b"\0".join([*said, *paths]), size, number))
    db.executemany("INSERT INTO place VALUES (?, ?)", ((path, number) for path in paths))
    moves = ((number, _stored(old), _stored(new)) for old, new in moved(changes))
    db.executemany("INSERT INTO moved VALUES (?, ?, ?)", moves)
    if data is not None:
        db.execute("INSERT INTO content VALUES (?, ?)", (number, data))


def _remove(db: sqlite3.Connection, numbers: str, values: Iterable[Any]) -> int:
    """How many entries."""
    found = db.execute(numbers, tuple(values)).fetchall()
    for table in TABLES:
        db.executemany(f"DELETE FROM {table} WHERE n = ?", found)
    return len(found)


def _mark(db: sqlite3.Connection, id: str, by: str) -> None:
    """As undone. If it was an undo, what that had undone is so no longer; and so on, where that was an undo too."""
    marks: list[tuple[str, str | None, str]] = [(id, by, by)]
    while marks:
        id, undone_by, later = marks.pop()
        sql = "SELECT undoes FROM entry WHERE id = ? AND n < (SELECT n FROM entry WHERE id = ?)"
        row = db.execute(sql, (id, later)).fetchone()
        if row is not None:
            db.execute("UPDATE entry SET undone_by = ? WHERE id = ?", (undone_by, id))
            marks += ((earlier, None if undone_by else id, id) for earlier in row[0].split())


def _entry(row: tuple[Any, ...]) -> Entry:
    id, when, said, undoes, undone_by, size = row
    tool, client, session, summary, *paths = str(said, "utf-8", "surrogatepass").split("\0")
    undone = tuple(undoes.split()) if undoes else ()
    return _made(Entry, (id, float(when), tool, client, session, summary, tuple(paths), undone, undone_by, size))


def _said(*names: str) -> bytes:
    return b"\0".join(_stored(name.replace("\0", "")) for name in names)


def _asked(id: str) -> str:
    """An id as it is stored; what can't be one is none."""
    asked = id.strip().lower()
    return asked if asked.isascii() else ""


def _stored(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
