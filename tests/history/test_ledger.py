"""The ledger: what it keeps of every change, whatever is killed, and whichever servers share it."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.history.entries import encode
from obsidian_mcp.history.file import Busy, Unusable
from obsidian_mcp.history.ledger import Ledger
from obsidian_mcp.vault.changes import Change, ChangeSet, Rename, Restore, Trash, Write
from obsidian_mcp.vault.history import Entry, Intent, NoSuchEntry, Unreadable
from tests.support.process import SEARCHED

PATIENCE = 60.0
NOW = 1_800_000_000.0
DAY = 86_400
ALL = 1_000_000
PAGE = 4096  # bytes, of SQLite's file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "vault" / "history.sqlite"


@pytest.fixture
def ledger(file: Path) -> Iterator[Ledger]:
    made = Ledger(str(file), clock=lambda: NOW)
    yield made
    made.close()


@pytest.fixture
def other(file: Path) -> Iterator[Ledger]:
    """Another server's."""
    made = Ledger(str(file), clock=lambda: NOW)
    yield made
    made.close()


EDIT = Write("A.md", b"one", b"two")


def intent(*changes: Change, client: str = "Claude", undoes: tuple[str, ...] = (), time: float = NOW) -> Intent:
    return Intent(time, "edit", client, "an edit", ChangeSet("editing", changes or (EDIT,)), undoes)


def done(ledger: Ledger, *changes: Change, client: str = "Claude", time: float = NOW) -> str:
    id = ledger.begin(intent(*changes, client=client, time=time))
    assert ledger.finish(id)
    return id


def undone(ledger: Ledger, *ids: str) -> str:
    id = ledger.begin(intent(undoes=ids))
    assert ledger.finish(id)
    return id


def nothing(path: str) -> bytes | None:
    raise AssertionError(f"{path} was read")


def ids(entries: list[Entry]) -> list[str]:
    return [entry.id for entry in entries]


# A change, from its beginning to its end.


def test_a_change_is_pending_until_it_is_done(ledger: Ledger, other: Ledger) -> None:
    id = ledger.begin(intent())
    assert (ids(other.pending()), other.entries(), other.count) == ([id], [], 0)
    assert ledger.finish(id)
    assert (other.pending(), ids(other.entries()), other.count) == ([], [id], 1)


def test_all_that_is_said_of_it_is_there_in_another_run(ledger: Ledger, file: Path) -> None:
    changes = ChangeSet("moving", (Rename("A.md", "B/\udcff.md"), Write("C.md", b"[[A]]\xff", b"[[B]]\xff")))
    first = done(ledger)
    id = ledger.begin(Intent(NOW + 0.25, "move", "Cla\ud800ude", "Moved A\nto B", changes, (first,), "a session"))
    ledger.finish(id)
    ledger.close()
    entry, kept = ledger.get(id)
    assert entry[:6] == (id, NOW + 0.25, "move", "Cla\ud800ude", "a session", "Moved A to B")
    assert (entry.paths, entry.undoes, entry.undone_by) == (("A.md", "B/\udcff.md", "C.md"), (first,), None)
    assert kept.rebuilt(nothing) == changes
    assert ledger.entries(limit=1) == [entry]
    assert (entry.size or 0) > 0


def test_what_only_the_doing_could_tell_takes_the_place_of_what_was_meant(ledger: Ledger) -> None:
    id = ledger.begin(intent(Trash("A.md"), Rename("B.md", "C.md")))
    told = ChangeSet("deleting", (Trash("A.md", False, b"its text", ".trash/A 2.md"), Rename("B.md", "C 1.md")))
    assert ledger.finish(id, told)
    entry, kept = ledger.get(id)
    assert kept.rebuilt(nothing) == told
    assert entry.paths == ("A.md", "B.md", "C 1.md")
    assert (ids(ledger.entries(note="C 1.md")), ledger.entries(note="C.md")) == ([id], [])


