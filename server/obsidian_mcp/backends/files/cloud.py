"""Notes that a cloud has taken off this machine. Up to macOS 13, iCloud leaves a hidden `.Name.md.icloud` in place.

Such a note is part of the vault: links lead to it, and it has links. So it is listed under its own name, and whatever
would read or write it says where it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from obsidian_mcp.backends.files.os_errors import in_the_cloud
from obsidian_mcp.backends.files.root import VaultRoot

_ENDING = ".icloud"
_STAND_INS = (".nextcloud", ".owncloud")  # the endings of files that stand for one on their servers
_DATALESS = 0x40000000  # SF_DATALESS of macOS
_RECALLED = 0x1000 | 0x40000 | 0x400000  # offline, recalled on open, recalled on access: Windows
_TELLS = hasattr(os.stat_result, "st_flags") or hasattr(os.stat_result, "st_file_attributes")


def real_name(name: str) -> str:
    """The name of the file that it stands for; of any other file, its own."""
    stands_for = name[1 : -len(_ENDING)] if name.startswith(".") and name.endswith(_ENDING) else ""
    return stands_for if stands_for and not stands_for.startswith(".") else name


def real_names(names: Iterable[str]) -> list[str]:
    return [real_name(name) if name[0] == "." else name for name in names]


def own_name(name: str) -> str:
    """A file's name without what a stand-in adds to it."""
    return next((name.removesuffix(ending) for ending in _STAND_INS if name.endswith(ending)), name)


def is_away(entry: os.DirEntry[str]) -> bool:
    """Whether reading it would have to fetch it first, or could not."""
    if real_name(entry.name) != entry.name or own_name(entry.name) != entry.name:
        return True
    return _TELLS and is_marked_away(entry.stat(follow_symlinks=False))


def is_marked_away(status: object) -> bool:
    """What the system itself says of a file."""
    flags, attributes = getattr(status, "st_flags", 0), getattr(status, "st_file_attributes", 0)
    return bool(flags & _DATALESS or attributes & _RECALLED)


def require_here(root: VaultRoot, path: str) -> None:
    """Raise if a file that is not there is in the cloud."""
    folder, slash, name = path.rpartition("/")
    if os.path.lexists(root.place(f"{folder}{slash}.{name}{_ENDING}")):
        raise in_the_cloud(path)
