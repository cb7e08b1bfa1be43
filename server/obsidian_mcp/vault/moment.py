"""Dates as moment.js writes them, in English: Obsidian names and fills its notes by these patterns.

A pattern is read as moment 2.30 does, down to its oddities: `[text]` goes to the last `]` before the next `[`, a
backslash takes the meaning from the whole token after it and never shows, and line ends outside brackets are lost. The
app's language is not written in any file of a vault; `depends_on_language` tells where another one would give another
text. (Arabic, Hindi and a few more also have digits of their own. They are left out, or every pattern would depend.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()
_EMPTY = "YYYY-MM-DDTHH:mm:ssZ"  # what no pattern at all stands for
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def formatted(moment: datetime, pattern: str) -> str:
    """A datetime without a zone is in the system's own."""
    return "".join(_TOKENS[piece](moment) if piece in _TOKENS else _literal(piece) for piece in _pieces(pattern))


def tokens(pattern: str) -> frozenset[str]:
    """What in it stands for a part of the date."""
    return frozenset(_TOKENS.keys() & set(_pieces(pattern)))


def depends_on_language(pattern: str) -> bool:
    """Whether names, ordinals, eras, am and pm, the local order or the local week are used."""
    has_local_order = any(found[0] in _LOCAL_ORDERS for found in _LOCAL_ORDER.finditer(pattern))
    return has_local_order or not _LOCAL.isdisjoint(tokens(pattern))


def _pieces(pattern: str) -> Iterator[str]:
    expanded = _LOCAL_ORDER.sub(lambda found: _LOCAL_ORDERS.get(found[0], found[0]), pattern or _EMPTY)
    return (found[0] for found in _PIECE.finditer(expanded))


def _literal(piece: str) -> str:
    return piece[1:-1] if piece.startswith("[") and len(piece) > 1 else piece.replace("\\", "")


# The parts of a date.


def _quarter(at: datetime) -> int:
    return (at.month + 2) // 3


def _weekday(at: datetime) -> int:
    """Sunday is 0."""
    return at.isoweekday() % 7


def _day_of_year(at: datetime) -> int:
    return at.timetuple().tm_yday


def _week_year(at: datetime) -> int:
    """An English week begins on Sunday, and is of the year that its Saturday lies in."""
    days_left = 31 - at.day
    return at.year + (at.month == 12 and days_left < 6 - _weekday(at))


def _week(at: datetime) -> int:
    if _week_year(at) > at.year:
        return 1
    before = _day_of_year(at) - 1
    first = (_weekday(at) - before) % 7  # the weekday of 1 January
    return (before + first) // 7 + 1


def _zoned(at: datetime) -> datetime:
    if at.tzinfo is not None:
        return at
    try:
        return at.astimezone()
    except (OverflowError, ValueError, OSError):  # where the system knows no offset, as for the year 1
        return at.replace(tzinfo=UTC)


def _offset(at: datetime, between: str) -> str:
    offset = _zoned(at).utcoffset() or timedelta()
    minutes = round(offset.total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}{between}{rest:02}"


def _milliseconds(at: datetime) -> int:
    return (_zoned(at) - _EPOCH) // timedelta(milliseconds=1)


def _fraction(digits: int) -> Callable[[datetime], str]:
    """Of a second. Moment knows milliseconds; what comes after them is 0."""
    return lambda at: f"{at.microsecond // 1000:03}000000"[:digits]


# The tokens: of a number each with its width, and one with the English ending.