def test_a_change_that_was_not_made_leaves_nothing(ledger: Ledger) -> None:
    id = ledger.begin(intent())
    ledger.abandon(id)
    assert (ledger.pending(), ledger.entries()) == ([], [])
    assert not ledger.finish(id)
    with pytest.raises(NoSuchEntry):
        ledger.get(id)


def test_a_change_that_is_done_stays_done(ledger: Ledger) -> None:
    id = done(ledger)
    ledger.abandon(id)
    assert ledger.finish(id, ChangeSet("other", (Rename("X.md", "Y.md"),)))
    assert ledger.get(id)[1].rebuilt(nothing).changes == (EDIT,)


@pytest.mark.parametrize("happened", [True, False])
def test_what_is_pending_is_settled_by_whoever_can_read_the_files(ledger: Ledger, happened: bool) -> None:
    first, second = ledger.begin(intent()), ledger.begin(intent())
    assert ids(ledger.pending()) == [first, second]
    ledger.settle(first, happened)
    assert (ids(ledger.pending()), ids(ledger.entries())) == ([second], [first] if happened else [])


def test_nothing_is_made_until_the_first_change(ledger: Ledger, file: Path) -> None:
    assert (ledger.entries(), ledger.pending(), ledger.latest("Claude"), ledger.count, ledger.size) == (
        [],
        [],
        None,
        0,
        0,
    )
    with pytest.raises(NoSuchEntry):
        ledger.get("bcdf")
    ledger.purge()
    assert not file.parent.exists()


# What was done.


def test_the_newest_comes_first_and_no_more_than_asked_for(ledger: Ledger) -> None:
    made = [done(ledger) for _ in range(5)]
    assert ids(ledger.entries()) == made[::-1]
    assert ids(ledger.entries(limit=2)) == made[:2:-1]


def test_changes_are_found_by_time_and_client(ledger: Ledger) -> None:
    early, late = done(ledger, time=NOW - 10), done(ledger, client="", time=NOW)
    assert ids(ledger.entries(since=NOW - 5)) == [late]
    assert ids(ledger.entries(client="Claude")) == [early]
    assert ids(ledger.entries(client="")) == [late]
    assert ledger.entries(since=NOW - 5, client="Claude") == []


def test_an_id_may_be_said_in_capitals_and_nonsense_is_just_not_found(ledger: Ledger) -> None:
    id = done(ledger)
    assert ledger.get(f" {id.upper()} ")[0].id == id
    for nonsense in ("", "\ud800", "\0", "é", "x" * 100_000):
        with pytest.raises(NoSuchEntry):
            ledger.get(nonsense)
    assert ledger.count == 1


def test_a_note_that_has_moved_is_found_by_its_old_and_its_new_path(ledger: Ledger) -> None:
    made = [
        done(ledger, Write("A.md", None, b"")),
        done(ledger, Rename("A.md", "B.md"), Write("Z.md", b"[[A]]", b"[[B]]")),
        done(ledger, Write("B.md", b"", b"x")),
        done(ledger, Rename("B.md", "step"), Rename("step", "C.md")),
        done(ledger, Write("C.md", b"x", b"y")),
    ]
    for path in ("A.md", "B.md", "C.md"):
        assert ids(ledger.entries(note=path)) == made[::-1]
    assert ids(ledger.entries(note="Z.md")) == [made[1]]
    assert ledger.entries(note="Y.md") == ledger.entries(note="\udcff") == []


def test_another_note_at_an_old_path_is_not_the_one_that_moved_away(ledger: Ledger) -> None:
    moved = done(ledger, Rename("A.md", "B.md"))
    new = done(ledger, Write("A.md", None, b"another"))
    assert ids(ledger.entries(note="B.md")) == [moved]
    assert ids(ledger.entries(note="A.md")) == [new, moved]


