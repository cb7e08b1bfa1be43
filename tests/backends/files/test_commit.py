"""Change sets on real files: all or nothing, checked, and with a way back."""

from __future__ import annotations

import os
import threading
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obsidian_mcp.backends.files import atomic, in_place, read, transaction, write
from obsidian_mcp.backends.files.held import HeldPath
from obsidian_mcp.backends.files.journal import Act, Journal, Text, digest
from obsidian_mcp.backends.files.recovery import Recovery
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.scan import Scan
from obsidian_mcp.backends.files.vault import FilesVault
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import (
    CHANGED,
    READ,
    UNTOUCHED,
    Cancelled,
    Conflict,
    Failure,
    FileFailed,
    PermissionDenied,
    TimedOut,
)
from obsidian_mcp.index.mentions import Mentions
from obsidian_mcp.index.names import Names
from obsidian_mcp.operations import editing, moving
from obsidian_mcp.state import State
from obsidian_mcp.vault.changes import Change, ChangeSet, Committed, Rename, Trash, Write
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.path import VaultPath

LOCAL_TRASH = '{"trashOption": "local"}'


class Place:
    """A vault in a folder, as one call after another sees it."""

    def __init__(self, folder: Path, state: Path | None = None) -> None:
        self.folder = folder / "vault"
        (self.folder / ".obsidian").mkdir(parents=True, exist_ok=True)
        (self.folder / ".obsidian" / "app.json").write_text(LOCAL_TRASH)
        self.root = VaultRoot(str(self.folder))
        self.state = State(str(self.folder), {"XDG_STATE_HOME": str(state or folder / "state")})
        disk = Scan(self.root)
        names = Names(disk)
        self.index = Index(names, Mentions(disk, names))
        self.recovery = Recovery(self.root, self.state, self.index)

    @classmethod
    def again(cls, place: Place, state: Path | None = None) -> Place:
        """As the next server sees it, or one that keeps its state elsewhere."""
        return cls(place.folder.parent, state)

    def put(self, path: str, text: bytes) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(text)

    def vault(self, call: CallContext | None = None) -> FilesVault:
        return FilesVault(self.root, self.recovery, set(), call or CallContext())

    def commit(self, *changes: Change) -> Committed:
        return self.vault().commit("testing", lambda: ChangeSet("testing", changes))

    def move(self, path: str, target: str, call: CallContext | None = None) -> moving.MovePlan:
        call = call or CallContext()
        return moving.move(VaultPath(path), VaultPath(target), self.vault(call), self.index, call)

    def files(self) -> dict[str, bytes]:
        found = (file for file in self.folder.rglob("*") if file.is_file() and ".obsidian" not in file.parts)
        return {file.relative_to(self.folder).as_posix(): file.read_bytes() for file in found}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


ACTS = st.lists(st.tuples(st.sampled_from("create edit rename trash remove".split()), st.integers(0, 99)), max_size=6)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS)
def test_whatever_was_done_its_inverse_restores_every_file(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int]]
) -> None:
    place = Place(tmp_path_factory.mktemp("law"))
    for name in ("A.md", "B.md", "Deep/C.md"):
        place.put(name, f"{name} [[A]]".encode())
    before, done = place.files(), list[ChangeSet]()
    for kind, number in acts:
        there = sorted(path for path in place.files() if not path.startswith(".trash/"))
        change = _change(kind, number, there, place.files())
        if change is not None:
            done.append(place.commit(*change).changes)
    for changes in reversed(done):
        place.commit(*changes.inverse().changes)
    assert place.files() == before


def _change(kind: str, number: int, there: list[str], files: dict[str, bytes]) -> list[Change] | None:
    if kind == "create":
        return [Write(f"New {number}.md", None, b"new")] if f"New {number}.md" not in there else None
    if not there:
        return None
    path = there[number % len(there)]
    if kind == "edit":
        made = [] if path + ".md" in there else [Write(path + ".md", None, b"beside")]
        return [Write(path, files[path], files[path] + b"!"), *made]
    if kind == "rename":
        target = f"Moved/{number} {path.replace('/', ' ')}"
        return None if target in there else [Rename(path, target)]
    return [Trash(path)] if kind == "trash" else [Write(path, files[path], None)]


