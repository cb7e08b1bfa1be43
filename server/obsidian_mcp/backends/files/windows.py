"""What Windows does in another way with names, links and open files. Elsewhere nothing here is used.

- Short names: `OBSIDI~1` is `.obsidian`. Such a name is followed to its end, as a link is.
- Junctions are folders to Python, and lead elsewhere all the same; so may other reparse points. OneDrive's, which lead
  nowhere, are told from them by a bit of their tag.
- A name that the system can't hold, or takes for a device or a stream, is not given to it.
"""

from __future__ import annotations

import os
import re
import stat
import sys

from obsidian_mcp.errors import PermissionDenied
from obsidian_mcp.vault import portable
from obsidian_mcp.vault.path import VaultPath

HERE = sys.platform == "win32"
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


def can_hold(path: VaultPath) -> bool:
    """Whether the system can have a file of that name at all."""
    return not (HERE and _problem(path))


def require_name(path: VaultPath) -> None:
    if HERE and (problem := _problem(path)):
        raise PermissionDenied(
            f"{path} can't be used on Windows: a name there must not {problem}.",
            "Rename it where the vault is used on another system.",
            path=path.value,
        )


def _problem(path: VaultPath) -> str:
    if found := _NO_NAME.search(path.value):
        return f"contain {found[0]!r}"
    return next(filter(None, map(portable.windows_problem, path.value.split("/"))), "")
