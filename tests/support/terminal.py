"""A person at a terminal: a program on a pseudo-terminal of its own, what it shows, and what is typed."""

from __future__ import annotations

import fcntl
import os
import re
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.support.process import PATIENCE

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    def __init__(self, words: Sequence[str], environment: Mapping[str, str], cwd: Path) -> None:
        self._leader, follower = os.openpty()
        self._process = subprocess.Popen(
            words,
            env={"TERM": "xterm", **environment},
            cwd=cwd,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
            preexec_fn=_take_the_terminal,
        )
        os.close(follower)
        self.shown = ""
        self._at = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(PATIENCE)
        os.close(self._leader)

    def type(self, text: str) -> None:
        os.write(self._leader, text.encode())

    def answer(self, question: str, text: str) -> None:
        """Wait for a question, and answer it."""
        self.wait_for(question)
        self.type(f"{text}\r")

    def wait_for(self, text: str) -> None:
        """Until it shows that, after what was waited for before."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown[self._at :]:
            assert self._more(end), f"{text!r} was not shown, but: {self.shown}"
        self._at = self.shown.index(text, self._at) + len(text)

    def finish(self) -> int:
        """Its exit code, once it has shown everything."""
        end = time.monotonic() + PATIENCE
        while self._more(end):
            pass
        return self._process.wait(PATIENCE)

    def _more(self, end: float) -> bool:
        ready, _, _ = select.select([self._leader], [], [], max(0.0, end - time.monotonic()))
        try:
            part = os.read(self._leader, 65536) if ready else b""
        except OSError:  # Linux says so at the end of a terminal
            part = b""
        self.shown += _CONTROL.sub("", part.decode("utf-8", "replace")).replace("\r\n", "\n")
        return bool(part)


def _take_the_terminal() -> None:
    """So that Ctrl-C typed there is a signal to the program."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
