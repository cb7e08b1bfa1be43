"""Which note `@daily`, `@weekly`, `@monthly`, `@quarterly` or `@yearly` is, by the vault's own settings.

A period's note is named after the first day of the period, as Calendar and Periodic Notes 0.x do it, so that it is the
same note on every day of the period, whatever parts of the date its format uses. (The beta of Periodic Notes 1.0 takes
the day on which the note is made; a format that makes sense gives the same name either way.) Where a week begins is the
app's language's to say: on Sunday in English, where the first week is that of 1 January. A format with ISO weeks is of
those, which begin on Monday. A week that is named by its number is counted as the format counts.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from obsidian_mcp.vault.moment import depends_on_language, formatted, tokens
from obsidian_mcp.vault.path import normalised

PERIODS = ("daily", "weekly", "monthly", "quarterly", "yearly")
PERIODIC_NOTES, CALENDAR, DAILY_NOTES = "Periodic Notes", "Calendar", "Daily notes"
Files = Callable[[str], object]  # a file of the vault's config folder → its JSON, None where there is none

_NAME = re.compile(rf"@({'|'.join(PERIODS)})\s*(?::(.*))?", re.IGNORECASE | re.DOTALL)
_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1}
_COUNT = re.compile(r"[+-][0-9]{1,6}|0")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_OF_PERIOD = {
    "weekly": (re.compile(r"([0-9]{4})-?W([0-9]{2})", re.IGNORECASE), "2026-W47"),
    "monthly": (re.compile(r"([0-9]{4})-([0-9]{2})"), "2026-11"),
    "quarterly": (re.compile(r"([0-9]{4})-?Q([1-4])", re.IGNORECASE), "2026-Q4"),
    "yearly": (re.compile(r"([0-9]{4})"), "2026"),
}
_MONTHS = {"monthly": 1, "quarterly": 3, "yearly": 12}
_FORMATS = {
    "daily": "YYYY-MM-DD",
    "weekly": "gggg-[W]ww",
    "monthly": "YYYY-MM",
    "quarterly": "YYYY-[Q]Q",
    "yearly": "YYYY",
}
_IN_BETA = dict(zip(PERIODS, ("day", "week", "month", "quarter", "year"), strict=True))
_ISO_WEEK = frozenset("W WW Wo GG GGGG GGGGG E".split())


class NotSet(Exception):
    """The vault has no notes of this period: no plugin that makes them is on for it. `kept` are settings of one that is
    off.
    """

    def __init__(self, period: str, kept: PeriodSettings | None = None) -> None:
        super().__init__(period)
        self.period = period
        self.kept = kept


@dataclass(frozen=True, slots=True)
class Periodic:
    """`on` is the day that was named, none for today; `days` and `periods` are counted from there. `week` is a year and
    the number of a week in it, which is a day only by the settings.
    """

    period: str
    on: date | None = None
    days: int = 0
    periods: int = 0
    week: tuple[int, int] | None = None

    def day(self, today: date, settings: PeriodSettings | None = None) -> date:
        """A day of the period that is meant. Raises ValueError where the calendar ends before it."""
        if self.week is not None:
            return _in_week(*self.week, is_iso=settings is None or _has_iso_weeks(settings))
        try:
            day = (self.on or today) + timedelta(days=self.days)
            return _moved(day, self.period, self.periods)
        except (OverflowError, ValueError):
            raise ValueError(f"@{self.period}:{self.periods:+} from {today} is not in the years 1 to 9999.") from None


@dataclass(frozen=True, slots=True)
class PeriodSettings:
    """`folder` is empty for the vault's root, `template` where there is none. `source` is the plugin they are of."""

    period: str
    folder: str
    format: str
    template: str
    source: str


# The name.


def parse(name: str) -> Periodic | None:
    """None if the name is another's. Raises ValueError with a sentence if only what follows the colon is wrong."""
    found = _NAME.fullmatch(name.strip())
    if not found:
        return None
    period = found[1].lower()
    if found[2] is None:
        return Periodic(period)
    when = found[2].strip()
    if when.lower() in _DAYS:
        return Periodic(period, days=_DAYS[when.lower()])
    if _COUNT.fullmatch(when):
        return Periodic(period, periods=int(when))
    try:
        week = _OF_PERIOD["weekly"][0].fullmatch(when) if period == "weekly" else None
        return Periodic(period, week=_week(*map(int, week.groups()))) if week else Periodic(period, _date(period, when))
    except ValueError:
        raise ValueError(_unread(period, when)) from None


def _date(period: str, when: str) -> date:
    if found := _DATE.fullmatch(when):
        return date(*map(int, found.groups()))
    pattern, _ = _OF_PERIOD.get(period, (_DATE, ""))
    found = pattern.fullmatch(when)
    if not found:
        raise ValueError(when)
    year, *part = map(int, found.groups())
    month = (part[0] - 1) * _MONTHS[period] + 1 if part else 1
    return date(year, month, 1)


def _week(year: int, number: int) -> tuple[int, int]:
    """Raises ValueError unless some calendar may have it."""
    if not 1 <= number <= 53 or not date.min.year < year < date.max.year:
        raise ValueError(number)
    return year, number


def _in_week(year: int, number: int, is_iso: bool) -> date:
    """Its first day. Raises ValueError if that year has no such week."""
    first = date.fromisocalendar(year, 1, 1) if is_iso else _english_year(year)
    after = date.fromisocalendar(year + 1, 1, 1) if is_iso else _english_year(year + 1)
    day = first + timedelta(weeks=number - 1)
    if day < after:
        return day
    kind = "ISO weeks" if is_iso else "weeks that begin on Sunday"
    raise ValueError(f"{year} has {(after - first).days // 7} {kind}, so there is no {year}-W{number:02}.")


