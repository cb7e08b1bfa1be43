"""Builds dist/obsidian-notekeeper-VERSION.mcpb from tracked files and pins.

    make bundle

Two builds from one commit are equal byte for byte: the files are sorted, their
dates and modes fixed, and uv is pinned.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from bundle import checks, lock, manifest, wheel
from obsidian_mcp import __version__

ROOT = Path(__file__).parents[1]
MCPB = "@anthropic-ai/mcpb@2.1.2"
# Beside the package: what is in the tree by another name, or by the same.
SHIPPED = {
    "manifest.json": "manifest.json",
    "LICENSE": "LICENSE",
    "PRIVACY.md": "PRIVACY.md",
    "README.md": "bundle/extension.md",
    "bundle/icon.png": "bundle/icon.png",
    "server/main.py": "server/main.py",
}
MADE = ("pyproject.toml", "uv.lock", f"server/{wheel.file_name()}")


def build(into: Path) -> Path:
    """Stage, lock, pack and check."""
    target = into / manifest.file_name()
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-bundle-") as folder:
        stage(Path(folder))
        packed = Path(folder, "packed")
        pack(Path(folder), packed)
        checks.check(packed)
        shutil.copyfile(packed, target)  # only a good one ever has the name
    return target


def stage(folder: Path) -> None:
    """What belongs into the bundle, as it is in the work tree, and a project file for running it alone."""
    for name, source in SHIPPED.items():
        if (ROOT / source).is_symlink() or not (ROOT / source).is_file():
            raise checks.BadBundle(f"{source} is not a plain file in the work tree")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, folder / name)
    wheel.write(folder / "server" / wheel.file_name())
    project, own = folder / "pyproject.toml", {manifest.project()["name"], checks.PROJECT}
    project.write_text(project_file(lock.pins()), encoding="utf-8")
    lock.write(folder, own)


def project_file(pins: list[str]) -> str:
    """For uv in the bundle: our wheel, the packages that what is inside needs, pinned, and nothing to build."""
    declared = manifest.project()
    wanted = [*declared["dependencies"], *declared["optional-dependencies"]["media"]]
    needed = [word for word in wanted if re.split(r"[<>=]", word)[0] not in wheel.NOT_NEEDED]
    return "\n".join(
        [
            "[project]",
            f'name = "{checks.PROJECT}"',
            f'version = "{__version__}"',
            f'requires-python = "{declared["requires-python"]},{lock.NEWEST}"',
            f"dependencies = {json.dumps([declared['name'], *needed])}",
            "",
            "[tool.uv]",
            "package = false",
            f"constraint-dependencies = {json.dumps(pins)}",
            "",
            "[tool.uv.sources]",
            f'{declared["name"]} = {{ path = "server/{wheel.file_name()}" }}',
            "",
        ]
    )


def pack(folder: Path, target: Path) -> None:
    files = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    files = [name for name in files if folder / name != target]
    with zipfile.ZipFile(target, "w") as archive:
        for name in files:
            entry = zipfile.ZipInfo(name, wheel.DATE)
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
