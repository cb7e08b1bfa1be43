"""What `install` has made is gone after `uninstall`: bytes, files and folders."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from obsidian_mcp.hosts import configure
from obsidian_mcp.hosts.known import BY_NAME
from obsidian_mcp.hosts.writing import BACKUP, MADE
from tests.hosts.test_configure import FILES, Home
from tests.hosts.test_jsonc import texts

LAYOUTS = {
    "nothing": "",
    "an empty object": "{}",
    "an odd empty object": "{ \n}\n",
    "another section": '{"theme": "dark"}',
    "an empty section": '{\n  "mcpServers": {},\n  "servers": { },\n  "context_servers": {\n  }\n}',
    "other servers, with Windows line ends": '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n',
    "a mark, and no end of line": '\ufeff{"a": 1}',
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    (tmp_path / "work").mkdir()
    return home


def tree(home: Home) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in home.folder.rglob("*")}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("host", FILES)
def test_every_byte_is_as_it_was(home: Home, host: str, text: str) -> None:
    file = home.put(host, "")
    file.write_bytes(text.encode())
    before = tree(home)
    for words in (("--vault", "notes"), ("--vault", "work", "--read-only"), ("--toolsets", "all")):
        assert home.run("install", host, *words).returncode == 0
    assert [path.name for path in file.parent.glob("*.bak")] == [f"{file.name}{BACKUP}"]
    assert file.with_name(file.name + BACKUP).read_bytes() == text.encode()
    assert home.run("uninstall", host).returncode == 0
    assert tree(home) == before


@pytest.mark.parametrize("folder_is_there", [False, True])
@pytest.mark.parametrize("host", FILES)
def test_a_file_that_was_made_goes_and_a_folder_only_if_it_was_made_too(
    home: Home, host: str, folder_is_there: bool
) -> None:
    if folder_is_there:
        home.file(host).parent.mkdir(parents=True, exist_ok=True)
    before = tree(home)
    for vault in ("notes", "work"):
        assert home.run("install", host, "--vault", vault).returncode == 0
    assert not list(home.folder.rglob("*.bak"))
    done = home.run("uninstall", host)
    assert done.stdout.startswith(f"Removed {home.file(host)}:")
    assert tree(home) == before


def test_what_others_have_added_since_stays(home: Home) -> None:
    home.run("install", "cursor", "--vault", "notes")
    file = home.file("cursor")
    text = file.read_text(encoding="utf-8").replace('"mcpServers": {', '"mine": 1,\n  "mcpServers": {', 1)
    file.write_text(text, encoding="utf-8")
    (file.parent / "other.json").write_text("{}", encoding="utf-8")
    home.run("uninstall", "cursor")
    assert file.read_text(encoding="utf-8") == '{\n  "mine": 1\n}\n'
    assert sorted(path.name for path in file.parent.iterdir()) == ["mcp.json", "other.json"]


def test_a_section_that_was_there_stays_though_others_changed_the_file(home: Home) -> None:
    file = home.put("cursor", '{\n  "mcpServers": {}\n}\n')
    home.run("install", "cursor", "--vault", "notes")
    file.write_text(file.read_text(encoding="utf-8").replace("{", '{\n  "mine": 1,', 1), encoding="utf-8")
    home.run("uninstall", "cursor")
    assert file.read_text(encoding="utf-8") == '{\n  "mine": 1,\n  "mcpServers": {}\n}\n'
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]


def test_the_backup_is_of_the_file_as_others_have_left_it(home: Home) -> None:
    file = home.put("cursor", "{}")
    home.run("install", "cursor", "--vault", "notes")
    text = file.read_text(encoding="utf-8").replace("{", '{\n  "mine": 1,', 1)
    file.write_text(text, encoding="utf-8")
    done = home.run("install", "cursor", "--read-only")
    (backup,) = file.parent.glob("*.bak")
    assert backup.read_text(encoding="utf-8") == text
    assert f"Backup: {backup}" in done.stdout


def test_two_entries_share_what_lies_beside_and_the_last_takes_it_along(home: Home) -> None:
    before = tree(home)
    home.run("install", "cursor", "--vault", "notes")
    home.run("install", "cursor", "--vault", "work", "--name", "work")
    assert home.run("uninstall", "cursor").returncode == 0
    assert home.file("cursor").with_name(f"mcp.json{MADE}").exists()
    assert home.run("uninstall", "cursor", "--name", "work").returncode == 0
    assert tree(home) == before


def test_a_dry_run_of_uninstall_names_what_it_would_remove(home: Home) -> None:
    file = home.put("cursor", "{}")
    home.run("install", "cursor", "--vault", "notes")
    before = tree(home)
    done = home.run("uninstall", "cursor", "--dry-run")
    assert f"Would remove {file}{BACKUP}" in done.stdout
    assert tree(home) == before


def test_an_entry_taken_out_by_hand_leaves_a_backup_that_uninstall_removes(home: Home) -> None:
    file = home.put("cursor", "{}")
    home.run("install", "cursor", "--vault", "notes")
    file.write_text("{}", encoding="utf-8")
    assert f"Removed {file}{BACKUP}" in home.run("uninstall", "cursor").stdout
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]
    assert "Nothing was changed" in home.run("uninstall", "cursor").stdout


@settings(max_examples=60)
@given(texts())
def test_any_file_is_the_same_after_install_and_uninstall(made: tuple[str, dict[str, Any]]) -> None:
    text, whole = made
    if "obsidian" in whole.get("servers", {}):
        return
    with tempfile.TemporaryDirectory() as folder:
        environ = {"HOME": folder}
        file = Path(folder, FILES["vscode"])
        file.parent.mkdir(parents=True)
        file.write_bytes(text.encode())
        for words in (["--vault", "/a"], ["--vault", "/b"]):
            change = configure.installing(BY_NAME["vscode"], environ, "obsidian", ["/x/obsidian-mcp"], words)
            configure.carry_out(change)
        configure.carry_out(configure.removing(BY_NAME["vscode"], environ, "obsidian"))
        assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]
        assert file.read_bytes() == text.encode()
