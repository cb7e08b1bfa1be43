"""The form of the extension in Claude Desktop: whatever it says, the server starts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bundle import manifest
from obsidian_mcp import settings
from obsidian_mcp.hosts import extension
from obsidian_mcp.tools.toolsets import TOOLSETS, chosen

OWN = ("--errors", "result")


def loaded(*folders: str, **form: str) -> settings.Settings:
    environ = {f"{extension.PREFIX}{name}": value for name, value in form.items()}
    given, words = settings.split(extension.words([*OWN, *folders], environ))
    assert words == []
    return settings.load(given, environ)


def test_the_folders_are_the_vaults() -> None:
    assert loaded("/My notes", "--odd").vaults == ("/My notes", "--odd")
    assert loaded().errors == "result"


@pytest.mark.parametrize("folder", ["", " ", "${user_config.vault}", "[]"])
def test_a_field_that_was_left_empty_names_no_vault(folder: str) -> None:
    assert loaded(folder).vaults == ()


def test_switches_are_options() -> None:
    assert loaded().read_only is False
    assert loaded(READ_ONLY="true").read_only is True
    assert loaded(READ_ONLY="false", FILES_ONLY="true").backend == "embedded"


def test_the_default_sets_are_always_on_and_each_switch_adds_one() -> None:
    assert chosen(loaded().toolsets) == chosen(("default",))
    assert chosen(loaded(TOOLSET_TASKS="true", TOOLSET_GRAPH="false").toolsets) == chosen(("default", "tasks"))
    every = {f"TOOLSET_{name.upper()}": "true" for name, each in TOOLSETS.items() if not each.on_by_default}
    assert chosen(loaded(**every).toolsets) == chosen(("all",))


DAYS = {"90": (True, 90.0), "0": (False, 90.0), "1.5": (True, 1.5), "-1": (True, 90.0), "nan": (True, 90.0)}


@pytest.mark.parametrize(("text", "kept"), DAYS.items(), ids=DAYS)
def test_days_are_a_number_and_none_of_them_keeps_nothing(text: str, kept: tuple[bool, float]) -> None:
    found = loaded(HISTORY_DAYS=text)
    assert (found.history, found.history_days) == kept


FIELDS = [key.upper() for key in manifest.USER_CONFIG if key != "vault"]


@given(some.dictionaries(some.sampled_from(FIELDS), some.text()))
def test_no_form_stops_the_server(form: dict[str, str]) -> None:
    assert chosen(loaded("/notes", **form).toolsets) >= chosen(("default",))


def test_every_field_of_the_form_is_one_that_is_read() -> None:
    default = vars_of(loaded("/notes"))
    for field in FIELDS:
        value = "7" if field == "HISTORY_DAYS" else "true"
        assert vars_of(loaded("/notes", **{field: value})) != default, field


def vars_of(found: settings.Settings) -> dict[str, object]:
    names = set(settings.Settings.__slots__) - {"environ", "_frozen"}
    return {name: getattr(found, name) for name in names}


def test_a_person_is_told_where_to_choose_a_vault_only_in_the_extension() -> None:
    assert extension.where_to_choose({}) == ""
    said = extension.where_to_choose({extension.TITLE: manifest.TITLE})
    assert f"Settings > Extensions > {manifest.TITLE} > Configure" in said