def test_notes_that_change_places_keep_their_own_past(ledger: Ledger) -> None:
    one, two = done(ledger, Write("A.md", None, b"1")), done(ledger, Write("B.md", None, b"2"))
    swap = done(ledger, Rename("A.md", "x"), Rename("B.md", "A.md"), Rename("x", "B.md"))
    later = done(ledger, Write("A.md", b"2", b"3"))
    assert ids(ledger.entries(note="A.md")) == [later, swap, two, one]


def test_a_note_that_was_moved_to_and_fro_is_found_once(ledger: Ledger) -> None:
    made = [done(ledger, Rename(*paths)) for _ in range(20) for paths in (("A.md", "B.md"), ("B.md", "A.md"))]
    assert ids(ledger.entries(note="A.md")) == made[::-1]


# Undone, and undone again.


def marks(ledger: Ledger) -> dict[str, str | None]:
    return {entry.id: entry.undone_by for entry in ledger.entries()}


def test_what_an_undo_undoes_is_marked_when_it_is_done(ledger: Ledger) -> None:
    id = done(ledger)
    undo = ledger.begin(intent(undoes=(id,)))
    assert marks(ledger) == {id: None}
    ledger.settle(undo, True)
    assert marks(ledger) == {id: undo, undo: None}


def test_undoing_an_undo_brings_back_what_it_had_undone(ledger: Ledger) -> None:
    id = done(ledger)
    undo = undone(ledger, id)
    redo = undone(ledger, undo)
    assert marks(ledger) == {id: None, undo: redo, redo: None}
    again = undone(ledger, redo)
    assert marks(ledger) == {id: undo, undo: None, redo: again, again: None}


def test_undos_of_undos_may_go_on_for_long(ledger: Ledger, file: Path) -> None:
    first = done(ledger)
    with sqlite3.connect(file) as db:
        columns = "pending, time, client, session, said"
        for i in range(1, 3000):
            values = (i, f"x{i}", f"x{i - 1}" if i > 1 else first)
            db.execute(
                f"INSERT INTO entry SELECT n + ?, ?, {columns}, ?, NULL, 0 FROM entry WHERE id = '{first}'", values
            )
        db.execute("UPDATE made SET next = next + 3000")
    db.close()
    last = undone(ledger, "x2999")
    found = {entry.id: entry.undone_by for entry in ledger.entries(limit=ALL)}
    assert [found[id] for id in (last, "x2999", "x2998", "x2997", "x1", first)] == [
        None,
        last,
        None,
        "x2998",
        "x2",
        None,
    ]


def test_an_entry_that_would_undo_itself_or_a_later_one_marks_nothing(ledger: Ledger, file: Path) -> None:
    first, second = done(ledger), ledger.begin(intent())
    changed(f"UPDATE entry SET undoes = '{second}'")(file)
    assert ledger.finish(second)
    assert marks(ledger) == {first: None, second: None}


def test_one_undo_may_undo_a_whole_session(ledger: Ledger) -> None:
    one, two, three = (done(ledger) for _ in range(3))
    undo = undone(ledger, three, two)
    assert marks(ledger) == {one: None, two: undo, three: undo, undo: None}


def test_the_latest_goes_one_further_back_with_every_undo(ledger: Ledger) -> None:
    one, two = done(ledger), done(ledger)
    done(ledger, client="Cursor")
    ledger.begin(intent())
    for expected in (two, one):
        latest = ledger.latest("Claude")
        assert latest is not None
        assert latest.id == expected
        undo = undone(ledger, latest.id)
    assert ledger.latest("Claude") is None
    undone(ledger, undo)
    assert ledger.latest("Claude") == ledger.get(one)[0]


def test_a_client_without_a_name_has_no_latest_change(ledger: Ledger) -> None:
    done(ledger, client="")
    assert ledger.latest("") is None


