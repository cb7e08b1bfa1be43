from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.periodic import (
    CALENDAR,
    DAILY_NOTES,
    PERIODIC_NOTES,
    PERIODS,
    NotSet,
    PeriodSettings,
    first_day,
    note_about,
    parse,
    path_of,
    settings_of,
)

TODAY = date(2026, 11, 18)  # a Wednesday
PERIODIC, WEEKS, PLUGINS = "plugins/periodic-notes/data.json", "plugins/calendar/data.json", "community-plugins.json"
CORE = "core-plugins.json"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                "enabled format folder template templatePath id calendarSets activeCalendarSet day week daily weekly "
                "weeklyNoteFormat showWeeklyNote".split()
            ),
            inner,
        )
    ),
)


def files(**contents: Any) -> Callable[[str], Any]:
    """A vault's config folder: `daily`, `periodic`, `calendar`, `plugins`."""
    names = {"daily": "daily-notes.json", "periodic": PERIODIC, "calendar": WEEKS, "plugins": PLUGINS, "core": CORE}
    return {names[key]: value for key, value in contents.items()}.get


def settings(period: str, format: str, folder: str = "") -> PeriodSettings:
    return PeriodSettings(period, folder, format, "", PERIODIC_NOTES)


def meant(name: str, today: date = TODAY) -> date:
    found = parse(name)
    assert found is not None
    return found.day(today)


# What is meant

MEANT = {
    "@daily": date(2026, 11, 18),
    " @Daily ": date(2026, 11, 18),
    "@daily:today": date(2026, 11, 18),
    "@daily:Yesterday": date(2026, 11, 17),
    "@daily: tomorrow ": date(2026, 11, 19),
    "@daily:-1": date(2026, 11, 17),
    "@daily:+30": date(2026, 12, 18),
    "@daily:0": date(2026, 11, 18),
    "@daily:2024-02-29": date(2024, 2, 29),
    "@weekly": date(2026, 11, 18),
    "@weekly:-1": date(2026, 11, 11),
    "@weekly:yesterday": date(2026, 11, 17),
    "@weekly:2026-W47": date(2026, 11, 16),
    "@weekly:2026-w01": date(2025, 12, 29),
    "@weekly:2026-11-20": date(2026, 11, 20),
    "@monthly:-9": date(2026, 2, 18),
    "@monthly:2026-11": date(2026, 11, 1),
    "@quarterly:+1": date(2027, 2, 18),
    "@quarterly:2026-Q4": date(2026, 10, 1),
    "@yearly:-1": date(2025, 11, 18),
    "@YEARLY:2026": date(2026, 1, 1),
}


@pytest.mark.parametrize(("name", "day"), MEANT.items(), ids=MEANT)
def test_a_name_means_a_day_of_its_period(name: str, day: date) -> None:
    assert meant(name) == day


@pytest.mark.parametrize(
    "name", ["Daily", "daily", "@dailies", "@daily note", "@daily.md", "x @daily", "@active", "@", ""]
)
def test_another_name_is_not_of_a_period(name: str) -> None:
    assert parse(name) is None


UNREAD = (
    "@daily:2026-13-40 @daily: @daily:soon @daily:2026-W47 @daily:1 @daily:--1 @weekly:2026-W54 @weekly:2026-11".split()
)
UNREAD += "@monthly:2026-13 @quarterly:2026-Q5 @yearly:0000 @yearly:26 @daily:0000-01-01 @daily:+12345678".split()


@pytest.mark.parametrize("name", UNREAD)
def test_what_cannot_be_read_after_the_colon_is_told_with_what_can(name: str) -> None:
    with pytest.raises(ValueError, match=":2026-11-16"):
        parse(name)


def test_a_shorter_month_is_met_on_its_last_day() -> None:
    assert meant("@monthly:-1", date(2026, 3, 31)) == date(2026, 2, 28)
    assert meant("@yearly:+1", date(2024, 2, 29)) == date(2025, 2, 28)


@pytest.mark.parametrize("name", ["@yearly:-9999", "@yearly:+9999", "@daily:-999999", "@monthly:-999999"])
def test_a_day_beyond_the_calendar_is_told(name: str) -> None:
    with pytest.raises(ValueError, match="years 1 to 9999"):
        meant(name)


