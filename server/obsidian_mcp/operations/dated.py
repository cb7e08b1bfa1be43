"""Notes that are named by what they are for: `@daily` and its kin by the vault's own settings, `@active` by the app."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from obsidian_mcp.errors import InvalidArguments, NoteNotFound
from obsidian_mcp.operations.finding import existing, placed
from obsidian_mcp.vault import periodic
from obsidian_mcp.vault.path import BadPath, VaultPath, check_new
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.reference import ACTIVE, Reference


@dataclass(frozen=True, slots=True)
class Named:
    """The note that is meant. One that is not there yet has the text that it is to be made with."""

    path: VaultPath
    new: str | None = None
    note: str | None = None


def named(reference: Reference, vault: Vault, now: datetime, *, whole: bool = False) -> Named:
    """The note that a name means; for a period of time it may still have to be made."""
    if not reference.special:
        return Named(existing(reference, vault, whole=whole))
    if reference.readings and vault.has(reference.readings[0].exact[0]):
        return Named(reference.readings[0].exact[0])  # there is a note that is called so
    if reference.special == ACTIVE:
        return Named(_in_front(vault))
    return _of_period(reference.special, vault, now)


def there(reference: Reference, vault: Vault, now: datetime) -> Named:
    """The note that is meant, which is never made by looking at it."""
    found = named(reference, vault, now)
    if found.new is not None:
        raise NoteNotFound(
            f"There is no note {found.path} yet, which is what {reference.special} means.",
            f"Appending to {reference.special} makes it, from its template if the vault has one.",
            path=found.path.value,
        )
    return found


def _in_front(vault: Vault) -> VaultPath:
    path = vault.in_front()
    if path is None:
        raise NoteNotFound("No note is open in Obsidian, so @active means none.", "Give the note's name.")
    return path


def _of_period(special: str, vault: Vault, now: datetime) -> Named:
    wanted = periodic.parse(special)
    assert wanted is not None
    told = vault.daily_path()
    if told is not None:
        if wanted.period != "daily" or _day(special, wanted, now) != now.date():
            raise InvalidArguments(
                f"{special} can't be told: the vault's folder is out of reach, and the app tells only today's note.",
                "Give @daily, or the note's own name.",
            )
        return Named(told, None if vault.spellings(told) else "")
    try:
        settings = periodic.settings_of(wanted.period, vault.config_file)
    except periodic.NotSet as problem:
        raise _not_set(special, wanted, problem, now) from None
    day = _day(special, wanted, now, settings)
    path = _spelled(periodic.path_of(settings, day), vault)
    note = periodic.note_about(settings)
    if vault.spellings(path):
        return Named(path, None, note)
    return _to_make(path, settings, periodic.first_day(settings, day), vault, now, note)


def _day(special: str, wanted: periodic.Periodic, now: datetime, by: periodic.PeriodSettings | None = None) -> date:
    try:
        return wanted.day(now.date(), by)
    except ValueError as problem:
        raise InvalidArguments(f"{special} means no day: {problem}") from None


def _not_set(special: str, wanted: periodic.Periodic, problem: periodic.NotSet, now: datetime) -> InvalidArguments:
    if problem.kept is not None:
        path = periodic.path_of(problem.kept, _day(special, wanted, now, problem.kept))
        return InvalidArguments(
            f"The vault has no daily notes: the core plugin {problem.kept.source} is switched off.",
            f"Switch it on in Obsidian, or give the note's own name: by the plugin's settings it would be {path}.",
        )
    plugin = "Periodic Notes or Calendar" if wanted.period == "weekly" else "Periodic Notes"
    return InvalidArguments(
        f"The vault has no {wanted.period} notes: {plugin} is not switched on for them.",
        "Switch it on in Obsidian, or give the note's own name.",
    )


def _spelled(path: str, vault: Vault) -> VaultPath:
    try:
        check_new(path)
    except BadPath as problem:
        raise InvalidArguments(f"The vault's settings name a note that can't be: {path} {problem}.") from None
    found = vault.spellings(VaultPath(path))
    return found[0] if found else placed(VaultPath(path), vault)


def _to_make(
    path: VaultPath, settings: periodic.PeriodSettings, day: date, vault: Vault, now: datetime, note: str | None
) -> Named:
    if not settings.template:
        return Named(path, "", note)
    from obsidian_mcp.operations.making import filled_template, template_named

    try:
        source = template_named(settings.template.strip().strip("/").removesuffix(".md"), vault)
    except (NoteNotFound, InvalidArguments):
        lacking = f"Its template {settings.template} is not there, so it was made without."
        return Named(path, "", f"{note} {lacking}" if note else lacking)
    of_plugin = None if settings.source == periodic.DAILY_NOTES else settings.format
    return Named(path, filled_template(source, path, vault, now, day, of_plugin), note)
