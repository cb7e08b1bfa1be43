"""The vaults that Obsidian has registered on this machine, from its `obsidian.json`.

The app owns that file and rewrites it; it is read here and never written.
"""

from __future__ import annotations

import json
import ntpath
import os
import posixpath
import sys
import unicodedata

from obsidian_mcp import long_paths
from obsidian_mcp.errors import Hint, VaultNotFound
from obsidian_mcp.settings import at_home, looks_like_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


HOW_TO_INSTALL = (
    "Install Obsidian 1.12.7 or later from obsidian.md and switch on Settings > General > Advanced > "
    "Command line interface, or name the command with --obsidian-bin."
)


class Registered:
    """One vault. Its name is its folder's base name; names may repeat, ids don't."""

    __slots__ = ("id", "name", "open", "path")

    def __init__(self, id: str, path: str, open: bool) -> None:
        self.id = id
        self.path = path
        self.name = _base_name(path)
        self.open = open


class Located:
    """A vault that was named: the registered one that is meant, if any, and its folder.

    The list is read when it is first needed, and anew for each call: it may have changed since the last.
    """

    def __init__(self, wanted: str, environ: Mapping[str, str]) -> None:
        self.wanted = wanted
        self._environ = environ
        self._vaults: list[Registered] | None = None

    @property
    def vaults(self) -> list[Registered]:
        """All that are registered."""
        if self._vaults is None:
            self._vaults = registered(self._environ)
        return self._vaults

    @property
    def found(self) -> Registered | None:
        """Raises VaultNotFound where several are meant."""
        return find_one(self.wanted, self.vaults, self._environ)

    @property
    def folder(self) -> str:
        """Where it lies, whether a folder is there or not."""
        return self._named_folder() or self._registered_folder()

    def _named_folder(self) -> str:
        """A folder that is named itself, for which no list is needed; empty if there is none."""
        path = at_home(self.wanted, self._environ)
        return path if looks_like_path(self.wanted) and os.path.isdir(path) else ""

    def _registered_folder(self) -> str:
        found = self.found
        return found.path if found else at_home(self.wanted, self._environ)

    @property
    def unique_name(self) -> str:
        """What the app calls it: its name where that means one vault, else its id."""
        found = self.found
        return unique_name(found, self.vaults) if found else self.wanted

    @property
    def known(self) -> str:
        return f"Known vaults: {described(self.vaults)}."

    def require_folder(self) -> str:
        """Raises VaultNotFound if there is no folder on this machine."""
        named = self._named_folder()
        if named:
            return named
        folder = self._registered_folder()
        if os.path.isdir(folder):
            return folder
        found = self.found
        if found:
            raise VaultNotFound(
                f"The vault {found.name} is registered, but its folder {folder} is not there.",
                "Mount its disk, or name another vault with --vault.",
            )
        what = "a file, not a folder" if os.path.isfile(folder) else "neither a folder nor a name that Obsidian knows"
        raise VaultNotFound(
            f"There is no vault {self.wanted!r}: it is {what}. {self.known}",
            with_doctor("Name a folder or one of these with --vault.", "checks it"),
        )


class Address:
    """By what a link can tell this vault from others: its name, its id, and its folder."""

    def __init__(self, place: Located, folder: str) -> None:
        self._place = place
        self._folder = folder

    def is_called(self, text: str) -> bool:
        found = self._place.found
        known = (found.id, found.name) if found else ()
        return _nfc(text) in map(_nfc, (self._place.wanted, _base_name(self._folder), *known))

    def within(self, absolute: str) -> str | None:
        """A path on the disk as one from the folder, by the text alone; None if it lies elsewhere."""
        path = _slashed(absolute)
        found = self._place.found
        real = long_paths.real(self._folder) if os.path.isabs(self._folder) else ""
        for folder in (long_paths.plain(self._folder), real, found.path if found else ""):
            prefix = f"{_slashed(folder).rstrip('/')}/"
            if folder and path.startswith(prefix) and path != prefix:
                return path[len(prefix) :]
        return None


