"""A vault's folder: whether it is the one that is meant, what is in it, and what of it is out of reach."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from obsidian_mcp.doctor.check import Check, Examination
from obsidian_mcp.doctor.hosts import instead
from obsidian_mcp.hosts.command import command_line, quoted
from obsidian_mcp.setup import places
from obsidian_mcp.vault.census import Census
from obsidian_mcp.vaults.reader import FolderReader

MOST_NAMED = 5
COUNTED_FOR = 20.0  # seconds
NOT_MEANT_FOR = 3.0  # seconds for a folder that isn't a vault
CLOUDS = {
    "iCloud": ("mobile documents", "iclouddrive"),
    "OneDrive": ("onedrive",),
    "Dropbox": ("dropbox",),
    "Google Drive": ("google drive", "googledrive", "my drive"),
    "Nextcloud": ("nextcloud",),
    "a cloud": ("cloudstorage",),
}


def folders(it: Examination, folder: FolderReader, root: str) -> Iterator[Check]:
    why = places.warning(root, places.home_of(it.environ))
    found = folder.census(NOT_MEANT_FOR if why else COUNTED_FOR)
    yield _place(it, root, why, found)
    yield _notes(root, found)
    yield _closed(it, root, found)
    yield from _cloud(root, found)


def _place(it: Examination, root: str, why: str, found: Census) -> Check:
    below = _outermost([os.path.join(root, *path.split("/")) for path in found.vaults])
    if why:
        return _misplaced(it, root, f"{why}.", below if len(below) == 1 else [])
    if places.is_vault(root):
        return Check("place", "ok", "It has .obsidian, so it is the folder of a vault.")
    above = places.vault_above(root)
    if above and not places.warning(above, places.home_of(it.environ)):
        cause = f"{root} is a folder inside the vault {above}, so links to the rest of the vault lead nowhere."
        return _misplaced(it, root, cause, [above])
    if below:
        what = f"{_some(below)} in it {'is one' if len(below) == 1 else 'are'}"
        return _misplaced(it, root, f"{root} is not a vault, but {what}.", below[:MOST_NAMED])
    return Check("place", "ok", "It has no .obsidian, so Obsidian has not opened it as a vault, which is fine.")


def _misplaced(it: Examination, root: str, cause: str, right: Sequence[str]) -> Check:
    it.better = list(right)
    return Check("place", "warn", cause, instead(it, root, right) if right else command_line("setup"))


def _outermost(vaults: Sequence[str]) -> list[str]:
    """Without those that lie in another."""
    return [vault for vault in vaults if not any(vault.startswith(other + os.sep) for other in vaults)]


def _notes(root: str, found: Census) -> Check:
    more = "" if found.is_whole else "More than "
    cause = f"{more}{_many(found.notes, 'note')} and {_many(found.others, 'other file')}"
    cause += f" in {_many(found.folders, 'folder')}." if found.folders else "."
    if found.notes or places.is_vault(root):
        return Check("notes", "ok", cause)
    return Check("notes", "warn", f"No note was found in {root}: {cause[:1].lower()}{cause[1:]}", command_line("setup"))


def _closed(it: Examination, root: str, found: Census) -> Check:
    """One that can't be listed may hold links to any note."""
    if not found.closed:
        return Check("folders", "ok", "Every folder in it can be listed.")
    closed = [(os.path.join(root, *name.split("/")), why) for name, why in found.closed]
    means = "no note can be moved" if it.embedded else "its notes are out of reach"
    cause = f"These folders cannot be listed, so {means}: {_some([f'{name} ({why})' for name, why in closed])}."
    status = "fail" if it.embedded and not it.settings.read_only else "warn"
    return Check("folders", status, cause, opened_up([name for name, _ in closed], "rwX"))


def opened_up(paths: Sequence[str], mode: str, platform: str = sys.platform) -> str:
    """The command that lets this user in."""
    named = [quoted(path, platform) for path in paths[:MOST_NAMED]]
    if platform == "win32":
        return "; ".join(f'icacls {name} /grant "${{env:USERNAME}}:F"' for name in named)
    return f"chmod u+{mode} {' '.join(named)}"


def _cloud(root: str, found: Census) -> Iterator[Check]:
    cloud = cloud_of(root)
    if found.away:
        one = len(found.away) == 1
        what = f"{_many(len(found.away), 'file')} {'is' if one else 'are'} in {cloud or 'the cloud'}"
        cause = f"{what} and not on this machine, so {'it' if one else 'they'} can't be read: {_some(found.away)}."
        yield Check("cloud", "warn", cause, downloaded(root))
    elif cloud:
        yield Check("cloud", "ok", f"It is in {cloud}'s folder, and all of it is on this machine.")


def downloaded(root: str, platform: str = sys.platform) -> str:
    """What brings the files here."""
    if platform == "darwin":
        return f"brctl download {quoted(root, platform)}"
    if platform == "win32":
        every = quoted(root.rstrip("\\") + "\\*", platform)
        return f"attrib -U +P {every} /S /D"
    return "Let the cloud's program keep the vault's folder on this machine: the setting is in its window."


def cloud_of(root: str) -> str:
    """The cloud in whose folder it lies, by the names above it; empty if none."""
    names = [name.lower() for name in root.replace("\\", "/").split("/")]
    for cloud, signs in CLOUDS.items():
        if any(name == sign or name.startswith((f"{sign} -", f"{sign}-")) for name in names for sign in signs):
            return cloud
    return ""


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"
