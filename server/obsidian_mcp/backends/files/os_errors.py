"""The system's errors about a file, as failures; and which of them say that there is no such file.

On Windows the errno says little. Python has no name for most of that system's errors and calls them EINVAL (the network
is gone, a virus was found, the cloud's program does not run), and it calls a network path that can't be reached ENOENT.
So there the system's own number counts.
"""

from __future__ import annotations

import contextlib
import errno
import sys
from collections.abc import Iterator

from obsidian_mcp.errors import Failure, FileFailed, NoteNotFound, PermissionDenied
from obsidian_mcp.patience import windows_number
from obsidian_mcp.vault.path import VaultPath

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO}
if sys.platform != "win32":
    _ABSENT.add(errno.EINVAL)  # a name that this file system can't hold
_MISSING_ON_WINDOWS = {2, 3, 123, 161, 267}  # no such file or path; a name that can't be one; not a folder
_ABSENT_ON_WINDOWS = _MISSING_ON_WINDOWS | {1921}  # links in a circle
_IN_USE = {32, 33}  # a sharing violation, a lock
_CLOUD = {*range(362, 400), 404, 426, 434}  # ERROR_CLOUD_FILE_…
_OFF_LINE = errno.EDEADLK  # what macOS says of a file that it may not fetch now


class NotRegular(OSError):
    """A folder, a pipe or a device is where a file was wanted."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file")


def is_absent(error: OSError) -> bool:
    """Whether it says that there is no such file, or none that is not a link; anything else is a failure."""
    number = windows_number(error)
    if number is not None:
        return number in _ABSENT_ON_WINDOWS
    return isinstance(error, NotRegular) or error.errno in _ABSENT


def is_missing(error: OSError) -> bool:
    """Whether it says that nothing at all is there."""
    number = windows_number(error)
    if number is not None:
        return number in _MISSING_ON_WINDOWS
    return isinstance(error, FileNotFoundError | NotADirectoryError)


def is_in_use(error: OSError) -> bool:
    """Whether another program has it open and shares it with no other. Only Windows says so."""
    return windows_number(error) in _IN_USE


def in_the_cloud(path: VaultPath | str) -> FileFailed:
    return FileFailed(
        f"{path} is in the cloud and not on this machine.",
        "Open it once, in Obsidian or in the file manager, while the cloud's program runs; then try again.",
        path=str(path),
    )


def why(error: OSError) -> str:
    """Why a file or folder can't be read, to stand in brackets."""
    if _is_in_the_cloud(error):
        return "it is in the cloud and not on this machine: open it once"
    if is_in_use(error):
        return "it is open in another program"
    return str(error.strerror)


def _is_in_the_cloud(error: OSError, platform: str = sys.platform) -> bool:
    return windows_number(error) in _CLOUD or (platform == "darwin" and error.errno == _OFF_LINE)


@contextlib.contextmanager
def translate_os_errors(path: VaultPath | str) -> Iterator[None]:
    """Raise a Failure where the system raises an error."""
    try:
        yield
    except Failure:
        raise
    except OSError as error:
        raise _failure(path, error) from None


def _failure(path: VaultPath | str, error: OSError) -> Failure:
    named = str(path)
    if is_missing(error):
        return NoteNotFound(f"There is no file {path} on disk.", path=named)
    if _is_in_the_cloud(error):
        return in_the_cloud(path)
    if is_in_use(error):
        return FileFailed(f"{path} is open in another program.", "Close it there, then try again.", path=named)
    if isinstance(error, PermissionError):
        return denied(path, error)
    if error.errno == errno.ELOOP:
        fact = f"{path} cannot be reached without a symbolic link any more, so it is left alone."
        return PermissionDenied(fact, path=named)
    return FileFailed(f"The file {path} could not be used: {error.strerror}.", path=named)


def denied(path: VaultPath | str, error: OSError, platform: str = sys.platform) -> PermissionDenied:
    hint = "Check the permissions of the note and its folder."
    if platform == "darwin" and error.errno == errno.EPERM:
        hint = (
            "If it lies in Documents, on the Desktop or in iCloud Drive, allow the program that started this server "
            "to use that folder, in System Settings > Privacy & Security > Files and Folders."
        )
    if platform == "win32":
        hint += " It may also be open in another program."
    return PermissionDenied(f"The system does not allow access to {path} ({error.strerror}).", hint, path=str(path))
