"""The program that a door was opened for, such as `claude`: it runs in the vault, and the door ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
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
            self._process = subprocess.Popen(words, cwd=folder, env=own)
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