def test_the_latest_is_this_sessions_before_another_of_the_same_name(ledger: Ledger) -> None:
    for session in ("mine", "theirs"):
        ledger.finish(ledger.begin(Intent(NOW, "edit", "Claude", session, ChangeSet("", (EDIT,)), session=session)))
    for session, expected in {"mine": "mine", "theirs": "theirs", "a third": "theirs", "": "theirs"}.items():
        latest = ledger.latest("Claude", session)
        assert latest is not None
        assert latest.summary == expected


# Bounds.


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


def test_what_is_older_than_the_days_goes_when_a_change_is_done(file: Path) -> None:
    now = [NOW]
    ledger = Ledger(str(file), days=2, clock=lambda: now[0])
    old, pending = done(ledger), ledger.begin(intent())
    now[0] += DAY
    recent = done(ledger, time=now[0])
    assert ids(ledger.entries()) == [recent, old]
    now[0] += DAY + 1
    newest = done(ledger, time=now[0])
    assert (ids(ledger.entries()), ids(ledger.pending())) == ([newest, recent], [pending])
    ledger.close()


def test_the_oldest_go_when_there_are_too_many_bytes(file: Path) -> None:
    most = 1 << 20
    ledger = Ledger(str(file), most_bytes=most, clock=lambda: NOW)
    made = [done(ledger, Trash(f"{seed}.md", True, noise(seed * 700, seed))) for seed in range(100)]
    left = ids(ledger.entries())
    assert left == made[::-1][: len(left)]
    assert 10 < len(left) < 40
    for id in left:
        ledger.get(id)
    with pytest.raises(NoSuchEntry):
        ledger.get(made[0])
    assert ledger.entries(note="1.md") == []
    ledger.close()
    assert most // 2 < file.stat().st_size <= most


def test_a_smaller_bound_makes_the_file_smaller(file: Path) -> None:
    for most in (1 << 21, 1 << 19):
        ledger = Ledger(str(file), most_bytes=most, clock=lambda: NOW)
        for seed in range(30):
            done(ledger, Trash("A.md", True, noise(100_000, seed)))
        ledger.close()
        assert most // 2 < file.stat().st_size <= most


def test_a_change_that_would_take_most_of_the_room_is_told_but_not_kept(file: Path) -> None:
    ledger = Ledger(str(file), most_bytes=1 << 20, clock=lambda: NOW)
    small = done(ledger)
    large = ledger.begin(intent(Trash("A.md")))
    assert ledger.finish(large, ChangeSet("deleting", (Trash("A.md", True, noise(600_000)),)))
    assert [(entry.id, entry.size is None) for entry in ledger.entries()] == [(large, True), (small, False)]
    with pytest.raises(Unreadable):
        ledger.get(large)
    ledger.close()


def test_ten_thousand_are_listed_without_reading_what_they_did(ledger: Ledger, file: Path) -> None:
    id = done(ledger)
    with sqlite3.connect(file) as db:
        numbers = "WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 9999)"
        columns = "pending, time, client, session, said, undoes, undone_by, size"
        db.execute(f"INSERT INTO entry SELECT n + i, 'x' || i, {columns} FROM ({numbers} SELECT * FROM k), entry")
        db.execute(f"INSERT INTO content {numbers} SELECT (SELECT min(n) FROM entry) + i, x'00' FROM k")
    db.close()
    found = ledger.entries(limit=ALL)
    assert (len(found), found[-1].id, ledger.count) == (10_000, id, 10_000)
    with pytest.raises(Unreadable):
        ledger.get(found[0].id)


# Several servers, and what is killed.


def run(script: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, words)]
    env = {**os.environ, "PYTHONPATH": SEARCHED}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str]) -> list[str]:
    try:
        said, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait(PATIENCE)
    assert process.returncode == 0
    return said.split()


