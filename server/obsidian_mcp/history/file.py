"""The ledger's file: one of SQLite, outside the vault, shared by the servers of one user.

It is the person's way back, so unlike the index it is never thrown away. What can't be read, or was written by another
version, is renamed with SQLite's log beside it, and a new one begun: `history.damaged.sqlite`,
`history.version-2.sqlite`.

POSIX gives up every lock that a process has on a file when any descriptor of it is closed, SQLite's locks too. So the
file is opened by SQLite alone, except to make it (O_EXCL). Another lock, on a file of its own, is held while the file
is made, opened or renamed: two servers that start at once would both find it empty, or damaged.

A kill loses nothing that was committed. A loss of power may lose the last transactions, and with them the entries of
changes that are on disk: to wait for the disk twice would make a change take twice as long. Where a text would be gone
for good, the transaction that says so is on disk before it returns (synchronous=FULL, a single fsync of the log).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from obsidian_mcp import logs

VERSION = 1
MOST_LOG = 4 << 20  # bytes that are kept of SQLite's own log

# A string that may have lone surrogates is a BLOB. `said` is tool, client, session, summary and all paths, with NULs
# between them: a listing decodes it at once. The texts of a change are apart from what a listing shows.
_SCHEMA = (
    "CREATE TABLE made (next INTEGER)",
    "CREATE TABLE entry (n INTEGER PRIMARY KEY, id TEXT UNIQUE, pending INTEGER, time REAL, client BLOB, "
    "session BLOB, said BLOB, undoes TEXT, undone_by TEXT, size INTEGER)",
    "CREATE INDEX entry_time ON entry (time)",
    "CREATE INDEX entry_pending ON entry (n) WHERE pending",
    "CREATE TABLE content (n INTEGER PRIMARY KEY, data BLOB)",
    "CREATE TABLE place (path BLOB, n INTEGER, PRIMARY KEY (path, n)) WITHOUT ROWID",
    "CREATE INDEX place_n ON place (n)",
    "CREATE TABLE moved (n INTEGER, old BLOB, new BLOB)",
    "CREATE INDEX moved_n ON moved (n)",
    "CREATE INDEX moved_old ON moved (old, n)",
    "CREATE INDEX moved_new ON moved (new, n)",
)
TABLES = ("entry", "content", "place", "moved")
_FIRST = 200_000  # the first number is below it, by chance: so an id of another ledger is seldom one of this

T = TypeVar("T")


class Busy(Exception):
    """Another server was writing for as long as it was waited for."""


class Unusable(Exception):
    """There can be no ledger here: what the system says."""


class _Damaged(Exception):
    """Not a ledger of this version. What is added to its name."""


class LedgerFile:
    """One connection, for one thread after the other."""

    def __init__(self, path: str, patience: float) -> None:
        self.path = path
        self._patience = patience
        self._turn = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None

    def close(self) -> None:
        with self._turn:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.close()
                self._connection = None

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """What the file says. Raises Busy or Unusable. A damaged one is set aside, and the question put to a new one.

        A ValueError or TypeError of the question means that the file says nonsense.
        """
        with self._turn:
            try:
                return self._asked(question)
            except _Damaged as damaged:
                self._set_aside(str(damaged))
            try:
                return self._asked(question)
            except _Damaged as damaged:
                raise Unusable(f"{self.path} is {damaged} as soon as it is made") from None

    def change(self, work: Callable[[sqlite3.Connection], T], *, durable: bool = False) -> T:
        """In one transaction: all of it, or nothing. If durable, it is on disk before this returns."""

        def changed(db: sqlite3.Connection) -> T:
            db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            with _transaction(db):
                return work(db)

        return self.ask(changed)

    def shrink(self) -> None:
        """Nothing that was deleted is left in the file or in its log, whichever servers have them open."""

        def shrunk(db: sqlite3.Connection) -> None:
            db.execute("VACUUM")
            if db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise Busy

        self.ask(shrunk)

    @property
    def exists(self) -> bool:
        """To ask makes one, so what only reads asks this first."""
        return os.path.lexists(self.path)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        found = 0
        for name in (self.path, f"{self.path}-wal"):
            with contextlib.suppress(OSError):
                found += os.stat(name).st_size
        return found

    # Files that were set aside

    def remove_aside(self) -> None:
        if self.aside():
            with self._alone():
                for name in self.aside():
                    os.unlink(name)

    def aside(self) -> list[str]:
        folder, name = os.path.split(self.path)
        stem, _ = os.path.splitext(name)
        begins = (f"{stem}.damaged", f"{stem}.version-")
        found = os.listdir(folder) if os.path.isdir(folder) else ()
        return [os.path.join(folder, other) for other in found if other.startswith(begins)]

    def _set_aside(self, label: str) -> None:
        """Unless another server has done so."""
        self.close()
        with self._alone():
            if self._is_replaced():
                return
            stem, end = os.path.splitext(self.path)
            taken, counted = self.aside(), (f"-{number}" if number > 1 else "" for number in itertools.count(1))
            name = next(name for more in counted if (name := f"{stem}.{label}{more}{end}") not in taken)
            for part in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.rename(f"{self.path}{part}", f"{name}{part}")
        logs.log("warning", "a history that could not be read was set aside", file=name)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        from filelock import FileLock, Timeout  # not before the first write: it is slow to load

        try:
            with FileLock(f"{self.path}.lock", timeout=self._patience, mode=0o600, thread_local=False):
                yield
        except Timeout:
            raise Busy from None
        except OSError as error:
            raise Unusable(str(error)) from None

    # Opening it

    def _asked(self, question: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return question(self._opened())
        except UnicodeEncodeError:
            raise  # what is asked is at fault, and not the file
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            raise _meaning(error) from None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None or self._is_replaced():
            self.close()
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            with self._alone():
                self._connection = self._open()
        return self._connection

    def _is_replaced(self) -> bool:
        """Whether it is gone, or another server has set aside the one that was opened."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return True
        return self._seen != (found.st_dev, found.st_ino)

    def _open(self) -> sqlite3.Connection:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        found = os.stat(self.path)
        if not stat.S_ISREG(found.st_mode):
            raise Unusable(f"{self.path} is not a file")
        self._seen = found.st_dev, found.st_ino
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=self._patience)
        try:
            _prepare(connection)
        except BaseException as error:
            connection.close()
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
                raise _Damaged("damaged") from None  # no fault of the statements, which fit any file of ours
            raise
        return connection


