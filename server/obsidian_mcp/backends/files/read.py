"""A vault's files as they are found: nothing here changes anything."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import unicodedata
from typing import Any

from obsidian_mcp.backends.files import atomic, cloud, windows
from obsidian_mcp.backends.files.birth import birth_time
from obsidian_mcp.backends.files.held import HOLDS, NO_LINK, hold, open_file
from obsidian_mcp.backends.files.os_errors import is_absent, is_missing, translate_os_errors
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.errors import Failure, NotJson, PermissionDenied, TooLarge
from obsidian_mcp.vault import text
from obsidian_mcp.vault.active import Workspace, from_workspace
from obsidian_mcp.vault.config import VaultConfig
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.path import VaultPath

IGNORES_CASE = sys.platform in ("darwin", "win32")
MOST_TEXT = 64 * 1024 * 1024


def access(root: VaultRoot) -> tuple[bool, bool]:
    """Whether the folder may be read, and written."""
    return os.access(root.prefix, os.R_OK | os.X_OK), os.access(root.prefix, os.W_OK)


def settings(root: VaultRoot) -> VaultConfig:
    """The vault's `.obsidian/app.json`; empty where there is none, or one that means nothing."""
    found = _if_json(root, "app.json")
    is_obsidians = os.path.isdir(f"{root.prefix}.obsidian")
    return VaultConfig(found if isinstance(found, dict) else {}, is_obsidians)


def types(root: VaultRoot) -> dict[str, str]:
    """The types of properties, from `.obsidian/types.json`."""
    found = _if_json(root, "types.json")
    known = found.get("types") if isinstance(found, dict) else None
    return {name: kind for name, kind in known.items() if isinstance(kind, str)} if isinstance(known, dict) else {}


def workspace(root: VaultRoot) -> Workspace:
    """What the app last wrote down of its windows, as far as the files are still there."""
    try:
        found = from_workspace(config_file(root, "workspace.json"))
    except Failure:  # the app writes it again and again
        return Workspace(None, ())
    there = tuple(path for path in found.opened if os.path.isfile(root.place(path.value)))
    return Workspace(found.active if found.active in there else None, there)


def config_file(root: VaultRoot, name: str) -> Any:
    """From `.obsidian`; None where it has no such file.

    It or the file may well be a link: people share their settings between vaults.
    """
    file = root.place(f".obsidian/{name}")
    try:
        return json.loads(atomic.read_path(file))
    except (ValueError, RecursionError):
        raise NotJson(
            f"The vault's settings .obsidian/{name} are not JSON, so what they say can't be known.",
            "Mend the file, or remove it and set it up in Obsidian again.",
        ) from None
    except OSError as error:
        if is_absent(error):
            return None
        with translate_os_errors(f".obsidian/{name}"):  # to act as if there were none would be to act against it
            raise


def _if_json(root: VaultRoot, name: str) -> Any:
    """None also for a file that means nothing: no note could be found while it does."""
    try:
        return config_file(root, name)
    except NotJson:
        return None


def has(root: VaultRoot, path: VaultPath) -> bool:
    """Whether a file of exactly that spelling is there. One that a link leads out to is not in the vault."""
    try:
        found = root.seen(path)[1]
    except PermissionDenied:
        return False
    if found is not None and not IGNORES_CASE and stat.S_ISREG(found.st_mode):
        return True
    return spelled_exactly(root, path) if IGNORES_CASE else _is_file(root, path.value)


def spellings(root: VaultRoot, path: VaultPath) -> list[VaultPath]:
    """The files that the path can mean: exactly it, or else those that differ in case or Unicode form."""
    if not windows.can_hold(path.value):
        return []
    root.real(path)
    if not IGNORES_CASE and _is_file(root, path.value):
        return [path]
    found = [""]
    for segment in path.value.split("/"):
        found = [child for folder in found for child in _children(root, folder, segment)]
    return [VaultPath(child) for child in sorted(found) if _is_file(root, child)]


def spelled_folder(root: VaultRoot, folder: str) -> str:
    """A folder's path, with what exists of it as it is spelled on disk."""
    spelled = ""
    for segment in folder.split("/") if folder else []:
        there = _children(root, spelled, segment)
        spelled = there[0] if len(there) == 1 else f"{spelled}/{segment}" if spelled else segment
    return spelled