FIFTY = """
import sys
from obsidian_mcp.vault.history import Intent
from obsidian_mcp.history.ledger import Ledger
from obsidian_mcp.vault.changes import ChangeSet, Write
ledger = Ledger(sys.argv[1], patience=60)
for number in range(50):
    id = ledger.begin(Intent(0.0, "edit", sys.argv[2], str(number), ChangeSet("", (Write("A.md", b"", b"x"),))))
    ledger.finish(id)
    print(id)
    if number % 5 == 0:
        ledger.close()  # so that the last to close, and the first to open, meet others
"""


def test_two_servers_that_start_at_once_make_a_hundred_entries(file: Path) -> None:
    both = [run(FIFTY.replace("0.0", str(NOW)), file, name) for name in ("one", "two")]
    said = [output(process) for process in both]
    ledger = Ledger(str(file), clock=lambda: NOW)
    assert len({*said[0], *said[1]}) == 100
    assert sorted(ids(ledger.entries(limit=ALL))) == sorted(said[0] + said[1])
    for name, theirs in zip(("one", "two"), said, strict=True):
        assert ids(ledger.entries(client=name)) == theirs[::-1]
    assert [each.name for each in file.parent.iterdir() if "damaged" in each.name] == []
    ledger.close()


def test_threads_may_share_one_ledger(ledger: Ledger) -> None:
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.extend(done(ledger) for _ in range(10))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(set(made)) == 80
    assert sorted(ids(ledger.entries())) == sorted(made)


# A fork for each statement, which is killed just before that runs; and one that is not. What came back was told before.
KILLED = """
import os, signal, sqlite3, sys
from obsidian_mcp.vault.history import Intent
from obsidian_mcp.history.ledger import Ledger
from obsidian_mcp.vault.changes import ChangeSet, Write

connect, seen = sqlite3.connect, 0

def counting(at):
    def count(statement):
        global seen
        seen += 1
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)

    def connected(*args, **kwargs):
        connection = connect(*args, **kwargs)
        connection.set_trace_callback(count)
        return connection

    return connected

def change(file, tell):
    ledger = Ledger(file, clock=lambda: 0.0)
    intent = Intent(0.0, "edit", "", "", ChangeSet("", (Write("A.md", b"one", b"two"),)))
    id = ledger.begin(intent)
    tell(b"b")
    ledger.finish(id, intent.changes)
    tell(b"f")
    id = ledger.begin(intent)
    tell(b"B")
    ledger.abandon(id)
    tell(b"a")

at, killed = 0, True
while killed:
    at += 1
    file = os.path.join(sys.argv[1], str(at), "history.sqlite")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        sqlite3.connect = counting(at)
        change(file, lambda word: os.write(writing, word))
        sqlite3.connect = connect
        os._exit(0)
    os.close(writing)
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    told = os.read(reading, 100).decode()
    os.close(reading)
    ledger = Ledger(file, clock=lambda: 0.0)
    states = f"{len(ledger.entries())}{len(ledger.pending())}"
    for entry in ledger.entries() + ledger.pending():
        assert ledger.get(entry.id)[1].changes
    ledger.abandon(ledger.begin(Intent(0.0, "", "", "", ChangeSet("", (Write("A.md", None, b""),)))))
    ledger.close()
    print(f"{told or '-'}:{states}")
"""

# By what had come back before the kill: how many are done, and how many pending.
LEFT = {"-": {"00", "01"}, "b": {"01", "10"}, "bf": {"10", "11"}, "bfB": {"11", "10"}, "bfBa": {"10"}}


def test_a_kill_before_any_statement_leaves_a_change_pending_or_done_or_not_at_all(tmp_path: Path) -> None:
    said = [line.split(":") for line in output(run(KILLED, tmp_path))]
    assert len(said) > 30
    assert {told for told, _ in said} == set(LEFT)
    for told, states in said:
        assert states in LEFT[told], told
    assert not list(tmp_path.rglob("*damaged*"))


