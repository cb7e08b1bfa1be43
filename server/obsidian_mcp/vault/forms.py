"""A word's other forms: `meeting` for `meetings`, `заметка` for `заметки`.

Two words are forms of each other if a stemmer of their script's language takes them for the same. Latin letters are
read as English, unless the word that was asked for has accents: then as any of the languages that write them. Where
there is no stemmer, a short ending may differ. Forms share their first letters, so that few words have to be compared.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

SHORTEST = 3  # letters; shorter words have no forms
LONGEST_ENDING = {"HANGUL": 2}  # letters that may differ where there is no stemmer
LEAST_SHARED = {"HANGUL": 2}
_ENDING, _SHARED = 3, 4
_ACCENTED = ("french", "spanish", "portuguese", "german", "italian", "swedish", "hungarian", "finnish", "turkish")
# By the first word of a letter's Unicode name.
_STEMMERS = {
    "LATIN": ("english",),
    "CYRILLIC": ("russian",),
    "GREEK": ("greek",),
    "ARABIC": ("arabic",),
    "ARMENIAN": ("armenian",),
    "DEVANAGARI": ("hindi",),
    "TAMIL": ("tamil",),
}


class Forms:
    """The forms of one word, which is given as `words.searchable` has it; `written` is how the caller wrote it."""

    def __init__(self, word: str, written: str = "") -> None:
        self.word = word
        self._script = _script(word)
        accented = self._script == "LATIN" and not (written or word).isascii()
        self._languages = _ACCENTED if accented else _STEMMERS.get(self._script, ())
        self._stems = [_stemmed(language, word) for language in self._languages]
        self._has_forms = len(word) >= min(SHORTEST, self._least_shared) and self._script != ""

    @property
    def _least_shared(self) -> int:
        return LEAST_SHARED.get(self._script, _SHARED)

    @property
    def stem(self) -> str:
        """What the forms have in common, as the first stemmer says; the word itself where there is none."""
        return self._stems[0] if self._stems else self.word

    @functools.cached_property
    def prefix(self) -> str:
        """What every form begins with; a stemmer may change the last letter of a stem (`study`, `studies`)."""
        if not self._has_forms:
            return self.word
        if not self._languages:
            longest = LONGEST_ENDING.get(self._script, _ENDING)
            return self.word[: max(self._least_shared, len(self.word) - longest)]
        return self.word[: max(2, min(min(_shared(stem, self.word), len(stem) - 1) for stem in self._stems))]

    def include(self, other: str) -> bool:
        """Whether the other is the word or a form of it."""
        if other == self.word:
            return True
        if not self._has_forms or not other.startswith(self.prefix):
            return False
        if not self._languages:
            longest, shared = LONGEST_ENDING.get(self._script, _ENDING), _shared(self.word, other)
            return shared >= self._least_shared and max(len(self.word), len(other)) - shared <= longest
        return any(
            _stemmed(language, other) == stem for language, stem in zip(self._languages, self._stems, strict=True)
        )


def _script(word: str) -> str:
    """The script of its letters; empty if they are none, or of a script without blanks."""
    if not word.isalpha():
        return "" if not word or not _has_only_letters(word) else unicodedata.name(word[0], "").partition(" ")[0]
    return unicodedata.name(word[0], "").partition(" ")[0]


def _has_only_letters(word: str) -> bool:
    return all(unicodedata.category(char)[0] in "LM" for char in word)


def _shared(one: str, other: str) -> int:
    """How many letters they begin with alike."""
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return number
    return min(len(one), len(other))


# How British words are written elsewhere.
_SPELLINGS = (
    (re.compile(r"(?<=[a-z]{2})our(?=s?$|ed$|ing$|ite|ful|able)"), "or"),
    (re.compile(r"(?<=[a-z]{3})is(?=e[ds]?$|ers?$|ing$|ations?$)"), "iz"),
    (re.compile(r"(?<=[a-z]{2})tre(?=s?$)"), "ter"),
    (re.compile(r"(?<=[a-z]{2})ll(?=ed$|ing$|ers?$)"), "l"),
)


@functools.lru_cache(maxsize=20_000)
def _stemmed(language: str, word: str) -> str:
    if language == "english":
        for spelling, other in _SPELLINGS:
            word = spelling.sub(other, word)
    found: str = _stemmer(language).stemWord(word)
    return found


@functools.cache
def _stemmer(language: str) -> Any:
    import Stemmer  # not before the first search by words

    return Stemmer.Stemmer(language)