def spelled_exactly(root: VaultRoot, path: VaultPath) -> bool:
    """Whether a file is there under that name, in that case, also where the system ignores case.

    The Unicode form counts too, so that a rename can change it; but a volume may store every name decomposed (HFS+),
    and then lists another than it was given.
    """
    with translate_os_errors(path):
        try:
            names = cloud.real_names(os.listdir(root.place(path.folder)))
        except OSError as error:
            if is_missing(error):
                return False
            raise
    return (path.filename in names or _is_stored_decomposed(path.filename, names)) and _is_file(root, path.value)


def _is_stored_decomposed(filename: str, names: list[str]) -> bool:
    """Compared composed: HFS+ decomposes by a table of its own, which is not quite NFD."""
    wanted = unicodedata.normalize("NFC", filename)
    return not filename.isascii() and any(
        other != wanted and unicodedata.normalize("NFC", other) == wanted for other in names
    )


def _is_file(root: VaultRoot, path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(root.place(path)).st_mode)
    except OSError as error:
        if is_absent(error):
            cloud.require_here(root, path)
            return False
        with translate_os_errors(path):
            raise


def is_file_itself(root: VaultRoot, path: str) -> bool:
    """Whether a file is there, and not a link to one."""
    try:
        return stat.S_ISREG(os.lstat(root.place(path)).st_mode)
    except OSError as error:
        if is_absent(error):
            return False
        with translate_os_errors(path):
            raise


def _names(root: VaultRoot, folder: str) -> list[str]:
    """What a folder holds; nothing where there is none, or where that may not be known."""
    if not windows.can_hold(folder):
        return []
    try:
        return cloud.real_names(os.listdir(root.place(folder)))
    except PermissionError:
        return []
    except OSError as error:
        if is_absent(error):
            return []
        with translate_os_errors(folder):
            raise


def _children(root: VaultRoot, folder: str, name: str) -> list[str]:
    names = _names(root, folder)
    wanted = fold(name)
    exact = [name] if name in names else [other for other in names if fold(other) == wanted]
    return [f"{folder}/{other}" if folder else other for other in exact]


def inode(root: VaultRoot, path: VaultPath) -> int | None:
    """The file's number, which a rename keeps."""
    if not spelled_exactly(root, path):
        return None
    with translate_os_errors(path):
        return os.lstat(root.place(path.value)).st_ino


def times(root: VaultRoot, path: VaultPath) -> tuple[float | None, float]:
    """When the file was made, if the system knows, and when it was last changed."""
    real = root.real(path)
    with translate_os_errors(path):
        found = os.stat(real)
    return birth_time(real, found), found.st_mtime


def note(root: VaultRoot, path: VaultPath) -> bytes:
    """The bytes of a note. Attachments can be larger than memory: see `digest`."""
    with translate_os_errors(path):
        try:
            return atomic.read_file(_opened(root, path), MOST_TEXT)
        except atomic.Longer as longer:
            raise TooLarge(
                f"{path} has {longer.size} bytes, more than the {MOST_TEXT} that can be read or written as text here.",
                "It can be moved, renamed, deleted and described.",
                path=path.value,
            ) from None


def _opened(root: VaultRoot, path: VaultPath) -> int:
    """For reading. Most paths hold no link, and are opened through none; others are followed to their end first."""
    if HOLDS and not windows.HERE:
        with contextlib.suppress(OSError):  # a link on the way; what else it is, is told by the second try
            return open_file(root.prefix, path.value, os.O_RDONLY | NO_LINK)
    with hold(root.prefix, root.inside(path)) as at:
        return at.open(os.O_RDONLY | NO_LINK)


def listed(root: VaultRoot, path: str) -> bytes:
    """The bytes of a regular file that a listing has named."""
    with translate_os_errors(path), hold(root.prefix, path) as at:
        return atomic.read(at)


def digest(root: VaultRoot, path: VaultPath) -> tuple[str, int]:
    """The etag and size of a file of any size."""
    with translate_os_errors(path):
        with hold(root.prefix, root.inside(path)) as at:
            fd = at.open_regular()
        try:
            digest, size = text.Digest(), 0
            while part := os.read(fd, atomic.CHUNK):
                digest.update(part)
                size += len(part)
            return digest.etag(), size
        finally:
            os.close(fd)