@given(st.sampled_from(PERIODS), st.text())
def test_any_text_after_the_colon_is_read_or_told(period: str, when: str) -> None:
    with contextlib.suppress(ValueError):
        assert parse(f"@{period}:{when}") is not None


# Weeks by their number

WEEKS_MEANT = {
    "an ISO week": ("GGGG-[W]WW", "2027-W10", date(2027, 3, 8)),
    "an English week": ("gggg-[W]ww", "2027-W10", date(2027, 2, 28)),
    "the first English week": ("gggg-[W]ww", "2027-W01", date(2026, 12, 27)),
    "the last English week": ("gggg-[W]ww", "2028-W53", date(2028, 12, 24)),
    "a week in a format without weeks": ("YYYY-MM-DD", "2027-W10", date(2027, 2, 28)),
}


@pytest.mark.parametrize(("format", "week", "day"), WEEKS_MEANT.values(), ids=WEEKS_MEANT)
def test_a_week_is_counted_as_the_format_counts(format: str, week: str, day: date) -> None:
    found = parse(f"@weekly:{week}")
    assert found is not None
    assert found.day(TODAY, settings("weekly", format)) == day


@given(st.integers(2, 9998), st.integers(1, 53), st.sampled_from(["GGGG-[W]WW", "gggg-[W]ww"]))
def test_a_week_that_is_named_as_its_note_is_means_that_note(year: int, number: int, format: str) -> None:
    name = f"{year:04}-W{number:02}"
    of, wanted = settings("weekly", format), parse(f"@weekly:{name}")
    assert wanted is not None
    with contextlib.suppress(ValueError) if number == 53 else contextlib.nullcontext():
        assert path_of(of, wanted.day(TODAY, of)) == f"{name}.md"


@pytest.mark.parametrize(("format", "year"), [("GGGG-[W]WW", 2027), ("gggg-[W]ww", 2026)])
def test_a_year_without_that_week_is_told(format: str, year: int) -> None:
    found = parse(f"@weekly:{year}-W53")
    assert found is not None
    with pytest.raises(ValueError, match=f"{year} has 52"):
        found.day(TODAY, settings("weekly", format))


# The settings


def test_a_vault_that_says_nothing_has_daily_notes_at_its_root() -> None:
    assert settings_of("daily", files()) == PeriodSettings("daily", "", "YYYY-MM-DD", "", DAILY_NOTES)


@pytest.mark.parametrize("period", PERIODS[1:])
def test_a_vault_that_says_nothing_has_no_other_periodic_notes(period: str) -> None:
    with pytest.raises(NotSet) as raised:
        settings_of(period, files(daily={"format": "YYYY"}))
    assert raised.value.period == period


def test_daily_notes_are_where_the_app_puts_them() -> None:
    daily = {"folder": "/Journal\\Days//", "format": "YYYY/MM-DD", "template": " Templates/Day "}
    expected = PeriodSettings("daily", "Journal/Days", "YYYY/MM-DD", "Templates/Day", DAILY_NOTES)
    assert settings_of("daily", files(daily=daily)) == expected


@pytest.mark.parametrize("period", PERIODS)
def test_periodic_notes_count_where_they_are_on(period: str) -> None:
    on = {period: {"enabled": True, "folder": "P", "format": "[x]", "template": "T"}}
    calendar, daily = {"weeklyNoteFormat": "[y]"}, {"format": "[z]"}
    expected = PeriodSettings(period, "P", "[x]", "T", PERIODIC_NOTES)
    assert settings_of(period, files(periodic=on, calendar=calendar, daily=daily)) == expected


BETA = {"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year"}


@pytest.mark.parametrize(("period", "key"), BETA.items(), ids=BETA)
def test_the_beta_of_periodic_notes_counts_by_its_active_set(period: str, key: str) -> None:
    active = {"id": "Work", key: {"enabled": True, "folder": "W", "format": "", "templatePath": "T"}}
    other = {"id": "Home", key: {"enabled": True, "folder": "H"}}
    data = {"calendarSets": [other, active], "activeCalendarSet": "Work", period: {"enabled": True, "folder": "old"}}
    found = settings_of(period, files(periodic=data))
    assert (found.folder, found.template, found.source) == ("W", "T", PERIODIC_NOTES)


