"""What an expression can come to, and how values are compared.

Where what the app would say is not known, nothing is said: `NotUnderstood` is raised, and no row is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from obsidian_mcp.vault.bases.expressions import NotUnderstood
from obsidian_mcp.vault.folding import fold

_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)?")
_DURATION = re.compile(
    r"\s*([+-]?\d+(?:\.\d+)?)\s*(y|years?|M|months?|w|weeks?|d|days?|h|hours?|m|minutes?|s|seconds?)\s*"
)
_SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_WIKI = re.compile(r"\[\[([^\[\]|#\n]+)[^\[\]\n]*\]\]")


class Unsure:
    """No, as far as it is only asked whether; what the opposite of it would be is not known."""


UNSURE = Unsure()


@dataclass(frozen=True, slots=True)
class Date:
    at: datetime
    has_time: bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """`path` is where it leads, None for nowhere."""

    text: str
    path: str | None


@dataclass(frozen=True, slots=True)
class FileValue:
    path: str


@dataclass(frozen=True, slots=True)
class Tags:
    """Without `#`. A tag is found by what it lies below, too."""

    tags: tuple[str, ...]

    def has(self, tag: str) -> bool:
        wanted = fold(tag.removeprefix("#"))
        return any(own == wanted or own.startswith(f"{wanted}/") for own in map(fold, self.tags))


def date_of(text: str) -> Date | None:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    try:
        at = datetime.fromisoformat(f"{found[1]}T{found[2]}" if found[2] else found[1])
    except ValueError:
        return None
    return Date(at, found[2] is not None)


def link_text(text: str) -> str | None:
    found = _WIKI.fullmatch(text.strip())
    return found[1].strip() if found else None


def moved(date: Date, by: str, sign: int) -> Date:
    found = _DURATION.fullmatch(by)
    if found is None:
        raise NotUnderstood(f"{by!r} is not a duration")
    count, unit = float(found[1]) * sign, "M" if found[2] in ("M", "month", "months") else found[2][0]
    try:
        if unit in ("y", "M"):
            return Date(_months(date.at, count * (12 if unit == "y" else 1)), date.has_time)
        return Date(date.at + timedelta(seconds=count * _SECONDS[unit]), date.has_time or unit in "hms")
    except (OverflowError, ValueError):
        raise NotUnderstood(f"{by!r} leads to a date that no calendar has") from None


def _months(at: datetime, count: float) -> datetime:
    if count != int(count):
        raise NotUnderstood("a part of a month has no fixed length")
    year, month = divmod(at.year * 12 + at.month - 1 + int(count), 12)
    for day in (at.day, 30, 29, 28):
        if day <= at.day:
            try:
                return at.replace(year=year, month=month + 1, day=day)
            except ValueError:
                continue
    raise OverflowError


def is_true(value: Any) -> bool:
    if isinstance(value, list | Tags):
        raise NotUnderstood("a list is not true or false by itself")
    return value not in (None, False, 0, "") and value is not UNSURE


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(one: Any, other: Any) -> bool:
    """Dates with their texts, links with what they lead to."""
    _require_sure(one, other)
    if one is None or other is None:
        return one is other
    for left, right in ((one, other), (other, one)):
        if isinstance(left, Date) and isinstance(right, str):
            date = date_of(right)
            return date is not None and date.at == left.at
        if isinstance(left, Link | FileValue) and isinstance(right, Link | FileValue | str):
            return _leads(left) == _leads(right, left) and _leads(left) is not None
        if is_number(left) and isinstance(right, str) and _looks_like(left, right):
            raise NotUnderstood(f"whether the number {left} and the text {right!r} are equal is the app's to say")
    if isinstance(one, Date) and isinstance(other, Date):
        return one.at == other.at
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, Tags) or isinstance(other, Tags):
        raise NotUnderstood("lists of tags are not compared")
    return type(one) is type(other) and bool(one == other) if not is_number(one) else is_number(other) and one == other


def _leads(value: Any, beside: Any = None) -> str | None:
    if isinstance(value, Link):
        return value.path
    if isinstance(value, FileValue):
        return value.path
    text: str = value
    if isinstance(beside, Link) and beside.path is not None and fold(beside.text) == fold(text):
        return beside.path
    return text if "." in text.rpartition("/")[2] else f"{text}.md"


def _looks_like(number: Any, text: str) -> bool:
    try:
        return float(text) == float(number)
    except ValueError:
        return False


def less(one: Any, other: Any) -> bool | None:
    """None where one of them is null."""
    _require_sure(one, other)
    if one is None or other is None:
        return None
    if isinstance(one, Date) and isinstance(other, str):
        other = date_of(other)
    elif isinstance(other, Date) and isinstance(one, str):
        one = date_of(one)
    if isinstance(one, Date) and isinstance(other, Date):
        return one.at < other.at
    if isinstance(one, timedelta) and isinstance(other, timedelta):
        return one < other
    if is_number(one) and is_number(other):
        return bool(one < other)
    if isinstance(one, str) and isinstance(other, str):
        if (one < other) != (fold(one) < fold(other)):
            raise NotUnderstood(f"which of {one!r} and {other!r} comes first is the app's to say")
        return one < other
    raise NotUnderstood(f"{kind(one)} and {kind(other)} can't be compared")


def contains(value: Any, wanted: Any) -> Any:
    """Case does not count."""
    if value is None:
        return UNSURE
    _require_sure(value, wanted)
    if isinstance(value, Tags) and isinstance(wanted, str):
        return value.has(wanted)
    if isinstance(value, str) and isinstance(wanted, str):
        return fold(wanted) in fold(value)
    if isinstance(value, list):
        return any(_same(each, wanted) for each in value)
    if wanted is None:
        return UNSURE
    raise NotUnderstood(f"what {kind(value)} contains is not known")


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        if fold(one) != fold(other) and fold(one).startswith(f"{fold(other)}/"):
            raise NotUnderstood(f"whether {one!r} counts as {other!r} is the app's to say; use file.hasTag for tags")
        return fold(one) == fold(other)
    return equal(one, other)


def begins(value: Any, wanted: Any, *, ends: bool) -> Any:
    if value is None:
        return UNSURE
    if not isinstance(value, str) or not isinstance(wanted, str):
        raise NotUnderstood(f"{kind(value)} has no beginning")
    exact = value.endswith(wanted) if ends else value.startswith(wanted)
    folded = fold(value).endswith(fold(wanted)) if ends else fold(value).startswith(fold(wanted))
    if exact != folded:
        raise NotUnderstood(f"whether case counts for {value!r} is the app's to say")
    return exact


def is_empty(value: Any) -> bool:
    _require_sure(value, None)
    if isinstance(value, Tags):
        return not value.tags
    return value is None or value == "" or value == []


def _require_sure(*values: Any) -> None:
    if any(value is UNSURE for value in values):
        raise NotUnderstood("what a missing property contains is the app's to say")


def kind(value: Any) -> str:
    words = {bool: "true or false", str: "a text", list: "a list", Tags: "a list of tags", timedelta: "a duration"}
    more = {Date: "a date", Link: "a link", FileValue: "a file", type(None): "nothing", dict: "an object"}
    return "a number" if is_number(value) else {**words, **more}.get(type(value), "a value")


def shown(value: Any) -> Any:
    """As JSON."""
    if isinstance(value, Date):
        return value.at.isoformat() if value.has_time else value.at.date().isoformat()
    if isinstance(value, Link):
        return f"[[{value.text}]]"
    if isinstance(value, FileValue):
        return value.path
    if isinstance(value, Tags):
        return list(value.tags)
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g} s"
    if isinstance(value, list):
        return [shown(each) for each in value]
    return None if value is UNSURE else value
