"""Finding the command and the vaults. Other systems are simulated: only their places are checked here."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from obsidian_mcp import registry
from obsidian_mcp.backends.obsidian import discover, process
from obsidian_mcp.call import CallContext

WINDOWS = {
    "PATH": 'C:\\Windows;"D:\\My Apps\\Obsidian"',
    "LOCALAPPDATA": "C:\\Users\\me\\AppData\\Local",
    "APPDATA": "C:\\Users\\me\\AppData\\Roaming",
    "PROGRAMFILES": "C:\\Program Files",  # as os.environ has it there
}
MAC = {"PATH": "/usr/bin:/bin", "HOME": "/Users/me"}
LINUX = {"PATH": "/usr/bin", "HOME": "/home/me"}

PLACES: dict[str, tuple[dict[str, str], str, str]] = {
    "on Windows beside the app": (WINDOWS, "win32", "C:\\Users\\me\\AppData\\Local\\Programs\\Obsidian\\Obsidian.com"),
    "on Windows on PATH": (WINDOWS, "win32", "D:\\My Apps\\Obsidian\\Obsidian.com"),
    "on Windows for everybody": (WINDOWS, "win32", "C:\\Program Files\\Obsidian\\Obsidian.com"),
    "on macOS as registered": (MAC, "darwin", "/usr/local/bin/obsidian"),
    "on macOS in the app": (MAC, "darwin", "/Applications/Obsidian.app/Contents/MacOS/obsidian-cli"),
    "on macOS in one's own app": (MAC, "darwin", "/Users/me/Applications/Obsidian.app/Contents/MacOS/obsidian-cli"),
    "on macOS before 1.12.7": (MAC, "darwin", "/Applications/Obsidian.app/Contents/MacOS/Obsidian"),
    "on Linux as registered": (LINUX, "linux", "/home/me/.local/bin/obsidian"),
    "on Linux on PATH": (LINUX, "linux", "/usr/bin/obsidian"),
    "on Linux from Flatpak": (LINUX, "linux", "/var/lib/flatpak/exports/bin/md.obsidian.Obsidian"),
    "on Linux from Snap": (LINUX, "linux", "/snap/bin/obsidian"),
}


@pytest.mark.parametrize(("environ", "platform", "place"), PLACES.values(), ids=PLACES)
def test_the_command_is_found(environ: dict[str, str], platform: str, place: str) -> None:
    assert discover.find("", environ, platform, exists=lambda path: path == place) == place


def test_windows_never_runs_the_exe() -> None:
    assert not [place for place in discover.places(WINDOWS, "win32") if place.lower().endswith(".exe")]
    named = discover.find("C:\\Obsidian\\Obsidian.exe", WINDOWS, "win32", exists=lambda _: True)
    assert named == "C:\\Obsidian\\Obsidian.com"


def test_path_comes_first() -> None:
    places = discover.places({"PATH": "/a:/b", "HOME": "/home/me"}, "linux")
    assert places[:2] == ["/a/obsidian", "/b/obsidian"]


def test_a_command_that_was_named_is_used_or_nothing_is(tmp_path: Path) -> None:
    real = tmp_path / "obsidian"
    real.write_text("#!/bin/sh\n")
    assert discover.find(str(real), {"PATH": str(tmp_path)}) is None
    real.chmod(0o755)
    assert discover.find(str(real), {}) == str(real)
    assert discover.find(str(tmp_path / "other"), {"PATH": str(tmp_path)}) is None
    assert discover.find("", {"PATH": str(tmp_path)}) == str(real)


def test_an_empty_environment_is_no_reason_to_fail() -> None:
    for platform in ("linux", "darwin", "win32"):
        assert discover.find("", {}, platform, exists=lambda _: False) is None
        assert registry.registered({}, platform) == []


LISTS = {
    "macOS": (MAC, "darwin", "/Users/me/Library/Application Support/obsidian/obsidian.json"),
    "Windows": (WINDOWS, "win32", "C:\\Users\\me\\AppData\\Roaming\\obsidian\\obsidian.json"),
    "Linux": (LINUX, "linux", "/home/me/.config/obsidian/obsidian.json"),
    "Linux with XDG": ({**LINUX, "XDG_CONFIG_HOME": "/cfg"}, "linux", "/cfg/obsidian/obsidian.json"),
    "Flatpak": (LINUX, "linux", "/home/me/.var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json"),
}


@pytest.mark.parametrize(("environ", "platform", "place"), LISTS.values(), ids=LISTS)
def test_the_list_of_vaults_is_looked_for_where_obsidian_keeps_it(
    environ: dict[str, str], platform: str, place: str
) -> None:
    assert place in registry.places(environ, platform)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b'{"vaults":[]}',
        b'{"vaults":{"a":7}}',
        b'{"vaults":{"a":{"path":""}}}',
        b'{"vaults":{"a":{"path":"rel"}}}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_a_broken_list_counts_as_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "obsidian").mkdir()
    (tmp_path / "obsidian" / "obsidian.json").write_bytes(content)
    assert registry.registered({"XDG_CONFIG_HOME": str(tmp_path)}, "linux") == []


def test_a_vault_is_found_by_id_by_path_and_by_name(tmp_path: Path) -> None:
    (tmp_path / "obsidian").mkdir()
    (tmp_path / "My Vault").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "My Vault")
    entries: dict[str, object] = {
        "c" * 16: None,
        "a" * 16: {"path": str(tmp_path / "My Vault")},
        "b" * 16: {"path": "C:\\Vaults\\Other"},
    }
    (tmp_path / "obsidian" / "obsidian.json").write_text(json.dumps({"vaults": entries}))
    vaults = registry.registered({"XDG_CONFIG_HOME": str(tmp_path)}, "linux")
    for wanted in ("a" * 16, "My Vault", str(tmp_path / "My Vault") + "/", str(tmp_path / "link")):
        assert [vault.id for vault in registry.find(wanted, vaults, {})] == ["a" * 16]
    assert [vault.id for vault in registry.find("Other", vaults, {})] == ["b" * 16]
    assert registry.find("Nope", vaults, {}) == []


def test_no_thread_waits_for_a_pipe_that_something_else_holds_open(tmp_path: Path) -> None:
    """The command ends; what it started keeps the pipes, outside its group."""
    left = tmp_path / "pid"
    script = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        f"open({str(left)!r}, 'w').write(str(child.pid))\n"
        "print('done')\n"
    )
    before = set(threading.enumerate())
    try:
        output = process.run([sys.executable, "-c", script], dict(os.environ), CallContext(30), "testing")
        assert output.stdout == b"done\n"
        readers = set(threading.enumerate()) - before
        for reader in readers:
            reader.join(30)
        assert not any(reader.is_alive() for reader in readers)
    finally:
        os.kill(int(left.read_text()), signal.SIGKILL)


def test_words_for_windows_are_text_and_for_others_utf8() -> None:
    assert process._words(["é"], "win32") == ["é"]
    assert process._words(["é"], "linux") == [b"\xc3\xa9"]


def test_windows_gets_a_group_and_no_window() -> None:
    assert process._creation_flags("win32") == 0x08000200
    assert process._creation_flags("linux") == 0


class FakeChild:
    """A child that lives or is gone, in a job that can be ended or not."""

    def __init__(self, code: int | None, can_end: bool) -> None:
        self.code, self.can_end = code, can_end
        self.done: list[str] = []
        self.job = self

    def poll(self) -> int | None:
        return self.code

    def wait(self, _: float) -> int:
        return 0

    def kill(self) -> None:
        self.done.append("kill")

    def end(self) -> bool:
        self.done.append("end the job")
        return self.can_end

    def close(self) -> None:
        self.done.append("close the job")


ENDED = {
    "one that lives": (FakeChild(None, True), ["end the job", "close the job"]),
    "one whose job can't be ended": (FakeChild(None, False), ["end the job", "kill", "close the job"]),
    "one that has ended": (FakeChild(0, True), ["close the job"]),
}


@pytest.mark.parametrize(("child", "done"), ENDED.values(), ids=ENDED)
def test_a_child_on_windows_is_ended_with_its_job(child: FakeChild, done: list[str]) -> None:
    """By simulation; `make windows` does it."""
    process.end(child, "win32")  # type: ignore[arg-type]  # a child is made of what is asked of it
    assert child.done == done