DEFAULTS = dict(zip(PERIODS, ("YYYY-MM-DD", "gggg-[W]ww", "YYYY-MM", "YYYY-[Q]Q", "YYYY"), strict=True))


@pytest.mark.parametrize(("period", "format"), DEFAULTS.items(), ids=PERIODS)
@pytest.mark.parametrize("empty", ["", " ", None, 7, []])
def test_a_format_that_is_empty_or_not_a_text_is_the_default(period: str, format: str, empty: object) -> None:
    assert settings_of(period, files(periodic={period: {"enabled": True, "format": empty}})).format == format


OFF = {
    "switched off": {"daily": {"enabled": False, "folder": "P"}},
    "not said": {"daily": {"folder": "P"}},
    "not a switch": {"daily": {"enabled": "true", "folder": "P"}},
    "not an object": {"daily": [1]},
    "no active set": {"calendarSets": [{"id": "A", "day": {"enabled": True, "folder": "P"}}], "activeCalendarSet": "B"},
    "a broken file": [1, 2],
}


@pytest.mark.parametrize("periodic", OFF.values(), ids=OFF)
def test_periodic_notes_that_are_off_leave_it_to_the_app(periodic: object) -> None:
    assert settings_of("daily", files(periodic=periodic, daily={"folder": "D"})).folder == "D"


def test_a_plugin_that_is_off_leaves_only_its_file() -> None:
    on = {"daily": {"enabled": True, "folder": "P"}}
    daily = {"folder": "D"}
    assert settings_of("daily", files(periodic=on, daily=daily, plugins=["calendar"])).folder == "D"
    assert settings_of("daily", files(periodic=on, daily=daily, plugins=["periodic-notes"])).folder == "P"
    assert settings_of("daily", files(periodic=on, daily=daily, plugins={"a": 1})).folder == "P"


CORE_OFF = {"in an object": {"daily-notes": False}, "not in the list": ["file-explorer"]}


@pytest.mark.parametrize("core", CORE_OFF.values(), ids=CORE_OFF)
def test_daily_notes_that_are_switched_off_are_none(core: object) -> None:
    with pytest.raises(NotSet) as raised:
        settings_of("daily", files(core=core, daily={"folder": "D"}))
    assert raised.value.kept == PeriodSettings("daily", "D", "YYYY-MM-DD", "", DAILY_NOTES)
    on = {"daily": {"enabled": True, "folder": "P"}}
    assert settings_of("daily", files(core=core, periodic=on)).folder == "P"


@pytest.mark.parametrize("core", [{}, {"daily-notes": True}, ["daily-notes"], {"daily-notes": None}, "x", None])
def test_daily_notes_are_on_unless_they_are_switched_off(core: object) -> None:
    assert settings_of("daily", files(core=core)).source == DAILY_NOTES


def test_weekly_notes_of_calendar_count_where_periodic_notes_have_none() -> None:
    data = {"weeklyNoteFormat": "GGGG-[W]WW", "weeklyNoteFolder": "Weeks", "weeklyNoteTemplate": "T"}
    off = {"weekly": {"enabled": False, "format": "[x]"}}
    expected = PeriodSettings("weekly", "Weeks", "GGGG-[W]WW", "T", CALENDAR)
    assert settings_of("weekly", files(calendar=data, periodic=off)) == expected
    assert settings_of("weekly", files(calendar={"showWeeklyNote": True})).format == "gggg-[W]ww"


@pytest.mark.parametrize(
    "contents",
    [
        {"calendar": {"showWeeklyNote": False, "weeklyNoteFormat": "", "weeklyNoteFolder": ""}},
        {"calendar": {"weeklyNoteFolder": "Weeks"}, "plugins": []},
    ],
    ids=["never used", "switched off"],
)
def test_a_calendar_without_weeks_has_no_weekly_notes(contents: dict[str, Any]) -> None:
    with pytest.raises(NotSet):
        settings_of("weekly", files(**contents))


