"""What a vault's own settings (`.obsidian/app.json`) say, as far as it matters here."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping

from obsidian_mcp.vault.path import BadPath, check_new

MOST_REPEATS = 2
_REPEATS = re.compile(r"[*+{]")
_REPEATED_GROUP = re.compile(r"\)[*+{?]")
LINK_FORMATS = ("shortest", "relative", "absolute")


def link_format(settings: Mapping[str, object], is_obsidians: bool) -> str:
    """As the vault says, which is "shortest" if it says nothing. A plain folder of Markdown has a way of its own."""
    if not is_obsidians:
        return "plain"
    found = settings.get("newLinkFormat")
    return found if isinstance(found, str) and found in LINK_FORMATS else "shortest"


def is_excluded(settings: Mapping[str, object]) -> Callable[[str], bool]:
    """What the vault's "excluded files" name: beginnings of paths, or patterns between slashes.

    A pattern that could take for ever excludes nothing: it is only about what is suggested.
    """
    found = settings.get("userIgnoreFilters")
    filters = [text for text in found if isinstance(text, str) and text] if isinstance(found, list) else []
    beginnings = tuple(text for text in filters if not _is_pattern(text))
    patterns = []
    for text in filter(_is_pattern, filters):
        if len(_REPEATS.findall(text)) > MOST_REPEATS or _REPEATED_GROUP.search(text):
            continue
        with contextlib.suppress(re.error, OverflowError, RecursionError):  # JavaScript's; one that means nothing here
            patterns.append(re.compile(text[1:-1], re.IGNORECASE))
    return lambda path: path.startswith(beginnings) or any(pattern.search(path) for pattern in patterns)


def _is_pattern(text: str) -> bool:
    return len(text) > 2 and text.startswith("/") and text.endswith("/")


def uses_local_trash(settings: Mapping[str, object]) -> bool:
    """`.trash` in the vault, or the system's. A vault that names neither gets `.trash`: only `permanent` removes."""
    return settings.get("trashOption", "system") != "system"


def new_note_folder(settings: Mapping[str, object]) -> str:
    """Where a new note goes that is given no folder; empty for the root.

    "Same folder as the current file" is the root here: no call depends on what
    happens to be open. So is a folder that could not be one.
    """
    place = settings.get("newFileFolderPath")
    if settings.get("newFileLocation") != "folder" or not isinstance(place, str):
        return ""
    folder = place.strip("/")
    try:
        check_new(folder)
    except BadPath:
        return ""
    return folder
