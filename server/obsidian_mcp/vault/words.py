"""Text as a search sees it: one spelling for case, Unicode form and width, and cut into words in every script.

Two readings of the same text. `folded` is for filters: nothing but case, Unicode form and width is made equal, so that
what it finds is what a person would mark in the text. `searchable` is for ranking by words: accents and vowel points
go as well, every separator is a blank, and what is written without blanks (Chinese, Japanese, Thai, emoji) is a word
per character, so that a run of them is found as a phrase. What is left are the words that the index has: its tokenizer
needs to know nothing but ASCII, and is the same wherever SQLite comes from.

Most of a text is ASCII. The codec that writes ASCII passes over it at the speed of memory and asks about each run of
other characters; what it is told is remembered. That is ten times faster than a regular expression over the text.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

# Digits, small letters, and all that is not ASCII. Said the other way round, it is compiled in a twentieth of the time.
IN_WORD, BETWEEN_WORDS = r"[^\x00-/:-`{-\x7f]", r"[\x00-/:-`{-\x7f]+"
WORD = re.compile(f"{IN_WORD}+")
SHORT_RUN = 16  # characters; longer ones are texts of their own, and not worth remembering
MOST_REMEMBERED = 50_000

# Scripts that are written without blanks between words, from their first to their last character.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x312F),  # radicals, punctuation, Hiragana, Katakana, Bopomofo
    (0x31A0, 0x9FFF),  # Han
    (0xF900, 0xFAFF),
    (0x1B000, 0x1B16F),  # more kana
    (0x20000, 0x3FFFF),
)
# Marks that people leave out when they type: accents, the points of Hebrew and Arabic, what chooses an emoji's look.
_OPTIONAL_MARKS = (
    (0x0300, 0x036F),
    (0x0591, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0xFE00, 0xFE0F),
)
_SYMBOLS = frozenset({"So", "Sk"})  # emoji, and what changes their colour
_PARTS_OF_WORDS = frozenset("LNM")


class _Composes(Exception):
    """A run begins with a mark that belongs to the character before it."""


class _Runs:
    """A function over runs of characters that are not ASCII, as an error handler of the ASCII codec."""

    def __init__(self, name: str, make: Callable[[str], str]) -> None:
        self._name = name
        self._make = make
        self._known: dict[str, bytes] = {}
        codecs.register_error(name, self._replaced)

    def over(self, text: str) -> str:
        try:
            found = text.encode("ascii", self._name)
        except _Composes:
            composed = unicodedata.normalize("NFC", text)
            if composed == text:  # a mark that nothing composes with
                return self._make(text)
            return self.over(composed)
        return found.lower().decode()

    def _replaced(self, error: UnicodeError) -> tuple[bytes, int]:
        assert isinstance(error, UnicodeEncodeError)
        run = error.object[error.start : error.end]
        known = self._known.get(run)
        if known is None:
            if error.start and unicodedata.combining(run[0]):
                raise _Composes
            known = self._make(run).encode("utf-8", "replace")
            if len(run) <= SHORT_RUN and not unicodedata.combining(run[0]):
                if len(self._known) >= MOST_REMEMBERED:
                    self._known.clear()
                self._known[run] = known
        return known, error.end


class _Characters(dict[int, str]):
    """A function over single characters, as a table for `str.translate` that fills itself."""

    def __init__(self, make: Callable[[str], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, code: int) -> str:
        made = self[code] = self._make(chr(code))
        return made

    def over(self, run: str) -> str:
        """Composed before and after: what a character becomes can go with the next one."""
        return unicodedata.normalize("NFC", unicodedata.normalize("NFC", run).translate(self))


def _fold(char: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())


def _word_part(char: str) -> str:
    bare = "".join(part for part in unicodedata.normalize("NFD", _fold(char)) if not _is_optional(part))
    return "".join(map(_as_token, unicodedata.normalize("NFC", bare)))


def _as_token(char: str) -> str:
    if char <= "\x7f":
        return char
    category = unicodedata.category(char)
    if category in _SYMBOLS or _is_in(ord(char), _UNSPACED):
        return f" {char} " if category in _SYMBOLS or category[0] in _PARTS_OF_WORDS else " "
    return char if category[0] in _PARTS_OF_WORDS else " "


def _is_optional(char: str) -> bool:
    return char > "\x7f" and _is_in(ord(char), _OPTIONAL_MARKS)


def _is_in(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


_FOLDS, _WORD_PARTS = _Characters(_fold), _Characters(_word_part)
_folded = _Runs("obsidian-mcp.folded", _FOLDS.over)
_searchable = _Runs("obsidian-mcp.searchable", lambda run: _WORD_PARTS.over(_FOLDS.over(run)))


def folded(text: str) -> str:
    """Equal for two spellings that differ in case, Unicode form or width alone."""
    return text.lower() if text.isascii() else _folded.over(text)


def searchable(text: str) -> str:
    """Words of small letters, between blanks and ASCII punctuation."""
    return text.lower() if text.isascii() else _searchable.over(text)


_ASCII = bytes(range(128))
# Characters of UTF-8 that turn into nothing of ASCII in any form, and that take nothing away.
_FOREIGN = (
    rb"\xc2[\xa0-\xa9\xab-\xb1\xb4-\xb8\xbb\xbf]|\xef\xbc[\x81-\x8f\x9a-\xa0]"  # signs, also wide ones
    rb"|[\xce-\xd3\xda][\x80-\xbf]|\xd7[\x90-\xbf]|\xd8[\xa0-\xbf]|\xd9[\x81-\x8a]"  # Greek to Arabic
    rb"|\xe2[\x80\x87-\x8f\x94-\xac][\x80-\xbf]|\xe2\x86[\x90-\xbf]"  # curly quotes, dashes, arrows, boxes, signs
    rb"|\xe3[\x80-\x86][\x80-\xbf]|[\xe4-\xe9\xeb\xec][\x80-\xbf]{2}"  # kana, Han, Hangul
    rb"|\xf0\x9f[\x8c-\xab][\x80-\xbf]"  # emoji
    rb"|\xef\xb8\x8f"  # which chooses an emoji's look
)
_RAISED = re.compile(rb"\xc2[\xb2\xb3\xb9\xbc-\xbe]")  # digits and fractions
_PLAIN = re.compile(rb"(?:\xc3[\x80-\xbf]|%b|%b)*" % (_FOREIGN, _RAISED.pattern))  # with accented letters
_DIGIT = re.compile(rb"[0-9]")
_LOOK_WITHIN_WORD = re.compile(rb"(?:[0-9A-Za-z]|\xc3[\x80-\xbf])\xef\xb8\x8f")


def _bare(code: int) -> bytes:
    """The letter that an accented one of two bytes becomes, by its second; that of ASCII in small; or a blank."""
    if code < 0x80:
        return bytes([code]).lower()
    bare = _word_part(chr(code + 0x40)) if code <= 0xBF else ""
    return bare.encode() if len(bare) == 1 and bare.isascii() else b" "


_BARE = b"".join(map(_bare, range(256)))


def surely_lacks(data: bytes, beginnings: Sequence[bytes]) -> bool:
    """Whether no word of a note can begin with one of these, which are ASCII, by a look at its bytes.

    Only where they are plain: ASCII, accented letters of Western Europe, and what can't become ASCII. The accented ones
    differ in their second byte, so that a table of bytes makes them bare; whatever else it makes of other characters,
    the letters of a word stay together.
    """
    foreign = b"" if data.isascii() else data.translate(None, _ASCII)
    lowered = _without_accents(data, foreign) if b"\xc3" in foreign else data.lower()
    for begin in beginnings:
        if begin in lowered:
            return False
    if not foreign:
        return True
    if _PLAIN.fullmatch(foreign) is None or (_RAISED.search(foreign) and _DIGIT.search(b"".join(beginnings))):
        return False
    return b"\xef\xb8\x8f" not in foreign or _LOOK_WITHIN_WORD.search(data) is None


def _without_accents(data: bytes, foreign: bytes) -> bytes:
    if b"\xc3\x9f" in foreign:
        data = data.replace("ß".encode(), b"ss")
    return data.translate(_BARE, b"\xc3")


def words_in(text: str) -> list[str]:
    """The words of a text, in order."""
    return WORD.findall(searchable(text))


def is_within_word(text: str, at: int) -> bool:
    """Whether a folded text has a word on both sides of a place, so that a whole word can't begin or end there."""
    return 0 < at < len(text) and _is_spaced_word(text[at - 1]) and _is_spaced_word(text[at])


def _is_spaced_word(char: str) -> bool:
    if char <= "\x7f":
        return char.isalnum() or char == "_"
    return unicodedata.category(char)[0] in _PARTS_OF_WORDS and not _is_in(ord(char), _UNSPACED)


def whole_word_places(text: str, wanted: str) -> Iterator[int]:
    """Where a folded text has another one, as whole words."""
    at = text.find(wanted)
    while at >= 0:
        if not is_within_word(text, at) and not is_within_word(text, at + len(wanted)):
            yield at
        at = text.find(wanted, at + 1)
