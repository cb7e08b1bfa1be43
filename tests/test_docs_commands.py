"""Every command in README and docs/ is run as it is printed. Those that install something take minutes: `make
firsthour` runs them (tests/first_hour.py)."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import TOOLS, Server
from tests.support.foreign import reserved_port
from tests.support.pages import PAGES, README, ROOT, blocks, commands
from tests.support.reader import DRAFT, NOTES, Reader
from tests.test_docs import name

pytestmark = pytest.mark.timeout(600)  # a page has many commands, and each starts a process
IN_THE_FIRST_HOUR = ("uv ", "pipx ", ".venv/bin/")
READ = NOTES["Some note.md"].splitlines()[2]
# What must be in what a command prints; of the others it is enough that they succeed.
SHOWN = {
    "obsidian-mcp search": "Garden.md",
    "obsidian-mcp call read_note": READ,
    "obsidian-mcp tools": "obsidian_set_task",
    "obsidian-mcp setup": "Claude Desktop",
    "obsidian-mcp demo": "What the vault holds now",
    "obsidian-mcp history --web": "file://",
    "obsidian-mcp install --list": "claude-desktop",
    "obsidian-mcp doctor": "The tools would work",
    "obsidian-mcp ide": "notes",
    "obsidian-mcp mention": "Some note.md",
    "obsidian-mcp bridge": "obsidian_read_note",
    "curl -s http://127.0.0.1:3000/health": "vault",
    "curl -s http://127.0.0.1:3000/mcp": READ,
    "curl -s http://127.0.0.1:3000/bridge": READ,
}


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    with reserved_port() as port, Reader(tmp_path / "home", port) as reading:
        yield reading


def change(reader: Reader) -> None:
    """What an assistant has done before README is opened at undo."""
    for text in ("One.", "Two."):
        reader.follow(f'obsidian-mcp call append_note name="Some note" content="{text}" --vault ~/notes')


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_works_as_it_is_printed(page: Path, reader: Reader) -> None:
    if page == README:
        change(reader)
    for line in commands(page):
        if line.startswith("make "):
            subprocess.run(["make", "-n", *line.split()[1:]], cwd=ROOT, check=True, capture_output=True)
        elif not line.startswith(IN_THE_FIRST_HOUR):
            shown = reader.follow(line)
            assert [words for words in _expected(line) if words not in shown] == [], f"{line}: {shown}"


def _expected(line: str) -> list[str]:
    return [words for begin, words in SHOWN.items() if line.startswith(begin)]


def test_every_expectation_is_of_a_command_that_is_printed() -> None:
    printed = [line for page in PAGES for line in commands(page)]
    assert [begin for begin in SHOWN if not any(line.startswith(begin) for line in printed)] == []


def test_readme_undoes_what_was_changed_and_purges_what_was_kept(reader: Reader) -> None:
    change(reader)
    lines = list(commands(README))
    for line in (line for line in lines if line.startswith("obsidian-mcp undo")):
        reader.follow(line)
    assert (reader.notes / "Some note.md").read_text(encoding="utf-8") == NOTES["Some note.md"] + "One."
    reader.follow('obsidian-mcp search "garden" --vault ~/notes')
    kept = reader.home / ".local" / "state" / "obsidian-mcp"
    (index,) = kept.glob("*/index.sqlite")
    for line in (line for line in lines if "--purge" in line or "--forget" in line):
        reader.follow(line)
    assert not index.exists()
    assert json.loads(reader.follow("obsidian-mcp history --json --vault ~/notes"))["data"]["changes"] == []


def test_texts_come_from_a_file_and_from_stdin(reader: Reader) -> None:
    for line in commands(ROOT / "docs" / "tools.md"):
        if "append_note" in line:
            reader.follow(line)
    assert (reader.notes / "Some note.md").read_text(encoding="utf-8").endswith(f"{DRAFT}One more line\n")


def test_the_entry_for_any_other_program_starts_a_server(reader: Reader) -> None:
    entry = _entry(ROOT / "docs" / "hosts.md", reader)
    with Server(reader.environment, *entry["args"], command=[entry["command"]]) as server:
        listed = server.initialize().request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in listed] == TOOLS


def test_the_entry_for_the_bridge_starts_one(reader: Reader) -> None:
    entry = _entry(ROOT / "docs" / "bridge.md", reader)
    reader.follow("obsidian-mcp serve --vault ~/notes")
    with Server({**reader.environment, **entry["env"]}, command=[entry["command"]]) as server:
        listed = server.initialize().request("tools/list")["result"]["tools"]
    assert sorted(tool["name"] for tool in listed) == sorted(TOOLS)


def _entry(page: Path, reader: Reader) -> Any:
    (text,) = ["\n".join(each.lines) for each in blocks(page) if each.language == "json"]
    for printed, real in {
        "/full/path/to/obsidian-mcp": str(reader.programs / "obsidian-mcp"),
        "/full/path/to/notes": str(reader.notes),
        "3000": str(reader.port),
    }.items():
        text = text.replace(printed, real)
    return json.loads(text)["mcpServers"]["obsidian"]


def test_what_claude_code_is_told_to_start_starts(reader: Reader) -> None:
    (line,) = [line for line in commands(ROOT / "docs" / "hosts.md") if line.startswith("claude mcp add")]
    reader.follow(line)
    words = (reader.home / "claude.started").read_text(encoding="utf-8").splitlines()
    command, *arguments = words[words.index("--") + 1 :]
    with Server(reader.environment, *arguments, command=[command]) as server:
        server.initialize()
        assert READ in server.call("read_note", name="Some note")["content"]


# What a line for PowerShell may be; what is in it of ours is compared with what the program has.
POWERSHELL = re.compile(
    r"py -m venv \.venv"
    r"|\.venv\\Scripts\\python -m pip install -e \"\.\[dev\]\""
    r"|(?:\.venv\\Scripts\\)?obsidian-mcp (?P<command>[a-z]+)(?: --[a-z-]+(?: \$HOME\\notes)?)*"
    r"|\(Get-Command obsidian-mcp\)\.Source"
)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_lines_for_windows_name_what_those_for_other_systems_do(page: Path) -> None:
    others = "\n".join(commands(page))
    for line in (line for each in blocks(page) if each.language == "powershell" for line in each.lines):
        found = POWERSHELL.fullmatch(line)
        assert found, line
        if command := found["command"]:
            assert re.search(rf"^(?:\.venv/bin/)?(?:obsidian-mcp|make) {command}\b", others, re.MULTILINE), line