@given(st.sampled_from(PERIODS), JSON, JSON, JSON, JSON)
def test_no_settings_can_break_it(period: str, daily: Any, periodic: Any, calendar: Any, plugins: Any) -> None:
    contents = files(daily=daily, periodic=periodic, calendar=calendar, plugins=plugins)
    try:
        found = settings_of(period, contents)
    except NotSet:
        assert period != "daily"
    else:
        assert path_of(found, TODAY).endswith(".md")


# The path

PATHS = {
    "a day": (settings("daily", "YYYY-MM-DD"), "2026-11-18.md"),
    "in a folder": (settings("daily", "YYYY-MM-DD", "Journal/Days"), "Journal/Days/2026-11-18.md"),
    "folders by the format": (settings("daily", "YYYY/MM-MMMM/DD", "J"), "J/2026/11-November/18.md"),
    "slashes too many": (settings("daily", "/YYYY//MM/./DD/", "J"), "J/2026/11/18.md"),
    "with an ending of its own": (settings("daily", "YYYY[.md]"), "2026.md"),
    "an English week": (settings("weekly", "gggg-[W]ww"), "2026-W47.md"),
    "an ISO week": (settings("weekly", "GGGG-[W]WW"), "2026-W47.md"),
    "a week by its first day": (settings("weekly", "YYYY-MM-DD"), "2026-11-15.md"),
    "an ISO week with its first day": (settings("weekly", "[W]WW (DD.MM.)"), "W47 (16.11.).md"),
    "a month": (settings("monthly", "YYYY-MM-DD"), "2026-11-01.md"),
    "a quarter": (settings("quarterly", "YYYY-[Q]Q MM"), "2026-Q4 10.md"),
    "a year": (settings("yearly", "YYYY MM DD"), "2026 01 01.md"),
}


@pytest.mark.parametrize(("of", "path"), PATHS.values(), ids=PATHS)
def test_a_note_is_where_its_plugin_puts_it(of: PeriodSettings, path: str) -> None:
    assert path_of(of, TODAY) == path


def test_a_format_that_gives_no_name_is_not_taken_for_the_folders() -> None:
    assert path_of(settings("daily", "[]", "Journal"), TODAY) == "Journal/.md"


def test_the_week_around_new_year_is_one_note() -> None:
    around = [date(2026, 12, 28) + timedelta(days=count) for count in range(7)]
    assert {path_of(settings("weekly", "GGGG-[W]WW"), day) for day in around} == {"2026-W53.md"}
    assert {path_of(settings("weekly", "YYYY-[W]WW"), day) for day in around} == {"2026-W53.md"}
    assert {path_of(settings("weekly", "gggg-[W]ww"), day) for day in around} == {"2027-W01.md", "2027-W02.md"}


FORMATS = ["YYYY-MM-DD", "gggg-[W]ww", "GGGG-[W]WW", "YYYY-[W]ww", "LL"]


@given(st.sampled_from(PERIODS), st.sampled_from(FORMATS), st.dates())
def test_all_days_of_a_period_have_the_same_note(period: str, format: str, day: date) -> None:
    of = settings(period, format)
    first = first_day(of, day)
    assert first <= day
    assert first_day(of, first) == first
    assert path_of(of, first) == path_of(of, day)


# What is said of it


@pytest.mark.parametrize(
    "of",
    [settings("daily", "YYYY-MM-DD dddd"), settings("weekly", "gggg-[W]ww"), settings("weekly", "YYYY-MM-DD")],
    ids=["names", "weeks", "where a week begins"],
)
def test_a_path_that_depends_on_the_apps_language_is_told(of: PeriodSettings) -> None:
    note = note_about(of)
    assert note is not None
    assert of.format in note


@pytest.mark.parametrize("of", [settings("daily", "YYYY-MM-DD"), settings("weekly", "GGGG-[W]WW")], ids=PERIODS[:2])
def test_of_a_path_that_is_sure_nothing_is_said(of: PeriodSettings) -> None:
    assert note_about(of) is None
