r"""Paths over 260 characters on Windows, which Obsidian makes, and where a path really leads.

`C:\Vault` ends at 260 characters there, whatever the disk holds; `\\?\C:\Vault` does not, and is taken as it is: no
forward slashes, and no name that means a device. Both are one folder, so a folder is known by its plain form and used
by the extended one. Elsewhere there is one form.
"""

from __future__ import annotations

import os
import sys

_EXTENDED, _SHARE, _EXTENDED_SHARE = "\\\\?\\", "\\\\", "\\\\?\\UNC\\"


def extended(path: str, platform: str = sys.platform) -> str:
    """The form in which an absolute path may be of any length."""
    if platform != "win32" or path.startswith(_EXTENDED):
        return path
    path = path.replace("/", "\\").rstrip("\\")
    return _EXTENDED_SHARE + path[len(_SHARE) :] if path.startswith(_SHARE) else _EXTENDED + path


def plain(path: str, platform: str = sys.platform) -> str:
    """The form that people and other programs know."""
    if platform != "win32" or not path.startswith(_EXTENDED):
        return path
    if path.startswith(_EXTENDED_SHARE):
        return _SHARE + path[len(_EXTENDED_SHARE) :]
    rest = path[len(_EXTENDED) :]
    if rest[1:2] != ":":
        return path  # a volume's own name, which has no other form
    return rest if len(rest) > 2 else f"{rest}\\"


def real(path: str) -> str:
    """Where it really leads, in the plain form."""
    if sys.platform != "win32":
        return os.path.realpath(path)
    return plain(os.path.realpath(extended(os.path.abspath(plain(path)))))
