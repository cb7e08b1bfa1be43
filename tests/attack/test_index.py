"""Real servers and their index: killed, shared, damaged under their hands, and fed with hostile notes."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sqlite3
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.protocol.clients import SMALL
from tests.support.client import PATIENCE, Server, ToolFailed
from tests.support.inside import run_inside
from tests.support.world import World

MEMORY = "/dev/shm"
NOTES = 60
NOBODY = 65534
INTERNAL = -32603


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory, if there is such a place, and open to every user."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY) as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.fixture
def vault(folder: Path) -> World:
    made = World(folder / "world")
    for number in range(NOTES):
        made.put(f"Many/{number}.md", f"---\nsize: {number}\n---\ncommon w{number} [[nowhere {number}]]\n" * 20)
    (made.folder / "home").mkdir()
    return made


def serving(world: World, first: str = "") -> Server:
    options = ("--vault", str(world.vault), "--backend", "embedded", "--timeout", "50")
    return Server(world.environment(), *options, first=first).initialize()


def index_file(world: World) -> Path | None:
    return next((world.folder / "home").rglob("index.sqlite"), None)


def require_file(world: World) -> Path:
    file = index_file(world)
    assert file is not None
    return file


def total(server: Server, query: str) -> int:
    found: int = server.call("search_notes", query=query, limit=1)["total"]
    return found


def require_right(server: Server, **words: int) -> None:
    """What a reading of all notes would find, and nothing but messages on stdout, and no bug in the log."""
    expected = {"common": NOTES, '"w7"': 1, "[size]": NOTES, "-common": 0, **words}
    assert {query: total(server, query) for query in expected} == expected
    assert server.call("list_links", kind="broken", limit=1)["total"] == 20 * NOTES
    assert all(message["jsonrpc"] == "2.0" for message in server.said)
    assert b"bug" not in server.log
    assert b"Traceback" not in server.log


# When it is made.


def test_starting_and_reading_a_note_makes_no_index_and_a_search_does(vault: World) -> None:
    with serving(vault) as server:
        server.request("tools/list")
        server.call("read_note", name="Many/7")
        assert index_file(vault) is None
        assert total(server, "common") == NOTES
        file = require_file(vault)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_progress_comes_while_the_first_search_is_answered_by_reading(vault: World) -> None:
    few = (
        "from obsidian_mcp.index import library, reading; "
        "library.FEW = 5; reading.BETWEEN_CHECKS = reading.BETWEEN_REPORTS = 1"
    )
    with serving(vault, few) as server:
        server.end_call(server.begin_call("search_notes", {"progressToken": "far"}, query="common"))
        message = server.wait("notifications/progress")["params"]
        assert message["progressToken"] == "far"
        assert f"of {NOTES} files" in message["message"]
        require_right(server)


# Killed.

# Counts what SQLite does, in steps of its machine, in all threads together.
MORTAL = """
import functools, itertools, os, signal, sqlite3
from obsidian_mcp.index import library
library.FEW = {few}
steps = itertools.count(1)
def tick():
    if next(steps) == {step}:
        os.kill(os.getpid(), signal.SIGKILL)