def test_a_move_and_its_inverse_restore_every_link(place: Place) -> None:
    place.put("A.md", b"own [[A]] [[B]]")
    place.put("B.md", b"[[A]] ![[A#x]]")
    place.put("Sub/C.md", b"[c](../A.md)")
    before = place.files()
    call = CallContext()
    plan = moving.plan_move(VaultPath("A.md"), VaultPath("Deep/New.md"), place.vault(), place.index, call)
    done = place.commit(*plan.changes.changes).changes
    assert place.files()["Deep/New.md"] == b"own [[New]] [[B]]"
    place.commit(*done.inverse().changes)
    assert place.files() == before


def test_what_cannot_be_read_can_still_be_deleted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> bytes:
        raise PermissionDenied("It may not be read.")

    place.put("A.md", b"one")
    monkeypatch.setattr(read, "note", refused)
    assert place.commit(Trash("A.md")).changes.changes == (Trash("A.md", False, None, ".trash/A.md"),)


def test_a_deleted_note_says_where_it_went(place: Place) -> None:
    place.put("A.md", b"one")
    place.put(".trash/A.md", b"another")
    (done,) = place.commit(Trash("A.md")).changes.changes
    assert done == Trash("A.md", False, b"one", ".trash/A 2.md")


def test_a_deleted_note_comes_back_even_if_its_trash_was_emptied(place: Place) -> None:
    place.put("A.md", b"one")
    done = place.commit(Trash("A.md")).changes
    (place.folder / ".trash" / "A.md").unlink()
    place.commit(*done.inverse().changes)
    assert place.files() == {"A.md": b"one"}


def test_a_note_that_another_program_changed_meanwhile_is_planned_for_again(place: Place) -> None:
    place.put("A.md", b"one")
    looks: list[bytes] = []

    def add(before: bytes) -> bytes:
        looks.append(before)
        if len(looks) == 1:
            place.put("A.md", b"two")
        return before + b"!"

    editing.edit(VaultPath("A.md"), add, None, place.vault(), "testing")
    assert (looks, place.files()) == ([b"one", b"two"], {"A.md": b"two!"})


def test_links_in_a_note_that_changed_meanwhile_are_looked_for_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meddled(*arguments: Any) -> Any:
        if not meddled_with:
            meddled_with.append("Other.md")
            place.put("Other.md", b"now two: [[A]] [[A]]")
        return put_in_place(*arguments)

    meddled_with: list[str] = []
    put_in_place = write.put_in_place
    place.put("A.md", b"a")
    place.put("Other.md", b"[[A]]")
    monkeypatch.setattr(write, "put_in_place", meddled)
    place.move("A.md", "B.md")
    assert place.files() == {"B.md": b"a", "Other.md": b"now two: [[B]] [[B]]"}


# Read back


def torn(place: Place, monkeypatch: pytest.MonkeyPatch, path: str, found: bytes) -> None:
    """A disk, or another program, that has something else right after the write."""

    def rewritten(rewritten_path: str, *arguments: Any, **more: Any) -> None:
        rewrite(rewritten_path, *arguments, **more)
        if rewritten_path == path:
            (place.folder / path).write_bytes(found)

    rewrite = in_place.rewrite
    monkeypatch.setattr(in_place, "rewrite", rewritten)


