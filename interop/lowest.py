"""The lowest version of every dependency that pyproject.toml allows, tried out: `make lowest`.

An environment of its own is made below build/, once for each set of versions, with every dependency at its lower bound
and what they need themselves as new as it comes. In it runs a part of the tests: each door, and what each library does.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT = 600  # seconds
RUNNERS = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis")
TESTS = (
    "tests/tools",  # pydantic
    "tests/cli",  # typer, rich
    "tests/test_doctor.py",
    "tests/test_logs.py",  # structlog
    "tests/test_state.py",  # filelock
    "tests/backends/files/test_vault.py",  # send2trash
    "tests/doors/stdio/test_lines.py",
    "tests/doors/http/test_bridge.py",  # starlette, uvicorn
    "tests/doors/http/test_crowding.py",
    "tests/doors/http/test_gate.py",
    "tests/doors/http/test_streamable.py",
    "tests/doors/ide/test_coming_in.py",  # websockets
    "tests/doors/ide/test_asking.py",
    "tests/doors/ide/test_withstanding.py",
)


class Unbound(Exception):
    """A dependency without a lower bound."""


def lowest(dependencies: list[str]) -> list[str]:
    """Each at its lower bound: `a>=1.2,<2` is `a==1.2`."""
    pinned = []
    for wanted in dependencies:
        found = re.fullmatch(r"([A-Za-z0-9._-]+)>=([^,;\s]+)(?:,<[^,;\s]+)?", wanted)
        if found is None:
            raise Unbound(f"{wanted} has no lower bound that could be tried")
        pinned.append(f"{found[1]}=={found[2]}")
    return pinned


def runners() -> list[str]:
    """What runs the tests, as it is pinned."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").split()
    return [line for line in lines if line.partition("==")[0] in RUNNERS]


def environment(pinned: list[str]) -> Path:
    """Its interpreter."""
    key = hashlib.sha256("\n".join([sys.version, *pinned, *runners()]).encode()).hexdigest()[:12]
    folder = ROOT / "build" / f"lowest-{key}"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (folder / ".ready").exists():
        for old in folder.parent.glob("lowest-*"):
            shutil.rmtree(old)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*install, "-e", str(ROOT), *pinned, *runners()], check=True)
        (folder / ".ready").touch()
    return python


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        pinned = lowest([*project["dependencies"], *project["optional-dependencies"]["media"]])
        python = environment(pinned)
        print(" ".join(pinned), flush=True)
        tests = [str(python), "-m", "pytest", "-n", "4", "--dist", "worksteal", *TESTS]
        done = subprocess.run(tests, cwd=ROOT, timeout=LIMIT, check=False)
    except (Unbound, subprocess.CalledProcessError, subprocess.TimeoutExpired) as problem:
        sys.exit(f"make lowest: {problem}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
