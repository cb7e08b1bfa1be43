from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.moment import depends_on_language, formatted, tokens
from tests.support.growth import require_linear

# What moment 2.30.1 from npm gives for each pattern and date, in English and in the date's own zone; and whether any
# of ten other languages gives something else.
TABLE = json.loads(Path(__file__).with_name("moment.json").read_text("utf-8"))
DATES = [datetime.fromisoformat(date) for date in TABLE["dates"]]
PATTERNS: list[tuple[str, bool, list[str]]] = TABLE["patterns"]
BY_NAME = {repr(pattern): (pattern, depends, texts) for pattern, depends, texts in PATTERNS}

# Letters of tokens, and what has a meaning of its own.
ODD_PATTERNS = st.text("YMDdowWgGQEeHhmskSAaZzXxNyLlTt[]\\|/-. \n")


@pytest.mark.parametrize(("pattern", "depends", "texts"), BY_NAME.values(), ids=BY_NAME)
def test_a_date_is_written_as_moment_writes_it(pattern: str, depends: bool, texts: list[str]) -> None:
    assert [formatted(date, pattern) for date in DATES] == texts


@pytest.mark.parametrize(("pattern", "depends", "texts"), BY_NAME.values(), ids=BY_NAME)
def test_a_pattern_is_said_to_depend_on_the_language_where_it_does(
    pattern: str, depends: bool, texts: list[str]
) -> None:
    assert depends_on_language(pattern) is depends


def test_the_table_is_as_large_as_it_should_be() -> None:
    assert len(BY_NAME) >= 90
    assert len(DATES) >= 8
    assert {len(texts) for _, _, texts in PATTERNS} == {len(DATES)}


@given(st.datetimes())
def test_iso_weeks_are_those_of_the_calendar(moment: datetime) -> None:
    year, week, weekday = moment.isocalendar()
    assert formatted(moment, "GGGG W E") == f"{year:04} {week} {weekday}"


@given(st.datetimes())
def test_an_english_week_is_the_one_that_its_saturday_gives_it(moment: datetime) -> None:
    to_saturday = (5 - moment.weekday()) % 7
    if datetime.max - moment > timedelta(days=to_saturday):
        saturday = moment + timedelta(days=to_saturday)
        week = (saturday.timetuple().tm_yday + 6) // 7
        assert formatted(moment, "gggg w") == f"{saturday.year:04} {week}"


@given(st.datetimes(), ODD_PATTERNS | st.text())
def test_any_text_is_a_pattern(moment: datetime, pattern: str) -> None:
    assert isinstance(formatted(moment, pattern), str)
    assert isinstance(depends_on_language(pattern), bool)


@given(st.datetimes(), st.text(st.characters(exclude_characters="[")))
def test_text_in_brackets_stays_as_it_is(moment: datetime, text: str) -> None:
    assert formatted(moment, f"[{text}]") == text


def test_a_time_without_a_zone_is_in_the_systems_own() -> None:
    moment = datetime(2026, 11, 16, 8, 0)
    assert formatted(moment, "Z X x") == formatted(moment.astimezone(), "Z X x")


def test_a_zone_with_odd_minutes_keeps_them() -> None:
    moment = datetime(2026, 11, 16, tzinfo=timezone(-timedelta(hours=9, minutes=30)))
    assert formatted(moment, "Z ZZ") == "-09:30 -0930"


@pytest.mark.parametrize("moment", [datetime.min, datetime.max])
def test_the_first_and_the_last_day_of_the_calendar_have_an_offset(moment: datetime) -> None:
    assert formatted(moment, "[Z]Z")[:1] == "Z"


def test_what_stands_for_a_part_of_the_date_is_told_from_text() -> None:
    assert tokens("GGGG-[W]WW \\MM c") == {"GGGG", "WW"}
    assert tokens("LT") == {"h", "mm", "A"}


def test_a_pattern_is_read_in_linear_time() -> None:
    at = datetime(2026, 11, 16, tzinfo=UTC)
    require_linear(lambda size: formatted(at, "[a" * size + "]" * size + "\\L" * size))
