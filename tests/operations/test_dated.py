"""Which note `@daily` and its kin are, and what they are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from obsidian_mcp.errors import Failure, InvalidArguments, NoteNotFound, NotJson
from obsidian_mcp.operations.dated import Named, named, there
from obsidian_mcp.operations.making import from_template
from obsidian_mcp.vault.path import BadPath, VaultPath
from obsidian_mcp.vault.reference import Reference
from tests.support.memory import Files, MemoryVault

NOW = datetime(2026, 11, 18, 9, 30)
PERIODIC = "plugins/periodic-notes/data.json"


def vault(settings: Mapping[str, Any] | None = None, notes: Mapping[str, str] | None = None) -> MemoryVault:
    files = Files({f".obsidian/{name}": json.dumps(value).encode() for name, value in (settings or {}).items()})
    files.update({f"{name}.md": text.encode() for name, text in (notes or {}).items()})
    return MemoryVault(files)


def meant(name: str, within: MemoryVault) -> Named:
    return named(Reference.parse_special(name), within, NOW)


def test_a_day_is_a_note_by_its_date() -> None:
    assert meant("@daily", vault()) == Named(VaultPath("2026-11-18.md"), "")
    assert meant("@Daily:yesterday ", vault()).path.value == "2026-11-17.md"
    assert meant("@daily:-2", vault()).path.value == "2026-11-16.md"
    assert meant("@daily:2025-02-03", vault()).path.value == "2025-02-03.md"


def test_the_vaults_settings_say_where_it_is() -> None:
    settings = {"daily-notes.json": {"folder": "/Journal/", "format": "YYYY/MM/D MMMM"}}
    found = meant("@daily", vault(settings))
    assert found.path.value == "Journal/2026/11/18 November.md"
    assert "language" in (found.note or "")


def test_periodic_notes_come_first_where_they_are_on() -> None:
    settings = {
        "daily-notes.json": {"folder": "Core"},
        PERIODIC: {
            "daily": {"enabled": True, "folder": "Days", "format": "", "template": ""},
            "weekly": {"enabled": True, "folder": "Weeks", "format": "GGGG-[W]WW", "template": ""},
            "monthly": {"enabled": False},
        },
    }
    assert meant("@daily", vault(settings)).path.value == "Days/2026-11-18.md"
    assert meant("@weekly", vault(settings)).path.value == "Weeks/2026-W47.md"
    with pytest.raises(InvalidArguments, match="monthly"):
        meant("@monthly", vault(settings))


def test_a_note_that_is_there_is_the_one_in_its_own_spelling() -> None:
    settings = {"daily-notes.json": {"folder": "journal"}}
    found = meant("@daily", vault(settings, {"Journal/2026-11-18": "x"}))
    assert found == Named(VaultPath("Journal/2026-11-18.md"))


def test_a_note_that_is_called_so_comes_first() -> None:
    assert meant("@daily", vault({}, {"@daily": "x"})) == Named(VaultPath("@daily.md"))


def test_looking_makes_nothing() -> None:
    with pytest.raises(NoteNotFound, match=r"2026-11-18\.md"):
        there(Reference.parse_special("@daily"), vault(), NOW)


def test_a_day_is_made_from_its_template() -> None:
    settings = {"daily-notes.json": {"template": "Templates/Day"}, "templates.json": {"dateFormat": "D.M.YYYY"}}
    inside = vault(settings, {"Templates/Day": "---\nday: {{date}}\n---\n# {{title}} {{TIME:HH}}\n"})
    assert meant("@daily", inside).new == "---\nday: 18.11.2026\n---\n# 2026-11-18 09\n"


def test_a_template_that_is_not_there_is_told() -> None:
    found = meant("@daily", vault({"daily-notes.json": {"template": "None"}}))
    assert found.new == ""
    assert "None" in (found.note or "")


@pytest.mark.parametrize("name", ["@daily:soon", "@daily:2026-02-30", "@weekly:2026-W99"])
def test_a_day_that_is_none_is_refused(name: str) -> None:
    with pytest.raises((BadPath, Failure)):
        meant(name, vault())


def test_settings_that_lead_out_of_the_vault_are_refused() -> None:
    for folder in ("../out", ".obsidian"):
        with pytest.raises(InvalidArguments):
            meant("@daily", vault({"daily-notes.json": {"folder": folder}}))


def test_a_week_is_the_one_of_the_vaults_own_count() -> None:
    inside = vault({PERIODIC: {"weekly": {"enabled": True, "format": "gggg-[W]ww"}}})
    assert meant("@weekly:2027-W10", inside).path.value == "2027-W10.md"
    with pytest.raises(InvalidArguments, match="2026 has 52"):
        meant("@weekly:2026-W53", inside)


def test_daily_notes_that_are_off_are_told_with_where_the_note_would_be() -> None:
    settings = {"core-plugins.json": {"daily-notes": False}, "daily-notes.json": {"folder": "Journal"}}
    with pytest.raises(InvalidArguments) as raised:
        meant("@daily:yesterday", vault(settings))
    assert "Journal/2026-11-17.md" in raised.value.message


@pytest.mark.parametrize("name", ["daily-notes.json", "core-plugins.json", PERIODIC])
def test_settings_that_are_not_json_are_never_taken_for_none(name: str) -> None:
    with pytest.raises(NotJson, match=name):
        meant("@daily", MemoryVault(Files({f".obsidian/{name}": b'{"folder": "Jour'})))


def test_settings_of_wrong_types_are_as_if_there_were_none() -> None:
    wrong: list[Any] = [[], "x", {"folder": 1, "format": [], "template": {}}]
    for settings in wrong:
        assert meant("@daily", vault({"daily-notes.json": settings})).path.value == "2026-11-18.md"


def test_a_template_is_found_in_its_folder_first() -> None:
    inside = vault({"templates.json": {"folder": "T"}}, {"T/A": "{{title}}", "A": "no"})
    assert from_template("A", "", VaultPath("F/New.md"), inside, NOW) == "New"
    with pytest.raises(NoteNotFound, match="B"):
        from_template("B", "", VaultPath("New.md"), inside, NOW)


def test_the_properties_of_template_and_content_are_merged() -> None:
    inside = vault({}, {"T": "---\ntags: [a]\nkind: x\n---\n# {{title}}\n"})
    made = from_template("T", "---\ntags: [b]\nkind: y\nmore: 1\n---\ntext\n", VaultPath("New.md"), inside, NOW)
    assert made == "---\ntags: [a, b]\nkind: y\nmore: 1\n---\n# New\ntext\n"
