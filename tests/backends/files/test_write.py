from __future__ import annotations

import errno
import gc
import itertools
import os
import re
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.backends.files import held, read, record, write
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.scan import Scan
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AlreadyExists, Conflict, Failure, FileFailed, NoteNotFound, PermissionDenied
from obsidian_mcp.index import mentions
from obsidian_mcp.index.mentions import Mentions
from obsidian_mcp.index.names import Names
from obsidian_mcp.state import State
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath

NOTE = VaultPath("Sub/Note.md")


@pytest.fixture
def root(tmp_path: Path) -> VaultRoot:
    return VaultRoot(str(tmp_path))


@pytest.fixture
def state(root: VaultRoot, tmp_path_factory: pytest.TempPathFactory) -> State:
    state = State(str(root.path), {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))})
    with state.locked(CallContext(), "testing"):  # which makes its folder
        return state


def index_of(root: VaultRoot) -> Index:
    disk = Scan(root)
    names = Names(disk)
    return Index(names, Mentions(disk, names))


def leftovers(root: Path) -> list[str]:
    return [file.name for file in root.rglob(".*")]


def test_a_file_is_written_once_with_its_folders(root: VaultRoot, tmp_path: Path) -> None:
    write.write_new(root, NOTE, b"x")
    assert read.note(root, NOTE) == b"x"
    with pytest.raises(AlreadyExists):
        write.write_new(root, NOTE, b"y")
    assert read.note(root, NOTE) == b"x"
    assert leftovers(tmp_path) == []


