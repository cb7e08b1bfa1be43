"""Giving many files other paths at once, with every link to them and in them: all of it, or nothing.

They go to one folder. A folder goes there with its own name and all that is in it, attachments too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AlreadyExists, CliFailed, Hint, InvalidArguments, NoteNotFound
from obsidian_mcp.operations.finding import existing
from obsidian_mcp.operations.many_notes import carried_out
from obsidian_mcp.operations.moving import NoteRewrites, rewrites_of
from obsidian_mcp.operations.surveying import existing_folder
from obsidian_mcp.vault.changes import ChangeSet, Rename
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.kinds import is_file
from obsidian_mcp.vault.links.link_rewrites import Move
from obsidian_mcp.vault.names import Destination
from obsidian_mcp.vault.path import VaultPath, in_folder, is_path
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.reference import Reference

ONE_BY_ONE = Hint(
    "Move them one by one with obsidian_move_note, or serve the folder without the app: --backend embedded.",
    "Move them one by one: obsidian-mcp call move_note name=… to=…, or serve the folder with --backend embedded.",
    needs="obsidian_move_note",
    without="Serve the folder without the app: --backend embedded.",
)


@dataclass(frozen=True, slots=True)
class MovesPlan:
    """What would be moved, from and to, and the links that would be written anew; see `moving.MovePlan`."""

    changes: ChangeSet
    moved: Mapping[str, str]
    rewrites: list[NoteRewrites]
    mentioned_in: list[str]


def move_notes(
    names: Sequence[Reference], to: Destination, vault: Vault, index: Index | None, call: CallContext, *, dry_run: bool
) -> MovesPlan:
    """A name that ends with a slash is a folder's."""
    if index is None:
        raise CliFailed("The Obsidian app moves notes one by one, so it can't move many all or none.", ONE_BY_ONE)
    if not to.is_folder and is_file(to.text):
        raise InvalidArguments(f"to {to.text!r} is not a folder.", "Give a folder, or move one note to a new path.")
    sources = [name.folder if name.folder else existing(name, vault, whole=True) for name in names]

    def plan() -> MovesPlan:
        return _planned(sources, vault.spelled_folder(to.text), vault, index, call)

    return carried_out(f"moving to {to.text or 'the root'}", plan, vault, dry_run=dry_run)


def _planned(sources: Sequence[VaultPath | str], to: str, vault: Vault, index: Index, call: CallContext) -> MovesPlan:
    there = index.names.snapshot(call)
    paths = there.paths()
    folders = {path[:at] for path in paths for at in range(len(path)) if path[at] == "/"}
    moved: dict[str, str] = {}
    emptied: list[str] = []
    for source in sources:
        if isinstance(source, str):
            folder = existing_folder(source, folders, paths)
            emptied += [other for other in folders if f"{other}/".startswith(f"{folder}/")]
            found = _of_folder(folder, to, paths)
        else:
            found = {vault.canonical(source).value: in_folder(to, source.filename).value}
        _require_once(moved, found)
        moved |= found
    _require_free(moved, paths)
    call.progress(f"looking for links to {len(moved)} files")
    bases: list[str] = []
    move = Move.of_all(moved, there, vault.settings().link_format)
    rewrites = list(rewrites_of(move, index, call, bases))
    renames = [Rename(old, new) for old, new in moved.items()]
    writes = [one.write(moved.get(one.path, one.path)) for one in rewrites]
    doing = f"moving {len(moved)} files to {to or 'the root'}"
    changes = ChangeSet(doing, (*renames, *writes), unmade=tuple(sorted(emptied)))
    return MovesPlan(changes, moved, rewrites, bases)


def _of_folder(folder: str, to: str, paths: Sequence[str]) -> dict[str, str]:
    """Everything in a folder, with the folder's own name."""
    if not folder:
        raise InvalidArguments("The vault itself can't be moved.", "Name folders in it.")
    if f"{fold(to)}/".startswith(f"{fold(folder)}/"):
        raise InvalidArguments(f"The folder {folder} can't go into itself.", "Choose another folder.")
    outer, prefix = folder.rpartition("/")[0], f"{folder}/"
    if fold(outer) == fold(to):
        raise InvalidArguments(f"The folder {folder} is already there.")
    found = [path for path in paths if path.startswith(prefix)]
    if not found:
        raise NoteNotFound(f"The folder {folder} has no files in it.", path=folder)
    if odd := [path for path in found if not is_path(path)]:
        raise InvalidArguments(f"{odd[0]!r} has a name by which it can't be moved.", "Rename that file first.")
    begin = len(outer) + 1 if outer else 0
    return {path: in_folder(to, path[begin:]).value for path in sorted(found)}


def _require_once(moved: Mapping[str, str], more: Mapping[str, str]) -> None:
    for path, target in more.items():
        if path in moved:
            raise InvalidArguments(f"{path} is named twice.", "Name each note once, and none of a folder that moves.")
        if path == target:
            raise InvalidArguments(f"{path} is already there.", "Leave it out.")


def _require_free(moved: Mapping[str, str], paths: Sequence[str]) -> None:
    """Raise unless every file can go to its place: nothing is there, in any case, and no other goes there."""
    taken = {fold(path): path for path in paths}
    for path, target in moved.items():
        other = taken.setdefault(fold(target), path)
        if other != path:
            raise AlreadyExists(
                f"{target} would be both {other} and {path}."
                if fold(moved.get(other, "")) == fold(target)
                else f"{other} exists already, so {path} can't go there.",
                "Rename one of them first, or leave it out.",
                path=target,
            )
