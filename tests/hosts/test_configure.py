"""`install` and `uninstall`, on hosts' real files in an empty home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.hosts import configure as configuring
from obsidian_mcp.hosts.known import BY_NAME, HOSTS, is_ours
from tests.support.client import PATIENCE
from tests.support.inside import run_inside
from tests.support.world import SERVER

SCRIPT = Path(sys.executable).with_name("obsidian-mcp")
FILES = {
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": ".config/zed/settings.json",
}
SECTIONS = {"vscode": "servers", "zed": "context_servers"}


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


class Home:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.vault = folder / "notes"
        self.vault.mkdir()

    def environment(self, **more: str) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(SERVER), **more}

    def run(self, *words: str, **more: str) -> Done:
        done = run_inside(self.environment(**more), *words, cwd=self.folder, program=str(SCRIPT))
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *words: str, cwd: Path | None = None, stdin: bytes = b"") -> Done:
        """The same in a process of its own."""
        done = subprocess.run(
            words, env=self.environment(), cwd=cwd or self.folder, input=stdin, capture_output=True, timeout=PATIENCE
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def file(self, host: str) -> Path:
        return self.folder / FILES[host]

    def put(self, host: str, text: str) -> Path:
        file = self.file(host)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def entry(self, host: str, name: str = "obsidian") -> dict[str, Any] | None:
        whole = json.loads(self.file(host).read_text(encoding="utf-8"))
        found: dict[str, Any] | None = whole[SECTIONS.get(host, "mcpServers")].get(name)
        return found

    def everything(self) -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in self.folder.rglob("*") if file.is_file()}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize("host", FILES)
def test_every_host_gets_an_entry_that_starts_us_from_anywhere(home: Home, host: str) -> None:
    done = home.run("install", host, "--vault", "notes", "--read-only")
    assert done.returncode == 0, done.stderr
    entry = home.entry(host)
    assert entry is not None
    assert entry["command"] == str(SCRIPT)
    assert entry["args"] == ["--errors", "result", "--vault", str(home.vault), "--read-only"]
    assert is_ours(entry)
    assert "Next: " in done.stdout


def test_what_is_installed_starts_us_and_a_process_of_its_own_says_the_same(home: Home) -> None:
    words = ("install", "cursor", "--vault", "notes", "--read-only")
    done = home.start(str(SCRIPT), *words)
    entry = home.entry("cursor")
    assert entry is not None
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    started = home.start(entry["command"], *entry["args"], cwd=Path("/"), stdin=ping)
    assert json.loads(started.stdout)["result"] == {}
    assert home.start(str(SCRIPT), "uninstall", "cursor").returncode == 0
    assert home.run(*words) == done


@pytest.mark.parametrize("host", FILES)
def test_installing_twice_changes_nothing_and_uninstalling_takes_it_back(home: Home, host: str) -> None:
    section = SECTIONS.get(host, "mcpServers")
    before = json.dumps({section: {"other": {"command": "x"}}, "z": 1}, indent=2) + "\n"
    home.put(host, before)
    assert home.run("install", host, "--vault", "notes").returncode == 0
    once = home.everything()
    again = home.run("install", host, "--vault", "notes")
    assert "Nothing was changed" in again.stdout
    assert home.everything() == once
    assert home.run("uninstall", host).returncode == 0
    assert home.file(host).read_text(encoding="utf-8") == before
    assert "Nothing was changed" in home.run("uninstall", host).stdout


def test_a_dry_run_shows_the_difference_and_writes_nothing(home: Home) -> None:
    home.put("cursor", '{"mcpServers": {"other": {"env": {"KEY": "secret"}}}}')
    before = home.everything()
    done = home.run("install", "cursor", "--vault", "notes", "--dry-run")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Would change {home.file('cursor')}:")
    assert "+" in done.stdout
    assert home.everything() == before


def test_what_stands_beside_our_entry_is_not_shown(home: Home) -> None:
    home.put("claude-code", json.dumps({"mcpServers": {"other": {"env": {"KEY": "secret"}}}}, indent=2))
    assert "secret" not in home.run("install", "claude-code", "--vault", "notes").stdout


def test_a_private_file_and_its_backup_stay_private_and_a_link_stays_one(home: Home) -> None:
    real = home.folder / "dotfiles.json"
    real.write_text('{"a": 1}', encoding="utf-8")
    real.chmod(0o600)
    home.file("claude-code").symlink_to(real)
    assert home.run("install", "claude-code", "--vault", "notes").returncode == 0
    assert home.file("claude-code").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    (backup,) = home.folder.glob("dotfiles.json.*.bak")
    assert backup.read_text(encoding="utf-8") == '{"a": 1}'
    assert backup.stat().st_mode & 0o777 == 0o600
    assert home.entry("claude-code") is not None


@pytest.mark.parametrize("text", ["{", "// x\n{}", '{"mcpServers": []}', "\ud800"])
def test_a_broken_file_is_reported_and_never_overwritten(home: Home, text: str) -> None:
    file = home.put("claude-desktop", "")
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    before = home.everything()
    for words in (("install", "claude-desktop", "--vault", "notes"), ("uninstall", "claude-desktop")):
        done = home.run(*words)
        assert done.returncode == 1
        assert str(file) in done.stderr
        assert "is broken" in done.stderr
    assert home.everything() == before
    assert "is broken" in " ".join(home.run("install", "--list").stdout.split())


def test_another_server_of_our_name_is_left_alone(home: Home) -> None:
    rival = '{"mcpServers": {"obsidian": {"command": "npx", "args": ["-y", "obsidian-mcp", "/vault"]}}}'
    home.put("cursor", rival)
    for words in (("install", "cursor", "--vault", "notes"), ("uninstall", "cursor")):
        assert home.run(*words).returncode == 1
    assert home.file("cursor").read_text(encoding="utf-8") == rival
    assert home.run("install", "cursor", "--vault", "notes", "--name", "notes").returncode == 0
    assert home.entry("cursor", "notes") is not None
    listed = home.run("install", "--list", COLUMNS="200").stdout
    assert "notes" in next(line for line in listed.splitlines() if line.startswith("cursor"))


def test_without_options_an_entry_keeps_those_it_has(home: Home) -> None:
    """As the doctor advises where the command has moved."""
    entry = {"command": "/old/venv/bin/obsidian-mcp", "args": ["--vault", str(home.vault), "--read-only"]}
    home.put("cursor", json.dumps({"mcpServers": {"obsidian": entry}}))
    assert home.run("install", "cursor").returncode == 0
    assert home.entry("cursor") == {**entry, "command": str(SCRIPT)}


def test_a_second_vault_is_added_and_the_first_stays_the_default(home: Home) -> None:
    (home.folder / "work").mkdir()
    home.run("install", "cursor", "--vault", "notes", "--read-only")
    done = home.run("install", "cursor", "--vault", "work", "--timeout", "9")
    entry = home.entry("cursor")
    assert entry is not None
    vaults = ["--vault", str(home.vault), "--vault", str(home.folder / "work")]
    assert entry["args"] == ["--errors", "result", *vaults, "--timeout", "9", "--read-only"]
    assert f"Cursor keeps the vault {home.vault}, --read-only; with --replace it would not." in done.stdout
    assert f'+        "{home.folder / "work"}"' in done.stdout
    assert "Nothing was changed" in home.run("install", "cursor", "--vault", "work").stdout


def test_a_vault_that_is_replaced_takes_its_options_with_it(home: Home) -> None:
    (home.folder / "work").mkdir()
    home.run("install", "cursor", "--vault", "notes", "--read-only")
    done = home.run("install", "cursor", "--vault", "work", "--replace")
    entry = home.entry("cursor")
    assert entry is not None
    assert entry["args"] == ["--errors", "result", "--vault", str(home.folder / "work")]
    assert "keeps" not in done.stdout
    assert home.run("install", "cursor", "--replace").returncode == 2


def test_one_vault_under_two_names_is_one(home: Home) -> None:
    (home.folder / "link").symlink_to(home.vault)
    home.run("install", "cursor", "--vault", "notes")
    assert "Nothing was changed" in home.run("install", "cursor", "--vault", "link").stdout


def test_an_option_alone_changes_the_entry_that_is_there(home: Home) -> None:
    home.run("install", "cursor", "--vault", "notes")
    for words, wanted in ((("--read-only",), ["--read-only"]), (("--read-only=false",), [])):
        assert home.run(*words, "install", "cursor").returncode == 0
        entry = home.entry("cursor")
        assert entry is not None
        assert entry["args"] == ["--errors", "result", "--vault", str(home.vault), *wanted]


def test_a_vault_in_an_entrys_environment_stays_when_another_is_added(home: Home) -> None:
    (home.folder / "work").mkdir()
    entry = {"command": str(SCRIPT), "args": [], "env": {"OBSIDIAN_MCP_VAULT": str(home.vault)}}
    home.put("cursor", json.dumps({"mcpServers": {"obsidian": entry}}))
    home.run("install", "cursor", "--vault", "work")
    found = home.entry("cursor")
    assert found is not None
    assert found["args"] == ["--vault", str(home.vault), "--vault", str(home.folder / "work")]


def test_arguments_that_start_no_server_are_replaced(home: Home) -> None:
    for args in (["demo"], ["--valut", "x"], "--vault"):
        home.put("cursor", json.dumps({"mcpServers": {"obsidian": {"command": str(SCRIPT), "args": args}}}))
        assert home.run("install", "cursor", "--vault", "notes").returncode == 0
        entry = home.entry("cursor")
        assert entry is not None
        assert entry["args"] == ["--errors", "result", "--vault", str(home.vault)]


def test_options_from_the_environment_become_part_of_the_entry(home: Home) -> None:
    done = home.run(
        "--read-only=TRUE", "install", "cursor", OBSIDIAN_MCP_VAULT="notes", OBSIDIAN_MCP_BACKEND="embedded"
    )
    assert done.returncode == 0
    entry = home.entry("cursor")
    assert entry is not None
    assert entry["args"] == ["--errors", "result", "--vault", str(home.vault), "--backend", "embedded", "--read-only"]


@pytest.mark.parametrize("words", [("--errors", "rpc"), ("--errors=rpc",)])
def test_failures_are_sent_as_results_unless_asked_otherwise(home: Home, words: tuple[str, ...]) -> None:
    assert home.run("install", "cursor", "--vault", "notes", *words).returncode == 0
    entry = home.entry("cursor")
    assert entry is not None
    assert entry["args"] == ["--vault", str(home.vault), "--errors", "rpc"]


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {"other": {"env": {"KEY": "secret"}}}}',
        '{\n  "apiKey": "secret"\n}',
        '{\n  "mcpServers": {\n    "other": {"KEY": "secret"}\n  }\n}',
    ],
)
def test_no_layout_makes_it_show_what_stands_beside(home: Home, text: str) -> None:
    home.put("cursor", text)
    for words in (("install", "cursor", "--vault", "notes"), ("uninstall", "cursor")):
        done = home.run(*words)
        assert done.returncode == 0
        assert "secret" not in done.stdout
        assert "obsidian" in done.stdout


def test_comments_in_our_own_entry_stay(home: Home) -> None:
    home.run("install", "cursor", "--vault", "notes")
    file = home.file("cursor")
    text = file.read_text(encoding="utf-8").replace(
        '"args": [', '// mine\n      "env": {}, /* keep */\n      "args": ['
    )
    file.write_text(text, encoding="utf-8")
    assert home.run("install", "cursor", "--vault", "notes", "--read-only").returncode == 0
    after = file.read_text(encoding="utf-8")
    assert "// mine" in after
    assert "/* keep */" in after
    assert "--read-only" in after


def test_a_rivals_program_of_our_name_is_left_alone(home: Home) -> None:
    real = home.folder / "lib/node_modules/obsidian-mcp/cli.js"
    real.parent.mkdir(parents=True)
    real.write_text("#!/bin/sh\n")
    link = home.folder / "obsidian-mcp"
    link.symlink_to(real)
    for command in (real, link):
        text = json.dumps({"mcpServers": {"obsidian": {"command": str(command), "args": ["/vault"]}}})
        home.put("cursor", text)
        assert home.run("install", "cursor", "--vault", "notes").returncode == 1
        assert home.file("cursor").read_text(encoding="utf-8") == text


def test_a_read_only_file_is_left_as_it_is(home: Home) -> None:
    file = home.put("cursor", "{}")
    file.chmod(0o444)
    done = home.run("install", "cursor", "--vault", "notes")
    assert done.returncode == 1
    assert "read-only" in done.stderr
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]


def test_a_file_that_changes_meanwhile_is_not_overwritten_and_nothing_is_left(home: Home) -> None:
    file = home.put("cursor", "{}")
    change = configuring.installing(BY_NAME["cursor"], {"HOME": str(home.folder)}, "obsidian", ["/x/obsidian-mcp"], [])
    file.write_text('{"changed": 1}', encoding="utf-8")
    with pytest.raises(configuring.HostProblem, match="meanwhile"):
        configuring.carry_out(change)
    assert file.read_text(encoding="utf-8") == '{"changed": 1}'
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]


def test_a_failed_write_leaves_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    file = home.put("cursor", "{}")
    change = configuring.installing(BY_NAME["cursor"], {"HOME": str(home.folder)}, "obsidian", ["/x/obsidian-mcp"], [])
    for name in ("replace", "fsync"):
        monkeypatch.setattr(os, name, refuse)
        with pytest.raises(configuring.HostProblem, match="It is as it was"):
            configuring.carry_out(change)
        monkeypatch.undo()
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]
    assert file.read_text(encoding="utf-8") == "{}"


def test_a_new_file_is_private(home: Home) -> None:
    home.run("install", "claude-code", "--vault", "notes")
    assert home.file("claude-code").stat().st_mode & 0o777 == 0o600


def test_an_entry_under_another_name_is_named(home: Home) -> None:
    home.run("install", "cursor", "--vault", "notes", "--name", "one")
    done = home.run("uninstall", "cursor")
    assert done.returncode == 1
    assert "Ours there: one" in done.stderr
    assert home.run("uninstall", "cursor", "--name", "one").returncode == 0


def test_a_host_that_is_not_there_is_mentioned(home: Home) -> None:
    assert "does not seem to be installed" in home.run("install", "zed", "--vault", "notes").stdout
    assert "does not seem to be installed" not in home.run("install", "zed", "--vault", "notes").stdout


def test_what_the_user_added_to_our_entry_stays(home: Home) -> None:
    home.run("install", "windsurf", "--vault", "notes")
    file = home.file("windsurf")
    whole = json.loads(file.read_text(encoding="utf-8"))
    whole["mcpServers"]["obsidian"]["env"] = {"OBSIDIAN_MCP_TIMEOUT": "5"}
    file.write_text(json.dumps(whole), encoding="utf-8")
    assert home.run("install", "windsurf", "--vault", "notes", "--read-only").returncode == 0
    entry = home.entry("windsurf")
    assert entry is not None
    assert entry["env"] == {"OBSIDIAN_MCP_TIMEOUT": "5"}
    assert entry["args"][-1] == "--read-only"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("install", "cursor"), "no vault was named"),
        (("install", "cursor", "--vault", "nope"), "there is no vault 'nope'"),
        (("install", "cursor", "--vault", "/nope"), "there is no vault '/nope'"),
        (("install", "emacs", "--vault", "notes"), "name a host"),
        (("install",), "name a host"),
        (("install", "cursor", "--vault", "notes", "--timeout", "soon"), "--timeout must be"),
        (("install", "cursor", "--vault", "notes", "--timeout-for", "fly=3"), "there is no tool"),
        (("install", "cursor", "--vault", "notes", "--name", ""), "--name must be"),
    ],
)
def test_what_could_not_work_is_not_installed(home: Home, words: tuple[str, ...], why: str) -> None:
    done = home.run(*words)
    assert done.returncode == 2
    assert why in done.stderr
    assert home.everything() == {}


def test_a_file_that_may_not_be_read_is_reported(home: Home) -> None:
    home.file("cursor").mkdir(parents=True)
    done = home.run("install", "cursor", "--vault", "notes")
    assert done.returncode == 1
    assert "could not be read" in done.stderr


def test_the_list_says_what_is_where(home: Home) -> None:
    (home.folder / ".codeium/windsurf").mkdir(parents=True)
    home.run("install", "zed", "--vault", "notes")
    rows = {line.split()[0]: line for line in home.run("install", "--list", COLUMNS="300").stdout.splitlines()}
    assert "obsidian" in rows["zed"]
    assert "not configured" in rows["windsurf"]
    assert "host not found" in rows["cursor"]
    assert str(home.file("cursor")) in rows["cursor"]


WINDOWS = {"USERPROFILE": "C:\\Users\\u", "APPDATA": "C:\\Users\\u\\AppData\\Roaming"}
PLACES = [
    ("claude-desktop", "darwin", {"HOME": "/h"}, "/h/Library/Application Support/Claude/claude_desktop_config.json"),
    ("claude-desktop", "win32", WINDOWS, "C:\\Users\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json"),
    ("claude-desktop", "linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/Claude/claude_desktop_config.json"),
    ("claude-code", "darwin", {"HOME": "/h"}, "/h/.claude.json"),
    ("claude-code", "win32", WINDOWS, "C:\\Users\\u\\.claude.json"),
    ("claude-code", "linux", {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
    ("cursor", "win32", WINDOWS, "C:\\Users\\u\\.cursor\\mcp.json"),
    ("vscode", "darwin", {"HOME": "/h"}, "/h/Library/Application Support/Code/User/mcp.json"),
    ("vscode", "win32", WINDOWS, "C:\\Users\\u\\AppData\\Roaming\\Code\\User\\mcp.json"),
    ("windsurf", "win32", WINDOWS, "C:\\Users\\u\\.codeium\\windsurf\\mcp_config.json"),
    ("zed", "darwin", {"HOME": "/h"}, "/h/.config/zed/settings.json"),
    ("zed", "win32", WINDOWS, "C:\\Users\\u\\AppData\\Roaming\\Zed\\settings.json"),
]


@pytest.mark.parametrize(("host", "platform", "environ", "file"), PLACES)
def test_each_system_has_its_places(host: str, platform: str, environ: dict[str, str], file: str) -> None:
    assert BY_NAME[host].file(environ, platform) == file


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_an_empty_environment_names_no_place(platform: str) -> None:
    assert [host.file({}, platform) for host in HOSTS] == [None] * len(HOSTS)


def test_completion_offers_commands_and_hosts(home: Home) -> None:
    for line, offered in (("obsidian-mcp inst", "install"), ("obsidian-mcp install cur", "cursor")):
        words = line.split(" ")
        done = home.run(_OBSIDIAN_MCP_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
        assert done.stdout.split() == [offered]
    for shell in ("bash", "zsh", "fish"):
        done = home.run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
        assert "obsidian-mcp" in done.stdout


def test_without_a_terminal_nothing_is_coloured(home: Home) -> None:
    assert "\x1b" not in home.run("install", "cursor", "--vault", "notes").stdout
    assert os.linesep in home.run("install", "--list").stdout
