"""What Windows answers, where neither Linux nor Wine can tell: its answers are put in place of the system's here."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.backends.files import held, os_errors, read, scan, trash, walk, windows, write
from obsidian_mcp.backends.files.os_errors import is_absent, translate_os_errors
from obsidian_mcp.backends.files.scan import Scan
from obsidian_mcp.call import CallContext, OnThread
from obsidian_mcp.errors import AlreadyExists, Failure, FileFailed, NoteNotFound, PermissionDenied
from obsidian_mcp.vault.changes import Rename, Write
from obsidian_mcp.vault.path import VaultPath
from tests.backends.files.test_commit import Place


def windows_error(number: int, named: int = errno.EINVAL) -> OSError:
    """The system's number, and the errno that Python makes of it."""
    error = OSError(named, "so Windows says")
    setattr(error, "winerror", number)  # noqa: B010  # elsewhere the type has no such attribute
    return error


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.put("Old.md", b"text")
    place.put("Linking.md", b"[[Old]]")
    return place


def fails_for(monkeypatch: pytest.MonkeyPatch, name: str, ending: str, error: Exception) -> None:
    """A call of the system's that fails for the files whose names end so."""
    real: Callable[..., Any] = getattr(os, name)

    def call(path: Any, *arguments: Any, **named: Any) -> Any:
        if str(path).endswith(ending):
            raise error
        return real(path, *arguments, **named)

    monkeypatch.setattr(os, name, call)


def test_the_recycle_bin_is_never_asked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "send2trash", None)  # to import it fails
    assert not trash.to_system_trash(place.root, VaultPath("Old.md"), "win32")
    assert (place.folder / "Old.md").exists()


SAYS_THERE_IS_NONE = {
    "no such file": (2, errno.ENOENT),
    "no such path": (3, errno.ENOENT),
    "a file is where a folder should be": (267, errno.ENOTDIR),
    "a name that can't be one": (123, errno.EINVAL),
}
SAYS_SOMETHING_ELSE = {
    "the network path is gone": (53, errno.ENOENT),
    "the share is gone": (67, errno.ENOENT),
    "the drive is gone": (15, errno.ENOENT),
    "the path is too long": (206, errno.ENOENT),
    "the network's name was deleted": (64, errno.EINVAL),
    "it took too long": (121, errno.EINVAL),
    "a virus was found": (225, errno.EINVAL),
    "the cloud's program does not run": (362, errno.EINVAL),
    "the device fails": (1117, errno.EINVAL),
    "access is denied": (5, errno.EACCES),
    "another program has it": (32, errno.EACCES),
}


@pytest.mark.parametrize(("number", "named"), SAYS_THERE_IS_NONE.values(), ids=SAYS_THERE_IS_NONE)
def test_these_say_that_there_is_none(number: int, named: int) -> None:
    assert is_absent(windows_error(number, named))


@pytest.mark.parametrize(("number", "named"), SAYS_SOMETHING_ELSE.values(), ids=SAYS_SOMETHING_ELSE)
def test_nothing_else_says_so(number: int, named: int) -> None:
    error = windows_error(number, named)
    assert not is_absent(error)
    with pytest.raises(Failure) as failed, translate_os_errors("Note.md"):
        raise error
    assert not isinstance(failed.value, NoteNotFound)


@pytest.mark.parametrize(("number", "named"), SAYS_SOMETHING_ELSE.values(), ids=SAYS_SOMETHING_ELSE)
@pytest.mark.parametrize(("call", "ending"), [("open", "Linking.md"), ("scandir", "Sub")])
def test_nothing_is_moved_while_a_note_or_folder_cannot_be_read(
    place: Place, monkeypatch: pytest.MonkeyPatch, call: str, ending: str, number: int, named: int
) -> None:
    place.put("Sub/Other.md", b"[[Old]]")
    fails_for(monkeypatch, call, ending, windows_error(number, named))
    with pytest.raises(Failure):
        place.move("Old.md", "New.md")
    assert (place.folder / "Old.md").exists()


def test_a_note_in_the_cloud_is_told_as_that() -> None:
    with pytest.raises(FileFailed, match="is in the cloud and not on this machine"), translate_os_errors("Note.md"):
        raise windows_error(362)


def test_a_note_that_another_program_has_open_is_told_as_that() -> None:
    with pytest.raises(FileFailed, match="is open in another program"), translate_os_errors("Note.md"):
        raise windows_error(32, errno.EACCES)


def test_on_a_mac_a_folder_that_may_not_be_used_is_explained() -> None:
    told = os_errors.denied("Note.md", PermissionError(errno.EPERM, "Operation not permitted"), "darwin")
    assert isinstance(told, PermissionDenied)
    assert "Privacy & Security" in told.message


