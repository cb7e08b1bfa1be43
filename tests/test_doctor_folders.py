"""The doctor on real folders: whether the right one is served, what is in it, who has it."""

from __future__ import annotations

import json
import os
import shlex
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from obsidian_mcp.backends.files import census, cloud
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.doctor.folders import cloud_of, downloaded, opened_up
from obsidian_mcp.hosts.command import command_line
from tests.hosts.test_configure import SCRIPT, Home

Checks = dict[str, list[dict[str, Any]]]


class Folders(Home):
    def environment(self, **more: str) -> dict[str, str]:
        """With our command in the PATH."""
        return super().environment(**{"PATH": f"{SCRIPT.parent}:/usr/bin:/bin", **more})

    def make(self, path: str, *files: str) -> Path:
        """A folder with empty files; a name that ends with a slash is a folder in it."""
        for name in files:
            file = self.folder / path / name
            (file if name.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
            if not name.endswith("/"):
                file.write_text("", encoding="utf-8")
        return self.folder / path

    def examine(self, folder: Path | None, **more: str) -> Checks:
        words = ("--vault", str(folder)) if folder else ()
        checks: Checks = {}
        for check in json.loads(self.run("doctor", "--json", *words, **more).stdout)["checks"]:
            checks.setdefault(check["id"], []).append(check)
        return checks


@pytest.fixture
def home(tmp_path: Path) -> Folders:
    (tmp_path / "home").mkdir()
    return Folders(tmp_path / "home")


def test_notes_files_and_folders_are_counted(home: Folders) -> None:
    vault = home.make("V", ".obsidian/app.json", "A.md", "Sub/B.MD", "Sub/c.png", ".trash/D.md", "Sub/.hidden.md")
    (vault / "link.md").symlink_to(vault / "A.md")
    (vault / "broken.md").symlink_to(vault / "nowhere")
    checks = home.examine(vault)
    assert checks["notes"][0]["cause"] == "3 notes and 1 other file in 1 folder."
    assert checks["place"][0]["status"] == "ok"


def test_an_empty_folder_that_is_no_vault_is_warned_of(home: Folders) -> None:
    checks = home.examine(home.make("Empty", "photo.jpg"))
    assert checks["notes"][0]["status"] == "warn"
    assert checks["notes"][0]["remedy"] == "obsidian-mcp setup"
    assert home.examine(home.make("New", ".obsidian/"))["notes"][0]["status"] == "ok"


PLACES: dict[str, tuple[str, str, list[str]]] = {
    "the home folder": ("", "is your home folder, not a vault", ["setup"]),
    "a folder above a vault": ("Docs", "Docs is not a vault, but {home}/Docs/V in it is one.", ["Docs/V"]),
    "a folder above two": ("Both", "{home}/Both/W, {home}/Both/X in it are.", ["Both/W", "Both/X"]),
    "a folder inside a vault": ("Docs/V/Sub", "is a folder inside the vault {home}/Docs/V", ["Docs/V"]),
}


@pytest.mark.parametrize(("path", "told", "right"), PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("installed", [False, True])
def test_a_folder_that_is_not_the_vault_is_warned_of_and_the_remedy_can_be_pasted(
    home: Folders, path: str, told: str, right: list[str], installed: bool
) -> None:
    home.make("Docs/V", ".obsidian/", "Inner/.obsidian/", "Sub/A.md")
    home.make("Both", "W/.obsidian/", "X/.obsidian/", "A.md")
    wrong = home.folder / path
    if installed:
        home.run("install", "cursor", "--vault", str(wrong), "--vault", str(home.vault), "--read-only")
    checks = home.examine(wrong)
    (place,) = checks["place"]
    assert place["status"] == "warn"
    assert told.format(home=home.folder) in place["cause"]
    if right == ["setup"]:
        assert place["remedy"] == "obsidian-mcp setup"
        return
    wanted = [str(home.folder / name) for name in right]
    program, *words = shlex.split(place["remedy"])
    assert program == "obsidian-mcp"
    assert home.run(*words, *([] if installed else ["cursor", "--yes"])).returncode == 0
    entry = home.entry("cursor")
    assert entry is not None
    more = [str(home.vault)] if installed else []
    vaults = [word for vault in (*wanted, *more) for word in ("--vault", vault)]
    assert entry["args"] == ["--errors", "result", *vaults, *(["--read-only"] if installed else [])]


def test_the_whole_disk_is_warned_of_and_not_counted_to_its_end(home: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("obsidian_mcp.doctor.folders.NOT_MEANT_FOR", 0.0)
    checks = home.examine(Path("/"))
    assert "/ is the whole disk, not a vault" in checks["place"][0]["cause"]
    assert checks["place"][0]["remedy"] == "obsidian-mcp setup"
    assert checks["hosts"][0]["remedy"] == "obsidian-mcp setup"


def test_counting_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "A.md").write_text("", encoding="utf-8")
    times = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(times)))
    found = census.count(VaultRoot(str(tmp_path)), 3)
    assert (found.is_whole, found.notes) == (False, 2)


def test_a_vault_in_a_home_folder_that_is_one_too_is_no_mistake(home: Folders) -> None:
    home.make("", ".obsidian/")
    assert home.examine(home.make("Plain", "A.md"))["place"][0]["status"] == "ok"


