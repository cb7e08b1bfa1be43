"""What Windows does in another way with names, links and open files. Elsewhere nothing here is used.

- Short names: `OBSIDI~1` is `.obsidian`. Such a name is followed to its end, as a link is.
- Junctions are folders to Python, and lead elsewhere all the same; so may other reparse points. OneDrive's, which lead
  nowhere, are told from them by a bit of their tag.
- A file that one program has open may be closed to all others: see `patience`. We let others rename and remove it.
- A name that the system can't hold, or takes for a device or a stream, is not given to it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys

from obsidian_mcp.backends.files.os_errors import NotRegular
from obsidian_mcp.errors import PermissionDenied
from obsidian_mcp.vault import portable
from obsidian_mcp.vault.path import VaultPath

HERE = sys.platform == "win32"
NO_FOLLOW = 1 << 30  # a flag for `open_file` alone, as O_NOFOLLOW is elsewhere
_NAME_SURROGATE = 0x20000000  # of a reparse tag: it stands for another file or folder
_NO_NAME = re.compile(r'[<>:"|?*]')


def leads_elsewhere(found: os.stat_result) -> bool:
    """Whether it is a symbolic link, a junction or the like."""
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_reparse_tag", 0) & _NAME_SURROGATE)


def is_own_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder itself, and not a way to one."""
    return entry.is_dir(follow_symlinks=False) and not (HERE and leads_elsewhere(entry.stat(follow_symlinks=False)))


def may_be_short(name: str) -> bool:
    return HERE and "~" in name


def can_hold(path: str) -> bool:
    """Whether the system can have a file or folder of that name at all."""
    return not (HERE and _problem(path))


def require_name(path: VaultPath) -> None:
    if HERE and (problem := _problem(path.value)):
        raise PermissionDenied(
            f"{path} can't be used on Windows: a name there must not {problem}.",
            "Rename it where the vault is used on another system.",
            path=path.value,
        )


def _problem(path: str) -> str:
    if found := _NO_NAME.search(path):
        return f"contain {found[0]!r}"
    return next(filter(None, map(portable.windows_problem, path.split("/"))), "")


def open_file(path: str, flags: int) -> int:
    """As `os.open`, which tells neither why it fails nor lets others rename or remove the file meanwhile."""
    if sys.platform != "win32":
        raise NotImplementedError
    import _winapi
    import msvcrt

    if flags & NO_FOLLOW and leads_elsewhere_now(path):
        raise OSError(errno.ELOOP, "it has become a symbolic link")
    access = {os.O_RDONLY: _winapi.GENERIC_READ, os.O_WRONLY: _winapi.GENERIC_WRITE}.get(
        flags & (os.O_WRONLY | os.O_RDWR), _winapi.GENERIC_READ | _winapi.GENERIC_WRITE
    )
    create_new, open_always, every_sharing, normal = 1, 4, 7, 0x80
    make = create_new if flags & os.O_EXCL else open_always if flags & os.O_CREAT else _winapi.OPEN_EXISTING
    try:
        handle = _winapi.CreateFile(path, access, every_sharing, _winapi.NULL, make, normal, _winapi.NULL)
    except PermissionError:
        if os.path.isdir(path):
            raise NotRegular from None
        raise
    try:
        return msvcrt.open_osfhandle(handle, flags & (os.O_RDONLY | os.O_APPEND) | os.O_BINARY)
    except OSError:
        _winapi.CloseHandle(handle)
        raise


def leads_elsewhere_now(path: str) -> bool:
    try:
        return leads_elsewhere(os.lstat(path))
    except OSError:
        return False  # to open it says why
