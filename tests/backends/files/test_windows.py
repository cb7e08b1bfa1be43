"""What Windows answers, where neither Linux nor Wine can tell: its answers are put in place of the system's here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from obsidian_mcp.backends.files import trash
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.vault.path import VaultPath


@pytest.fixture
def root(tmp_path: Path) -> VaultRoot:
    return VaultRoot(str(tmp_path))


def test_the_recycle_bin_is_never_asked(root: VaultRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "send2trash", None)  # to import it fails
    (root.path / "Note.md").touch()
    assert not trash.to_system_trash(root, VaultPath("Note.md"), "win32")
    assert (root.path / "Note.md").exists()