def _english_year(year: int) -> date:
    """The first day of the week that 1 January is in."""
    first = date(year, 1, 1)
    return first - timedelta(days=first.isoweekday() % 7)


def _unread(period: str, when: str) -> str:
    own = f"@{period}:{_OF_PERIOD[period][1]}, " if period in _OF_PERIOD else ""
    forms = f"{own}@{period}:2026-11-16, @{period}:yesterday and @{period}:-1"
    return f"{when[:40]!r} after @{period}: is not a day; what can be read is like {forms}."


def _moved(day: date, period: str, count: int) -> date:
    """By so many periods; to the last day of a month that is shorter."""
    if period not in _MONTHS:
        return day + timedelta(days=count * (7 if period == "weekly" else 1))
    year, month = divmod(day.year * 12 + day.month - 1 + count * _MONTHS[period], 12)
    if not date.min.year <= year <= date.max.year:
        raise OverflowError
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


# The settings.


def settings_of(period: str, files: Files) -> PeriodSettings:
    """The first that is switched on of Periodic Notes, for weeks Calendar, for days the app's own. Raises NotSet."""
    found = _of_periodic_notes(period, files)
    if found is None and period == "weekly":
        found = _of_calendar(files)
    if found is None and period == "daily":
        options = _object(files("daily-notes.json"))
        found = _settings(period, options, "folder", "format", "template", DAILY_NOTES)
        if _is_core_off("daily-notes", files):
            raise NotSet(period, found)
    if found is None:
        raise NotSet(period)
    return found


def _of_periodic_notes(period: str, files: Files) -> PeriodSettings | None:
    data = _of_plugin("periodic-notes", files)
    sets = data.get("calendarSets")
    if isinstance(sets, list) and sets:  # of the beta, which leaves the older settings beside them
        active = next((one for one in map(_object, sets) if one.get("id") == data.get("activeCalendarSet")), {})
        options, template = _object(active.get(_IN_BETA[period])), "templatePath"
    else:
        options, template = _object(data.get(period)), "template"
    if options.get("enabled") is not True:
        return None
    return _settings(period, options, "folder", "format", template, PERIODIC_NOTES)


def _of_calendar(files: Files) -> PeriodSettings | None:
    """Calendar shows no weeks unless told to: with nothing set, they have never been used."""
    data = _of_plugin("calendar", files)
    keys = ("weeklyNoteFolder", "weeklyNoteFormat", "weeklyNoteTemplate")
    if data.get("showWeeklyNote") is not True and not any(_text(data, key) for key in keys):
        return None
    return _settings("weekly", data, *keys, CALENDAR)


def _of_plugin(id: str, files: Files) -> Mapping[str, object]:
    """Nothing if the plugin is off: its file stays when it is."""
    enabled = files("community-plugins.json")
    return {} if isinstance(enabled, list) and id not in enabled else _object(files(f"plugins/{id}/data.json"))


def _is_core_off(id: str, files: Files) -> bool:
    """By name in an object; older versions of the app kept a list of those that are on."""
    known = files("core-plugins.json")
    return id not in known if isinstance(known, list) else _object(known).get(id) is False


def _settings(
    period: str, options: Mapping[str, object], folder: str, format: str, template: str, source: str
) -> PeriodSettings:
    written = options.get(format)
    pattern = written if isinstance(written, str) and written.strip() else _FORMATS[period]
    return PeriodSettings(period, _joined(_text(options, folder)), pattern, _text(options, template), source)


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _text(options: Mapping[str, object], key: str) -> str:
    value = options.get(key)
    return value.strip() if isinstance(value, str) else ""


# The note.


def path_of(settings: PeriodSettings, day: date) -> str:
    """From the vault's root. Any day of the period gives the same; the text may still not do as a path."""
    name = _joined(formatted(datetime.combine(first_day(settings, day), time()), settings.format))
    path = f"{settings.folder}/{name}" if settings.folder else name
    return path if name.endswith(".md") else f"{path}.md"


def first_day(settings: PeriodSettings, day: date) -> date:
    """Of the period that the day lies in."""
    if settings.period == "weekly":
        since = day.isoweekday() - 1 if _has_iso_weeks(settings) else day.isoweekday() % 7
        return max(day, date.min + timedelta(days=since)) - timedelta(days=since)
    months = _MONTHS.get(settings.period)
    return day.replace(month=(day.month - 1) // months * months + 1, day=1) if months else day


def note_about(settings: PeriodSettings) -> str | None:
    """A sentence for the person where the app's language has a say in the path."""
    counts_weeks = settings.period == "weekly" and not _has_iso_weeks(settings)
    if not counts_weeks and not depends_on_language(settings.format):
        return None
    return (
        f"The name of the {settings.period} note ({settings.format}, from {settings.source}) depends on the language "
        "of the app. Here it is as in English, where weeks begin on Sunday."
    )


def _has_iso_weeks(settings: PeriodSettings) -> bool:
    return not _ISO_WEEK.isdisjoint(tokens(settings.format))


def _joined(path: str) -> str:
    """As the app normalises a path: single slashes, and none at its ends."""
    return "/".join(part for part in re.split(r"[\\/]+", normalised(path)) if part not in ("", "."))
