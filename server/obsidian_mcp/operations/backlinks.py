"""How many notes lead to a file: what someone should know who deletes it."""

from __future__ import annotations

from obsidian_mcp.call import CallContext, NotBegun
from obsidian_mcp.errors import FileFailed, PermissionDenied, TooLarge
from obsidian_mcp.vault.index import Index
from obsidian_mcp.vault.links.link_names import key_of_path
from obsidian_mcp.vault.links.link_rewrites import leads_to
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import Vault

LONGEST = 5.0  # seconds: nothing hangs on the number, and a large vault on a slow disk must not hold up a deletion


def linking_to(path: VaultPath, vault: Vault, index: Index | None, call: CallContext) -> int | None:
    """The notes and canvases with a link to it, itself left out; None where that can't be known soon enough.

    Only those that mention its name are parsed.
    """
    if index is None:
        return None
    wanted, part = vault.canonical(path).value, call.part(min(LONGEST, call.remaining / 2))
    try:
        there = index.names.snapshot(part)
        found = index.mentions.mentioning({key_of_path(wanted)}, (), part)
        return sum(_leads(at, data, wanted, there) for at, data in found if at != wanted)
    except (NotBegun, PermissionDenied, FileFailed, TooLarge):
        return None


def _leads(at: str, data: bytes, wanted: str, there: Resolver) -> bool:
    if at.lower().endswith(".base"):
        return False
    links = links_in(at, data.decode("utf-8", "surrogateescape"))
    return any(leads_to(there, link, at) == wanted for link in links)