@pytest.mark.parametrize(
    ("change", "waited"),
    [
        (Trash("A.md", True, b"a"), "FULL"),
        (Write("A.md", b"a", None), "FULL"),
        (Trash("A.md", False, b"a"), "NORMAL"),
        (Write("A.md", b"a", b"b"), "NORMAL"),
    ],
    ids=repr,
)
def test_the_disk_is_waited_for_where_a_text_would_be_gone(ledger: Ledger, change: Change, waited: str) -> None:
    """Everything else is in the log, which survives the process, but perhaps not a loss of power."""
    done(ledger)
    asked: list[str] = []
    ledger._file.ask(lambda db: db.set_trace_callback(asked.append))
    id = ledger.begin(Intent(0.0, "", "", "", ChangeSet("", (change,))))
    assert asked[0] == f"PRAGMA synchronous={waited}"
    asked.clear()
    ledger.finish(id)
    assert asked[0] == "PRAGMA synchronous=NORMAL"


def test_another_servers_change_is_waited_for_no_longer_than_the_patience(ledger: Ledger, file: Path) -> None:
    id = done(ledger)
    impatient, writing = (
        Ledger(str(file), patience=0.01, clock=lambda: NOW),
        sqlite3.connect(file, isolation_level=None),
    )
    assert ids(impatient.entries()) == [id]
    writing.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy):
        impatient.begin(intent())
    assert ids(impatient.entries()) == [id]
    writing.execute("ROLLBACK")
    writing.close()
    done(impatient)
    assert ledger.count == 2
    impatient.close()


COUNTED = """
import sys
from obsidian_mcp.history.ledger import Ledger
ledger = Ledger(sys.argv[1])
print(ledger.count)
ledger.close()
"""


def test_a_second_ledger_leaves_the_locks_of_the_first(ledger: Ledger, other: Ledger, file: Path) -> None:
    """Else another process that ends takes SQLite's log away under both."""
    id = done(ledger)
    assert ids(other.entries()) == [id]
    assert output(run(COUNTED, file)) == ["1"]
    assert Path(f"{file}-wal").exists()
    assert done(other) in ids(ledger.entries())


# Purged.


def contents(file: Path) -> bytes:
    """Read by another process: this one would give up SQLite's locks when it closes the files."""
    return subprocess.run(["cat", *file.parent.iterdir()], check=True, capture_output=True).stdout


def test_nothing_is_left_of_a_purge_while_another_server_has_the_file_open(
    ledger: Ledger, other: Ledger, file: Path
) -> None:
    deletion = Trash("Lighthouse.md", True, noise(3000))
    first = done(ledger, deletion)
    pending = other.begin(intent(Rename("Lighthouse.md", "Herons.md")))
    (file.parent / "history.damaged.sqlite-wal").write_bytes(b"an old one")
    words = (b"Lighthouse", b"Herons", b"an old one", encode(ChangeSet("editing", (deletion,)))[500:2500])
    assert [word in contents(file) for word in words] == [True] * 4
    ledger.purge()
    assert [word in contents(file) for word in words] == [False] * 4
    assert (other.entries(), other.pending(), other.count, other.size < 200_000) == ([], [], 0, True)
    assert not other.finish(pending)
    second = done(other)
    assert ids(ledger.entries()) == [second]
    assert second not in (first, pending)


def test_a_purge_that_a_reader_holds_up_says_so_and_can_be_had_again(file: Path) -> None:
    impatient = Ledger(str(file), patience=0.01, clock=lambda: NOW)
    done(impatient)
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM entry").fetchall()
    with pytest.raises(Busy):
        impatient.purge()
    assert impatient.entries() == []
    reader.close()
    impatient.purge()
    assert b"A.md" not in contents(file)
    impatient.close()


# Who may read it, and what becomes of it when it is not what it should be.


