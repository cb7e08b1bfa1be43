"""A machine with an Obsidian on it, in a temporary folder: vaults, their list, and the stand-in command."""

from __future__ import annotations

import ast
import base64
import fcntl
import functools
import json
import marshal
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STANDIN = Path(__file__).with_name("obsidian")
SERVER = Path(__file__).parents[2] / "server"
VAULT_ID = "0123456789abcdef"
DOT = base64.b64decode(  # a PNG of one pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def measuring() -> dict[str, str]:
    """What a process must be given so that its lines are counted too: `make coverage`."""
    return {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_PROCESS_")}


@functools.cache
def _compiled(old: str, new: str) -> bytes:
    text = STANDIN.read_text(encoding="utf-8")
    return marshal.dumps(compile(text.replace(old, new) if old else text, str(STANDIN), "exec"))


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "config" / "obsidian"
        self.vault = folder / "Vault"
        self.outside = folder / "outside"
        self.command = folder / "bin" / "obsidian"
        for made in (self.config, self.vault, self.outside, self.command.parent):
            made.mkdir(parents=True)
        os.mkfifo(self.config / "hanging.fifo")
        self.install()
        self.register({VAULT_ID: self.vault})

    def install(self, old: str = "", new: str = "") -> None:
        """The stand-in, with other words in it if wanted.

        Run by this interpreter, without its site packages and compiled already: it starts faster so.
        """
        code = self.folder / "stand-in.code"
        code.write_bytes(_compiled(old, new))
        loader = f'import marshal; exec(marshal.loads(open({str(code)!r}, "rb").read()))'
        self.command.write_text(f"#!{sys.executable} -IS\n{loader}\n", encoding="utf-8")
        self.command.chmod(0o755)

    def register(self, vaults: Mapping[str, Path], opened: str = VAULT_ID) -> None:
        entries = {key: {"path": str(path), "ts": 0, "open": key == opened} for key, path in vaults.items()}
        self._store("obsidian.json", {"vaults": entries, "cli": True})

    def reset(self) -> None:
        """An empty vault, a good mood, no memory."""
        for folder in (self.vault, self.outside):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for name in ("mood.json", "calls.log", "state.json", "editor.json"):
            (self.config / name).unlink(missing_ok=True)
        self.register({VAULT_ID: self.vault})

    def mood(self, mood: str | None, **extra: Any) -> None:
        self._store("mood.json", {"mood": mood, **extra})

    def state(self, **state: Any) -> None:
        self._store("state.json", state)

    def editor(self, **editor: Any) -> None:
        """What is in front of the person: path, text, from, to, mode."""
        self._store("editor.json", editor)

    def _store(self, name: str, value: Any) -> None:
        temporary = self.config / f"{name}.new"
        temporary.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        temporary.replace(self.config / name)

    def records(self) -> list[dict[str, Any]]:
        try:
            lines = (self.config / "calls.log").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [ast.literal_eval(line) for line in lines]

    def commands(self) -> list[list[str]]:
        """Every command line the stand-in was started with, without the vault."""
        return [record["argv"][1:] for record in self.records() if record["phase"] == "begin"]

    def wait_for_a_hanging_call(self) -> None:
        """Until a stand-in has begun to hang: it opens the other end."""
        (self.config / "hanging.fifo").open("rb").close()

    def wait_until_all_are_gone(self) -> None:
        """Until no stand-in, and nothing that one has started, is alive."""
        with open(self.config / "alive.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)

    def environment(self, **more: str) -> dict[str, str]:
        """What a host with a window gives a server: little."""
        return {
            "PATH": f"{self.command.parent}:/usr/bin:/bin",
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.config.parent),
            "PYTHONPATH": str(SERVER),  # this checkout, whatever the environment has installed
            **measuring(),
            **more,
        }

    def far_environment(self) -> dict[str, str]:
        """The app on the other side of a boundary: no list of vaults here, and no folder that is ours."""
        (self.folder / "elsewhere").mkdir(exist_ok=True)
        return self.environment(XDG_CONFIG_HOME=str(self.folder / "elsewhere"), STANDIN_CONFIG=str(self.config))

    def put(self, path: str, content: str | bytes = "") -> Path:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def get(self, path: str) -> bytes:
        return (self.vault / path).read_bytes()

    def has(self, path: str) -> bool:
        return os.path.lexists(self.vault / path)

    def tree(self) -> dict[str, bytes]:
        """Every file below the folder, the vault's and the others'."""
        roots = (self.vault, self.outside)
        files = (file for root in roots for file in sorted(root.rglob("*")) if file.is_file())
        return {str(file.relative_to(self.folder)): file.read_bytes() for file in files}