def test_a_note_that_icloud_has_taken_away_is_part_of_the_vault(place: Place) -> None:
    place.put("Sub/.Away.md.icloud", b"bplist")
    vault = place.vault()
    assert "Sub/Away.md" in vault.paths()
    with pytest.raises(FileFailed, match="in the cloud"):
        vault.has(VaultPath("Sub/Away.md"))
    with pytest.raises(FileFailed, match="in the cloud"):
        place.move("Old.md", "New.md")
    assert (place.folder / "Old.md").exists()


class Entry:
    """A folder as `scandir` tells of it, but a junction."""

    def __init__(self, entry: os.DirEntry[str], tag: int) -> None:
        self._entry = entry
        self._tag = tag
        self.name = entry.name

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._entry.is_dir()

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self._entry.is_file()

    def is_symlink(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = True) -> Any:
        return types.SimpleNamespace(st_mode=self._entry.stat().st_mode, st_reparse_tag=self._tag)


def reparse(monkeypatch: pytest.MonkeyPatch, named: str, tag: int) -> None:
    """Make a folder that is really there a reparse point, as a listing tells it."""
    real = os.scandir

    @contextlib.contextmanager
    def scandir(where: Any) -> Iterator[list[Any]]:
        with real(where) as entries:
            yield [Entry(entry, tag) if entry.name == named else entry for entry in entries]

    monkeypatch.setattr(windows, "HERE", True)
    monkeypatch.setattr(os, "scandir", scandir)


LEADS_ELSEWHERE = {"a junction": (0xA0000003, False), "a symbolic link": (0xA000000C, False)}
LEADS_NOWHERE = {"OneDrive's mark": (0x9000301A, True), "a file that is stored once": (0x80000013, True)}


@pytest.mark.parametrize(
    ("tag", "followed"), [*LEADS_ELSEWHERE.values(), *LEADS_NOWHERE.values()], ids=[*LEADS_ELSEWHERE, *LEADS_NOWHERE]
)
def test_a_junction_is_not_followed(place: Place, monkeypatch: pytest.MonkeyPatch, tag: int, followed: bool) -> None:
    place.put("Way/Note.md", b"[[Old]]")
    place.put("Way/Loop/Note.md", b"[[Old]]")
    reparse(monkeypatch, "Way", tag)
    disk = Scan(place.root)
    assert ("Way" in disk.listing("").folders) == followed
    assert ("Way/Note.md" in [file.path for file in disk.survey().files]) == followed
    changed, _ = disk.changed_files((".md",), {}, [])
    assert ("Way/Note.md" in [file.path for file in changed]) == followed
    assert ("Way/Note.md" in [seen.path for seen in walk.files(place.root, CallContext())]) == followed


