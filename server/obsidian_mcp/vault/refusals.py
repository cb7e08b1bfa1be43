"""Refusals that every vault words the same."""

from __future__ import annotations

from collections.abc import Sequence

from obsidian_mcp.errors import AlreadyExists, InvalidArguments
from obsidian_mcp.vault.path import VaultPath


def exists_already(path: VaultPath) -> AlreadyExists:
    return AlreadyExists(
        f"{path} exists already. Nothing was changed. Set overwrite to replace it, or append to it.", path=path.value
    )


def require_free(path: VaultPath, target: VaultPath, there: Sequence[VaultPath]) -> None:
    """Raise unless a file can go there: nothing else is, and it isn't there already."""
    if target == path:
        raise InvalidArguments(f"{path} is already there. Nothing was changed.")
    taken = [other for other in there if other != path]
    if taken:
        raise AlreadyExists(
            f"{taken[0]} exists already, so {path} stays where it is. Choose another name.", path=taken[0].value
        )