def test_a_write_is_read_back(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.put("A.md", b"one")
    torn(place, monkeypatch, "A.md", b"torn")
    with pytest.raises(Conflict) as caught:
        place.commit(Write("A.md", b"one", b"two"))
    assert caught.value.vault is CHANGED


def test_a_link_that_is_saved_over_right_after_it_was_written_is_written_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put("A.md", b"a")
    place.put("Other.md", b"[[A]]")
    torn(place, monkeypatch, "Other.md", b"torn [[A]]")
    place.move("A.md", "B.md")
    assert (place.files()["Other.md"], place.state.has_journal) == (b"torn [[B]]", False)


def test_a_new_note_is_read_back(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(atomic, "holds", failing)
    with pytest.raises(FileFailed, match="could not be read back") as caught:
        place.commit(Write("Deep/A.md", None, b"one"))
    assert (caught.value.vault, place.files()) == (CHANGED, {"Deep/A.md": b"one"})


def test_a_note_with_captured_links_is_read_back_when_all_is_done(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put("a/N.md", b"old")
    place.put("L.md", b"[[N]]")
    real = atomic.require_written

    def torn_apart(path: str, at: HeldPath, after: bytes) -> None:
        if path == "N.md":
            (place.folder / "N.md").write_bytes(b"torn")
        real(path, at, after)

    monkeypatch.setattr(atomic, "require_written", torn_apart)
    with pytest.raises(Conflict) as caught:
        editing.create(
            VaultPath("N.md"), "new", place.vault(), place.index, CallContext(), overwrite=False, if_match=None
        )
    assert caught.value.vault is CHANGED
    assert place.files() == {"a/N.md": b"old", "N.md": b"torn", "L.md": b"[[a/N]]"}


def test_a_move_that_cannot_be_read_back_does_not_say_that_nothing_was_changed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put("a/N.md", b"n")
    place.put("b/L.md", b"[[a/N]]")
    require_written = transaction._require_written

    def moved_away(*arguments: Any) -> None:
        (place.folder / "b").rename(place.folder / "c")
        require_written(*arguments)

    monkeypatch.setattr(transaction, "_require_written", moved_away)
    with pytest.raises(Failure) as caught:
        place.move("a/N.md", "M.md")
    assert (caught.value.vault, place.files()) == (CHANGED, {"M.md": b"n", "c/L.md": b"[[M]]"})


def test_a_base_that_names_the_file_is_told_and_left_alone(place: Place) -> None:
    place.put("A.md", b"a")
    place.put("B.base", b'filters: file.hasLink(link("A"))')
    place.put("C.base", b"filters: file.name")
    assert place.move("A.md", "D.md").mentioned_in == ["B.base"]
    assert place.files()["B.base"] == b'filters: file.hasLink(link("A"))'


# The limit and a cancel


def stopping_after(checks: int, stop: Callable[[CallContext], None]) -> CallContext:
    """A call whose limit passes, or that is cancelled, when it is looked at for the n-th time."""

    class Stopping(CallContext):
        looks = 0

        def check(self, doing: str) -> None:
            self.looks += 1
            if self.looks > checks:
                stop(self)
            super().check(doing)

    return Stopping()


def expire(call: CallContext) -> None:
    call.limit = -1.0


STOPS: dict[str, tuple[Callable[[CallContext], None], type[Failure]]] = {
    "the limit passes": (expire, TimedOut),
    "the client cancels": (CallContext.cancel, Cancelled),
}


@pytest.mark.parametrize(("stop", "kind"), STOPS.values(), ids=STOPS)
def test_a_move_that_is_stopped_while_links_are_planned_writes_nothing(
    place: Place, stop: Callable[[CallContext], None], kind: type[Failure]
) -> None:
    for number in range(100):
        place.put(f"N{number % 7}/Note {number}.md", b"[[Old]]")
    place.put("Old.md", b"old")
    before, checks = place.files(), 0
    while True:
        call = stopping_after(checks, stop)
        try:
            place.move("Old.md", "New.md", call)
            break
        except kind:
            assert place.files() == before
            assert not place.state.has_journal
        checks += 1
    assert checks > 100  # once for each note with a link, and for each folder
    assert place.files()["New.md"] == b"old"


@pytest.mark.parametrize(("stop", "kind"), STOPS.values(), ids=STOPS)
def test_a_change_that_is_stopped_when_it_has_been_planned_is_not_made(
    place: Place, stop: Callable[[CallContext], None], kind: type[Failure]
) -> None:
    def add(before: bytes) -> bytes:
        stop(call)
        return before + b"!"

    call = CallContext()
    place.put("A.md", b"one")
    with pytest.raises(kind):
        editing.edit(VaultPath("A.md"), add, None, place.vault(call), "testing")
    assert place.files() == {"A.md": b"one"}


@pytest.mark.parametrize(("stop", "kind"), STOPS.values(), ids=STOPS)
def test_a_dry_run_looks_at_its_limit_too(
    place: Place, stop: Callable[[CallContext], None], kind: type[Failure]
) -> None:
    place.put("Old.md", b"old")
    place.put("Other.md", b"[[Old]]")
    call = stopping_after(2, stop)
    with pytest.raises(kind):
        moving.plan_move(VaultPath("Old.md"), VaultPath("New.md"), place.vault(call), place.index, call)


def test_a_stopped_call_costs_nothing_of_what_was_known(place: Place) -> None:
    for number in range(100):
        place.put(f"Note {number}.md", b"[[Old]]")
    place.put("Old.md", b"old")
    mentions = place.index.mentions
    assert isinstance(mentions, Mentions)
    list(mentions.mentioning({"old"}, (), CallContext()))
    known = len(mentions._stamps)
    with pytest.raises(Cancelled):
        list(mentions.mentioning({"old"}, (), stopping_after(2, CallContext.cancel)))
    assert (known, len(mentions._stamps)) == (101, 101)


def test_a_call_does_not_wait_beyond_its_limit_for_another_that_reads_the_vault(place: Place) -> None:
    names = place.index.names
    assert isinstance(names, Names)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with names.held(CallContext()):
            held.set()
            release.wait(60)

    threading.Thread(target=hold, daemon=True).start()
    assert held.wait(60)
    with pytest.raises(TimedOut):
        names.paths(CallContext(0.1))
    release.set()


def test_a_failed_transaction_that_was_taken_back_says_that_nothing_was_changed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise OSError(28, os.strerror(28))

    place.put("A.md", b"a")
    place.put("Other.md", b"[[A]]")
    before = place.files()
    monkeypatch.setattr(in_place, "rewrite", failing)
    with pytest.raises(FileFailed) as caught:
        place.move("A.md", "Deep/B.md")
    assert (caught.value.vault in (READ, UNTOUCHED), place.files()) == (True, before)
    assert not (place.folder / "Deep").exists()


# A volume that stores names decomposed


@pytest.fixture
def decomposing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As HFS+: a name is found in either form, and listed in one."""
    listdir = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: [unicodedata.normalize("NFD", name) for name in listdir(path)])


@pytest.mark.usefixtures("decomposing")
def test_a_composed_name_is_there_on_a_volume_that_decomposes(place: Place) -> None:
    place.put("Café.md", b"x")
    path = VaultPath("Café.md")
    assert read.spelled_exactly(place.root, path)
    assert read.inode(place.root, path) == (place.folder / "Café.md").stat().st_ino
    assert not read.spelled_exactly(place.root, VaultPath("café.md"))
    assert not read.spelled_exactly(place.root, VaultPath("Cafe.md"))


def test_elsewhere_a_name_in_another_form_is_another_name(place: Place) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Café.md") for form in ("NFC", "NFD"))
    place.put(composed, b"x")
    assert not read.spelled_exactly(place.root, VaultPath(decomposed))
    (place.folder / composed).rename(place.folder / decomposed)
    assert not read.spelled_exactly(place.root, VaultPath(composed))


@pytest.mark.usefixtures("decomposing")
def test_an_interrupted_move_is_finished_on_a_volume_that_decomposes(place: Place) -> None:
    place.put("Café.md", b"a")
    place.put("Other.md", b"[[Old]]")
    inode = (place.folder / "Café.md").stat().st_ino
    text = Text("Other.md", "Other.md", digest(b"[[Old]]"), "[[Café]]")
    with place.state.locked(CallContext(), "testing"):
        place.state.write_journal(Journal("x", (Act("rename", "Old.md", "Café.md", inode),), (text,)).stored())
        place.recovery.recover()
    assert place.files() == {"Café.md": b"a", "Other.md": "[[Café]]".encode()}