def test_a_new_file_has_the_mode_that_the_umask_says(root: VaultRoot, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write.write_new(root, NOTE, b"x")
    finally:
        os.umask(before)
    assert (tmp_path / NOTE.value).stat().st_mode & 0o777 == 0o640


def test_a_file_that_has_changed_is_not_replaced(root: VaultRoot, state: State, tmp_path: Path) -> None:
    write.write_new(root, NOTE, b"old")
    with pytest.raises(Conflict):
        record.replace(root, state, NOTE, b"older", b"new")
    assert read.note(root, NOTE) == b"old"
    record.replace(root, state, NOTE, b"old", b"new")
    assert read.note(root, NOTE) == b"new"
    assert leftovers(tmp_path) == []


FULL, BROKEN, REFUSED = OSError(28, "No space left"), OSError(5, "Input/output error"), PermissionError(13, "No access")
FAULTS: dict[str, tuple[str, int, OSError, type[Failure]]] = {
    "no room for the record": ("write", 1, FULL, FileFailed),
    "a broken disk under the record": ("fdatasync", 1, BROKEN, FileFailed),
    "no room for the text": ("write", 2, FULL, FileFailed),
    "a broken disk under the text": ("fdatasync", 2, BROKEN, FileFailed),
    "a permission taken away": ("ftruncate", 1, REFUSED, PermissionDenied),
}


@pytest.mark.parametrize(("function", "step", "error", "kind"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_system_changes_nothing_and_leaves_nothing(
    root: VaultRoot,
    state: State,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    step: int,
    error: OSError,
    kind: type[Failure],
) -> None:
    def fail(*arguments: Any) -> Any:
        if next(calls) == step:
            raise error
        return real(*arguments)

    calls, real = itertools.count(1), getattr(os, function)
    write.write_new(root, NOTE, b"older")
    monkeypatch.setattr(os, function, fail)
    with pytest.raises(kind):
        record.replace(root, state, NOTE, b"older", b"new")
    monkeypatch.undo()
    assert (read.note(root, NOTE), state.slot.is_set) == (b"older", False)
    assert leftovers(tmp_path) == []


def test_without_hard_links_a_file_is_still_made(root: VaultRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write.write_new(root, NOTE, b"x")
    assert read.note(root, NOTE) == b"x"
    with pytest.raises(AlreadyExists):
        write.write_new(root, NOTE, b"y")


def test_a_file_that_is_not_there_cannot_be_read(root: VaultRoot) -> None:
    with pytest.raises(NoteNotFound):
        read.note(root, NOTE)


def test_a_folder_where_a_file_should_be_is_an_error_in_words(root: VaultRoot, tmp_path: Path) -> None:
    (tmp_path / "Sub" / "Note.md").mkdir(parents=True)
    with pytest.raises(FileFailed):
        read.note(root, NOTE)
    assert read.spellings(root, NOTE) == []


def test_a_note_that_may_not_be_read_stops_a_move_rather_than_lose_its_links(
    root: VaultRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    write.write_new(root, NOTE, b"x")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionDenied):
        list(Scan(root).read_stamped([NOTE.value]))


def test_settings_are_read_through_links(root: VaultRoot, tmp_path: Path) -> None:
    """People share them between vaults."""
    (tmp_path / "shared.json").write_text('{"trashOption": "local"}')
    (root.path / ".obsidian").mkdir()
    (root.path / ".obsidian" / "app.json").symlink_to(tmp_path / "shared.json")
    assert read.settings(root).app == {"trashOption": "local"}


def test_a_read_only_note_is_not_replaced(root: VaultRoot, state: State, tmp_path: Path) -> None:
    write.write_new(root, NOTE, b"x")
    (tmp_path / NOTE.value).chmod(0o444)
    with pytest.raises(PermissionDenied, match="read-only"):
        record.replace(root, state, NOTE, b"x", b"y")
    assert read.note(root, NOTE) == b"x"


def test_a_file_that_was_touched_by_a_tool_that_keeps_its_time_and_size_has_another_stamp(
    root: VaultRoot, tmp_path: Path
) -> None:
    write.write_new(root, NOTE, b"x")
    file = tmp_path / NOTE.value
    before, times = Scan(root).stamp(NOTE.value), file.stat()
    file.write_bytes(b"y")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file.stat().st_mtime_ns == times.st_mtime_ns
    assert Scan(root).stamp(NOTE.value) != before


@pytest.mark.parametrize("where", ["loop.md", "x" * 300, "Top.md/x"])
def test_a_link_that_leads_nowhere_hides_nothing(root: VaultRoot, where: str) -> None:
    write.write_new(root, VaultPath("Top.md"), b"x")
    write.write_new(root, VaultPath("Linking.md"), b"[[Top]]")
    (root.path / "loop.md").symlink_to(where)
    index = index_of(root)
    assert sorted(index.names.paths(CallContext())) == ["Linking.md", "Top.md"]
    assert dict(index.mentions.mentioning({"top"}, (), CallContext())) == {"Linking.md": b"[[Top]]"}


@pytest.mark.parametrize("has_call", [True, False])
def test_a_move_replaces_nothing_that_is_made_at_that_moment(
    root: VaultRoot, monkeypatch: pytest.MonkeyPatch, has_call: bool
) -> None:
    def late(root: VaultRoot, path: VaultPath) -> list[str]:
        (root.path / path.value).write_bytes(b"another's")
        return []

    def without(*_: object) -> bool:
        raise OSError(errno.ENOSYS, "Function not implemented")

    if not has_call:
        monkeypatch.setattr(held, "rename_new", without)
    write.write_new(root, VaultPath("Old.md"), b"ours")
    write.rename(root, VaultPath("Old.md"), VaultPath("Older.md"))
    monkeypatch.setattr(write, "make_folder_for", late)
    with pytest.raises(AlreadyExists):
        write.rename(root, VaultPath("Older.md"), VaultPath("New.md"))
    assert (read.note(root, VaultPath("Older.md")), read.note(root, VaultPath("New.md"))) == (b"ours", b"another's")


def test_a_note_made_between_the_check_and_the_rename_is_not_replaced(
    root: VaultRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is blind here: only the system's own refusal is left."""
    write.write_new(root, VaultPath("Old.md"), b"ours")
    write.write_new(root, VaultPath("New.md"), b"another's")
    monkeypatch.setattr(write, "require_room", lambda root, path: None)
    monkeypatch.setattr(held.HeldPath, "exists", False)
    with pytest.raises(AlreadyExists):
        write.rename(root, VaultPath("Old.md"), VaultPath("New.md"))
    assert read.note(root, VaultPath("New.md")) == b"another's"


def test_a_folder_that_may_not_be_listed_stops_a_move_but_no_lookup(
    root: VaultRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> Any:
        if path.endswith("Sub"):
            raise PermissionError(13, "Permission denied")
        return allowed(path)

    allowed = os.scandir
    write.write_new(root, NOTE, b"x")
    write.write_new(root, VaultPath("Top.md"), b"x")
    monkeypatch.setattr(os, "scandir", refuse)
    index = index_of(root)
    assert index.names.paths(CallContext()) == ["Top.md"]
    with pytest.raises(PermissionDenied, match="Sub could not be listed") as caught:
        dict(index.mentions.mentioning({"top"}, (), CallContext()))
    assert re.search("move it out of the vault.*doctor", caught.value.message)
    monkeypatch.undo()
    assert dict(index.mentions.mentioning({"top"}, (), CallContext())) == {}
    assert sorted(index.names.paths(CallContext())) == ["Sub/Note.md", "Top.md"]


def test_a_folder_of_another_user_that_may_not_be_listed_stops_nothing(
    root: VaultRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the `lost+found` of a disk that is a vault."""

    def refuse(path: str) -> Any:
        if path.endswith("lost+found"):
            raise PermissionError(13, "Permission denied")
        return allowed(path)

    allowed, user = os.scandir, os.geteuid()
    write.write_new(root, VaultPath("Top.md"), b"x")
    write.write_new(root, VaultPath("lost+found/x.md"), b"[[Top]]")
    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert dict(index_of(root).mentions.mentioning({"top"}, (), CallContext())) == {}


def test_spellings_differ_in_case_and_form_only(root: VaultRoot, tmp_path: Path) -> None:
    for path in ("sub/note.md", "Sub/NOTE.md", "Sub/Other.md"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x")
    assert [path.value for path in read.spellings(root, NOTE)] == ["Sub/NOTE.md"]
    assert [path.value for path in read.spellings(root, VaultPath("SUB/nOTE.md"))] == ["Sub/NOTE.md", "sub/note.md"]
    assert read.spellings(root, VaultPath("Sub/Other.md")) == [VaultPath("Sub/Other.md")]
    assert read.spellings(root, VaultPath("Nope/Other.md")) == []


def test_a_path_too_long_for_the_system_is_refused_and_no_folder_is_made(root: VaultRoot, tmp_path: Path) -> None:
    with pytest.raises(FileFailed, match="too long"):
        write.write_new(root, VaultPath("/".join(["a" * 200] * 25)), b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_too_deep_to_be_listed_stops_a_move(root: VaultRoot, tmp_path: Path) -> None:
    write.write_new(root, VaultPath("Top.md"), b"x")
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("a" * 200, dir_fd=fd)
        inner = os.open("a" * 200, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    index = index_of(root)
    assert index.names.matching(Name(VaultPath("Top.md"), is_bare=True), CallContext()) == ["Top.md"]
    with pytest.raises(FileFailed, match="could not be listed"):
        dict(index.mentions.mentioning({"top"}, (), CallContext()))


def test_the_collector_is_on_again_after_a_vault_was_read(root: VaultRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    def names_in(path: str, data: bytes) -> str:
        seen.append(gc.isenabled())
        return ""

    seen: list[bool] = []
    monkeypatch.setattr(mentions, "names_in", names_in)
    write.write_new(root, NOTE, b"x")
    list(index_of(root).mentions.mentioning({"x"}, (), CallContext()))
    assert (seen, gc.isenabled()) == ([False], True)
