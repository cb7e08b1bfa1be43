"""What happened to the files of a change after it: where they are now, and which later change is to blame."""

from __future__ import annotations

from collections.abc import Iterable

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Hint
from obsidian_mcp.operations.staging import Staged
from obsidian_mcp.vault.changes import Rename
from obsidian_mcp.vault.contents import Contents
from obsidian_mcp.vault.history import Difference, Entry, History, KeptChanges, NoSuchEntry, Unreadable, digest

MOST_LATER = 1000  # changes of one note that are looked through
MOST_LOOKED_AT = 200  # files of the size of one that was moved


class Trace:
    """Of one change. `staged` is the vault as it would be when this one's turn comes."""

    def __init__(
        self, entry: Entry, history: History, contents: Contents | None, call: CallContext, staged: Staged
    ) -> None:
        self.entry = entry
        self._history = history
        self._contents = contents
        self._call = call
        self._staged = staged
        self._later: dict[str, list[Entry]] = {}

    # Where it is

    def place(self, path: str, held: bytes | None) -> str:
        """Where a file is now that the change left at this path with this text; that path if it can't be found."""
        if self._staged.has(path):
            return path
        return self.moved_to(path) or (held and self._with_text(path, len(held), digest(held))) or path

    def place_of_kept(self, path: str, kept: KeptChanges) -> str:
        """The same for a long text, of which not all was kept."""
        if self._staged.has(path):
            return path
        for change in kept.changes:
            if isinstance(change, Difference) and change.path == path:
                size = change.head + len(change.after) + change.tail
                return self.moved_to(path) or self._with_text(path, size, change.digests[1]) or path
        return self.moved_to(path) or path

    def moved_to(self, path: str) -> str | None:
        """Where later changes of ours have moved it; None if they have not."""
        place = path
        for entry in reversed(self._after(path)):
            try:
                _, kept = self._history.get(entry.id)
            except (Unreadable, NoSuchEntry):
                continue
            for change in kept.changes:
                if isinstance(change, Rename) and change.path == place:
                    place = change.target
        return place if place != path and self._staged.has(place) else None

    def _with_text(self, path: str, size: int, wanted: str) -> str | None:
        """The one file with that text. Two would be a guess."""
        if self._contents is None or not size:
            return None
        files = [file.path for file in self._contents.survey(self._call).files if file.size == size]
        found = []
        for other, data in self._contents.read_all(files[:MOST_LOOKED_AT], self._call):
            if digest(data) == wanted and self._staged.has(other):
                found.append(other)
        named = [other for other in found if other.rpartition("/")[2] == path.rpartition("/")[2]]
        return found[0] if len(found) == 1 else named[0] if len(named) == 1 else None

    # What is to blame

    def blame(self, paths: Iterable[str]) -> str:
        """The later changes of ours that are still in force, in words; nothing if there are none."""
        found: dict[str, Entry] = {}
        for path in paths:
            found |= {entry.id: entry for entry in self._after(path) if _is_in_force(entry)}
        if not found:
            return ""
        told = "; ".join(f"{entry.id} ({entry.summary})" for entry in list(found.values())[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        self._blamed = next(iter(found))
        return f"Later changes here: {told}{more}."

    _blamed = ""

    def advice(self, *, merge: bool, shown: str = "") -> Hint:
        """What to do next; what was changed stands at the end, where nothing follows it that could be part of it."""
        first = f"Undo {self._blamed} first. " if self._blamed else ""
        end = f" What changed since:\n{shown}" if shown else ""
        if merge:
            said = f"{first}The edits are on other lines"
            return Hint(
                f"{said}: merge=true keeps them; see it first with dry_run.{end}",
                f"{said}: --merge keeps them; see it first with --dry-run.{end}",
            )
        return Hint((first.rstrip() or "Look at the note; what is there now stays.") + end)

    def _after(self, path: str) -> list[Entry]:
        """The changes of a note after this one, newest first."""
        if path not in self._later:
            found = self._history.entries(note=path, limit=MOST_LATER)
            ids = [entry.id for entry in found]
            self._later[path] = found[: ids.index(self.entry.id)] if self.entry.id in ids else []
        return self._later[path]


def _is_in_force(entry: Entry) -> bool:
    return entry.undone_by is None and not entry.undoes
