"""Notes that iCloud has taken off this machine. Up to macOS 13 it leaves a hidden `.Name.md.icloud` in their place.

Such a note is part of the vault: links lead to it, and it has links. So it is listed under its own name, and whatever
would read or write it says where it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from obsidian_mcp.backends.files.os_errors import in_the_cloud
from obsidian_mcp.backends.files.root import VaultRoot

_ENDING = ".icloud"


def real_name(name: str) -> str:
    """The name of the file that it stands for; of any other file, its own."""
    stands_for = name[1 : -len(_ENDING)] if name.startswith(".") and name.endswith(_ENDING) else ""
    return stands_for if stands_for and not stands_for.startswith(".") else name


def real_names(names: Iterable[str]) -> list[str]:
    return [real_name(name) if name[0] == "." else name for name in names]


def require_here(root: VaultRoot, path: str) -> None:
    """Raise if a file that is not there is in the cloud."""
    folder, slash, name = path.rpartition("/")
    if os.path.lexists(root.place(f"{folder}{slash}.{name}{_ENDING}")):
        raise in_the_cloud(path)