def test_only_this_user_may_read_it(ledger: Ledger, file: Path) -> None:
    before = os.umask(0)
    try:
        done(ledger)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(each.stat().st_mode) for each in file.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def changed(*statements: str) -> Callable[[Path], None]:
    def act(file: Path) -> None:
        with sqlite3.connect(file) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    return act


def overwritten(at: int, data: bytes) -> Callable[[Path], None]:
    def act(file: Path) -> None:
        with open(file, "r+b") as whole:
            whole.seek(at)
            whole.write(data)

    return act


def replaced(old: bytes, new: bytes) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(file.read_bytes().replace(old, new))


DAMAGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "garbage": ("damaged", lambda file: file.write_bytes(bytes(range(256)) * 200)),
    "a text": ("damaged", lambda file: file.write_text("not a database")),
    "cut to one page": ("damaged", lambda file: os.truncate(file, PAGE)),
    "with a garbled header": ("damaged", overwritten(0, b"SQLite format 4\0")),
    "with a garbled schema": ("damaged", overwritten(0, bytes(range(100)) * 50)),
    "overwritten from its second page on": ("damaged", overwritten(PAGE, b"\xee" * 200_000)),
    "with more free pages than pages": ("damaged", overwritten(36, b"\x01")),
    "with fewer free pages than none": ("damaged", overwritten(36, b"\xff")),
    "of a format from the future": ("damaged", overwritten(47, b"\x05")),
    "with a schema that is not text": ("damaged", replaced(b"TABLE content (n", b"TABLE content (\xff")),
    "a newer one": ("version-2", changed("PRAGMA user_version=2")),
    "another program's": ("damaged", changed("PRAGMA user_version=7", "DROP TABLE made")),
    "without a counter": ("damaged", changed("DELETE FROM made")),
    "without a table": ("damaged", changed("DROP TABLE content")),
    "with other columns": ("damaged", changed("ALTER TABLE entry RENAME COLUMN said TO other")),
    "with a number that is a text": ("damaged", changed("UPDATE made SET next = 'x'")),
    "with names that are none": ("damaged", changed("UPDATE entry SET said = x'ff'")),
}


