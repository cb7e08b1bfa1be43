"""Builds dist/obsidian-mcp-VERSION.mcpb from tracked files and pins.

    make bundle

Two builds from one commit are equal byte for byte: the files are sorted, their
dates and modes fixed, and uv is pinned. The lock is made here and not
committed: it names download hosts.
"""

from __future__ import annotations

import ast
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

from bundle import checks, manifest
from obsidian_mcp import __version__

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
MCPB = "@anthropic-ai/mcpb@2.1.2"
OTHER_DOORS = ("starlette", "uvicorn", "h11", "websockets")  # Desktop comes in by stdio alone: see .mcpbignore
DATE = (1980, 1, 1, 0, 0, 0)


def build(into: Path) -> Path:
    """Stage, lock, pack and check."""
    target = into / f"obsidian-mcp-{__version__}.mcpb"
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-bundle-") as folder:
        stage(Path(folder))
        lock(Path(folder))
        packed = Path(folder, "packed")
        pack(Path(folder), packed)
        checks.check(packed)
        shutil.copyfile(packed, target)  # only a good one ever has the name
    return target


def stage(folder: Path) -> None:
    """What belongs into the bundle, as it is in the work tree, and a project file for running it alone."""
    for name in wanted():
        if (ROOT / name).is_symlink() or not (ROOT / name).is_file():
            raise checks.BadBundle(f"{name} is tracked, and not a plain file in the work tree")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".py"):
            (folder / name).write_text(code_of((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / name, folder / name)
    (folder / "pyproject.toml").write_text(project_file(), encoding="utf-8")


def code_of(source: str) -> str:
    """A module without what only its readers need, comments and docstrings: a quarter of the bundle."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return f"{ast.unparse(tree)}\n"


def wanted() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    patterns = [line for line in (ROOT / ".mcpbignore").read_text(encoding="utf-8").split("\n") if line.strip()]
    names = [name for name in listed.decode("utf-8").split("\0") if name]
    return [name for name in names if not any(_matches(name, pattern) for pattern in patterns)]


def _matches(name: str, pattern: str) -> bool:
    """As in .gitignore, as far as our file uses it: a folder with a slash behind, or a pattern for a name."""
    if pattern.startswith("#"):
        return False
    if pattern.endswith("/"):
        return name.startswith(pattern.lstrip("/")) or f"/{pattern}" in f"/{name}"
    return fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name.rpartition("/")[2], pattern)


def project_file() -> str:
    """For uv in the bundle: the dependencies of what is inside, pinned, and nothing to build."""
    declared = manifest.project()
    needed = [word for word in declared["dependencies"] if re.split(r"[<>=]", word)[0] not in OTHER_DOORS]
    return "\n".join(
        [
            "[project]",
            f'name = "{declared["name"]}"',
            f'version = "{__version__}"',
            f'requires-python = "{declared["requires-python"]}"',
            f"dependencies = {json.dumps(needed)}",
            "",
            "[tool.uv]",
            "package = false",
            f"constraint-dependencies = {json.dumps(pins())}",
            "",
        ]
    )


def pins() -> list[str]:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("\n")
    return [line.strip() for line in lines if "==" in line and not line.startswith("#")]


def lock(folder: Path) -> None:
    """Every package of the lock must be one of the pinned."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    done = subprocess.run(
        [UV, "lock", "--quiet", "--no-config"], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise checks.BadBundle(f"uv lock says: {done.stderr.strip()}")
    with open(folder / "uv.lock", "rb") as file:
        packages = tomllib.load(file)["package"]
    pinned = {_normal(pin.partition("==")[0]): pin.partition("==")[2] for pin in pins()}
    for package in packages:
        name = _normal(package["name"])
        if name != "obsidian-mcp" and pinned.get(name) != package["version"]:
            raise checks.BadBundle(f"{name} {package['version']} is in the lock and not in requirements.txt")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pack(folder: Path, target: Path) -> None:
    files = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    files = [name for name in files if folder / name != target]
    with zipfile.ZipFile(target, "w") as archive:
        for name in files:
            entry = zipfile.ZipInfo(name, DATE)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, (folder / name).read_bytes(), compresslevel=9)


def validate(target: Path) -> str:
    """By the publisher's own tool, where Node is present."""
    npx = shutil.which("npx")
    if npx is None:
        return "mcpb validate: skipped, there is no Node here"
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-mcpb-") as folder:
        with zipfile.ZipFile(target) as archive:
            archive.extractall(folder)
        known = subprocess.run([npx, "--yes", MCPB, "--version"], capture_output=True, check=False)
        if known.returncode:
            return f"mcpb validate: skipped, {MCPB} could not be installed"
        said = subprocess.run([npx, "--yes", MCPB, "validate", folder], capture_output=True, text=True, check=False)
        if said.returncode:
            raise checks.BadBundle(f"mcpb validate says: {said.stdout}{said.stderr}")
    return "mcpb validate: ok"


def main() -> None:
    try:
        print("Staging, locking and packing ...", flush=True)
        target = build(ROOT / "dist")
        print(f"{os.path.relpath(target)}: {target.stat().st_size} bytes, our checks: ok")
        print("Asking mcpb, where Node is present ...", flush=True)
        print(validate(target))
    except checks.BadBundle as bad:
        sys.exit(f"The bundle is not good: {bad}")


if __name__ == "__main__":
    main()
