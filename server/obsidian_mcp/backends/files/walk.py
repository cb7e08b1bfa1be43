"""One walk through a vault's folder: every file with its size and time, and no file opened.

Hosts ask for it before their first question to a model, so it is one loop, with one question to the system for each
file.
"""

from __future__ import annotations

import os
import re
import stat

from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.files.windows import is_own_folder
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import PermissionDenied
from obsidian_mcp.vault.path import BadPath, VaultPath
from obsidian_mcp.vault.seen import Seen

# Names that no path of ours can hold, as in `scan`.
_UNUSABLE = re.compile("[\\\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def files(root: VaultRoot, call: CallContext, within: str = "") -> list[Seen]:
    """Those that are not hidden, in no order. Links are not followed; a folder that can't be listed is passed over."""
    found: list[Seen] = []
    todo = [within] if _is_inside(root, within) else []
    while todo:
        folder = todo.pop()
        call.check(f"looking into {folder or 'the vault'}")
        prefix = f"{folder}/" if folder else ""
        try:
            with os.scandir(root.place(folder)) as entries:
                for entry in entries:
                    name = entry.name
                    if name[0] == "." or _UNUSABLE.search(name):
                        continue
                    if is_own_folder(entry):
                        todo.append(prefix + name)
                        continue
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue  # gone by now
                    if stat.S_ISREG(status.st_mode):
                        found.append(Seen(status.st_mtime_ns, status.st_size, prefix + name))
        except OSError:
            continue
    return found


def _is_inside(root: VaultRoot, folder: str) -> bool:
    """A link may lead to another folder of the vault, and not out of it."""
    try:
        return not folder or bool(root.inside(VaultPath(folder)))
    except (BadPath, PermissionDenied):
        return False