class Mortal(sqlite3.Connection):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.set_progress_handler(tick, 20)
sqlite3.connect = functools.partial(sqlite3.connect, factory=Mortal)
"""


def search_until_killed(server: Server, searches: int) -> bool:
    """Whether it was killed."""
    for _ in range(searches):
        try:
            number = server.begin_call("search_notes", query="common")
        except BrokenPipeError:  # in the background, after the last answer
            return True
        if not answered(server, number):
            return True
    return False


def answered(server: Server, number: int) -> bool:
    """Whether a reply came before the end of the server."""
    while server.process.poll() is None:
        with contextlib.suppress(queue.Empty):
            return bool(server._box(number).get(timeout=0.02))
    return False


@pytest.mark.parametrize("few", [400, 5], ids=["before the answer", "in the background"])
def test_after_a_kill_at_any_step_of_saving_the_next_server_is_right(vault: World, few: int) -> None:
    step, was_killed, kills = 1, True, 0
    while was_killed:
        vault.put("Changed.md", f"changed c{step}")
        with serving(vault, MORTAL.format(few=few, step=step)) as server:
            was_killed = search_until_killed(server, 3)
        with serving(vault) as server:
            require_right(server, **{f"c{step}": 1, "-common": 1})
        require_whole(vault)
        kills += was_killed
        step = step * 2 + 1
        if kills % 2:
            require_file(vault).unlink()  # a whole one is made under the next one's hands
    assert kills > 3


def require_whole(world: World) -> None:
    with sqlite3.connect(require_file(world)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()


@pytest.mark.parametrize("size", [1, 100_000, 300_000])
def test_after_a_kill_while_its_log_is_written_the_next_server_is_right(vault: World, size: int) -> None:
    for number in range(200):
        vault.put(f"Long/{number}.md", " ".join(f"x{number}y{each}" for each in range(600)))
    with serving(vault) as server:
        number = server.begin_call("search_notes", query="common")
        while not server._box(number).qsize():
            if log_size(vault) >= size:
                server.process.kill()
                assert server.process.wait(PATIENCE) == -signal.SIGKILL
                break
    with serving(vault) as server:
        require_right_with_long(server)
    require_whole(vault)


def log_size(world: World) -> int:
    file = index_file(world)
    try:
        return os.stat(f"{file}-wal").st_size
    except FileNotFoundError:
        return 0


def require_right_with_long(server: Server) -> None:
    assert (total(server, "common"), total(server, "x7y7"), total(server, "path:Long")) == (NOTES, 1, 200)


# Shared.


def test_two_servers_each_find_what_the_other_has_written(vault: World) -> None:
    with serving(vault) as one, serving(vault) as other:
        for number in range(6):
            for writer, reader, name in ((one, other, "One"), (other, one, "Other")):
                word = f"{name.lower()}{number}"
                writer.call("create_note", name=f"{name}.md", content=f"{word} [[x]]", overwrite=True)
                assert total(reader, word) == 1
                assert not number or total(reader, f"{name.lower()}{number - 1}") == 0
        require_right_with_two(one)
        require_right_with_two(other)


def require_right_with_two(server: Server) -> None:
    assert total(server, "common") == NOTES
    assert server.call("list_links", kind="broken", limit=1)["total"] == 20 * NOTES + 2


def test_servers_that_search_and_write_at_once_are_all_right(vault: World) -> None:
    def work(name: str) -> None:
        with serving(vault) as server:
            for number in range(12):
                vault.put(f"{name}.md", f"{name}{number}")
                assert total(server, f"{name}{number}") == 1
                assert total(server, "common") == NOTES

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work, name) for name in ("ann", "bob", "cyd")]:
            done.result(PATIENCE)


# Damaged or taken away.


def made_folder(file: Path) -> None:
    file.unlink()
    (file / "inner").mkdir(parents=True)


def made_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def overwritten(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:8192] + os.urandom(len(data) - 8192))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "deleted": lambda file: file.unlink(),
    "emptied": lambda file: os.truncate(file, 0),
    "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
    "garbage": lambda file: file.write_bytes(b"garbage" * 5000),
    "garbage after its first page": overwritten,
    "a folder": made_folder,
    "a FIFO": made_fifo,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_index_that_becomes_another_thing_under_a_server_leaves_it_right(
    vault: World, damage: Callable[[Path], object]
) -> None:
    with serving(vault) as server:
        require_right(server)
        damage(require_file(vault))
        require_right(server)
        with serving(vault) as another:
            require_right(another)
        require_right(server)


def maintained(world: World, *options: str) -> subprocess.CompletedProcess[bytes]:
    return run_inside(world.environment(), "index", *options, "--vault", str(world.vault), "--backend", "embedded")


def test_an_index_that_is_forgotten_or_made_anew_by_a_person_leaves_a_server_right(vault: World) -> None:
    with serving(vault) as server:
        for option in ("--forget", "--rebuild", "--forget"):
            require_right(server)
            assert maintained(vault, option).returncode == 0
            require_right(server)


def test_an_index_that_is_made_anew_again_and_again_leaves_every_answer_right(vault: World) -> None:
    def look() -> None:
        with serving(vault) as server:
            for _ in range(8):
                require_right(server)

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        while not looking.done():
            assert maintained(vault, "--rebuild").returncode == 0
        looking.result(PATIENCE)


@pytest.mark.parametrize("option", ["--forget", "--rebuild"])
def test_a_person_is_told_if_there_can_be_no_index(vault: World, option: str) -> None:
    with serving(vault) as server:
        require_right(server)
    made_folder(require_file(vault))
    done = maintained(vault, option)
    assert done.returncode == 1
    assert done.stderr
    assert b"Traceback" not in done.stderr


AS_NOBODY = f"import os\nif not os.geteuid():\n    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})"


@pytest.mark.parametrize("has_index", [False, True], ids=["empty", "with an index"])
def test_a_state_folder_that_cannot_be_written_is_done_without(vault: World, has_index: bool) -> None:
    with serving(vault) as server:
        require_right(server)
    home, file = vault.folder / "home", require_file(vault)
    for place in file.parent.iterdir():
        place.chmod(0o400) if has_index else place.unlink()
    for place in [*home.rglob("*"), home]:
        if not os.geteuid():
            os.chown(place, NOBODY, NOBODY)
        if place.is_dir():
            place.chmod(0o500)
    with serving(vault, AS_NOBODY) as server:
        require_right(server)
        vault.put("New.md", "newest")
        assert total(server, "newest") == 1
    assert has_index or index_file(vault) is None
    for place in [home, *home.rglob("*")]:
        place.chmod(0o700)


# Hostile notes.

HOSTILE: dict[str, bytes] = {
    "of many megabytes": b"zork lorem ipsum dolor sit amet\n" * 60_000,
    "of one long line": b"zork " * 400_000,
    "with NUL": b"zork\0\0\0blik\n" * 1000,
    "that is not UTF-8": b"zork \xff\xfe\xc3( blik\n" * 1000,
    "of headings": b"# same zork\n" * 4_000,
    "of different headings": b"".join(b"## zork %d\n" % number for number in range(4_000)),
    "deeply nested": b"".join(b"  " * depth + b"- zork\n" for depth in range(80)),
    "of quotes": b">" * 50_000 + b" zork\n",
    "of tags": b"zork " + b" ".join(b"#t%d" % number for number in range(20_000)),
    "of properties": b"---\n" + b"".join(b"p%d: v\n" % number for number in range(8_000)) + b"---\nzork",
    "with a bomb": b"---\na: &a [x,x]\n"
    + b"".join(b"%c: &%c [*%c,*%c]\n" % (98 + at, 98 + at, 97 + at, 97 + at) for at in range(24))
    + b"---\nzork",
    "with brackets in its head": b"---\nx: " + b"[" * 20_000 + b"\n---\nzork",
    "with a long property": b"---\nx: " + b"y " * 500_000 + b"\n---\nzork",
    "of blocks": b"".join(b"zork ^b%d\n\n" % number for number in range(4_000)),
    "of links": b"zork\n" + b"[[a]] [[b]]\n" * 3_000,
    "with a long link": b"zork [[" + b"a" * 500_000 + b"]]",
}
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search_notes", {"query": "zork", "show": ["x", "p1", "tags"]}),
    ("search_notes", {"query": "file:Hostile", "show": ["x", "p1", "tags"]}),
    ("search_notes", {"query": "section:(zork)", "max_chars": 100_000}),
    ("outline_note", {"name": "Hostile"}),
    *(("list_links", {"kind": kind}) for kind in ("broken", "orphans")),
    *(("list_links", {"kind": kind, "name": "Hostile"}) for kind in ("outgoing", "backlinks")),
    ("list_properties", {}),
    *(("list_properties", {"property": name}) for name in ("tags", "x")),
    ("read_note", {"name": "Hostile", "section": "same zork"}),
    ("read_note", {"name": "Hostile", "section": "nothing"}),
]


def asked(server: Server, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The one copy of a result, or of an error, that counts."""
    try:
        return server.call(tool, **arguments)
    except ToolFailed as failed:
        if failed.code == INTERNAL:
            raise
        return {"message": failed.message, "data": failed.data}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_whatever_is_asked_fits_the_clients_page_of_a_note(folder: Path, data: bytes) -> None:
    world = World(folder / "world")
    world.put("Hostile.md", data)
    world.put("Other.md", "zork [[Hostile]]")
    with serving(world) as server:
        for tool, arguments in QUESTIONS:
            text = json.dumps(asked(server, tool, arguments), ensure_ascii=False, separators=(",", ":"))
            assert len(text.encode()) <= SMALL, (tool, arguments)
        assert total(server, "zork") == 2
        assert b"bug" not in server.log
        assert server.peak_mb() < 300
