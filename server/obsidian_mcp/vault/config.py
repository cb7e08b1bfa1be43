"""What a vault's own settings (`.obsidian/app.json`) say, as far as it matters here."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from obsidian_mcp.vault.path import BadPath, check_new

MOST_REPEATS = 2
_REPEATS = re.compile(r"[*+{]")
_REPEATED_GROUP = re.compile(r"\)[*+{?]")
LINK_FORMATS = ("shortest", "relative", "absolute")


@dataclass(frozen=True, slots=True)
class VaultConfig:
    """`app` is what `app.json` holds; `is_obsidians` whether Obsidian has ever had the folder open."""

    app: Mapping[str, object] = field(default_factory=dict)
    is_obsidians: bool = True

    @property
    def link_format(self) -> str:
        """Is "shortest" if the vault doesn't say. A plain folder of Markdown has a way of its own."""
        if not self.is_obsidians:
            return "plain"
        found = self.app.get("newLinkFormat")
        return found if isinstance(found, str) and found in LINK_FORMATS else "shortest"

    @property
    def uses_local_trash(self) -> bool:
        """`.trash` in the vault, not the system's. A vault that names neither gets it: only `permanent` removes."""
        return self.app.get("trashOption", "system") != "system"

    @property
    def new_note_folder(self) -> str:
        """Where a new note goes that is given no folder; empty for the root.

        "Same folder as the current file" is the root here: no call depends on what
        happens to be open. So is a folder that could not be one.
        """
        place = self.app.get("newFileFolderPath")
        if self.app.get("newFileLocation") != "folder" or not isinstance(place, str):
            return ""
        folder = place.strip("/")
        try:
            check_new(folder)
        except BadPath:
            return ""
        return folder

    def is_excluded(self) -> Callable[[str], bool]:
        """What the vault's "excluded files" name: beginnings of paths, or patterns between slashes.

        A pattern that could take for ever excludes nothing: it is only about what is suggested.
        """
        found = self.app.get("userIgnoreFilters")
        filters = [text for text in found if isinstance(text, str) and text] if isinstance(found, list) else []
        beginnings = tuple(text for text in filters if not _is_pattern(text))
        patterns = []
        for text in filter(_is_pattern, filters):
            if len(_REPEATS.findall(text)) > MOST_REPEATS or _REPEATED_GROUP.search(text):
                continue
            with contextlib.suppress(re.error, OverflowError, RecursionError):  # JavaScript's; may mean nothing here
                patterns.append(re.compile(text[1:-1], re.IGNORECASE))
        if not filters:
            return nothing_is_excluded
        return lambda path: path.startswith(beginnings) or any(pattern.search(path) for pattern in patterns)


def nothing_is_excluded(path: str) -> bool:
    return False


def _is_pattern(text: str) -> bool:
    return len(text) > 2 and text.startswith("/") and text.endswith("/")
