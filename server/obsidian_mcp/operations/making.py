"""Notes that are made from a template."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from obsidian_mcp.errors import InvalidArguments, NoteNotFound
from obsidian_mcp.operations.finding import existing
from obsidian_mcp.vault import templates, text
from obsidian_mcp.vault.path import BadPath, VaultPath
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.property_edits import Uneditable
from obsidian_mcp.vault.reference import Reference

MOST_NAMED = 20


def from_template(name: str, content: str, path: VaultPath, vault: Vault, now: datetime) -> str:
    """The text of a new note: the template's, filled in, with the content after it."""
    filled = filled_template(template_named(name, vault), path, vault, now)
    try:
        return templates.merged(filled, content, vault.types()) if content else filled
    except Uneditable as problem:
        raise InvalidArguments(
            f"The properties of the template {name} and of the content can't be merged: {problem}.",
            "Leave the properties out of the content, and set them afterwards.",
        ) from None


def template_named(name: str, vault: Vault) -> VaultPath:
    """By its name in the vault's folder of templates, or else like any note."""
    folder = _settings(vault).get("folder", "").strip("/")
    tries = [f"{folder}/{name}"] if folder else []
    for each in (*tries, name):
        try:
            return existing(Reference.parse(each), vault)
        except BadPath as problem:
            raise InvalidArguments(f"template {problem}.") from None
        except NoteNotFound:
            continue
    inside = sorted(path[len(folder) + 1 :] for path in vault.paths() if folder and path.startswith(f"{folder}/"))
    known = "; ".join(inside[:MOST_NAMED])
    hint = f"There are: {known}." if known else "Give the path of a note; the vault has no folder of templates."
    raise NoteNotFound(f"There is no template {name!r}.", hint)


def filled_template(
    source: VaultPath,
    path: VaultPath,
    vault: Vault,
    now: datetime,
    day: date | None = None,
    date_format: str | None = None,
) -> str:
    """Its text for a note of this name; `day` is the one that the note is for."""
    settings = _settings(vault)
    return templates.filled(
        text.decoded(source, vault.current(source)),
        path.stem,
        now,
        date_format or settings.get("dateFormat") or "YYYY-MM-DD",
        settings.get("timeFormat") or "HH:mm",
        day,
    )


def _settings(vault: Vault) -> Mapping[str, str]:
    found = vault.config_file("templates.json")
    return {key: value for key, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else {}