def test_files_that_a_cloud_has_taken_away_are_named(home: Folders) -> None:
    vault = home.make("Nextcloud/V", ".obsidian/", "Here.md", "Sub/.Far.md.icloud", "Farther.md.nextcloud", ".x.icloud")
    checks = home.examine(vault)
    (found,) = checks["cloud"]
    assert found["status"] == "warn"
    assert found["cause"] == (
        "3 files are in Nextcloud and not on this machine, so they can't be read: Farther.md, Sub/Far.md, x."
    )
    assert checks["notes"][0]["cause"].startswith("3 notes")


def test_a_vault_in_a_cloud_that_is_all_here_is_fine_and_one_elsewhere_says_nothing(home: Folders) -> None:
    assert home.examine(home.make("Dropbox/V", ".obsidian/", "A.md"))["cloud"][0]["status"] == "ok"
    assert "cloud" not in home.examine(home.make("V", ".obsidian/", "A.md"))


CLOUDS = {
    "/Users/u/Library/Mobile Documents/iCloud~md~obsidian/Documents/V": "iCloud",
    "C:\\Users\\u\\OneDrive - Firm\\V": "OneDrive",
    "/Users/u/Library/CloudStorage/Dropbox/V": "Dropbox",
    "/Users/u/Library/CloudStorage/GoogleDrive-u@example.org/My Drive/V": "Google Drive",
    "/home/u/Notes": "",
}


@pytest.mark.parametrize(("path", "name"), CLOUDS.items())
def test_a_cloud_is_known_by_its_folder(path: str, name: str) -> None:
    assert cloud_of(path) == name


@pytest.mark.parametrize(
    ("status", "away"),
    [
        (SimpleNamespace(st_flags=0x40000000), True),
        (SimpleNamespace(st_flags=0x20), False),
        (SimpleNamespace(st_file_attributes=0x400020), True),
        (SimpleNamespace(st_file_attributes=0x20), False),
        (SimpleNamespace(), False),
    ],
)
def test_a_file_may_be_marked_as_away_by_the_system(status: object, away: bool) -> None:
    assert cloud.is_marked_away(status) is away


def test_remedies_are_in_the_words_of_each_system() -> None:
    assert downloaded("/Users/u/My Vault", "darwin") == "brctl download '/Users/u/My Vault'"
    assert downloaded("C:\\My Vault", "win32") == "attrib -U +P 'C:\\My Vault\\*' /S /D"
    assert opened_up(["/a b", "/c"], "rx", "linux") == "chmod u+rx '/a b' /c"
    assert opened_up(["C:\\a"], "rx", "win32") == 'icacls C:\\a /grant "${env:USERNAME}:F"'
    assert command_line("setup", "--vault", "C:\\it's", platform="win32") == "obsidian-mcp setup --vault 'C:\\it''s'"
    assert command_line("setup", "--vault", "/a b", platform="linux") == "obsidian-mcp setup --vault '/a b'"


def test_the_hosts_and_toolsets_of_this_vault_are_told_apart_from_others(home: Folders) -> None:
    one, two = home.make("One", ".obsidian/", "A.md"), home.make("Two", ".obsidian/", "A.md")
    home.run("install", "cursor", "--vault", str(one), "--read-only", "--toolsets", "notes,tasks")
    home.run("install", "zed", "--vault", str(two))
    checks = home.examine(one)
    assert [check["cause"] for check in checks["hosts"]] == ["Configured in Cursor.", f"For other vaults: Zed ({two})."]
    assert [check["cause"] for check in checks["toolsets"]] == [
        "Cursor offers the toolsets notes, tasks: 4 tools, read-only."
    ]
    other = home.make("Three", ".obsidian/", "A.md")
    (hosts,) = home.examine(other)["hosts"]
    assert hosts["status"] == "warn"
    assert f"for this vault; there is Cursor ({one}), Zed ({two})" in hosts["cause"]
    assert hosts["remedy"] == f"obsidian-mcp setup --vault {other}"


def test_an_entry_that_has_lost_its_vault_gets_this_one_and_keeps_its_options(home: Folders) -> None:
    old, new = home.make("Old", ".obsidian/"), home.make("New", ".obsidian/", "A.md")
    home.run("install", "cursor", "--vault", str(old), "--read-only")
    os.rename(old, home.folder / "Moved")
    (hosts,) = home.examine(new)["hosts"]
    assert hosts["remedy"] == f"obsidian-mcp install cursor --replace --vault {new} --read-only"
    assert home.run(*shlex.split(hosts["remedy"])[1:]).returncode == 0
    assert home.examine(new)["hosts"][0]["cause"] == "Configured in Cursor."


def test_a_command_that_has_moved_is_put_right_by_what_is_said(home: Folders) -> None:
    entry = {"command": "/gone/obsidian-mcp", "args": ["--vault", str(home.vault), "--read-only"]}
    home.put("cursor", json.dumps({"mcpServers": {"mine": entry}}))
    (hosts,) = home.examine(home.vault)["hosts"]
    assert hosts["remedy"] == "obsidian-mcp install cursor --name mine"
    assert home.run(*shlex.split(hosts["remedy"])[1:]).returncode == 0
    assert home.entry("cursor", "mine") == {**entry, "command": str(SCRIPT)}


def test_without_a_vault_the_remedy_is_setup(home: Folders) -> None:
    assert home.examine(None)["vault"][0]["remedy"] == "obsidian-mcp setup"


def test_where_a_shell_would_not_find_us_the_remedy_has_the_full_path(home: Folders, tmp_path: Path) -> None:
    (tmp_path / "obsidian-mcp").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "obsidian-mcp").chmod(0o755)
    for path in ("/usr/bin:/bin", str(tmp_path)):
        assert home.examine(None, PATH=path)["vault"][0]["remedy"] == f"{SCRIPT} setup"
