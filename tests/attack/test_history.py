"""The laws of the history: everything can be taken back, after any kill, beside other servers and beside an editor."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obsidian_mcp.app import App
from obsidian_mcp.backends.files import write
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Failure
from obsidian_mcp.settings import load
from tests.attack.test_killed import CHANGING, EMBEDDED, WRITES, at_every_step, environment, prepared, scratch
from tests.support.client import Server, ToolFailed
from tests.support.forks import Fault, Forked, Killed, forked_server
from tests.support.world import World

__all__ = ["scratch"]  # a fixture

NAMES = ("Plan", "Log", "Idea")
FOLDERS = ("", "Deep/", "Deep/Er/")
TEXTS = ("", "no newline", "two\nlines\n", "---\ntags: [a]\nn: 1\n---\n# H\n\n[[Plan]] [[Log#H|x]]\n", "c\r\nd\r\n")
CLIENT = "hypothesis"
SESSIONS = itertools.count()
MOST_KEPT = 64 << 20  # bytes of a file, in the history


def tree(world: World) -> tuple[dict[str, bytes], list[str]]:
    """Every file and every folder of the vault, hidden ones too."""
    found = sorted(world.vault.rglob("*"))
    files = {path.relative_to(world.vault).as_posix(): path.read_bytes() for path in found if path.is_file()}
    return files, [path.relative_to(world.vault).as_posix() for path in found if path.is_dir()]


def without_trash(found: tuple[dict[str, bytes], list[str]]) -> tuple[dict[str, bytes], list[str]]:
    """What the app keeps in its trash aside."""
    files, folders = found
    return {path: data for path, data in files.items() if path.split("/")[0] != ".trash"}, [
        folder for folder in folders if folder != ".trash"
    ]


# Law 1: any sequence, undone in reverse order

NAME = st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)).map("".join)
TEXT = st.sampled_from(TEXTS)
STEPS = st.one_of(
    st.builds(
        lambda n, t, o: ("create_note", {"name": f"{n}.md", "content": t, "overwrite": o}), NAME, TEXT, st.booleans()
    ),
    st.builds(lambda n: ("append_note", {"name": n, "content": "more"}), NAME),
    st.builds(lambda n: ("prepend_note", {"name": n, "content": "first"}), NAME),
    st.builds(lambda n, p: ("delete_note", {"name": n, "permanent": p}), NAME, st.booleans()),
    st.builds(lambda n, m: ("rename_note", {"name": n, "new_name": m}), NAME, st.sampled_from((*NAMES, "Other"))),
    st.builds(lambda n, f: ("move_note", {"name": n, "to": f or "/"}), NAME, st.sampled_from((*FOLDERS, "New/"))),
    st.builds(lambda n: ("edit_note", {"name": n, "old_text": "lines", "new_text": "li\nnes"}), NAME),
    st.builds(lambda n: ("set_properties", {"name": n, "set": {"n": None, "k": [1]}}), NAME),
    st.just(("rename_term", {"kind": "tag", "old": "a", "new": "b"})),
    st.builds(lambda n: ("move_notes", {"names": [n, "Deep/"], "to": "Far"}), NAME),
)  # fmt: skip
START = st.dictionaries(NAME.map(lambda name: f"{name}.md"), TEXT, max_size=5)


@functools.cache
def served(backend: str) -> tuple[World, App]:
    """One server for all sequences."""
    folder = Path(tempfile.mkdtemp(prefix="obsidian-mcp-history-"))
    world = World(folder / "world")
    (world.folder / "home").mkdir()
    given = {"vault": [str(world.vault)], "log-level": ["error"], "backend": [backend], "toolsets": ["all"]}
    return world, App(load(given, world.environment()))


def run(app: App, tool: str, **arguments: Any) -> dict[str, Any]:
    return app.tools.run(f"obsidian_{tool}", arguments, CallContext(), client=CLIENT)


def taken_back(backend: str, start: dict[str, str], steps: list[tuple[str, dict[str, Any]]]) -> None:
    world, app = served(backend)
    world.reset()
    world.put(".obsidian/app.json", '{"trashOption": "local"}')
    for path, text in start.items():
        world.put(path, text)
    states, ids = [tree(world)], []
    for tool, arguments in steps:
        with contextlib.suppress(Failure):
            done = run(app, tool, **arguments)
            if "change" in done:
                ids.append(done["change"])
                states.append(tree(world))
    for id in reversed(ids):
        states.pop()
        undone = run(app, "undo_change", id=id)
        wanted = states[-1] if backend == "embedded" else without_trash(states[-1])
        assert (tree(world) if backend == "embedded" else without_trash(tree(world))) == wanted, (id, undone)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(start=START, steps=st.lists(STEPS, min_size=1, max_size=8))
def test_any_sequence_of_changes_is_taken_back_in_reverse_order(
    start: dict[str, str], steps: list[tuple[str, dict[str, Any]]]
) -> None:
    taken_back("embedded", start, steps)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(start=START, steps=st.lists(STEPS, min_size=1, max_size=5))
def test_with_the_app_any_sequence_of_changes_is_taken_back_in_reverse_order(
    start: dict[str, str], steps: list[tuple[str, dict[str, Any]]]
) -> None:
    taken_back("obsidian", start, steps)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(start=START, steps=st.lists(STEPS, min_size=1, max_size=8))
def test_a_whole_session_is_taken_back_at_once_and_made_again(
    start: dict[str, str], steps: list[tuple[str, dict[str, Any]]]
) -> None:
    world, app = served("embedded")
    world.reset()
    world.put(".obsidian/app.json", '{"trashOption": "local"}')
    for path, text in start.items():
        world.put(path, text)
    began, client = tree(world), f"session {next(SESSIONS)}"
    for tool, arguments in steps:
        with contextlib.suppress(Failure):
            app.tools.run(f"obsidian_{tool}", arguments, CallContext(), client=client)
    ended = tree(world)
    if ended == began:
        return
    done = app.tools.run("obsidian_undo_change", {"since": "today"}, CallContext(), client=client)
    assert tree(world) == began
    run(app, "undo_change", id=done["change"])
    assert without_trash(tree(world))[0] == without_trash(ended)[0]


# Law 2: a kill at every step


def server_on(world: World, fault: Fault | None = None) -> contextlib.AbstractContextManager[Forked]:
    return forked_server(environment(world), "--vault", str(world.vault), *EMBEDDED, fault=fault)


def listed(server: Forked) -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = server.call("list_changes")["changes"]
    return changes


@pytest.mark.parametrize("name", WRITES)
def test_after_a_kill_at_any_step_the_history_has_the_change_if_it_was_made(scratch: Path, name: str) -> None:
    tool, arguments, _ = WRITES[name]
    outcomes = set()

    def attempt(step: int) -> bool:
        world = prepared(scratch / str(step))
        before = tree(world)
        with server_on(world, Fault(step, f"{CHANGING} stat")) as server, contextlib.suppress(Killed):
            server.call(tool, **arguments)
        with server_on(world) as after:
            server_put_right(after)
            entries = listed(after)
            made = [entry for entry in entries if entry["tool"] == tool and entry["paths"] != ["Z.md"]]
            changed = tree(world)[0] != before[0]
            assert len(made) == changed, (step, entries)
            outcomes.add(changed)
            if made:
                after.call("undo_change", id=made[0]["id"])
                assert tree(world) == before, step
        return server.killed

    at_every_step(attempt)
    assert outcomes == {True, False}


def server_put_right(server: Forked) -> None:
    """The next write finishes what was begun."""
    done = server.call("create_note", name="Z.md", content="z")
    server.call("undo_change", id=done["change"])


@pytest.mark.parametrize("name", WRITES)
def test_after_a_kill_at_any_step_of_an_undo_the_change_is_undone_or_not(scratch: Path, name: str) -> None:
    tool, arguments, _ = WRITES[name]
    outcomes = set()

    def attempt(step: int) -> bool:
        world = prepared(scratch / str(step))
        before = tree(world)
        with server_on(world) as server:
            id = server.call(tool, **arguments)["change"]
        with server_on(world, Fault(step, f"{CHANGING} stat")) as killed, contextlib.suppress(Killed):
            killed.call("undo_change", id=id)
        with server_on(world) as after:
            server_put_right(after)
            undone = after.call("list_changes", id=id)["changes"][0]["undone"]
            assert (tree(world)[0] == before[0]) == undone, step
            outcomes.add(undone)
            if not undone:
                after.call("undo_change", id=id)
                assert tree(world)[0] == before[0], step
        return killed.killed

    at_every_step(attempt)
    assert outcomes == {True, False}


# Law 3: two servers at once


def test_two_servers_make_a_hundred_changes_and_each_can_be_undone(own_world: World) -> None:
    own_world.put("Hub.md", "hub\n")
    own_world.put(".obsidian/app.json", '{"trashOption": "local"}')
    before = tree(own_world)
    options = ("--vault", str(own_world.vault), *EMBEDDED)
    with (
        Server(own_world.environment(), *options) as one,
        Server(own_world.environment(), *options) as two,
        ThreadPoolExecutor(2) as pool,
    ):
        works = [pool.submit(fifty, server.initialize(), name) for server, name in ((one, "one"), (two, "two"))]
        ids = {id for work in works for id in work.result()}
        assert len(ids) == 100
        every, page = list[str](), dict[str, Any]()
        while page.get("next_cursor") or not page:
            more = {"cursor": page["next_cursor"]} if page else {}
            page = one.call("list_changes", limit=1000, **more)
            every += [entry["id"] for entry in page["changes"]]
        assert set(every) == ids
        for id in every:
            two.call("undo_change", id=id)
    assert tree(own_world) == before


def fifty(server: Server, name: str) -> list[str]:
    ids = []
    for number in range(10):
        note = f"{name} {number}"
        for tool, arguments in (
            ("create_note", {"name": f"{name}/{note}.md", "content": "[[Hub]]\n"}),
            ("append_note", {"name": "Hub", "content": f"[[{note}]]"}),
            ("rename_note", {"name": note, "new_name": f"{note} x"}),
            ("edit_note", {"name": f"{note} x", "old_text": "[[Hub]]", "new_text": "the [[Hub]]"}),
            ("delete_note", {"name": f"{note} x"}),
        ):
            ids.append(server.call(tool, **arguments)["change"])
    return ids


# Law 4: beside an editor


RACED = {
    "create_note": {"name": "Note.md", "content": "new\n"},
    "append_note": {"name": "Note", "content": "more"},
    "delete_note": {"name": "Note"},
}


@pytest.mark.parametrize("change", RACED)
def test_an_undo_never_destroys_what_an_editor_saves(own_world: World, change: str) -> None:
    """The editor saves in place or by a rename, again and again, while changes are made and undone."""
    own_world.put("Other.md", "")
    own_world.put(".obsidian/app.json", '{"trashOption": "local"}')
    world, options = own_world, ("--vault", str(own_world.vault), *EMBEDDED)
    file = world.vault / "Note.md"
    stop, saved = threading.Event(), list[bytes]()

    def edit() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            text = b"edit %d\n" % number
            if number % 2 and change != "append_note":  # which writes in place itself, and so does this
                with contextlib.suppress(FileNotFoundError), open(file, "r+b") as note:
                    note.seek(0, os.SEEK_END)
                    note.write(text)
                    saved.append(text)
            else:
                beside = world.vault / ".editor"
                with contextlib.suppress(FileNotFoundError):
                    beside.write_bytes(file.read_bytes() + text)
                    if file.exists():
                        beside.replace(file)
                        saved.append(text)

    with Server(world.environment(), *options) as server:
        server.initialize()
        refused = 0
        for _ in range(30):
            file.unlink(missing_ok=True)
            if change != "create_note":
                file.write_bytes(b"start\n")
            arguments = RACED[change]
            id = server.call(change, **arguments)["change"]
            stop.clear()
            saved.clear()
            editor = threading.Thread(target=edit)
            editor.start()
            try:
                server.call("undo_change", id=id)
            except ToolFailed:
                refused += 1
            finally:
                stop.set()
                editor.join()
            kept = b"".join(path.read_bytes() for path in world.vault.rglob("*") if path.is_file())
            lost = [text for text in saved if text not in kept]
            assert not lost


@pytest.mark.parametrize("backend", ["embedded", "obsidian"])
def test_a_new_note_that_was_saved_meanwhile_is_not_removed(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the last moment: after the text was compared, before the file goes."""
    world, app = served(backend)
    world.reset()
    world.put("Other.md", "")
    id = run(app, "create_note", name="New.md", content="ours\n")["change"]
    remove = write.remove

    def saved_first(*given: Any, **more: Any) -> None:
        world.put("New.md", "somebody's\n")
        remove(*given, **more)

    monkeypatch.setattr(write, "remove", saved_first)
    with pytest.raises(Failure):
        run(app, "undo_change", id=id)
    assert world.get("New.md") == b"somebody's\n"


@pytest.mark.parametrize("backend", ["embedded", "obsidian"])
def test_a_film_comes_back_from_the_vaults_own_trash(backend: str) -> None:
    """It is too large to be kept in the history."""
    world, app = served(backend)
    world.reset()
    world.put(".obsidian/app.json", '{"trashOption": "local"}')
    world.put("Other.md", "")
    film = world.vault / "film.mp4"
    with film.open("wb") as file:
        file.seek(MOST_KEPT + 5)
        file.write(b"end")
    id = run(app, "delete_note", name="film.mp4")["change"]
    assert not film.exists()
    assert run(app, "undo_change", id=id)["undone"]
    assert film.stat().st_size == MOST_KEPT + 8
    assert not (world.vault / ".trash" / "film.mp4").exists()
