"""From what a person calls a note to the door that is told of it."""

from __future__ import annotations

import os

from obsidian_mcp import registry
from obsidian_mcp.backends.files.backend import EmbeddedBackend
from obsidian_mcp.call import CallContext
from obsidian_mcp.operations.finding import existing
from obsidian_mcp.servers.ide import lockfile
from obsidian_mcp.servers.ide.mention import mention_to_all
from obsidian_mcp.settings import Settings, UsageError, at_home, looks_like_path
from obsidian_mcp.vault import text
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import BadPath


def mention_note(settings: Settings, named: str, lines: tuple[int, int] | None) -> tuple[str, int]:
    """Tell the open door of a vault; the note's path, and how many have heard it. Lines are from 1."""
    doors = lockfile.doors(settings.environ)
    if settings.vaults:
        wanted = _folders_of(settings.vaults[0], settings)
        doors = [door for door in doors if door.folder in wanted or os.path.basename(door.folder) in wanted]
    folders = sorted({door.folder for door in doors})
    if not doors:
        which = f"to {settings.vaults[0]} " if settings.vaults else ""
        raise UsageError(f"no door {which}is open; open one with obsidian-mcp ide --vault NAME")
    if len(folders) > 1:
        raise UsageError(f"several doors are open, name one with --vault: {', '.join(folders)}")
    vault = EmbeddedBackend(settings).open(folders[0], CallContext())
    try:
        path = existing(Name.parse(named), vault)
    except BadPath as problem:
        raise UsageError(f"the note's name {problem}") from None
    if lines is not None:
        there = text.line_count(text.decoded(path, vault.read(path)))
        if lines[1] > there:
            raise UsageError(f"{path} has {there} lines; there is no line {lines[1]}")
    wire = (lines[0] - 1, lines[1] - 1) if lines else None
    return path.value, mention_to_all(doors, path.value, wire)


def _folders_of(wanted: str, settings: Settings) -> set[str]:
    """What a door to that vault could call its folder."""
    found = registry.find(wanted, registry.registered(settings.environ), settings.environ)
    named = {os.path.realpath(at_home(wanted, settings.environ))} if looks_like_path(wanted) else {wanted}
    return {*named, *(os.path.realpath(vault.path) for vault in found)}
