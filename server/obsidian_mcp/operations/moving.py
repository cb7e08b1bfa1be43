"""Giving a file another path, with every link to it: planned here, for every backend, and carried out by a commit.

Where the vault has an index, the links are rewritten by us and are part of the plan. Where the app moves the file, it
rewrites them itself if the vault is set so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AlreadyExists, InvalidArguments
from obsidian_mcp.vault.changes import ChangeSet, Rename, Write
from obsidian_mcp.vault.contents import Contents
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.links.link_names import key_of_path
from obsidian_mcp.vault.links.link_rewrites import Move
from obsidian_mcp.vault.links.writing import Rewrite, apply
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import Vault

WITH_LINKS = (".md", ".canvas")


@dataclass(frozen=True, slots=True)
class NoteRewrites:
    """One note, and the links in it that have to be written anew."""

    path: str
    before: bytes
    links: list[Rewrite]

    def write(self, path: str) -> Write:
        after = apply(self.before.decode("utf-8", "surrogateescape"), self.links)
        return Write(path, self.before, after.encode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class MovePlan:
    """What a move would change. `rewrites` is None where the app sees to the links.

    `mentioned_in` are the bases that name the file. They are left as they are.
    """

    changes: ChangeSet
    rewrites: list[NoteRewrites] | None
    mentioned_in: list[str]


def plan_move(
    path: VaultPath,
    target: VaultPath,
    vault: Vault,
    index: Index | None,
    call: CallContext,
    contents: Contents | None = None,
) -> MovePlan:
    """A dry run is this and no commit. Where the app sees to the links, `contents` tells which notes it may rewrite."""
    path, target = vault.canonical(path), vault.canonical(target)
    _require_free(path, target, vault.spellings(target))
    bases: list[str] = []
    rewrites = None
    if index is not None:
        move = Move.plan(path.value, target.value, index.names.snapshot(call), vault.settings().link_format)
        rewrites = list(rewrites_of(move, index, call, bases))
    writes = (one.write(target.value if one.path == path.value else one.path) for one in rewrites or ())
    watched = () if index is not None or contents is None else _linking(path, contents, call)
    changes = ChangeSet(f"moving {path} to {target}", (Rename(path.value, target.value), *writes), watched=watched)
    return MovePlan(changes, rewrites, bases)


def _linking(path: VaultPath, contents: Contents, call: CallContext) -> tuple[str, ...]:
    """The file itself, which may have links that depend on where it is, and every file that may link to it."""
    found, _ = contents.links(call, key_of_path(path.value))
    return tuple(dict.fromkeys((path.value, *(other for other, _ in found))))


def move(
    path: VaultPath,
    target: VaultPath,
    vault: Vault,
    index: Index | None,
    call: CallContext,
    contents: Contents | None = None,
) -> MovePlan:
    """Move it; the plan that was carried out."""
    made: list[MovePlan] = []

    def plan() -> ChangeSet:
        made.append(plan_move(path, target, vault, index, call, contents))
        return made[-1].changes

    vault.commit(f"moving {path} to {target}", plan)
    return made[-1]


def captures(path: VaultPath, vault: Vault, index: Index | None, call: CallContext) -> list[Write]:
    """A new note must not capture links that mean another of its name: these become explicit."""
    if index is None or not index.names.namesakes(path.value, call):
        return []
    move = Move.plan(None, path.value, index.names.snapshot(call), vault.settings().link_format)
    return [one.write(one.path) for one in rewrites_of(move, index, call, [])]


def rewrites_of(move: Move, index: Index, call: CallContext, bases: list[str]) -> Iterator[NoteRewrites]:
    """What must be written anew, and where, for every link to lead where it led. Bases that name a file are added."""
    own = {old for old in move.moved if old.lower().endswith(WITH_LINKS)}
    for at, data in index.mentions.mentioning(move.keys, own, call):
        call.check(f"looking at the links of {at}")
        text = data.decode("utf-8", "surrogateescape")
        if at.lower().endswith(".base"):
            bases += [at] if move.is_named_in(at, text) else []
        elif links := move.rewrites(at, text):
            yield NoteRewrites(at, data, links)


def _require_free(path: VaultPath, target: VaultPath, there: list[VaultPath]) -> None:
    """Raise unless a file can go there: nothing else is, and it isn't there already."""
    if target == path:
        raise InvalidArguments(f"{path} is already there.")
    taken = [other for other in there if other != path]
    if taken:
        raise AlreadyExists(
            f"{taken[0]} exists already, so {path} stays where it is.", "Choose another name.", path=taken[0].value
        )
