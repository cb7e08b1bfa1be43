"""The system's errors about a file, as failures."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from obsidian_mcp.errors import Failure, FileFailed, NoteNotFound, PermissionDenied
from obsidian_mcp.vault.path import VaultPath

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.ENXIO}


def is_absent(error: OSError) -> bool:
    """Whether it says that there is no such file, or none that is not a link; anything else is a failure."""
    return error.errno in _ABSENT


@contextlib.contextmanager
def translate_os_errors(path: VaultPath | str) -> Iterator[None]:
    """Raise a Failure where the system raises an error."""
    named = str(path)
    try:
        yield
    except Failure:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise NoteNotFound(f"There is no file {path} on disk.", path=named) from None
    except PermissionError as error:
        raise PermissionDenied(
            f"The system does not allow access to {path} ({error.strerror}).",
            "Check the permissions of the note and its folder.",
            path=named,
        ) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PermissionDenied(
                f"{path} cannot be reached without a symbolic link any more, so it is left alone.", path=named
            ) from None
        raise FileFailed(f"The file {path} could not be used: {error.strerror}.", path=named) from None
