"""A new note's text from a template: its variables filled in, its properties merged with those that are given.

The variables are filled in before anything is parsed: `date: {{date}}` is a map to YAML. What is filled in is not read
again, so a title with braces stays a title. What is not a variable stays as it is; Templater's are Templater's to run.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from obsidian_mcp.vault.frontmatter import kind, place, read
from obsidian_mcp.vault.line_ends import typed
from obsidian_mcp.vault.moment import formatted
from obsidian_mcp.vault.property_edits import Uneditable, edited

_FORMAT = r":(?!\}\})([^\r\n]{1,200}?)"  # bounded, so that a hostile template is read in linear time
_OF_THE_APP = re.compile(rf"\{{\{{(?:(title)|(date|time)(?:{_FORMAT})?)\}}\}}", re.IGNORECASE)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_OF_A_PERIOD = re.compile(
    r"\{\{\s{0,9}(?:(title)|(?P<word>yesterday|tomorrow)|"
    rf"(date|time)\s{{0,9}}(?:([+-][0-9]{{1,9}})([yqmwdhs]))?\s{{0,9}}(?:{_FORMAT})?|"
    rf"(?P<weekday>{'|'.join(_WEEKDAYS)})\s{{0,9}}:(?P<of_weekday>[^\r\n]{{1,200}}?))\s{{0,9}}\}}\}}",
    re.IGNORECASE,
)
# As moment takes them: m is a minute, M a month. It knows neither q nor D, and adds nothing.
_MONTHS = {"y": 12, "Y": 12, "Q": 3, "M": 1}
_SECONDS = {"w": 604_800, "W": 604_800, "d": 86_400, "h": 3_600, "H": 3_600, "m": 60, "s": 1, "S": 1}
_LISTS = frozenset(("tags", "aliases", "multitext"))
_BOM = "\ufeff"


def filled(
    template: str,
    title: str,
    now: datetime,
    date_format: str = "YYYY-MM-DD",
    time_format: str = "HH:mm",
    day: date | None = None,
) -> str:
    """With a `day`, the first of a period, by the rules of Periodic Notes; `date_format` is then the period's own."""

    def for_the_app(found: re.Match[str]) -> str:
        if found[1]:
            return title
        return formatted(now, found[3] or (date_format if found[2].lower() == "date" else time_format))

    def for_a_period(found: re.Match[str]) -> str:
        try:
            return title if found[1] else _of_period(found, at, date_format, time_format)
        except (OverflowError, ValueError):  # a date that no calendar has
            return found[0]

    if day is None:
        return _OF_THE_APP.sub(for_the_app, template)
    at = datetime.combine(day, now.timetz())
    return _OF_A_PERIOD.sub(for_a_period, template)


def _of_period(found: re.Match[str], at: datetime, date_format: str, time_format: str) -> str:
    if word := found["word"]:
        return formatted(at + timedelta(days=1 if word.lower() == "tomorrow" else -1), date_format)
    if weekday := found["weekday"]:
        days = (_WEEKDAYS.index(weekday.lower()) - at.weekday()) % 7
        return formatted(at + timedelta(days=days), found["of_weekday"].strip())
    _, _, what, count, unit, pattern, *_ = found.groups()
    moved = _moved(at, int(count), unit) if count else at
    return formatted(moved, (pattern or "").strip() or (date_format if what.lower() == "date" else time_format))


def _moved(at: datetime, count: int, unit: str) -> datetime:
    if unit not in _MONTHS:
        return at + timedelta(seconds=count * _SECONDS.get(unit, 0))
    year, month = divmod(at.year * 12 + at.month - 1 + count * _MONTHS[unit], 12)
    return at.replace(year=year, month=month + 1, day=min(at.day, calendar.monthrange(year, month + 1)[1]))


# Merging


def merged(template: str, content: str, types: Mapping[str, str]) -> str:
    """A filled template, then the content. Of the properties of both, lists are united, and else the content's win.

    Raises Uneditable if the properties of either can't be read, or those of the template not be changed.
    """
    given = read(content)
    head, body = content[: given.body], content[given.body :]
    if not given.values and not given.problem:
        return _followed(template, body)
    if not place(template)[2]:
        return _followed(_followed(head, template), body)
    if given.problem:
        raise Uneditable(f"those of the content can't be read ({given.problem.rstrip('.')})")
    return _followed(_with_properties(template, head, types), body)


def _followed(text: str, more: str) -> str:
    """In the line ends of what comes first. A byte order mark in the middle of a text would be a character like any
    other.
    """
    if not text or not more:
        return text or more
    more = typed(more.removeprefix(_BOM)).replace("\n", _newline(text)) if "\n" in text else more.removeprefix(_BOM)
    return text + ("" if text.endswith("\n") else _newline(text)) + more


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _with_properties(template: str, head: str, types: Mapping[str, str]) -> str:
    """Properties that the template lacks are taken over as they are written, with their comments, if they can be."""
    own, given = read(template).values, read(head).values
    shared = {key: name for key in given if (name := _spelled(key, own)) in own}
    lacking = {key: value for key, value in given.items() if key not in shared}
    set, add = _changes({name: (own[name], given[key]) for key, name in shared.items()}, types)
    text = _joined(template, head, list(shared), own | lacking, types)
    if text is None:
        text, set = template, set | {key: value for key, value in lacking.items() if value is not None}
    return edited(text, set, add, {}, types) if set or add else text


def _spelled(key: str, own: Mapping[str, Any]) -> str:
    """As the template has it: to the app, case makes no other property."""
    return key if key in own else next((name for name in own if name.lower() == key.lower()), key)


def _changes(
    shared: Mapping[str, tuple[Any, Any]], types: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """What is set and what is added to a list, of properties with the template's value and the given one."""
    set: dict[str, Any] = {}
    add: dict[str, list[Any]] = {}
    for name, (own, given) in shared.items():
        if isinstance(given, list):
            add[name] = given
        elif given is not None and (isinstance(own, list) or kind(name, given, types) in _LISTS):
            add[name] = [given]
        elif given is not None:
            set[name] = given
    return set, add


def _joined(
    template: str, head: str, shared: list[str], wanted: Mapping[str, Any], types: Mapping[str, str]
) -> str | None:
    """The template with the lines of the other block's properties, except for those shared; None if that can't be."""
    try:
        rest = edited(head, dict.fromkeys(shared), {}, {}, types) if shared else head
    except Uneditable:
        return None
    (start, end, _), (_, into, _) = place(rest), place(template)
    lines = rest[start:end].replace("\r\n", "\n").replace("\n", _newline(template[:into]))
    text = template[:into] + lines + template[into:]
    now = read(text)
    return text if now.problem is None and now.values == wanted else None
