"""The commands for people."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from obsidian_mcp import __version__
from obsidian_mcp.cli.root import app
from tests.support.client import COMMAND, PATIENCE, READING, TOOLS, run
from tests.support.inside import run_inside
from tests.support.world import DOT, World

ROOT = Path(__file__).parents[2]


def test_tools_are_shown_as_a_table_and_as_json(own_world: World) -> None:
    table = run_inside(own_world.environment(COLUMNS="200"), "tools")
    assert table.returncode == 0
    assert all(name.encode() in table.stdout for name in TOOLS)
    listed = json.loads(run_inside(own_world.environment(), "tools", "--json").stdout)
    assert [tool["name"] for tool in listed] == TOOLS
    listed = json.loads(run_inside(own_world.environment(), "tools", "--json", "--read-only").stdout)
    assert [tool["name"] for tool in listed] == READING


def test_tools_are_shown_with_their_sets_and_bytes(own_world: World) -> None:
    shown = run_inside(own_world.environment(COLUMNS="200"), "tools", "--toolsets", "notes").stdout.decode()
    sets = [line.split()[:3] for line in shown.splitlines() if line.startswith(("notes ", "find "))]
    assert sets == [["notes", "yes", "9"], ["find", "no", "5"]]


def test_a_search_is_readable_and_as_json(own_world: World) -> None:
    own_world.put("Garden.md", "# Beds\n\nRaised beds \x1b[31mkeep warm.\n")
    options = ("--vault", str(own_world.vault), "--backend", "embedded")
    done = run_inside(own_world.environment(), "search", "raised flumphery", *options)
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert [line.strip() for line in shown.splitlines()][:3] == [
        "Garden.md",
        "3  Beds",
        "Raised beds \\x1b[31mkeep warm.",
    ]
    assert "1 note; found nowhere: flumphery" in shown
    done = run_inside(own_world.environment(), "search", "raised", "--json", *options)
    assert json.loads(done.stdout)["data"]["total"] == 1
    assert run_inside(own_world.environment(), "search", "[raised", *options).returncode == 2


def test_an_index_is_made_rebuilt_and_forgotten(own_world: World) -> None:
    own_world.put("Garden.md", "Raised beds.\n")
    options = ("--vault", str(own_world.vault), "--backend", "embedded")
    for flags in ((), ("--rebuild",)):
        done = run_inside(own_world.environment(), "index", *flags, *options)
        assert (done.returncode, b"1 notes and canvases" in done.stdout) == (0, True)
        assert list((own_world.folder / "home").rglob("index.sqlite"))
    assert run_inside(own_world.environment(), "index", "--forget", *options).returncode == 0
    assert not list((own_world.folder / "home").rglob("index.sqlite*"))
    assert run_inside(own_world.environment(), "index", "--forget", "--rebuild", *options).returncode == 2


def test_a_call_is_readable_and_exits_with_zero(own_world: World) -> None:
    own_world.put("Note.md", "# Hello\n")
    done = run_inside(
        own_world.environment(), "call", "obsidian_read_note", "name=Note", "start_line=1", "--vault", "Vault"
    )
    assert done.returncode == 0
    assert done.stdout.decode().endswith("# Hello\n")
    assert b"path:" in done.stdout
    assert done.stderr == b""


def test_an_image_is_told_of_and_written_where_it_is_wanted(own_world: World, tmp_path: Path) -> None:
    own_world.put("dot.png", DOT)
    own_world.put("Note.md", "![[dot.png]] ![[b.png]]")
    own_world.put("b.png", DOT)

    def view(name: str, *more: str) -> tuple[int, str]:
        words = ("call", "view_file", f"name={name}", "--vault", str(own_world.vault), "--backend", "embedded", *more)
        done = run_inside(own_world.environment(), *words)
        return done.returncode, (done.stdout or done.stderr).decode()

    code, shown = view("dot.png")
    assert (code, shown.splitlines()[-1]) == (
        0,
        f"image:         image/png, {len(DOT)} bytes; to see it: --output FILE",
    )
    one = tmp_path / "one.png"
    code, shown = view("Note", "--output", str(one))
    assert (code, one.read_bytes(), (tmp_path / "one-2.png").read_bytes()) == (0, DOT, DOT)
    assert f"written to {one}" in shown
    assert view("dot.png", "--output", str(one))[0] == 2
    two = str(tmp_path / "two.png")
    assert json.loads(view("dot.png", "--json", "--output", two)[1])["files"] == [two]
    assert json.loads(view("dot.png", "--json")[1])["content"][0]["mimeType"] == "image/png"


def test_a_text_that_is_viewed_is_printed_after_the_rest(own_world: World, tmp_path: Path) -> None:
    own_world.put("a.svg", "<svg>\n</svg>\n")
    words = ("call", "view_file", "name=a.svg", "--vault", str(own_world.vault), "--backend", "embedded")
    assert run_inside(own_world.environment(), *words).stdout.endswith(b"\n\n<svg>\n</svg>\n")
    done = run_inside(own_world.environment(), *words, "--output", str(tmp_path / "x"))
    assert (done.returncode, (tmp_path / "x").exists()) == (2, False)


def test_a_person_may_call_any_tool_unless_others_were_chosen(own_world: World) -> None:
    own_world.put("Note.md", "- [ ] x")
    words = ("call", "list_tasks", "--vault", str(own_world.vault), "--backend", "embedded")
    assert run_inside(own_world.environment(), *words).returncode == 0
    assert run_inside(own_world.environment(), *words, "--toolsets", "notes").returncode == 2


def test_a_text_comes_from_a_file_or_from_stdin(own_world: World, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_bytes(b"one\r\ntwo")
    options = ("--vault", str(own_world.vault), "--backend", "embedded")
    words = ("call", "create_note", "name=A")
    environment = own_world.environment()
    assert run_inside(environment, *words, f"content=@{tmp_path / 'text.md'}", *options).returncode == 0
    assert own_world.get("A.md") == b"one\r\ntwo"
    done = subprocess.run(
        [*COMMAND, "call", "edit_note", "name=A", "old_text=one", "new_text=-", *options],
        env=environment,
        input="é\n".encode(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert own_world.get("A.md") == "é\r\n\r\ntwo".encode()
    assert run_inside(environment, "call", "append_note", "name=A", "content=@@x", *options).returncode == 0
    assert own_world.get("A.md").endswith(b"\n@x")
    assert run_inside(environment, "call", "append_note", "name=A", "content=@none", *options).returncode == 2


def test_options_may_stand_before_the_command_too(own_world: World) -> None:
    own_world.put("Note.md", "x")
    done = run_inside(own_world.environment(), "--vault", "Vault", "call", "read_note", "name=Note", "--json")
    assert json.loads(done.stdout)["data"]["content"] == "x"


def test_a_terminal_takes_longer_pages_than_a_model(own_world: World) -> None:
    own_world.put("Note.md", "word\n" * 20_000)
    done = run_inside(own_world.environment(), "call", "read_note", "name=Note", "--vault", "Vault", "--json")
    assert json.loads(done.stdout)["data"]["content"] == "word\n" * 20_000


def test_values_are_typed_by_the_tools_schema(own_world: World) -> None:
    environment = own_world.environment()
    assert run_inside(environment, "call", "create_note", "name=A", "content=a=b\nc", "overwrite=true").returncode == 0
    assert own_world.get("A.md") == b"a=b\nc"
    assert run_inside(environment, "call", "delete_note", "name=A", "permanent=yes").returncode == 0
    assert run_inside(environment, "call", "create_note", "name=A", "overwrite=maybe").returncode == 2


@pytest.mark.parametrize(
    "words",
    [
        ("tools",),
        ("call", "read_note", "name=Note"),
        ("call", "read_note", "name=Nope"),
        ("call", "read_note", "name=Nope", "--json"),
        ("mention", "Note"),
        ("demo", "--help"),
        ("--version",),
        ("fly",),
    ],
)
def test_a_process_of_its_own_says_the_same(own_world: World, words: tuple[str, ...]) -> None:
    """The other tests of commands start none."""
    own_world.put("Note.md", "# $\\nabla$ é\n")
    inside, outside = (each(own_world.environment(), *words) for each in (run_inside, run))
    assert (outside.returncode, outside.stdout, outside.stderr) == (inside.returncode, inside.stdout, inside.stderr)


FAILURES = {
    "a missing note": (("read_note", "name=Nope"), 5),
    "an ambiguous name": (("read_note", "name=Twin"), 6),
    "an existing note": (("create_note", "name=Note", "content=x"), 1),
    "a bad path": (("read_note", "name=../x"), 2),
    "a bad argument": (("read_note", "nam=x"), 2),
    "no key": (("read_note", "Note"), 2),
    "an unknown tool": (("fly",), 2),
    "an unknown vault": (("read_note", "name=Note", "--vault", "/nope"), 4),
    "an argument given twice": (("read_note", "name=Note", "name=Other"), 2),
    "no executable": (("read_note", "name=Note", "--obsidian-bin", "/nope"), 3),
}


@pytest.mark.parametrize(("words", "code"), FAILURES.values(), ids=FAILURES)
def test_a_failed_call_says_why_and_exits_with_its_code(own_world: World, words: tuple[str, ...], code: int) -> None:
    for path in ("Note.md", "A/Twin.md", "B/Twin.md"):
        own_world.put(path, "x")
    done = run_inside(own_world.environment(), "call", *words)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.startswith(b"obsidian-mcp: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(("mood", "code", "limit"), [("not-running", 3, "60"), ("denied", 7, "60"), ("hang", 8, "0.2")])
def test_the_exit_code_tells_the_kind_of_failure(own_world: World, mood: str, code: int, limit: str) -> None:
    own_world.mood(mood)
    done = run_inside(own_world.environment(), "call", "create_note", "name=N", "content=x", "--timeout", limit)
    assert done.returncode == code


def test_a_command_that_is_ended_takes_its_child_with_it(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("hang")
    command = [*COMMAND, "call", "read_note", "name=Note", "--timeout", "600", "--log-level", "debug"]
    with subprocess.Popen(command, env=own_world.environment(), stderr=subprocess.PIPE) as process:
        own_world.wait_for_a_hanging_call()
        process.terminate()
        assert process.wait(PATIENCE) == 143
    own_world.wait_until_all_are_gone()


BAD_LINES = {
    "an unknown option": ("--bogus",),
    "an unknown option of a command": ("tools", "--bogus"),
    "an unknown command": ("fly",),
    "a command without its argument": ("call",),
    "a bad value": ("--backend", "cloud"),
    "a bad value behind a command": ("tools", "--timeout", "soon"),
    "a value that is missing": ("--vault",),
}


@pytest.mark.parametrize("argv", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_command_line_is_one_line_and_exit_2(own_world: World, argv: tuple[str, ...]) -> None:
    done = run_inside(own_world.environment(), *argv)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"obsidian-mcp: ")
    assert done.stderr.count(b"\n") == 1


def test_without_a_vault_the_only_one_is_meant(own_world: World) -> None:
    own_world.put("Note.md", "x")
    assert run_inside(own_world.environment(), "call", "read_note", "name=Note").returncode == 0


def test_without_a_vault_the_only_open_one_is_meant(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.register({"0" * 16: own_world.outside, "1" * 16: own_world.vault}, opened="1" * 16)
    assert run_inside(own_world.environment(), "call", "read_note", "name=Note").returncode == 0


def test_without_a_vault_and_several_to_choose_from_they_are_listed(own_world: World) -> None:
    own_world.register({"0" * 16: own_world.outside, "1" * 16: own_world.vault}, opened="none")
    done = run_inside(own_world.environment(), "call", "read_note", "name=Note")
    assert (done.returncode, done.stdout) == (2, b"")
    assert str(own_world.vault).encode() in done.stderr
    assert b"0" * 16 in done.stderr
    own_world.register({})
    assert run_inside(own_world.environment(), "call", "read_note", "name=Note").returncode == 2


def test_the_version_is_one_everywhere(own_world: World) -> None:
    for word in ("--version", "version"):
        assert run_inside(own_world.environment(), word).stdout.decode() == f"obsidian-mcp {__version__}\n"
    manifest = json.loads((ROOT / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


COMMANDS = [
    (),
    *((command.name or command.callback.__name__,) for command in app.registered_commands if command.callback),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command) or "itself")
def test_every_help_has_an_example(own_world: World, command: tuple[str, ...]) -> None:
    done = run_inside(own_world.environment(), *command, "--help")
    assert done.returncode == 0
    assert b"Example: obsidian-mcp" in done.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command) or "itself")
def test_help_is_a_command_too(own_world: World, command: tuple[str, ...]) -> None:
    told, asked = (run_inside(own_world.environment(), *words) for words in (("help", *command), (*command, "--help")))
    assert (told.returncode, told.stdout) == (0, asked.stdout)


def test_help_for_a_command_that_is_none_is_one_line(own_world: World) -> None:
    done = run_inside(own_world.environment(), "help", "fly")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert b"'fly'" in done.stderr


def test_it_runs_as_a_module(own_world: World) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "obsidian_mcp", "version"],
        env=own_world.environment(),
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout.decode() == f"obsidian-mcp {__version__}\n"


def test_a_name_that_means_nothing_is_warned_of(own_world: World) -> None:
    own_world.put("Note.md", "x")
    environment = own_world.environment(OBSIDIAN_MCP_TIMOUT="3")
    done = run_inside(environment, "call", "read_note", "name=Note", "--timeout-for", "raed_note=3")
    assert done.returncode == 0
    lines = done.stderr.decode().splitlines()
    assert [line.rpartition("; ")[2] for line in lines] == [
        "did you mean OBSIDIAN_MCP_TIMEOUT?",
        "did you mean obsidian_read_note?",
    ]


@pytest.mark.parametrize("command", ["serve", "bridge"])
@pytest.mark.parametrize("token", ["", "  "])
def test_an_empty_token_is_refused(own_world: World, command: str, token: str) -> None:
    done = run_inside(own_world.environment(), command, "--token", token)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert done.stderr.startswith(b"obsidian-mcp: --token is empty")


def test_a_server_that_cannot_begin_says_why_and_nothing_else(own_world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run_inside(own_world.environment(), "serve", "--vault", "Vault", "--port", port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"obsidian-mcp: 127.0.0.1 port {port} cannot be used: ".encode())
    assert done.stderr.count(b"\n") == 1
    done = run_inside(own_world.environment(), "ide", "--vault", str(own_world.folder / "nowhere"))
    assert done.returncode == 2
    assert done.stderr.startswith(b"obsidian-mcp: there is no vault ")
    assert done.stderr.count(b"\n") == 1


def test_the_demo_shows_the_main_job(own_world: World) -> None:
    done = run_inside(own_world.environment(), "demo")
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert "\\\\nabla \\\\times" in shown
    assert shown.count("✓") == 9
    assert shown.count("✗") == 4
    assert "+ - Plant a garden: [[Old roses|some roses]]" in shown
    assert own_world.tree() == {}


def test_the_bundles_entry_serves_too(own_world: World) -> None:
    request = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run(
        [sys.executable, str(ROOT / "server" / "main.py")],
        env=own_world.environment(OBSIDIAN_MCP_VAULT="Vault", OBSIDIAN_MCP_BACKEND="${user_config.backend}"),
        input=request,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_output_that_nobody_reads_any_more_is_no_trouble(own_world: World) -> None:
    own_world.put("Note.md", "x")
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        [*COMMAND, "call", "read_note", "name=Note"],
        env=own_world.environment(),
        stdout=writes,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (1, b"")
