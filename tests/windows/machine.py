"""A Windows to test on: the server runs in a Windows Python under Wine, its clients stay on this side."""

from __future__ import annotations

import contextlib
import fcntl
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.support.world import SERVER
from tests.windows.making import HERE, NotToBeHad, make, windows_path, wine

LINGER = 120  # seconds that Wine's own server stays after the last process


class Machine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "python" / "python.exe"

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """One user of the cache at a time, with Wine's own server, which makes each start faster."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with open(self.folder.parent / "lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            make(self.folder)
            self._run("wineserver", f"-p{LINGER}")
            try:
                self._run("wineboot")  # what it starts stays, and must not have the pipes of a test
                self._require_python()
                yield
            finally:
                self._run("wineserver", "-k")

    def _run(self, *command: str) -> None:
        none = subprocess.DEVNULL
        try:
            subprocess.run(command, env=wine(self.folder), stdin=none, stdout=none, stderr=none, check=False)
        except FileNotFoundError:
            raise NotToBeHad(f"there is no {command[0]}") from None

    def _require_python(self) -> None:
        """Wine may be there and not work: in a container without what it needs of the system."""
        with self.program({}, [], program="hello.py") as process:
            try:
                said, problem = process.communicate(b"", LINGER)
            except subprocess.TimeoutExpired:
                raise NotToBeHad("the Windows Python does not start") from None
        if said.strip() != b"hello":
            raise NotToBeHad(f"the Windows Python does not run: {problem.decode(errors='replace').strip()[-500:]}")

    def start(
        self, environment: Mapping[str, str], words: Sequence[str], first: str = "", program: str = "boot.py"
    ) -> subprocess.Popen[bytes]:
        """`obsidian-mcp` on Windows, or another program of this folder. Its streams are pipes: Wine takes no others."""
        boot = {
            "environ": self.environment(environment),
            "compiled": windows_path(self.folder / "compiled"),
            "server": windows_path(SERVER),
            "first": first,
        }
        return subprocess.Popen(
            ["wine", str(self.python), windows_path(HERE / program), *map(windows_word, words)],
            env={**wine(self.folder), "WINDOWS_BOOT": json.dumps(boot)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @contextlib.contextmanager
    def program(
        self, environment: Mapping[str, str], words: Sequence[str], first: str = "", program: str = "boot.py"
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Started, and ended with the block."""
        with self.start(environment, words, first, program) as process:
            try:
                yield process
            finally:
                process.kill()

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """A test's environment as Windows would have it."""
        home = given.get("HOME") or str(self.folder / "home")
        places = {
            "USERPROFILE": home,
            "APPDATA": given.get("XDG_CONFIG_HOME") or f"{home}/AppData/Roaming",
            "LOCALAPPDATA": f"{home}/AppData/Local",
            "TEMP": f"{home}/Temp",
            "TMP": f"{home}/Temp",
        }
        for place in places.values():
            Path(place).mkdir(parents=True, exist_ok=True)
        own = [folder for folder in given.get("PATH", "").split(":") if folder not in ("", "/usr/bin", "/bin")]
        path = [*map(windows_path, own), r"C:\windows\system32", r"C:\windows"]
        left = {name: value for name, value in given.items() if name not in ("HOME", "PATH", "PYTHONPATH")}
        named = {name: windows_word(value) for name, value in {**left, **places}.items()}
        return {**named, "PATH": ";".join(path)}


def windows_word(word: str) -> str:
    """An option or a variable's value: if it is a path of this side, as one of that side."""
    return windows_path(word) if word.startswith("/") else word
