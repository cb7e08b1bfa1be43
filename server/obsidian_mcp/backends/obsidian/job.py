"""A job object of Windows: a process and all that it starts, to be ended together. Elsewhere nothing here is used.

A tree of processes can't be found there afterwards: one whose parent has ended belongs to none. What is started in a
job stays in it. A job that is closed and not ended ends nothing: older installers start the app itself in that way.
"""

from __future__ import annotations

import sys


class Job:
    """Holds no process where the system allows no job."""

    def __init__(self, process: int) -> None:
        """By the handle of a process."""
        self._handle = 0
        if sys.platform == "win32":
            self._handle = _kernel().CreateJobObjectW(None, None) or 0
            if self._handle and not _kernel().AssignProcessToJobObject(self._handle, process):
                self.close()

    def end(self) -> bool:
        """Every process in it; whether it was done."""
        if sys.platform == "win32" and self._handle:
            return bool(_kernel().TerminateJobObject(self._handle, 1))
        return False

    def close(self) -> None:
        if sys.platform == "win32" and self._handle:
            _kernel().CloseHandle(self._handle)
            self._handle = 0


if sys.platform == "win32":
    import functools
    from typing import Any

    @functools.cache
    def _kernel() -> Any:
        import ctypes
        from ctypes import wintypes

        library = ctypes.WinDLL("kernel32")
        library.CreateJobObjectW.restype = wintypes.HANDLE
        library.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
        library.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
        library.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
        library.CloseHandle.argtypes = (wintypes.HANDLE,)
        return library