@pytest.mark.parametrize(("label", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_a_ledger_is_set_aside_and_a_new_one_begun_if_it_is(
    ledger: Ledger, file: Path, label: str, damage: Callable[[Path], object]
) -> None:
    done(ledger)
    ledger.close()
    damage(file)
    found = file.read_bytes()
    ledger.entries()
    id = done(ledger)
    assert ids(ledger.entries()) == [id]
    aside = file.with_name(f"history.{label}.sqlite")
    assert aside.stat().st_size >= len(found)  # SQLite may have added a page to it before it found out
    ledger.close()
    file.write_bytes(b"damaged once more" * 100)
    assert ledger.entries() == []
    more = "-2" if label == "damaged" else ""
    assert b"once more" in file.with_name(f"history.damaged{more}.sqlite").read_bytes()
    assert aside.exists()


def test_what_two_servers_find_damaged_is_set_aside_once(ledger: Ledger, other: Ledger, file: Path) -> None:
    done(ledger)
    done(other)
    ledger._file._set_aside("damaged")
    id = done(ledger)
    other._file._set_aside("damaged")
    assert ids(other.entries()) == [id]
    assert len(list(file.parent.glob("history.damaged*.sqlite"))) == 1


def test_no_server_is_waited_for_without_end_where_one_is_opening_it(file: Path) -> None:
    file.parent.mkdir(parents=True)
    impatient = Ledger(str(file), patience=0.01, clock=lambda: NOW)
    with FileLock(f"{file}.lock"), pytest.raises(Busy):
        impatient.begin(intent())
    done(impatient)
    impatient.close()


def test_what_is_asked_wrongly_is_no_fault_of_the_file(ledger: Ledger, file: Path) -> None:
    id = done(ledger)
    with pytest.raises(UnicodeEncodeError):
        ledger.begin(intent(undoes=("\ud800",)))
    with pytest.raises(Unusable):
        ledger.begin(intent(time=[]))  # type: ignore[arg-type]
    assert (ids(ledger.entries()), ledger.pending()) == ([id], [])


def test_a_server_that_has_it_open_goes_on_with_the_new_one(ledger: Ledger, other: Ledger, file: Path) -> None:
    done(ledger)
    done(other)
    changed("UPDATE entry SET said = x'ff'")(file)
    assert ledger.entries() == []
    id = done(other)
    assert ids(ledger.entries()) == [id]
    assert len(list(file.parent.glob("history.damaged*.sqlite"))) == 1


def test_a_ledger_that_was_deleted_while_it_is_open_is_begun_anew(ledger: Ledger, file: Path) -> None:
    for names in (("",), ("-wal",), ("-shm",), ("", "-wal", "-shm")):
        done(ledger)
        for name in names:
            Path(f"{file}{name}").unlink(missing_ok=True)
        assert done(ledger) in ids(ledger.entries())


@settings(max_examples=60)
@given(st.integers(0, 16 * PAGE), st.binary(min_size=1, max_size=300))
def test_nothing_is_lost_of_a_ledger_whatever_has_garbled_it(
    tmp_path_factory: pytest.TempPathFactory, at: int, data: bytes
) -> None:
    """It is read as it is, or set aside; and changes are recorded again."""
    file = tmp_path_factory.mktemp("garbled") / "history.sqlite"
    ledger = Ledger(str(file), clock=lambda: NOW)
    for number in range(3):
        done(ledger, Write(f"Lighthouse {number}.md", b"one", b"two"))
    ledger.close()
    with open(file, "r+b") as whole:
        whole.seek(min(at, file.stat().st_size - len(data)))
        whole.write(data)
    try:
        for entry in ledger.entries() + ledger.entries(note="Lighthouse 1.md") + ledger.pending():
            with contextlib.suppress(Unreadable, NoSuchEntry):
                ledger.get(entry.id)
        ledger.finish(ledger.begin(intent()))  # which may be where it is found out
        assert done(ledger) in ids(ledger.entries(limit=ALL))
    except Unusable as unusable:
        assert "readonly" in str(unusable)  # noqa: PT017  # so says a file from the future
    finally:
        ledger.close()
    assert any(b"Lighthouse" in each.read_bytes() for each in file.parent.iterdir())


def made_folder(file: Path) -> None:
    (file / "inner").mkdir(parents=True)


def made_fifo(file: Path) -> None:
    file.parent.mkdir(parents=True)
    os.mkfifo(file)


def made_file_above(file: Path) -> None:
    file.parent.parent.mkdir()
    file.parent.write_text("a file")


def made_link(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.symlink_to(file.parent / "no" / "where")


UNUSABLE: dict[str, Callable[[Path], None]] = {
    "a folder": made_folder,
    "a FIFO": made_fifo,
    "below a file": made_file_above,
    "a link to nowhere": made_link,
}


@pytest.mark.parametrize("make", UNUSABLE.values(), ids=UNUSABLE)
def test_there_is_no_ledger_where_its_place_is(ledger: Ledger, file: Path, make: Callable[[Path], None]) -> None:
    make(file)
    before = sorted(file.parent.parent.rglob("*"))
    with pytest.raises(Unusable):
        ledger.begin(intent())
    assert set(before) <= set(file.parent.parent.rglob("*"))


def test_a_full_disk_refuses_the_change_and_keeps_what_was_there(ledger: Ledger, file: Path) -> None:
    id = done(ledger)
    ledger._file.ask(lambda db: db.execute("PRAGMA max_page_count=1").fetchall())
    with pytest.raises(Unusable):
        ledger.begin(intent(Restore("A.md", noise(300_000))))
    assert (ids(ledger.entries()), ledger.pending()) == ([id], [])
    assert [each.name for each in file.parent.iterdir() if "damaged" in each.name] == []