_Number = Callable[[datetime], int]
_NUMBERS: list[tuple[_Number, dict[str, int], str]] = [
    (lambda at: at.year, {"Y": 4, "YYYY": 4, "YYYYY": 5}, ""),
    (lambda at: at.year, {"y": 1, "yy": 2, "yyy": 3, "yyyy": 4}, "yo"),
    (lambda at: at.year % 100, {"YY": 2}, ""),
    (_quarter, {"Q": 1}, "Qo"),
    (lambda at: at.month, {"M": 1, "MM": 2}, "Mo"),
    (lambda at: at.day, {"D": 1, "DD": 2}, "Do"),
    (_day_of_year, {"DDD": 1, "DDDD": 3}, "DDDo"),
    (_weekday, {"d": 1, "e": 1}, "do"),
    (lambda at: at.isoweekday(), {"E": 1}, ""),
    (_week, {"w": 1, "ww": 2}, "wo"),
    (_week_year, {"gggg": 4, "ggggg": 5}, ""),
    (lambda at: _week_year(at) % 100, {"gg": 2}, ""),
    (lambda at: at.isocalendar().week, {"W": 1, "WW": 2}, "Wo"),
    (lambda at: at.isocalendar().year, {"GGGG": 4, "GGGGG": 5}, ""),
    (lambda at: at.isocalendar().year % 100, {"GG": 2}, ""),
    (lambda at: at.hour, {"H": 1, "HH": 2}, ""),
    (lambda at: at.hour % 12 or 12, {"h": 1, "hh": 2}, ""),
    (lambda at: at.hour or 24, {"k": 1, "kk": 2}, ""),
    (lambda at: at.minute, {"m": 1, "mm": 2}, ""),
    (lambda at: at.second, {"s": 1, "ss": 2}, ""),
    (lambda at: _milliseconds(at) // 1000, {"X": 1}, ""),
    (_milliseconds, {"x": 1}, ""),
]
_TEXTS: dict[str, Callable[[datetime], str]] = {
    "YYYYYY": lambda at: f"+{at.year:06}",
    "MMM": lambda at: _MONTHS[at.month - 1][:3],
    "MMMM": lambda at: _MONTHS[at.month - 1],
    "dd": lambda at: _DAYS[_weekday(at)][:2],
    "ddd": lambda at: _DAYS[_weekday(at)][:3],
    "dddd": lambda at: _DAYS[_weekday(at)],
    "Hmm": lambda at: f"{at.hour}{at.minute:02}",
    "Hmmss": lambda at: f"{at.hour}{at.minute:02}{at.second:02}",
    "hmm": lambda at: f"{at.hour % 12 or 12}{at.minute:02}",
    "hmmss": lambda at: f"{at.hour % 12 or 12}{at.minute:02}{at.second:02}",
    "A": lambda at: "AM" if at.hour < 12 else "PM",
    "a": lambda at: "am" if at.hour < 12 else "pm",
    "Z": lambda at: _offset(at, ":"),
    "ZZ": lambda at: _offset(at, ""),
    "NNNN": lambda at: "Anno Domini",
    **dict.fromkeys(("N", "NN", "NNN", "NNNNN"), lambda at: "AD"),
    **dict.fromkeys(("z", "zz"), lambda at: ""),  # a zone's name, of which moment alone knows none
    **{"S" * digits: _fraction(digits) for digits in range(1, 10)},
}


def _padded(number: _Number, width: int) -> Callable[[datetime], str]:
    return lambda at: f"{number(at):0{width}}"


def _ordinal(number: _Number) -> Callable[[datetime], str]:
    def text(at: datetime) -> str:
        value = number(at)
        ending = "th" if value // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
        return f"{value}{ending}"

    return text


_TOKENS = {
    **_TEXTS,
    **{token: _padded(number, width) for number, widths, _ in _NUMBERS for token, width in widths.items()},
    **{token: _ordinal(number) for number, _, token in _NUMBERS if token},
}
_LOCAL = frozenset("MMM MMMM dd ddd dddd e w ww gg gggg ggggg A a N NN NNN NNNN NNNNN y yy yyy yyyy".split()).union(
    token for _, _, token in _NUMBERS if token
)
_LOCAL_ORDERS = {
    "LTS": "h:mm:ss A",
    "LT": "h:mm A",
    "L": "MM/DD/YYYY",
    "LL": "MMMM D, YYYY",
    "LLL": "MMMM D, YYYY h:mm A",
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
    "l": "M/D/YYYY",
    "ll": "MMM D, YYYY",
    "lll": "MMM D, YYYY h:mm A",
    "llll": "ddd, MMM D, YYYY h:mm A",
}
_BRACKETS = r"\[[^\[]*\]"
_LOCAL_ORDER = re.compile(rf"{_BRACKETS}|\\?(?:LTS|LT|L{{1,4}}|l{{1,4}})")
_LONGEST_FIRST = "|".join(sorted(_TOKENS, key=len, reverse=True))
_PIECE = re.compile(rf"{_BRACKETS}|\\?(?:[wW]\||{_LONGEST_FIRST}|[^\n\r\u2028\u2029])")  # w| is literal to moment
