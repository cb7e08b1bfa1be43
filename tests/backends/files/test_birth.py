from __future__ import annotations

import os
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from obsidian_mcp.backends.files import birth, read
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.vault.path import VaultPath

NOTE = VaultPath("Note.md")


def found(**more: float) -> Any:
    return SimpleNamespace(st_ctime=5.0, st_mtime=6.0, **more)


def statx(mask: int) -> bytes:
    return struct.pack("=I76xqI164x", mask, 1_700_000_000, 250_000_000)


SYSTEMS: dict[str, tuple[Any, str, float | None]] = {
    "macOS": (found(st_birthtime=3.0), "darwin", 3.0),
    "Windows": (found(st_birthtime=3.0), "win32", 3.0),
    "Windows before Python 3.12": (found(), "win32", 5.0),
    "a system that does not say": (found(), "sunos5", None),
}


@pytest.mark.parametrize(("stat", "platform", "created"), SYSTEMS.values(), ids=SYSTEMS)
def test_a_file_was_made_when_the_system_says(stat: Any, platform: str, created: float | None) -> None:
    assert birth.birth_time("x", stat, platform) == created


def test_linux_is_asked_by_statx_and_believed_only_where_it_answers() -> None:
    assert birth.parsed(statx(0x800)) == 1_700_000_000.25
    assert birth.parsed(statx(0x7FF)) is None


def test_a_c_library_without_the_call_knows_no_birth_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(birth, "_statx", lambda: None)
    assert birth.birth_time("x", found(), "linux") is None


def test_a_file_that_is_gone_by_then_has_no_birth_time(tmp_path: Path) -> None:
    assert birth.birth_time(str(tmp_path / "x"), found(), "linux") is None


@pytest.mark.parametrize("touch", ["chmod", "rename"])
def test_what_moves_the_ctime_of_a_note_leaves_its_time_of_creation(tmp_path: Path, touch: str) -> None:
    file = tmp_path / NOTE.value
    file.write_bytes(b"x")
    os.utime(file, (1, 1))  # which moves the ctime too, but not the birth time
    before, ctime = read.times(VaultRoot(str(tmp_path)), NOTE), file.stat().st_ctime_ns
    if before[0] is None:
        pytest.skip("this file system keeps no birth time")
    while file.stat().st_ctime_ns == ctime:  # the clock of a file system is coarse
        if touch == "chmod":
            file.chmod(0o600)
        else:
            file.rename(tmp_path / "x").rename(file)
    assert read.times(VaultRoot(str(tmp_path)), NOTE) == before