def _slashed(path: str) -> str:
    """In one form: composed, and a drive as Windows writes it, which a link may have after a slash."""
    path = _nfc(path.replace("\\", "/"))
    return path[1:] if path[:1] == "/" and path[2:3] == ":" else path


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def with_doctor(hint: str, what: str) -> Hint:
    """Advice that also sends people to the doctor, unless the doctor gives it."""
    return Hint(f"{hint} `obsidian-mcp doctor` {what}.", doctor=hint)


def places(environ: Mapping[str, str], platform: str = sys.platform) -> list[str]:
    """Where `obsidian.json` may lie."""
    home = environ.get("HOME", "")
    if platform == "win32":
        folder = environ.get("APPDATA", "")
        return [ntpath.join(folder, "obsidian", "obsidian.json")] if folder else []
    if not home and not environ.get("XDG_CONFIG_HOME"):
        return []
    if platform == "darwin":
        return [posixpath.join(home, "Library/Application Support/obsidian/obsidian.json")]
    config = environ.get("XDG_CONFIG_HOME") or posixpath.join(home, ".config")
    places = [posixpath.join(config, "obsidian/obsidian.json")]
    if home:
        places.append(posixpath.join(home, ".var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json"))
        places.append(posixpath.join(home, "snap/obsidian/current/.config/obsidian/obsidian.json"))
    return places


def registered(environ: Mapping[str, str], platform: str = sys.platform) -> list[Registered]:
    """Every vault of every list there is. A list that cannot be read counts as empty."""
    found: dict[str, Registered] = {}
    for place in places(environ, platform):
        for vault in _read(place):
            found.setdefault(vault.id, vault)
    return list(found.values())


def find(wanted: str, vaults: Sequence[Registered], environ: Mapping[str, str]) -> list[Registered]:
    """The vaults that an id, a path or a name means, tried in that order."""
    by_id = [vault for vault in vaults if vault.id == wanted]
    if by_id:
        return by_id
    if looks_like_path(wanted):
        real = _real(at_home(wanted, environ))
        return [vault for vault in vaults if _real(vault.path) == real]
    return [vault for vault in vaults if vault.name == wanted]


def find_one(wanted: str, vaults: Sequence[Registered], environ: Mapping[str, str]) -> Registered | None:
    """The vault that is meant, if it is registered; raises where several are."""
    found = find(wanted, vaults, environ)
    if len(found) > 1:
        raise VaultNotFound(
            f"{len(found)} vaults are called {wanted!r}: {described(found)}.",
            "Name one by its id or folder with --vault.",
        )
    return found[0] if found else None


def unique_name(vault: Registered, vaults: Sequence[Registered]) -> str:
    """Its name where that means one vault, else its id."""
    same = [other for other in vaults if other.name == vault.name]
    return vault.name if len(same) == 1 else vault.id


def described(vaults: Sequence[Registered]) -> str:
    return ", ".join(f"{vault.name} (id {vault.id}, {vault.path})" for vault in vaults) or "none"


def broken(environ: Mapping[str, str], platform: str = sys.platform) -> list[str]:
    """The lists that are there and can't be read."""
    return [place for place in places(environ, platform) if os.path.lexists(place) and _entries(place) is None]


def _entries(place: str) -> list[tuple[str, object]] | None:
    try:
        fd = os.open(place, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(fd, "rb") as file:
            found: list[tuple[str, object]] = list(json.loads(file.read() or b"")["vaults"].items())
            return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _read(place: str) -> list[Registered]:
    entries = _entries(place) or []
    usable = [(id, entry) for id, entry in entries if isinstance(entry, dict) and _usable(entry)]
    return [Registered(id, entry["path"], entry.get("open") is True) for id, entry in usable]


def _usable(entry: object) -> bool:
    """One broken entry must not hide the others."""
    path = entry.get("path") if isinstance(entry, dict) else None
    if not isinstance(path, str) or "\x00" in path or any("\ud800" <= character <= "\udfff" for character in path):
        return False
    return posixpath.isabs(path) or ntpath.isabs(path)


def _base_name(path: str) -> str:
    return ntpath.basename(path.rstrip("/\\")) if "\\" in path else posixpath.basename(path.rstrip("/"))


def _real(path: str) -> str:
    return os.path.normcase(long_paths.real(path))
