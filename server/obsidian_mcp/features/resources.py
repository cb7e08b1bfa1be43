"""The files of the vaults as resources: the latest notes by name, every other file by its address.

The list is short on purpose. Hosts take it before their first question to a model, one gives all of it to the model,
and the popup in which a person chooses shows a few lines.
"""

from __future__ import annotations

import base64
import datetime
import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import (
    Failure,
    Hint,
    NotText,
    PermissionDenied,
    ResourceNotFound,
    ResourceTooLarge,
    TooLarge,
    VaultNotFound,
)
from obsidian_mcp.vault import mime, text, uris
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.seen import Seen
from obsidian_mcp.vaults import Opened

MOST_LISTED = 250
MOST_TEXT = 1024 * 1024  # bytes
MOST_BYTES = 3_000_000

Open = Callable[[str, CallContext], Opened]
Files = Callable[[str, CallContext], list[Seen]]


@dataclass(frozen=True, slots=True)
class Served:
    """A vault: the label by which it is opened, and its name in an address."""

    label: str
    name: str


class Resources:
    """`vaults` are those that are served, in their order; `open` opens one, `files` walks through it."""

    def __init__(self, vaults: Callable[[], list[Served]], open: Open, files: Files) -> None:
        self._vaults = vaults
        self._open = open
        self._files = files

    def listed(self, call: CallContext) -> list[dict[str, Any]]:
        """The notes that changed last, the latest first."""
        found: list[tuple[Seen, str]] = []
        problem: Failure | None = None
        vaults = self._vaults()
        for vault in vaults:
            try:
                files = self._files(vault.label, call)
            except VaultNotFound as failure:
                problem = failure
                continue
            notes = [seen for seen in files if seen.path[-3:].lower() == ".md"]
            found += [(seen, vault.name) for seen in heapq.nsmallest(MOST_LISTED, notes, key=_latest)]
        if problem is not None and len(vaults) == 1:
            raise problem
        return [_resource(seen, name) for seen, name in sorted(found, key=lambda item: _latest(item[0]))[:MOST_LISTED]]

    def templates(self) -> list[dict[str, Any]]:
        """One for each vault, by which every file of it can be reached."""
        return [
            {
                "uriTemplate": uris.template(vault.name),
                "name": f"{vault.name}: any file",
                "title": f"A note or file of {vault.name}",
                "description": "path is the path from the vault's root, such as Folder/Note.md.",
            }
            for vault in self._vaults()
        ]

    def read(self, uri: str, call: CallContext) -> dict[str, Any]:
        """Its contents, under the very address that was asked for: a host compares the two."""
        address = uris.read(uri)
        if address is None:
            raise _not_found(uri, "It is not an address of the form obsidian://vault/VAULT/PATH.")
        vault = self._vault_called(address.vaults, uri, call)
        path = _meant(address.paths, vault, uri)
        return {"uri": uri, **_contents(path, vault)}

    def _vault_called(self, names: tuple[str, ...], uri: str, call: CallContext) -> Vault:
        served = self._vaults()
        for vault in served:
            if vault.name in names or vault.label in names:
                return self._open(vault.label, call).vault
        for vault in served:
            try:
                opened = self._open(vault.label, call).vault
            except VaultNotFound:
                continue
            if any(opened.is_called(name) for name in names):
                return opened
        known = ", ".join(vault.name for vault in served) or "none"
        raise _not_found(uri, f"No vault {names[0]!r} is served here; there is {known}.")


def _latest(seen: Seen) -> tuple[int, str]:
    return -seen.modified, seen.path


def _resource(seen: Seen, vault: str) -> dict[str, Any]:
    """No description: a host shows it instead of the name, and the name says where the note is."""
    about: dict[str, Any] = {
        "uri": uris.written(vault, seen.path),
        "name": seen.path,
        "title": seen.path.rpartition("/")[2][:-3],
        "mimeType": mime.MARKDOWN,
    }
    if seen.size >= 0:
        about["size"] = seen.size
        about["annotations"] = {"lastModified": _when(seen.modified)}
    return about


def _when(modified: int) -> str:
    moment = datetime.datetime.fromtimestamp(modified // 1_000_000_000, datetime.UTC)
    return moment.isoformat().replace("+00:00", "Z")


def _meant(paths: tuple[VaultPath, ...], vault: Vault, uri: str) -> VaultPath:
    """The one file that is there: exactly as it was written, or else in another case or Unicode form."""
    if not paths:
        raise _not_found(uri, "It leads out of the vault, or to something hidden in it.")
    try:
        for path in paths:
            if vault.has(path):
                return path
        for path in paths:
            there = vault.spellings(path)
            if len(there) > 1:
                raise _not_found(uri, f"Several files could be meant: {', '.join(map(str, there))}.")
            if there:
                return there[0]
    except PermissionDenied as denied:
        raise _not_found(uri, denied.fact) from None
    raise _not_found(uri, f"There is no file {paths[0].value!r} in the vault.")


def _contents(path: VaultPath, vault: Vault) -> dict[str, Any]:
    try:
        data = vault.current(path)
    except TooLarge as large:
        raise ResourceTooLarge(large.fact, IN_THE_APP, **{**large.data, "path": path.value}) from None
    whole = None
    if not mime.is_binary(path.value):
        try:
            whole = text.decoded(path, data)
        except NotText:
            whole = None
    most = MOST_BYTES if whole is None else MOST_TEXT
    if len(data) > most:
        raise ResourceTooLarge(
            f"{path} has {len(data)} bytes, more than the {most} that a resource of its kind may have.",
            BY_PAGES if whole is not None else OTHERWISE,
            path=path.value,
            size=len(data),
        )
    kind = mime.type_of(path.value, whole is not None)
    if whole is not None:
        return {"mimeType": kind, "text": whole}
    return {"mimeType": kind, "blob": base64.b64encode(data).decode("ascii")}


BY_PAGES = Hint("Read it by pages with obsidian_read_note.", needs="obsidian_read_note")
IN_THE_APP = "It can be opened in Obsidian."
OTHERWISE = Hint(
    "obsidian_view_file shows images made smaller, and the text of PDFs by pages.",
    needs="obsidian_view_file",
    without=IN_THE_APP,
)
MOST_SHOWN = 300  # characters of an address in a sentence


def _not_found(uri: str, why: str) -> ResourceNotFound:
    """The data has the address as it came, however long; the sentences have the beginning of it."""
    shown, why = (text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…" for text in (uri, why))
    return ResourceNotFound(f"There is no resource {shown}. {why}", uri=uri)
