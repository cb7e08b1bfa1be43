"""README, followed in an empty home: the bundle, `uv`, `pipx`, `make`, then the upgrade and the removal.

    make firsthour

On the commands as they are printed, in a copy of this tree. It takes minutes and needs PyPI, so it is not one of the
tests of `make test`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.client import Server
from tests.support.pages import PAGES, README, ROOT, block, commands
from tests.support.reader import at_a_terminal
from tests.test_bundle import Desktop

LIMIT = 900  # seconds for one command
TEXT = "Sow the beans in May.\n"
# Of our surroundings only what says how packages are fetched; the home is another.
PASSED = re.compile(r"(?:PIP|UV|SSL|REQUESTS|CURL|NODE)_\w+|\w+_proxy", re.IGNORECASE)

THEIRS = re.compile(r"\.cache/|\.local/share/pipx/venvs/\.[\w-]+\.lock$")


class Newcomer:
    """Somebody with a vault and Claude Desktop, who has the folder of this project and opens README."""

    def __init__(self, folder: Path, tools: Path, tree: Path) -> None:
        self.home, self.tree = folder / "home", tree
        self.notes, self.claude = self.home / "notes", self.home / ".config" / "Claude" / "claude_desktop_config.json"
        for made in (self.notes / ".obsidian", self.claude.parent):
            made.mkdir(parents=True)
        (self.notes / "Garden.md").write_text(TEXT, encoding="utf-8")
        self.claude.write_text('{"theme": "dark"}\n', encoding="utf-8")
        python = Path(sys.executable).resolve().parent
        self.environment = {
            **{name: value for name, value in os.environ.items() if PASSED.fullmatch(name)},
            "HOME": str(self.home),
            "SHELL": "/bin/bash",
            "PATH": f"{self.home}/.local/bin:{tools}:{python}:/usr/local/bin:/usr/bin:/bin",
        }

    def follow(self, line: str) -> None:
        words = ["bash", "-c", line]
        if line.endswith("obsidian-mcp setup"):
            at_a_terminal(words, self.environment, self.tree)
            return
        done = subprocess.run(
            words, env=self.environment, cwd=self.tree, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=LIMIT, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}: {done.stdout[-3000:]}{done.stderr[-3000:]}"

    def entry(self) -> dict[str, object]:
        """What Claude Desktop would start."""
        found: dict[str, object] = json.loads(self.claude.read_text(encoding="utf-8"))["mcpServers"]["obsidian"]
        return found

    def asks(self) -> None:
        """Claude Desktop, started again, reads a note, changes it and takes that back."""
        entry = self.entry()
        assert isinstance(entry["args"], list)
        bare = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        with Server(bare, *entry["args"], command=[str(entry["command"])]) as server:
            converse(server)
        assert (self.notes / "Garden.md").read_text(encoding="utf-8") == TEXT

    def traces(self) -> list[str]:
        """What is left of ours in the home, outside what uv, pip and pipx keep of every package."""
        files = (file.relative_to(self.home).as_posix() for file in self.home.rglob("*"))
        return [file for file in files if re.search("obsidian.(?:mcp|notekeeper)", file) and not THEIRS.match(file)]


def converse(server: Server) -> None:
    server.initialize()
    assert server.call("search_notes", query="beans")["notes"][0]["path"] == "Garden.md"
    server.call("append_note", name="Garden", content="Water them.")
    server.call("undo_change")
    assert server.call("read_note", name="Garden")["content"] == TEXT


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree as another machine would have it: what is tracked, or will be, and nothing that was made from it."""
    copy = tmp_path_factory.mktemp("tree") / "obsidian-mcp"
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    for words in (["init", "-q"], ["add", "-A"]):  # `make bundle` packs what is tracked
        subprocess.run(["git", *words], cwd=copy, check=True)
    return copy


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the PATH with uv and pipx in it."""
    folder = tmp_path_factory.mktemp("tools")
    own = folder / "own"
    subprocess.run([sys.executable, "-m", "venv", str(own)], check=True)
    install = [str(own / "bin" / "pip"), "install", "-qq", "--disable-pip-version-check", "pipx"]
    got = subprocess.run(install, capture_output=True, text=True, check=False)
    if got.returncode:
        pytest.skip(f"pipx can't be had here: {got.stderr[-300:]}")
    (folder / "path").mkdir()
    (folder / "path" / "pipx").symlink_to(own / "bin" / "pipx")
    (folder / "path" / "uv").symlink_to(Path(sys.executable).with_name("uv"))
    return folder / "path"


@pytest.fixture
def newcomer(tmp_path: Path, tools: Path, tree: Path) -> Newcomer:
    return Newcomer(tmp_path, tools, tree)


def printed(*begin: str) -> list[str]:
    """The commands of README and the other pages that begin so."""
    found = [line for page in PAGES for line in commands(page) if line.startswith(begin)]
    assert found
    return found


def state_folder(newcomer: Newcomer) -> Path:
    found = re.search(r"^- Linux: `~/(.+)`$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    return newcomer.home / found[1]


# What stands in the block, and what the sentence below it says of pipx.
FIRST_LINES = {"uv": "uv tool install .", "pipx": "pipx install ."}


@pytest.mark.parametrize("tool", FIRST_LINES)
def test_two_lines_with_uv_or_pipx_then_the_upgrade_and_the_removal(newcomer: Newcomer, tool: str) -> None:
    first, *rest = block(README, "Any assistant: two lines, with uv or pipx")
    assert first == FIRST_LINES["uv"]
    install = FIRST_LINES[tool]
    assert install in printed(f"{tool} ")
    for line in (install, *rest):
        newcomer.follow(line)
    newcomer.asks()

    others = [line for line in printed(f"{tool} ") if line != install and "uninstall" not in line]
    assert any("--force" in line for line in others), "there is no upgrade"
    for line in others:
        newcomer.follow(line)
    newcomer.asks()
    assert list(state_folder(newcomer).iterdir())

    take_out, remove = block(README, "Remove it completely")
    newcomer.follow(take_out)
    newcomer.follow(remove if tool == "uv" else printed("pipx uninstall")[0])
    shutil.rmtree(state_folder(newcomer))
    assert json.loads(newcomer.claude.read_text(encoding="utf-8")) == {"theme": "dark"}
    assert newcomer.traces() == []
    assert (newcomer.notes / "Garden.md").read_text(encoding="utf-8") == TEXT


SYSTEMS: dict[str, tuple[str, Mapping[str, str]]] = {
    "macOS and Linux": ("sh", {}),
    # There is no Windows here: the same words, with what Windows calls them replaced.
    "the words for Windows": ("powershell", {"py -m": "python3 -m", ".venv\\Scripts\\": ".venv/bin/"}),
}


@pytest.mark.parametrize(("language", "others"), SYSTEMS.values(), ids=SYSTEMS)
def test_the_lines_for_developers(newcomer: Newcomer, language: str, others: Mapping[str, str]) -> None:
    for line in block(README, "For developers: make", language):
        for theirs, ours in others.items():
            line = line.replace(theirs, ours)
        newcomer.follow(line)
    newcomer.asks()


def test_the_bundle_is_built_and_starts_as_claude_desktop_starts_it(newcomer: Newcomer, tmp_path: Path) -> None:
    (build,) = printed("make bundle")
    newcomer.follow(build)
    (bundle,) = (newcomer.tree / "dist").glob("*.mcpb")
    (tmp_path / "desktop").mkdir()
    with Desktop(bundle, tmp_path / "desktop").start(vault=[str(newcomer.notes)]) as server:
        converse(server)
