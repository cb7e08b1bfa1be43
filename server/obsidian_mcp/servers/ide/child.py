"""The program that a door was opened for, such as `claude`: it runs in the vault, and the door ends with it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from obsidian_mcp.servers.ide import messages


class NoChildProgram(Exception):
    """It can't be started; one line says why."""


class ChildProgram:
    """Has the terminal to itself: what is pressed there is meant for it."""

    def __init__(self, words: Sequence[str], folder: str, port: int, environ: Mapping[str, str]) -> None:
        try:
            own = {**environ, **messages.variables(port)}
            if own.get("CLAUDE_CONFIG_DIR"):  # it is to find the lock file from another folder than ours
                own["CLAUDE_CONFIG_DIR"] = os.path.abspath(own["CLAUDE_CONFIG_DIR"])
            self._process = subprocess.Popen(command_line(words, own), cwd=folder, env=own)
        except OSError as error:
            known = (
                "it is not installed, or not in the PATH" if isinstance(error, FileNotFoundError) else error.strerror
            )
            raise NoChildProgram(f"{words[0]} cannot be started: {known}") from None

    @property
    def exit_code(self) -> int | None:
        """As a shell would tell it; None while it runs."""
        code = self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    def end(self, number: int = signal.SIGTERM) -> None:
        """Pass on that the end has come."""
        if self._process.poll() is None:
            self._process.send_signal(number)


def command_line(words: Sequence[str], environ: Mapping[str, str], platform: str = sys.platform) -> Sequence[str] | str:
    """As the system starts it. Windows itself finds no `claude.cmd` for `claude`, which is what npm installs."""
    if platform != "win32":
        return words
    found = shutil.which(words[0], path=environ.get("PATH")) or words[0]
    if not found.lower().endswith((".cmd", ".bat")):
        return [found, *words[1:]]
    # A batch file's words are read by cmd, to which `&` and its kin are commands unless they stand in quotes. With /s
    # it takes off the outermost quotes and no others.
    quoted = " ".join(f'"{word.replace(chr(34), chr(34) * 2)}"' for word in (found, *words[1:]))
    return f'"{environ.get("COMSPEC", "cmd.exe")}" /d /s /c "{quoted}"'
