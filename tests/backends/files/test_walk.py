"""One walk through a vault's folder: every file with its size and time, and no file opened."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.backends.files import walk
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Cancelled


def put(folder: Path, path: str, data: bytes = b"") -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def test_sizes_and_times_are_told_and_nothing_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(put(tmp_path, "Folder/Note.md", b"12345"), ns=(0, 7))
    os.utime(put(tmp_path, "pic.png", b"x"), ns=(0, 8))
    put(tmp_path, ".obsidian/app.json")
    put(tmp_path, "Folder/.hidden.md")
    opened: list[object] = []
    monkeypatch.setattr(builtins, "open", lambda *given, **_: opened.append(given))
    monkeypatch.setattr(os, "open", lambda *given, **_: opened.append(given))
    found = walk.files(VaultRoot(str(tmp_path)), CallContext())
    assert sorted(found) == [(7, 5, "Folder/Note.md"), (8, 1, "pic.png")]
    assert opened == []


def test_each_file_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        put(tmp_path, f"{number % 3}/{number}.md")
    asked: list[object] = []
    real = os.stat

    def stat(path: int | str, **more: Any) -> os.stat_result:
        asked.append(path)
        return real(path, **more)

    monkeypatch.setattr(os, "stat", stat)
    assert len(walk.files(VaultRoot(str(tmp_path)), CallContext())) == 20
    assert len(asked) <= 1  # the entries of a listing tell for themselves


def test_links_are_not_followed_and_a_loop_is_none(tmp_path: Path) -> None:
    put(tmp_path, "Note.md")
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "link.md").symlink_to(tmp_path / "Note.md")
    os.mkfifo(tmp_path / "pipe.md")
    assert [seen.path for seen in walk.files(VaultRoot(str(tmp_path)), CallContext())] == ["Note.md"]


def test_it_ends_with_its_call(tmp_path: Path) -> None:
    call = CallContext()
    call.cancel()
    with pytest.raises(Cancelled):
        walk.files(VaultRoot(str(tmp_path)), call)
