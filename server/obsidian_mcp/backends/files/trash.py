"""The two trashes: the vault's own, and the system's."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from obsidian_mcp.backends.files import read, windows, write
from obsidian_mcp.backends.files.held import hold
from obsidian_mcp.backends.files.os_errors import translate_os_errors
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.errors import FileFailed, NoteNotFound, PermissionDenied
from obsidian_mcp.vault.path import LONGEST_NAME, VaultPath


def to_local_trash(root: VaultRoot, path: VaultPath) -> str:
    """Into `.trash` at the vault's root, where a name already taken gets a number; its path there."""
    with translate_os_errors(path):
        root.real(path)
        trash = Path(root.place(".trash"))
        if windows.leads_elsewhere_now(str(trash)):
            raise PermissionDenied(
                f".trash is a symbolic link, so {path} is left where it is.",
                "Use permanent, or put a folder in its place.",
            )
        trash.mkdir(exist_ok=True)
        with hold(root.prefix, root.spot(path)) as at, hold(root.prefix, f".trash/{path.filename}") as first:
            goal, number = first, 1
            while not at.move(goal):
                number += 1
                ending = f" {number}{'.' if path.extension else ''}{path.extension}"
                room = LONGEST_NAME - len(ending.encode())
                goal = first.sibling(path.stem.encode()[:room].decode("utf-8", "ignore") + ending)
            return goal.text[len(root.prefix) :].replace(os.sep, "/")


def to_system_trash(root: VaultRoot, path: VaultPath, platform: str = sys.platform) -> bool:
    """Into the trash of the system; False where it has none for this place, or none that can be relied on.

    On Windows the bin may be off, the drive a network's or the file too large for it, and then what is told to recycle
    deletes for good and says that it went well. So that bin is not used.
    """
    if platform == "win32":
        return False
    import send2trash

    root.real(path)
    try:
        send2trash.send2trash(str(root.path / path.value))
    except OSError:
        return False
    return not os.path.lexists(root.place(path.value))


def restore(root: VaultRoot, path: VaultPath, before: bytes | None, to: str, mode: int | None = None) -> None:
    """Put a deleted file back: the one in the vault's own trash if it is as it was, else a new one of those bytes."""
    if to and (before is None or _is_as_it_was(root, to, before)):
        write.require_room(root, path)
        write.make_folder_for(root, path)
        with translate_os_errors(path), hold(root.prefix, to) as source, hold(root.prefix, root.spot(path)) as goal:
            if source.move(goal):
                return
    if before is None:
        raise FileFailed(f"What {path} held was not kept, so it cannot be put back.", path=path.value)
    write.write_new(root, path, before)
    if mode is not None:
        with contextlib.suppress(OSError), hold(root.prefix, root.spot(path)) as made:
            made.set_mode(mode)


def found(root: VaultRoot, path: VaultPath, before: bytes) -> str:
    """Where in the vault's own trash a deleted file lies that held this; empty if nowhere. The last of its names."""
    stem, _, ending = path.filename.rpartition(".")
    begin, end = (stem, f".{ending}") if stem else (path.filename, "")
    try:
        names = os.listdir(root.place(".trash"))
    except OSError:
        return ""
    numbers = {
        name: name.removeprefix(begin).removesuffix(end).strip() or "1" for name in names if _is(name, begin, end)
    }
    for name in sorted((name for name in numbers if numbers[name].isdecimal()), key=lambda name: -int(numbers[name])):
        if _is_as_it_was(root, f".trash/{name}", before):
            return f".trash/{name}"
    return ""


def of_inode(root: VaultRoot, inode: int) -> str:
    """Where in the vault's own trash the file of this number lies, of which nothing else was kept; empty if nowhere."""
    with contextlib.suppress(OSError), os.scandir(root.place(".trash")) as entries:
        for entry in entries:
            if os.lstat(entry.path).st_ino == inode and entry.is_file(follow_symlinks=False):
                return f".trash/{entry.name}"
    return ""


def _is(name: str, begin: str, end: str) -> bool:
    return name.startswith(begin) and name.endswith(end) and len(name) >= len(begin + end)


def _is_as_it_was(root: VaultRoot, to: str, before: bytes) -> bool:
    try:
        return read.listed(root, to) == before
    except (NoteNotFound, PermissionDenied, FileFailed):
        return False
