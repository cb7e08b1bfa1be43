"""Where the Obsidian command is. Hosts with a window start servers with a minimal PATH."""

from __future__ import annotations

import os
import posixpath
import sys

from obsidian_mcp.settings import at_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    IsCommand = Callable[[str], bool]

LARGEST_NATIVE = 30 * 1024 * 1024  # bytes; the app itself has well over a hundred million


def is_command(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def find(
    named: str, environ: Mapping[str, str], platform: str = sys.platform, exists: IsCommand = is_command
) -> str | None:
    """The command to run, or None. A command that was named is used or nothing is."""
    if named:
        named = _console_version(at_home(named, environ), platform)
        return named if exists(named) else None
    for place in places(environ, platform):
        if exists(place):
            return place
    return None


def places(environ: Mapping[str, str], platform: str = sys.platform) -> list[str]:
    """PATH first, then the well-known places."""
    if platform == "win32":
        return _windows(environ)
    home = environ.get("HOME", "")
    path = [posixpath.join(folder, "obsidian") for folder in environ.get("PATH", "").split(":") if folder]
    return path + (_macos(home) if platform == "darwin" else _linux(home))


def _windows(environ: Mapping[str, str]) -> list[str]:
    """Always `Obsidian.com`: the `.exe` beside it prints nothing, or ends with 127."""
    import ntpath  # not for the first reply elsewhere

    environ = {name.upper(): value for name, value in environ.items()}  # Python writes them all in capitals there
    folders = [folder.strip('"') for folder in environ.get("PATH", "").split(";") if folder]
    local = environ.get("LOCALAPPDATA", "")
    if local:
        folders += [ntpath.join(local, "Programs", "Obsidian"), ntpath.join(local, "Obsidian")]
    folders += [ntpath.join(environ[key], "Obsidian") for key in ("PROGRAMFILES", "PROGRAMW6432") if environ.get(key)]
    return [ntpath.join(folder, "Obsidian.com") for folder in folders]


def _macos(home: str) -> list[str]:
    inside = "Applications/Obsidian.app/Contents/MacOS"
    apps = [posixpath.join("/", inside), *([posixpath.join(home, inside)] if home else [])]
    return [
        "/usr/local/bin/obsidian",
        "/opt/homebrew/bin/obsidian",
        *(posixpath.join(app, "obsidian-cli") for app in apps),
        *(posixpath.join(app, "Obsidian") for app in apps),  # up to 1.12.6 the app itself is the command
    ]


def _linux(home: str) -> list[str]:
    own = [posixpath.join(home, ".local/bin/obsidian")] if home else []
    flatpak = "flatpak/exports/bin/md.obsidian.Obsidian"
    own_flatpak = [posixpath.join(home, ".local/share", flatpak)] if home else []
    return [
        *own,
        "/usr/local/bin/obsidian",
        "/usr/bin/obsidian",
        "/opt/Obsidian/obsidian",
        "/snap/bin/obsidian",
        posixpath.join("/var/lib", flatpak),
        *own_flatpak,
    ]


def may_launch(command: str) -> bool:
    """Whether merely asking could start the app: up to 1.12.6 the command is the app itself."""
    real = os.path.realpath(command)
    try:
        size = os.path.getsize(real)
    except OSError:
        size = 0
    wrapped = any(part in real for part in ("flatpak", "/snap/", "/opt/Obsidian/"))
    return wrapped or real.endswith("/MacOS/Obsidian") or size > LARGEST_NATIVE


def _console_version(named: str, platform: str) -> str:
    if platform == "win32" and named.lower().endswith("obsidian.exe"):
        return named[: -len(".exe")] + ".com"
    return named
