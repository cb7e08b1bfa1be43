"""What bare words mean, and how much a note that has them is worth (BM25).

A bare word is one word of the text, with its forms; or several that stand together, as `follow-up` and everything in
scripts without blanks. If such a group occurs nowhere, its parts are looked for. Words that nearly every text has are
left out, unless there are no others.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Sequence

from obsidian_mcp.vault.forms import Forms
from obsidian_mcp.vault.words import BETWEEN_WORDS, IN_WORD, searchable, words_in

# How much more a word counts in a note's name, or in one of its headings.
NAME, HEADING, BODY = 8.0, 3.0, 1.0
FORM = 0.7  # what another form of a word is worth
PART = 0.5  # what a part of a group is worth
WEAK = 0.35  # what a word of everyday questions is worth
OTHER_WORD = 0.5  # what another word for the same is worth
COVERAGE = 0.5  # how much it counts that a note has all of the words, and not one of them often
K1, B = 1.2, 0.75  # as in SQLite

APART = " \ue000 "  # between names, and between headings: a word of its own, which no query can have
# Words of everyday questions, which tell little about what is meant: they count, and less than others.
WEAK_WORDS = frozenset(
    "across after again all allow also always another anything away back become before best better between both bring "
    "came change come different done during each easily either else even ever every everything few find first full get "
    "give given go goes going good got great happen help here instead itself just keep kept know last later least "
    "leave left less let like little live long look lot made make makes making many may mean might more most much "
    "must need never new next no none not nothing now off often once one only onto other out over own part people "
    "person place "
    "possible put quite really right said same say see seen several shall show shown since single something soon start "
    "still such take taken tell thing things think three through time times together told too try turn two under until "
    "up upon us use used using very want way ways week well went while within without work year yes yet".split()
)
STOP_WORDS = frozenset(
    "a about am an and any are as at be been being but by can could did do does doing for from had has have having he "
    "her him his how i if in into is it its me my of on or our she should so some than that the their them then there "
    "these they this those to was we were what when where which who whom whose why will with would you your".split()
)


# How often each form of a word stands in a note's name, in its headings and in its text.
Counts = dict[str, list[int]]


class Word:
    """A bare word of a search."""

    def __init__(self, written: str, tokens: Sequence[str], is_part: bool = False) -> None:
        self.written = written
        self.tokens = tuple(tokens)
        self.is_part = is_part
        self.worth = PART if is_part else WEAK if len(tokens) == 1 and tokens[0] in WEAK_WORDS else 1.0
        self.forms = Forms(tokens[0], written) if len(tokens) == 1 else None
        self.begin = self.forms.prefix if self.forms else tokens[0]
        self._is_form: dict[str, bool] = {}

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        rest = "".join(BETWEEN_WORDS + re.escape(token) for token in self.tokens[1:])
        tail = f"{IN_WORD}*" if self.forms else f"{rest}(?!{IN_WORD})"
        head = "" if self.forms else f"(?<!{IN_WORD})"
        return re.compile(head + re.escape(self.begin) + tail)

    def parts(self) -> list[Word]:
        """What is looked for where the whole occurs nowhere: in scripts without blanks, each two characters."""
        if len(self.tokens) < 2:
            return []
        groups: Iterable[Sequence[str]]
        if all(len(token) == 1 and token > "\x7f" for token in self.tokens):
            groups = [self.tokens[at : at + 2] for at in range(len(self.tokens) - 1)] if len(self.tokens) > 2 else []
        else:
            groups = [(token,) for token in self.tokens]
        return [Word(self.written, group, is_part=True) for group in groups]

    def count(self, text: str) -> dict[str, int]:
        """How often a searchable text has the word, in each of its forms."""
        counted: dict[str, int] = {}
        if self.begin not in text:
            return counted
        for found in self._pattern.finditer(text):
            before = text[found.start() - 1 : found.start()]
            if before and (before > "\x7f" or before.isalnum()):
                continue
            if self.forms is None or self._includes(found[0]):
                counted[found[0]] = counted.get(found[0], 0) + 1
        return counted

    def worth_of(self, form: str) -> float:
        return 1.0 if self.forms is None or form == self.forms.word else FORM

    def _includes(self, token: str) -> bool:
        known = self._is_form.get(token)
        if known is None:
            assert self.forms is not None
            known = self._is_form[token] = self.forms.include(token)
        return known

    def counts(self, texts: Iterable[str]) -> Counts:
        """In the name, the headings and the text."""
        counted: Counts = {}
        for number, text in enumerate(texts):
            for form, count in self.count(text).items():
                counted.setdefault(form, [0, 0, 0])[number] = count
        if self.forms is None and counted:  # the same words, whatever stands between them
            return {"": [sum(column) for column in zip(*counted.values(), strict=True)]}
        return counted

    def score(self, counts: Counts, length: float) -> float:
        """What a note is worth that has the word so often, by its length against the average. The best form counts."""
        return max(
            self.worth_of(form) * frequency(NAME * name + HEADING * heading + BODY * body, length)
            for form, (name, heading, body) in counts.items()
        )


def ranking_words(written: Iterable[str]) -> list[Word]:
    """The words that are looked for; none of those that say nothing, unless there are no others."""
    found = [Word(word, tokens) for word in written if (tokens := words_in(word))]
    telling = [word for word in found if word.tokens != word.tokens[:1] or word.tokens[0] not in STOP_WORDS]
    return telling or found


def combined(scores: Iterable[tuple[float, float]], all_words: float) -> float:
    """Of pairs of what a word is worth and how much a note has of it; `all_words` is what all of them are worth."""
    total = covered = 0.0
    for worth, score in scores:
        total += worth * score
        covered += worth
    return total * (covered / all_words) ** COVERAGE if covered else 0.0


def worth_of_others(word: Word, notes: int, having: int) -> float:
    """What it is worth to have another word for this one, which so many notes have."""
    return OTHER_WORD * word.worth * rarity(notes, having)


def rarity(notes: int, having: int) -> float:
    """What a word is worth that so many notes have."""
    return math.log(1 + (notes - having + 0.5) / (having + 0.5))


def frequency(weighted: float, length: float) -> float:
    """What it is worth that a word stands in a note so often."""
    return weighted * (K1 + 1) / (weighted + K1 * (1 - B + B * length))


def headings_of(text: str) -> str:
    """The lines that look like headings. Only for ranking: one in a code block does no harm there."""
    found: list[str] = []
    at = 0 if text.startswith("#") else text.find("\n#") + 1 or -1
    while at >= 0:
        end = text.find("\n", at)
        line = text[at:] if end < 0 else text[at:end]
        heading = line.lstrip("#")
        if heading[:1] in (" ", "\t"):
            found.append(heading)
        at = text.find("\n#", end) + 1 or -1 if end >= 0 else -1
    return APART.join(found)


def searchable_parts(name: str, aliases: Sequence[str], plain: str) -> tuple[str, str, str]:
    """What is searched of a note: its names, its headings, its text, which is searchable already."""
    return APART.join(map(searchable, (name, *aliases))), headings_of(plain), plain
