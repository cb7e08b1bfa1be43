"""Ctrl-C, Ctrl-Break and a closed window, on Windows.

Python hears a signal between two of its own instructions, and a main thread that waits for a line executes none: there
is no `poll` for pipes there, and no signal ends a read. But the system tells of these on a thread of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

Handler = Callable[[int], int]

# The system's events, by the signal that is the same elsewhere: Ctrl-C, Ctrl-Break, the window, log-off, shut-down.
SIGNALS = {0: 2, 1: 21, 2: 21, 5: 21, 6: 21}

_kept: list[Any] = []  # the system calls it for as long as the process lives


def listen(stop: Callable[[int], object], register: Callable[[Handler], object] | None = None) -> None:
    """Call `stop` with a signal's number, on another thread. It does not return: it ends the process."""

    def handler(event: int) -> int:
        if event not in SIGNALS:
            return 0
        stop(SIGNALS[event])
        return 1

    if register is not None:
        register(handler)
    elif sys.platform == "win32":
        _register(handler)


if sys.platform == "win32":

    def _register(handler: Handler) -> None:
        import ctypes
        from ctypes import wintypes

        kept = ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.DWORD)(handler)
        if ctypes.WinDLL("kernel32").SetConsoleCtrlHandler(kept, True):
            _kept.append(kept)
