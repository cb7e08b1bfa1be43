"""The lock that goes into the bundle: every package as pinned in requirements.txt, as wheels alone.

It is made while packing and never committed, because it names download hosts.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from bundle.checks import BadBundle

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
NEWEST = "<3.15"  # the Pythons for which every package has wheels; uv finds one, or downloads it
# Claude Desktop runs on none of these, and each costs a line with two hashes.
FOREIGN = re.compile(
    r"-(?:pp|graalpy)\d|musllinux|android|ios_|emscripten|pyodide|wasm|-win32\.whl"
    r"|_(?:i686|armv\w+|ppc64\w*|s390x|riscv64|loongarch64)\b|-cp\d+-cp\d+t-"
)


def pins() -> list[str]:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("\n")
    return [line.strip() for line in lines if "==" in line and not line.startswith("#")]


def write(folder: Path, own: set[str]) -> None:
    """Lock the project in a folder. Every package but our own must be one of the pinned."""
    _run(folder)
    file = folder / "uv.lock"
    file.write_text(trimmed(file.read_text(encoding="utf-8")), encoding="utf-8")
    pinned = {normal(pin.partition("==")[0]): pin.partition("==")[2] for pin in pins()}
    for package in tomllib.loads(file.read_text(encoding="utf-8"))["package"]:
        name = normal(package["name"])
        if name in own:
            continue
        if pinned.get(name) != package["version"]:
            raise BadBundle(f"{name} {package['version']} is in the lock and not in requirements.txt")
        if not package.get("wheels"):
            raise BadBundle(f"{name} has no wheel, and nothing is built on the reader's machine")


def _run(folder: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    done = subprocess.run(
        [UV, "lock", "--quiet", "--no-config"], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BadBundle(f"uv lock says: {done.stderr.strip()}")


def trimmed(text: str) -> str:
    """Without sources, which would have to be built, without wheels for other machines than Desktop's, and without the
    times of uploads.
    """
    kept = "".join(line for line in text.splitlines(keepends=True) if not _is_foreign(line))
    return re.sub(r', upload-time = "[^"]*"', "", kept)


def _is_foreign(line: str) -> bool:
    return line.startswith("sdist = ") or (line.lstrip().startswith("{ url = ") and bool(FOREIGN.search(line)))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
