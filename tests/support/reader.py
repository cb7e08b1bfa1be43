"""A person at a terminal who follows a page: types each command as it is printed, in a home of their own.

The home has the vault `~/notes` that the pages name, so nothing in a command is put in another's place but the port:
on a machine with other programs, 3000 may be taken.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.support.process import PATIENCE
from tests.support.terminal import Terminal
from tests.support.world import SERVER, measuring

NOTES = {
    "Some note.md": "# Some note\n\nThe third line.\n\nMore.\n\nThe seventh line.\n",
    "Garden.md": "# Garden\n\nA raised bed for the garden. #idea\n",
    ".obsidian/app.json": "{}",
}
DRAFT = "A paragraph from a file.\n"
PORT = "3000"
ENDED = (0, 130, -signal.SIGINT)  # by Ctrl-C, as the program or its shell tells it
PROGRAM = "#!{}\nfrom obsidian_mcp.__main__ import main\n\nmain()\n"
# Claude Code: it writes down how it was started, and a session of its lasts until the other end of the pipe is closed.
CLAUDE = '#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" > ~/claude.started\n[ "$1" = mcp ] || cat ~/claude.pipe\n'
BROWSER = '#!/bin/sh\nprintf "%s\\n" "$1" > ~/browser.pipe\n'


class Reader:
    def __init__(self, home: Path, port: int) -> None:
        self.home, self.port = home, port
        self.notes, self.work, self.programs = home / "notes", home / "work", home / "bin"
        for path, text in NOTES.items():
            (self.notes / path).parent.mkdir(parents=True, exist_ok=True)
            (self.notes / path).write_text(text, encoding="utf-8")
        for folder in (self.work, self.programs, home / ".config" / "Claude"):
            folder.mkdir(parents=True)
        (self.work / "draft.md").write_text(DRAFT, encoding="utf-8")
        self._know_the_vault()
        for name, text in {
            "obsidian-mcp": PROGRAM.format(sys.executable),
            "claude": CLAUDE,
            "browser": BROWSER,
        }.items():
            (self.programs / name).write_text(text, encoding="utf-8")
            (self.programs / name).chmod(0o755)
        for name in ("claude.pipe", "browser.pipe"):
            os.mkfifo(home / name)
        self._open = contextlib.ExitStack()

    def _know_the_vault(self) -> None:
        listed = self.home / ".config" / "obsidian" / "obsidian.json"
        listed.parent.mkdir(parents=True)
        entry = {"path": str(self.notes), "ts": 0, "open": True}
        listed.write_text(json.dumps({"vaults": {"0123456789abcdef": entry}}), encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """What was started for the length of the page is ended, the last first."""
        self._open.close()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "HOME": str(self.home),
            "BROWSER": str(self.programs / "browser"),
            "OBSIDIAN_MCP_PORT": str(self.port),
            "PYTHONPATH": str(SERVER),
            **measuring(),
        }

    def typed(self, line: str) -> list[str]:
        """In a shell of its own, which stays until the command has ended: programs ask which shell they are in."""
        return ["bash", "-c", f"set -o pipefail\n{line.replace(PORT, str(self.port))}\nexit $?"]

    def follow(self, line: str) -> str:
        """What the command prints. It must succeed."""
        for words, begin in LASTING.items():
            if line.startswith(words) and (words != "obsidian-mcp history" or "--web" in line):
                return begin(self, line)
        if line.startswith("obsidian-mcp setup"):
            return self.answer(line)
        done = subprocess.run(
            self.typed(line), env=self.environment, cwd=self.work, input="", capture_output=True, text=True,
            timeout=2 * PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        return done.stdout

    def answer(self, line: str) -> str:
        return at_a_terminal(self.typed(line), self.environment, self.work)

    @contextlib.contextmanager
    def running(self, line: str, by_itself: bool = False) -> Iterator[subprocess.Popen[str]]:
        """A command that goes on until Ctrl-C, or ends by itself after what it waits for."""
        process = subprocess.Popen(
            self.typed(line), env=self.environment, cwd=self.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        with process:
            try:
                yield process
                if not by_itself:
                    os.killpg(process.pid, signal.SIGINT)
                shown = process.communicate(timeout=2 * PATIENCE)
                assert process.returncode in ENDED, f"{line}: {process.returncode}, {shown}"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def serve(self, line: str) -> str:
        process = self._open.enter_context(self.running(line))
        assert process.stderr
        said = []
        for entry in process.stderr:
            said.append(entry)
            if "listening" in entry:
                return "".join(said)
        raise AssertionError(f"{line} ended: {''.join(said)}")

    def browse(self, line: str) -> str:
        """Until the browser has been given an address."""
        with self.running(line):
            return (self.home / "browser.pipe").read_text(encoding="utf-8")

    def ide(self, line: str) -> str:
        """Until Claude Code runs, which then stays until the page is at its end."""
        self._open.enter_context(self.running(line, by_itself=True))
        self._open.callback(os.close, os.open(self.home / "claude.pipe", os.O_WRONLY))
        return (self.home / "claude.started").read_text(encoding="utf-8")

    def bridge(self, line: str) -> str:
        """What it answers a host."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
        asked = [("initialize", params), ("tools/list", {})]
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": given})
            for number, (method, given) in enumerate(asked)
        ]
        done = subprocess.run(
            self.typed(line), env=self.environment, cwd=self.work, input="\n".join(lines) + "\n", capture_output=True,
            text=True, timeout=2 * PATIENCE, check=True,
        )  # fmt: skip
        return done.stdout


LASTING: dict[str, Callable[[Reader, str], str]] = {
    "obsidian-mcp serve": Reader.serve,
    "obsidian-mcp bridge": Reader.bridge,
    "obsidian-mcp ide": Reader.ide,
    "obsidian-mcp history": Reader.browse,
}


def at_a_terminal(words: Sequence[str], environment: Mapping[str, str], folder: Path) -> str:
    """What it shows, with Enter for every question. It must succeed."""
    with Terminal(words, {**environment, "TERM": "dumb"}, folder) as terminal:
        terminal.type("\r" * 8)
        assert terminal.finish() == 0, f"{words[-1]}: {terminal.shown}"
        return terminal.shown
