from __future__ import annotations

import errno
import gc
import os
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.backends.files import held as holding
from obsidian_mcp.backends.files.write import Folder
from obsidian_mcp.errors import AlreadyExists, Conflict, Failure, FileFailed, NoteNotFound, PermissionDenied
from obsidian_mcp.index import names as index_module
from obsidian_mcp.index.names import Index
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import VaultPath

NOTE = VaultPath("Sub/Note.md")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(str(tmp_path))


def leftovers(root: Path) -> list[str]:
    return [file.name for file in root.rglob(".*")]


def test_a_file_is_written_once_with_its_folders(folder: Folder, tmp_path: Path) -> None:
    folder.write_new(NOTE, b"x")
    assert folder.read(NOTE) == b"x"
    with pytest.raises(AlreadyExists):
        folder.write_new(NOTE, b"y")
    assert folder.read(NOTE) == b"x"
    assert leftovers(tmp_path) == []


def test_a_new_file_has_the_mode_that_the_umask_says(folder: Folder, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        folder.write_new(NOTE, b"x")
    finally:
        os.umask(before)
    assert (tmp_path / NOTE.value).stat().st_mode & 0o777 == 0o640


def test_a_file_that_has_changed_is_not_replaced(folder: Folder, tmp_path: Path) -> None:
    folder.write_new(NOTE, b"old")
    with pytest.raises(Conflict):
        folder.replace(NOTE, b"older", b"new")
    assert folder.read(NOTE) == b"old"
    folder.replace(NOTE, b"old", b"new")
    assert folder.read(NOTE) == b"new"
    assert leftovers(tmp_path) == []


FAULTS: dict[str, tuple[str, OSError, type[Failure]]] = {
    "a full disk": ("fsync", OSError(28, "No space left on device"), FileFailed),
    "a broken disk": ("replace", OSError(5, "Input/output error"), FileFailed),
    "a permission taken away": ("replace", PermissionError(13, "Permission denied"), PermissionDenied),
}


@pytest.mark.parametrize(("function", "error", "kind"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_system_changes_nothing_and_leaves_nothing(
    folder: Folder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    error: OSError,
    kind: type[Failure],
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    folder.write_new(NOTE, b"old")
    monkeypatch.setattr(os, function, fail)
    with pytest.raises(kind):
        folder.replace(NOTE, b"old", b"new")
    monkeypatch.undo()
    assert folder.read(NOTE) == b"old"
    assert leftovers(tmp_path) == []


def test_without_hard_links_a_file_is_still_made(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    folder.write_new(NOTE, b"x")
    assert folder.read(NOTE) == b"x"
    with pytest.raises(AlreadyExists):
        folder.write_new(NOTE, b"y")


def test_a_file_that_is_not_there_cannot_be_read(folder: Folder) -> None:
    with pytest.raises(NoteNotFound):
        folder.read(NOTE)


def test_a_folder_where_a_file_should_be_is_an_error_in_words(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "Sub" / "Note.md").mkdir(parents=True)
    with pytest.raises(FileFailed):
        folder.read(NOTE)
    assert folder.spellings(NOTE) == []


def test_a_note_that_may_not_be_read_stops_a_move_rather_than_lose_its_links(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    folder.write_new(NOTE, b"x")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionDenied):
        list(folder.read_stamped([NOTE.value]))


def test_settings_are_read_through_links(folder: Folder, tmp_path: Path) -> None:
    """People share them between vaults."""
    (tmp_path / "shared.json").write_text('{"trashOption": "local"}')
    (folder._root / ".obsidian").mkdir()
    (folder._root / ".obsidian" / "app.json").symlink_to(tmp_path / "shared.json")
    assert folder.settings() == {"trashOption": "local"}


def test_a_read_only_note_is_not_replaced(folder: Folder, tmp_path: Path) -> None:
    folder.write_new(NOTE, b"x")
    (tmp_path / NOTE.value).chmod(0o444)
    with pytest.raises(PermissionDenied, match="read-only"):
        folder.replace(NOTE, b"x", b"y")
    assert folder.read(NOTE) == b"x"


def test_a_file_that_was_touched_by_a_tool_that_keeps_its_time_and_size_has_another_stamp(
    folder: Folder, tmp_path: Path
) -> None:
    folder.write_new(NOTE, b"x")
    file = tmp_path / NOTE.value
    before, times = folder.stamp(NOTE.value), file.stat()
    file.write_bytes(b"y")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file.stat().st_mtime_ns == times.st_mtime_ns
    assert folder.stamp(NOTE.value) != before


@pytest.mark.parametrize("where", ["loop.md", "x" * 300, "Top.md/x"])
def test_a_link_that_leads_nowhere_hides_nothing(folder: Folder, where: str) -> None:
    folder.write_new(VaultPath("Top.md"), b"x")
    folder.write_new(VaultPath("Linking.md"), b"[[Top]]")
    (folder._root / "loop.md").symlink_to(where)
    index = Index(folder)
    assert sorted(index.paths()) == ["Linking.md", "Top.md"]
    assert index.mentioning({"top"}) == {"Linking.md": b"[[Top]]"}


@pytest.mark.parametrize("has_call", [True, False])
def test_a_move_replaces_nothing_that_is_made_at_that_moment(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, has_call: bool
) -> None:
    def late(path: VaultPath) -> list[str]:
        (folder._root / path.value).write_bytes(b"another's")
        return []

    def without(*_: object) -> bool:
        raise OSError(errno.ENOSYS, "Function not implemented")

    if not has_call:
        monkeypatch.setattr(holding, "rename_new", without)
    folder.write_new(VaultPath("Old.md"), b"ours")
    folder.rename(VaultPath("Old.md"), VaultPath("Older.md"))
    monkeypatch.setattr(folder, "make_folder_for", late)
    with pytest.raises(AlreadyExists):
        folder.rename(VaultPath("Older.md"), VaultPath("New.md"))
    assert (folder.read(VaultPath("Older.md")), folder.read(VaultPath("New.md"))) == (b"ours", b"another's")


def test_a_note_made_between_the_check_and_the_rename_is_not_replaced(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is blind here: only the system's own refusal is left."""
    folder.write_new(VaultPath("Old.md"), b"ours")
    folder.write_new(VaultPath("New.md"), b"another's")
    monkeypatch.setattr(folder, "require_room", lambda _: None)
    monkeypatch.setattr(holding.HeldPath, "exists", False)
    with pytest.raises(AlreadyExists):
        folder.rename(VaultPath("Old.md"), VaultPath("New.md"))
    assert folder.read(VaultPath("New.md")) == b"another's"


def test_a_folder_that_may_not_be_listed_stops_a_move_but_no_lookup(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> Any:
        if path.endswith("Sub"):
            raise PermissionError(13, "Permission denied")
        return allowed(path)

    allowed = os.scandir
    folder.write_new(NOTE, b"x")
    folder.write_new(VaultPath("Top.md"), b"x")
    monkeypatch.setattr(os, "scandir", refuse)
    index = Index(folder)
    assert index.paths() == ["Top.md"]
    with pytest.raises(PermissionDenied, match="Sub could not be listed"):
        index.mentioning({"top"})
    monkeypatch.undo()
    assert index.mentioning({"top"}) == {}
    assert sorted(index.paths()) == ["Sub/Note.md", "Top.md"]


def test_a_folder_of_another_user_that_may_not_be_listed_stops_nothing(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the `lost+found` of a disk that is a vault."""

    def refuse(path: str) -> Any:
        if path.endswith("lost+found"):
            raise PermissionError(13, "Permission denied")
        return allowed(path)

    allowed, user = os.scandir, os.geteuid()
    folder.write_new(VaultPath("Top.md"), b"x")
    folder.write_new(VaultPath("lost+found/x.md"), b"[[Top]]")
    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert Index(folder).mentioning({"top"}) == {}


def test_spellings_differ_in_case_and_form_only(folder: Folder, tmp_path: Path) -> None:
    for path in ("sub/note.md", "Sub/NOTE.md", "Sub/Other.md"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x")
    assert [path.value for path in folder.spellings(NOTE)] == ["Sub/NOTE.md"]
    assert [path.value for path in folder.spellings(VaultPath("SUB/nOTE.md"))] == ["Sub/NOTE.md", "sub/note.md"]
    assert folder.spellings(VaultPath("Sub/Other.md")) == [VaultPath("Sub/Other.md")]
    assert folder.spellings(VaultPath("Nope/Other.md")) == []


def test_a_path_too_long_for_the_system_is_refused_and_no_folder_is_made(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(FileFailed, match="too long"):
        folder.write_new(VaultPath("/".join(["a" * 200] * 25)), b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_too_deep_to_be_listed_stops_a_move(folder: Folder, tmp_path: Path) -> None:
    folder.write_new(VaultPath("Top.md"), b"x")
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("a" * 200, dir_fd=fd)
        inner = os.open("a" * 200, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    index = Index(folder)
    assert index.matching(Name.parse("Top")) == ["Top.md"]
    with pytest.raises(FileFailed, match="could not be listed"):
        index.mentioning({"top"})


def test_the_collector_is_on_again_after_a_vault_was_read(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def keys_in(path: str, data: bytes) -> str:
        seen.append(gc.isenabled())
        return ""

    seen: list[bool] = []
    monkeypatch.setattr(index_module, "keys_in", keys_in)
    folder.write_new(NOTE, b"x")
    Index(folder).mentioning({"x"})
    assert (seen, gc.isenabled()) == ([False], True)
