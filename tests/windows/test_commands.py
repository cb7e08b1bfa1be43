"""The commands for people, each a process that ends."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.support.client import PATIENCE
from tests.support.world import World
from tests.windows.making import windows_path
from tests.windows.plugin import MACHINE


def run(world: World, *words: str, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
    with MACHINE.program(world.environment(**more), words) as process:
        said = process.communicate(stdin, PATIENCE)
        return subprocess.CompletedProcess(words, process.returncode, *said)


@pytest.fixture
def embedded(own_world: World) -> tuple[str, ...]:
    return ("--vault", str(own_world.vault), "--backend", "embedded")


TEXT = "first\r\nsecond\nthird \N{SNOWMAN} 笔记 \N{ROCKET}\n"


def test_a_note_is_printed_as_it_is(own_world: World, embedded: tuple[str, ...]) -> None:
    own_world.put("Note.md", TEXT)
    done = run(own_world, "call", "read_note", "name=Note", *embedded)
    assert done.stdout.endswith(b"\n\n" + TEXT.encode())


def test_a_word_of_the_command_line_arrives_whole(own_world: World, embedded: tuple[str, ...]) -> None:
    word = 'a "quoted" word, ünï 笔记, 50 % & | < > ^, *.md, one \\ two \\\\" three\\'
    run(own_world, "call", "create_note", "name=Note", f"content={word}", *embedded)
    assert own_world.get("Note.md").decode() == word


def test_a_text_comes_from_stdin_byte_for_byte(own_world: World, embedded: tuple[str, ...]) -> None:
    run(own_world, "call", "create_note", "name=Note", "content=-", *embedded, stdin=TEXT.encode())
    assert own_world.get("Note.md") == TEXT.encode()


def test_install_writes_what_starts_the_server(own_world: World) -> None:
    done = run(own_world, "install", "cursor", "--vault", str(own_world.vault))
    assert done.returncode == 0, done.stderr
    (file,) = (own_world.folder / "home").rglob("mcp.json")
    entry = json.loads(file.read_bytes())["mcpServers"]["obsidian"]
    assert windows_path(own_world.vault) in entry["args"]


def test_the_doctor_finds_the_vault_and_obsidian_in_program_files(own_world: World) -> None:
    """By the environment that Windows gives, whose names Python writes in capitals."""
    programs = own_world.folder / "programs"
    (programs / "Obsidian").mkdir(parents=True)
    for file in own_world.command.parent.glob("Obsidian.*"):
        file.rename(programs / "Obsidian" / file.name)
    done = run(own_world, "doctor", "--vault", str(own_world.vault), ProgramFiles=str(programs))
    assert b"Traceback" not in done.stderr
    assert windows_path(own_world.vault).encode() in done.stdout
    assert windows_path(programs / "Obsidian" / "Obsidian.com").encode() in done.stdout
