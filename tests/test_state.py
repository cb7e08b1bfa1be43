"""Several servers on one vault."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from filelock import FileLock

import obsidian_mcp.state
from obsidian_mcp import logs
from obsidian_mcp.backends.files import transaction
from obsidian_mcp.backends.files.recovery import Recovery
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.vault import FilesVault
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Cancelled, Conflict, FileFailed, TimedOut
from obsidian_mcp.operations.editing import edit
from obsidian_mcp.state import FolderLock, State, Taken, state_folder
from obsidian_mcp.vault.changes import ChangeSet, Write
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.path import VaultPath
from tests.support.client import Server, ToolFailed
from tests.support.world import World


@contextmanager
def serving(world: World, *options: str, **variables: str) -> Iterator[Server]:
    arguments = ("--vault", str(world.vault), "--backend", "embedded", *options)
    with Server(world.environment(**variables), *arguments) as server:
        yield server.initialize()


@pytest.mark.parametrize("apart", [False, True])
def test_two_servers_lose_no_append_wherever_they_keep_their_state(own_world: World, apart: bool) -> None:
    """A host started from a shell may have an XDG_STATE_HOME that one started from a menu has not."""
    own_world.put("Log.md", "")
    elsewhere = {"XDG_STATE_HOME": str(own_world.folder / "elsewhere")} if apart else {}
    with serving(own_world) as one, serving(own_world, **elsewhere) as other:
        begun = [
            (server, server.begin_call("append_note", name="Log.md", content=f"{name} {number}"))
            for number in range(50)
            for name, server in (("one", one), ("other", other))
        ]
        for server, call in begun:
            server.end_call(call)
    lines = own_world.get("Log.md").decode().split("\n")
    assert sorted(lines) == sorted(f"{name} {number}" for number in range(50) for name in ("one", "other"))


@contextmanager
def held(world: World, what: str) -> Iterator[None]:
    """As another server holds it while it writes."""
    if what == "file":
        (lock,) = (world.folder / "home").rglob("lock")
        with FileLock(str(lock)):
            yield
        return
    fd = os.open(world.vault, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_vault_that_another_server_holds_is_a_timeout_and_nothing_is_written(own_world: World, what: str) -> None:
    own_world.put("A.md", "a")
    with serving(own_world, "--timeout", "1") as server:
        server.call("append_note", name="A", content="b")
        with held(own_world, what), pytest.raises(ToolFailed) as caught:
            server.call("append_note", name="A", content="c")
        assert caught.value.error_code == "TIMEOUT"
        assert own_world.get("A.md") == b"a\nb"
        server.call("append_note", name="A", content="d")
    assert own_world.get("A.md") == b"a\nb\nd"


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_call_that_is_cancelled_while_it_waits_for_another_server_writes_nothing(own_world: World, what: str) -> None:
    own_world.put("A.md", "a")
    with serving(own_world) as server:
        server.call("append_note", name="A", content="b")
        with held(own_world, what):
            waiting = server.begin_call("append_note", name="A", content="c")
            server.notify("notifications/cancelled", {"requestId": waiting})
            server.request("ping")
        server.call("append_note", name="A", content="d")
    assert own_world.get("A.md") == b"a\nb\nd"


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(logs, "log", lambda level, event, **_: said.append(event))
    return said


def locked_once(state: State, limit: float) -> bool:
    """Whether a call of that limit came to write."""
    try:
        with state.locked(CallContext(limit), "writing"):
            return True
    except TimedOut:
        return False


def test_a_folder_that_another_user_holds_for_ever_is_passed_over(
    own_world: World, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    monkeypatch.setattr(obsidian_mcp.state, "FOLDER_PATIENCE", 0.0)
    monkeypatch.setattr(obsidian_mcp.state, "FOLDER_AGAIN", 0.0)
    state = State(str(own_world.vault), own_world.environment())
    for occurrence in (1, 2):
        with held(own_world, "folder"):
            assert locked_once(state, 60)
            assert locked_once(state, 60)
        assert len(warnings) == occurrence
        with state.locked(CallContext(60), "writing"), pytest.raises(Taken):  # it can be had again, and is
            FolderLock(str(own_world.vault)).acquire(0)


def test_calls_too_short_to_wait_for_the_folder_wait_for_it_together(
    own_world: World, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    monkeypatch.setattr(obsidian_mcp.state, "FOLDER_PATIENCE", 3 * obsidian_mcp.state.BETWEEN_TRIES)
    monkeypatch.setattr(obsidian_mcp.state, "FOLDER_AGAIN", 0.0)
    state = State(str(own_world.vault), own_world.environment())
    with held(own_world, "folder"):
        assert [locked_once(state, 0) for _ in range(4)] == [False, False, True, True]
    assert len(warnings) == 1


def test_a_lock_of_our_own_is_never_passed_over(
    own_world: World, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    monkeypatch.setattr(obsidian_mcp.state, "FOLDER_PATIENCE", 0.0)
    monkeypatch.setattr(obsidian_mcp.state, "FOLDER_AGAIN", 0.0)
    state = State(str(own_world.vault), own_world.environment())
    with state.locked(CallContext(60), "writing"):
        assert not locked_once(State(str(own_world.vault), own_world.environment()), 0)
    assert not warnings


def test_a_state_folder_that_is_not_a_whole_path_is_passed_over() -> None:
    assert state_folder({"XDG_STATE_HOME": "state", "HOME": "/h"}, "linux") == Path("/h/.local/state/obsidian-mcp")
    assert state_folder({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "linux") == Path("/s/obsidian-mcp")


def test_a_state_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no home it lies in the temporary folder, which is everybody's."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with State(str(tmp_path), {}).locked(CallContext(5), "writing"):
        pass
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    state = State(str(tmp_path), {})
    with pytest.raises(FileFailed, match="another user"), state.locked(CallContext(5), "writing"):
        pass


def vault_in(folder: Path, state: State, call: CallContext) -> FilesVault:
    root, no_index = VaultRoot(str(folder)), cast(Index, None)
    return FilesVault(root, Recovery(root, state, no_index), set(), call)


def append(vault: FilesVault) -> bytes:
    return edit(VaultPath("A.md"), lambda before: before + b"b", None, vault, "appending")


def test_a_note_that_changes_at_every_look_is_a_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def commit(root: VaultRoot, state: State, changes: ChangeSet, *_: object) -> ChangeSet:
        (change,) = changes.changes
        assert isinstance(change, Write)
        looks.append(change.before)
        raise Conflict("It was changed.")

    looks: list[bytes | None] = []
    (tmp_path / "A.md").write_bytes(b"a")
    state = State(str(tmp_path), {"XDG_STATE_HOME": str(tmp_path / ".state")})
    monkeypatch.setattr(transaction, "commit", commit)
    with pytest.raises(Conflict):
        append(vault_in(tmp_path, state, CallContext(5)))
    assert looks == [b"a"] * 3


def test_a_call_that_is_cancelled_as_it_gets_the_lock_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def took(lock: FileLock | FolderLock) -> bool:
        call.cancel()
        return really(lock)

    (tmp_path / "A.md").write_bytes(b"a")
    call = CallContext(5)
    state = State(str(tmp_path), {"XDG_STATE_HOME": str(tmp_path / ".state")})
    really = state._took
    monkeypatch.setattr(state, "_took", took)
    with pytest.raises(Cancelled):
        append(vault_in(tmp_path, state, call))
    assert (tmp_path / "A.md").read_bytes() == b"a"