def test_a_trash_that_is_a_junction_is_not_used(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.put(".trash/Other.md", b"")
    real = os.lstat

    def lstat(path: Any, **named: Any) -> Any:
        found = real(path, **named)
        if str(path).endswith(".trash"):
            return types.SimpleNamespace(st_mode=found.st_mode, st_reparse_tag=0xA0000003)
        return found

    monkeypatch.setattr(os, "lstat", lstat)
    with pytest.raises(PermissionDenied):
        trash.to_local_trash(place.root, VaultPath("Old.md"))
    assert (place.folder / "Old.md").exists()


NO_NAMES = ("CON.md", "a/nul/b.md", "com1.txt.md", "Note./a.md", "Note .md/b ", "Note.md:stream", "what?.md")


@pytest.mark.parametrize("path", NO_NAMES)
def test_a_name_that_windows_cannot_hold_never_reaches_it(
    place: Place, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(windows, "HERE", True)
    vault = place.vault()
    with monkeypatch.context() as patch:
        asked = list[str]()

        def listdir(folder: str) -> list[str]:
            asked.append(folder)
            return []

        patch.setattr(os, "listdir", listdir)
        assert vault.spelled_folder(path) == path
        assert all(windows.can_hold(folder.removeprefix(place.root.prefix)) for folder in asked)
    for name in ("stat", "lstat", "listdir", "open"):
        fails_for(monkeypatch, name, "", AssertionError(f"the system was asked: {name}"))
    assert not vault.has(VaultPath(path))
    assert vault.spellings(VaultPath(path)) == []
    with pytest.raises(PermissionDenied):
        vault.read(VaultPath(path))


def test_what_is_taken_back_is_tried_again_whatever_is_left_of_the_limit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scanner looks into the note that was just moved, and the call has no time left."""
    real, answers, before = os.rename, [windows_error(32, errno.EACCES)] * 2, place.files()

    def rename(source: Any, target: Any, **_: Any) -> None:
        if str(target).endswith("Old.md") and answers:
            raise answers.pop()
        real(source, target)

    def refuse(path: str, *_: Any) -> None:
        raise FileFailed(f"{path} is open in another program.")

    monkeypatch.setattr(held, "HOLDS", False)
    monkeypatch.setattr(os, "rename", rename)
    monkeypatch.setattr(write, "put_in_place", refuse)
    with OnThread(CallContext(0)), pytest.raises(FileFailed):
        place.commit(Rename("Old.md", "New.md"), Write("Linking.md", b"[[Old]]", b"[[New]]"))
    assert place.files() == before
    assert not answers


def test_a_name_that_is_taken_at_this_moment_is_not_replaced(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(*_: object, **__: object) -> None:
        raise FileExistsError(errno.EEXIST, "it is there by now")

    monkeypatch.setattr(held, "HOLDS", False)
    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(AlreadyExists):
        place.commit(Rename("Old.md", "New.md"))
    assert (place.folder / "Old.md").exists()


def test_a_change_is_not_told_by_when_a_file_was_made(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """There the ctime is that, and a listing has no inodes: so files are asked for themselves."""
    monkeypatch.setattr(windows, "HERE", True)
    monkeypatch.setattr(scan, "HERE", True)
    disk = Scan(place.root)
    known = {"": {name: disk.stamp(name) for name in ("Old.md", "Linking.md")}}
    (place.folder / "Old.md").chmod(0o600)  # another ctime
    assert disk.changed_files((".md",), known, []) == ([], 2)
    place.put("Old.md", b"other")
    assert [file.path for file in disk.changed_files((".md",), known, [])[0]] == ["Old.md"]


@pytest.fixture
def ignoring_case(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The vault on a volume that keeps the case of names and ignores it, as those of Windows and macOS do."""

    def there(path: Any) -> Any:
        """As it is spelled on disk."""
        if not str(path).startswith(f"{place.folder}/"):
            return path
        found = place.folder
        for segment in str(path)[len(str(place.folder)) + 1 :].split("/"):
            same = [name for name in listdir(found) if name.lower() == segment.lower()] if found.is_dir() else []
            found = found / (same[0] if same else segment)
        return str(found)

    def take(call: Callable[..., Any]) -> Callable[..., Any]:
        return lambda path, *arguments, **named: call(there(path), *arguments, **named)

    def named(call: Callable[..., Any], is_taken_by_itself: bool) -> Callable[..., Any]:
        def act(source: Any, target: Any, **_: Any) -> None:
            if os.path.lexists(target) and (is_taken_by_itself or there(target) != there(source)):
                raise FileExistsError(errno.EEXIST, "nothing is replaced there")
            call(there(source), os.path.join(there(os.path.dirname(target)), os.path.basename(target)))

        return act

    listdir = os.listdir
    for name in ("stat", "lstat", "open", "unlink", "scandir", "listdir", "access", "chmod", "mkdir", "rmdir"):
        monkeypatch.setattr(os, name, take(getattr(os, name)))
    monkeypatch.setattr(os, "rename", named(os.rename, is_taken_by_itself=False))
    monkeypatch.setattr(os, "link", named(os.link, is_taken_by_itself=True))
    monkeypatch.setattr(held, "HOLDS", False)
    monkeypatch.setattr(scan, "_SCANS_FD", False)
    monkeypatch.setattr(read, "IGNORES_CASE", True)
    return place


def test_only_the_case_of_a_name_can_change_where_case_is_ignored(ignoring_case: Place) -> None:
    """Links mean it all the same."""
    for name in ("OLD.md", "old.md"):
        (path,) = (path for path in ignoring_case.files() if path.lower() == "old.md")
        ignoring_case.move(path, name)
        assert ignoring_case.files() == {name: b"text", "Linking.md": b"[[Old]]"}


def test_a_name_in_another_case_is_taken_where_case_is_ignored(ignoring_case: Place) -> None:
    before = ignoring_case.files()
    with pytest.raises(AlreadyExists):
        ignoring_case.move("Old.md", "LINKING.md")
    assert ignoring_case.files() == before
    with pytest.raises(AlreadyExists):
        ignoring_case.commit(Write("OLD.md", None, b"new"))
    assert ignoring_case.files() == before


def test_a_folder_in_another_case_is_the_same_folder_where_case_is_ignored(ignoring_case: Place) -> None:
    ignoring_case.put("Sub/Other.md", b"[[Old]]")
    assert ignoring_case.vault().spellings(VaultPath("sub/other.md")) == [VaultPath("Sub/Other.md")]
    ignoring_case.move("Old.md", "SUB/Moved.md")
    assert ignoring_case.files() == {
        "Sub/Moved.md": b"text",
        "Sub/Other.md": b"[[Moved]]",
        "Linking.md": b"[[Moved]]",
    }
