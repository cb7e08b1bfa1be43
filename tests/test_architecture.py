"""Each side effect has one home, and the map says where things are."""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "server" / "obsidian_mcp"
MODULES = sorted(PACKAGE.rglob("*.py"))

# What may be used where. What has an empty set may be used nowhere.
HOMES = {
    "os.environ": {"__main__.py", "cli/root.py"},
    "os.getenv": set(),
    "os.system": set(),
    "os.popen": set(),
    "os.fork": set(),
    "os.killpg": {"backends/obsidian/process.py"},
    "subprocess.Popen": {"backends/obsidian/process.py", "servers/ide/child.py", "setup/trial.py"},
    "subprocess.run": set(),
    "print": {"cli/show.py"},
    "os.path.expanduser": set(),
    "sys.exit": {"cli/__init__.py", "cli/show.py"},
    "os._exit": {"app.py"},
    "sys.stdout": {"cli/__init__.py", "cli/show.py", "doors/stdio/streams.py"},
    "sys.stdin": set(),
    "os.unlink": {
        "history/file.py",
        "backends/files/atomic.py",
        "backends/files/held.py",
        "hosts/writing.py",
        "index/store.py",
        "servers/ide/lockfile.py",
    },
    "os.ftruncate": {"backends/files/in_place.py", "slot.py"},
    "os.replace": {"backends/files/held.py", "state.py", "slot.py", "hosts/writing.py", "servers/ide/lockfile.py"},
    "os.rename": {"backends/files/held.py", "history/file.py"},
    "os.link": {"backends/files/held.py"},
    "os.mkdir": {"backends/files/held.py"},
    "os.rmdir": {"backends/files/held.py", "hosts/writing.py"},
    "os.dup2": {"cli/__init__.py", "doors/stdio/streams.py"},
}


@functools.cache
def used_names(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            names.add(node.func.id)
    return names


@pytest.mark.parametrize("name", HOMES)
def test_a_side_effect_has_one_home(name: str) -> None:
    users = {file.relative_to(PACKAGE).as_posix() for file in MODULES if name in used_names(file)}
    assert users == HOMES[name]


def test_nothing_is_run_through_a_shell() -> None:
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.keyword) and node.arg == "shell"), file


def test_the_map_shows_the_layers_that_are_enforced() -> None:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(rule for rule in rules if rule["type"] == "layers")["layers"]
    assert " > ".join(layers) in (ROOT / "specs" / "architecture.md").read_text(encoding="utf-8")


def test_the_map_names_every_module_and_room() -> None:
    architecture = (ROOT / "specs" / "architecture.md").read_text(encoding="utf-8")
    for entry in PACKAGE.iterdir():
        if entry.suffix == ".py" and entry.name != "__init__.py":
            assert f"`{entry.name}`" in architecture, entry.name
        if entry.is_dir() and entry.name != "__pycache__":
            assert f"`{entry.name}/" in architecture, entry.name


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Before Python 3.11.5 such a pattern fails where it should match: links were not found."""
    for file in PACKAGE.rglob("*.py"):
        assert not re.search(r"\)[*+?}]\+", file.read_text(encoding="utf-8")), file
