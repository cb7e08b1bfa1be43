"""Names that complete: the files of a vault that a person may mean by what they have typed so far.

It is asked at every key. So the names are kept for a moment, folded and the latest first; what is typed is then
looked for in plain lists.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import InvalidParams
from obsidian_mcp.features.prompts import Offer
from obsidian_mcp.features.resources import Files, Served
from obsidian_mcp.vault import uris
from obsidian_mcp.vault.folding import fold

MOST = 100  # values, as the protocol has it
KEPT = 2.0  # seconds
PATH = "path"
DAYS_ASKED = ("date", "day")


@dataclass(frozen=True, slots=True)
class Completed:
    values: list[str]
    total: int

    @property
    def has_more(self) -> bool:
        return self.total > len(self.values)


class Names:
    """The names of a vault's files, the latest first."""

    __slots__ = ("_bases", "_folded", "made", "paths")

    def __init__(self, paths: Sequence[str], made: float) -> None:
        self.paths = paths
        self.made = made
        self._folded = [fold(path) for path in paths]
        self._bases = [folded.rpartition("/")[2] for folded in self._folded]

    def completing(self, typed: str) -> list[str]:
        """Exactly it, then base names that begin with it, paths that do, paths that hold it; of each the latest."""
        wanted = fold(typed)
        if not wanted:
            return list(self.paths)
        exact: list[str] = []
        bases: list[str] = []
        beginning: list[str] = []
        holding: list[str] = []
        exactly = (wanted, f"{wanted}.md")
        for at, folded in enumerate(self._folded):
            if wanted not in folded:
                continue
            if self._bases[at].startswith(wanted):
                found = exact if self._bases[at] in exactly or folded in exactly else bases
            elif folded.startswith(wanted):
                found = exact if folded in exactly else beginning
            else:
                found = holding
            found.append(self.paths[at])
        return exact + bases + beginning + holding


class Completion:
    """`files` walks through a vault; what it finds is used for two seconds."""

    def __init__(
        self,
        vaults: Callable[[], list[Served]],
        files: Files,
        clock: Callable[[], float] = time.monotonic,
        today: Callable[[], date] = date.today,
    ) -> None:
        self._today = today
        self._vaults = vaults
        self._files = files
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, Names] = {}

    def of_template(self, uri: str, argument: str, typed: str, call: CallContext) -> Completed:
        """The path in a template of ours. Raises if there is no such template, or argument."""
        for vault in self._vaults():
            if uri == uris.template(vault.name):
                break
        else:
            raise InvalidParams(f"There is no resource template {uri}.", "See resources/templates/list.")
        if argument != PATH:
            raise InvalidParams(f"The template {uri} has no variable {argument!r}.", f"It has {PATH}.")
        return limited(self.names(vault.label, call).completing(typed))

    def of_argument(self, offer: Offer, argument: str, typed: str, call: CallContext) -> Completed:
        """An argument of a prompt: a day, a folder, or else a note, by its path without `.md`."""
        if argument not in (each.name for each in offer.prompt.arguments):
            raise InvalidParams(f"The prompt {offer.prompt.name} has no argument {argument!r}.")
        word = argument.lower()
        if word in DAYS_ASKED:
            return limited(day for day in _days(self._today()) if day.startswith(typed.strip().lower()))
        served = self._vaults()
        labels = [offer.vault] if offer.vault else [vault.label for vault in served[:1]]
        names = [self.names(label, call) for label in labels]
        if word == "folder":
            return limited(folder for each in names for folder in _folders(each).completing(typed))
        found = (path for each in names for path in each.completing(typed))
        return limited(path[:-3] for path in found if path[-3:].lower() == ".md")

    def names(self, label: str, call: CallContext) -> Names:
        """Those of a moment ago, if they have been looked at then."""
        call.acquire(self._lock, "looking at the vault's files")
        try:
            kept = self._kept.get(label)
            if kept is None or self._clock() - kept.made > KEPT:
                seen = sorted(self._files(label, call), key=lambda seen: (-seen.modified, seen.path))
                # From the end of the walk: where that alone takes longer, every key would begin another.
                kept = self._kept[label] = Names([each.path for each in seen], self._clock())
            return kept
        finally:
            self._lock.release()


def _folders(names: Names) -> Names:
    return Names(list(dict.fromkeys(path.rpartition("/")[0] for path in names.paths if "/" in path)), names.made)


def _days(today: date) -> list[str]:
    """Today and the days before it, by name and by date."""
    return ["today", "yesterday", *((today - timedelta(days=back)).isoformat() for back in range(MOST - 2))]


def limited(values: Iterable[str]) -> Completed:
    found = list(values)
    return Completed(found[:MOST], len(found))