def _prepare(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA auto_vacuum=INCREMENTAL")  # counts for a new file
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA temp_store=MEMORY")
    db.execute("PRAGMA fullfsync=1")  # on a Mac: past the drive's own cache
    db.execute(f"PRAGMA journal_size_limit={MOST_LOG}")
    made = _schema(db)
    if not made:
        with _transaction(db):
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute(f"INSERT INTO made VALUES (abs(random()) % {_FIRST})")
            db.execute(f"PRAGMA user_version={VERSION}")
        return
    version = pragma(db, "user_version")
    if version != VERSION:
        raise _Damaged(f"version-{version}" if "made" in made else "damaged")
    if set(made.values()) != set(_SCHEMA) or db.execute("SELECT count(*) FROM made").fetchone()[0] != 1:
        raise _Damaged("damaged")
    pages(db)


def pages(db: sqlite3.Connection) -> int:
    """Those in use. A garbled count must not look like a file that is too large: the bound would take everything."""
    there, free = pragma(db, "page_count"), pragma(db, "freelist_count")
    if not 0 <= free < there:
        raise ValueError("there are more free pages than pages")
    return there - free


def pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def _schema(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall())


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # some errors have taken it back already
            db.execute("ROLLBACK")
        raise


def _meaning(error: Exception) -> Exception:
    if isinstance(error, OSError):
        return Unusable(str(error))
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # Python's own: a text that can't be decoded, if not a mistake of the caller
            return _Damaged("damaged") if isinstance(error, sqlite3.OperationalError) else Unusable(str(error))
        if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Busy()
        if code & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return Unusable(str(error))
    return _Damaged("damaged")
