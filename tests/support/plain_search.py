"""A second, simple reader of notes and searches: what is found by plainly reading everything.

It shares no code with the server and reads no query. A search is put together from parts, each of which knows how it is
written in the query language and says itself what it finds. Notes are read as by a person with little time: a line at
a time, and only as much Markdown as the generated notes have.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

Value = str | int | float | bool | None

# Text


@lru_cache(maxsize=5000)
def fold(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"


def is_han_or_kana(char: str) -> bool:
    return unicodedata.name(char, "").startswith(("CJK", "HIRAGANA", "KATAKANA"))


@lru_cache(maxsize=5000)
def tokens(text: str) -> list[str]:
    """Words without accents; each Chinese or Japanese character and each emoji is one."""
    bare = "".join(char for char in unicodedata.normalize("NFD", fold(text)) if not "\u0300" <= char <= "\u036f")
    spread = ""
    for char in unicodedata.normalize("NFC", bare):
        is_alone = char > "\x7f" and (is_han_or_kana(char) or unicodedata.category(char) in ("So", "Sk"))
        spread += f" {char} " if is_alone else char if is_letter(char) else " "
    return spread.split(" ")


def stand_together(wanted: str, text: str) -> bool:
    one, all_of_them = ([token for token in tokens(each) if token] for each in (wanted, text))
    return any(all_of_them[at : at + len(one)] == one for at in range(len(all_of_them)))


def has_whole_words(text: str, wanted: str) -> bool:
    """Not as a part of a word, on either side."""

    def is_inside(at: int) -> bool:
        around = text[at - 1 : at + 1] if at else ""
        return len(around) == 2 and all(
            char == "_" or (is_letter(char) and not is_han_or_kana(char)) for char in around
        )

    places = (at for at in range(len(text) + 1) if text.startswith(wanted, at))
    return any(not wanted or not (is_inside(at) or is_inside(at + len(wanted))) for at in places)


# Notes

_TASK = re.compile(r"[>\s]*[-*+] \[(.)\] (.*)", re.DOTALL)
_PROPERTY = re.compile(r"(\w[\w ]*):(?: +(.*))?")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(r"(?<!\S)#(?!\d+\b)([^\s#.,;:!?()'\"`]+)")


@dataclass(eq=False)
class PlainNote:
    """`vault` are all notes there are, this one too."""

    path: str
    data: bytes
    vault: Sequence[PlainNote] = field(repr=False)

    @cached_property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    @property
    def file(self) -> str:
        return self.path.split("/")[-1]

    @property
    def name(self) -> str:
        return re.sub(r"(?i)\.md$", "", self.file)

    @cached_property
    def names(self) -> list[str]:
        return [self.name, *(value for value in self.values("aliases") or [] if isinstance(value, str))]

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def first(self) -> int:
        """The number of the first line after the properties."""
        if self.lines[0].removeprefix("\ufeff").rstrip(" \r") != "---":
            return 0
        return next((at + 1 for at, line in enumerate(self.lines) if at and line.rstrip(" \r") == "---"), 0)

    @cached_property
    def properties(self) -> list[tuple[str, list[Value]]]:
        """All of them, or none if one can't be read."""
        found: list[tuple[str, list[Value]]] = []
        for line in (line.rstrip("\r") for line in self.lines[1 : max(1, self.first - 1)]):
            item, named = re.fullmatch(r" *- (.*)", line), _PROPERTY.fullmatch(line)
            if item and found:
                found[-1][1][:] = [*(value for value in found[-1][1] if value is not None), _scalar(item[1])]
            elif named and _is_readable(named[2] or "") and named[1] not in dict(found):
                found.append((named[1], _values(named[2] or "")))
            elif line and not line.startswith("#"):
                return []
        return found

    def values(self, name: str) -> list[Value] | None:
        having = [values for key, values in self.properties if fold(key) == fold(name)]
        return [value for values in having for value in values] if having else None

    @cached_property
    def body(self) -> list[tuple[int, str, str]]:
        """Number, kind and text of each line: text, hidden (a comment, which may hold tags) or raw (code, HTML)."""
        found = []
        until = kind = ""
        for number, line in enumerate(self.lines[self.first :], self.first):
            shown = line.rstrip("\r").removeprefix("\ufeff")
            if until:
                until = "" if (shown.strip() == until if until == "```" else until in shown) else until
            else:
                kind, until = _opened(shown, "\n".join(self.lines[number + 1 :]))
            found.append((number, kind, shown))
        return found

    @cached_property
    def tags(self) -> list[str]:
        written = [value for value in self.values("tags") or [] if isinstance(value, str)]
        for kind, lines in groupby(self.body, key=lambda each: each[1]):
            texts = [line for _, _, line in lines]
            for text in ["\n".join(texts)] if kind == "hidden" else texts if kind == "text" else ():
                written += _TAG.findall(_CODE_SPAN.sub("`", text))
        return [fold(tag).removeprefix("#") for tag in written]

    @cached_property
    def tasks(self) -> list[tuple[str, str]]:
        found = (_TASK.fullmatch(line) for _, kind, line in self.body if kind == "text")
        return [(task[1], task[2]) for task in found if task]

    @cached_property
    def sections(self) -> list[str]:
        """From each heading to the next, whatever their levels, and what is before them."""
        starts = [self.first]
        for number, kind, line in self.body:
            if kind == "text" and re.match(r"#{1,6}([ \t]|$)", line):
                starts.append(number)
            elif kind == "text" and line in ("===", "---") and number > self.first and self.lines[number - 1].strip():
                starts.append(number - 1)
        ended = re.findall(r"[^\n]*\n|[^\n]+", self.text)
        cut = ("".join(ended[start:end]) for start, end in zip(starts, [*starts[1:], len(ended)], strict=True))
        return [section for section in cut if section]


def _opened(line: str, rest: str) -> tuple[str, str]:
    """What a line is, and what ends that if it goes on."""
    if line.startswith("```"):
        return "raw", "```"
    if line.startswith("<!--"):
        return "raw", "" if "-->" in line else "-->"
    if line.startswith("%%") and "%%" not in line[2:] and "%%" in rest:
        return "hidden", "%%"
    return "raw" if line.startswith("    ") else "text", ""


def _is_readable(written: str) -> bool:
    return ": " not in written and written.startswith("[") == written.endswith("]")


def _values(written: str) -> list[Value]:
    if not written.startswith("["):
        return [_scalar(written)]
    return [_scalar(item.strip()) for item in written[1:-1].split(",") if item.strip()]


def _scalar(written: str) -> Value:
    if written in ("", "~", "null", "true", "false"):
        return {"true": True, "false": False}.get(written)
    if _NUMBER.fullmatch(written):
        return float(written) if "." in written else int(written)
    return written.strip("'\"")


def notes_of(files: Iterable[tuple[str, bytes]]) -> list[PlainNote]:
    """Those among the files that are notes, and not hidden."""
    found: list[PlainNote] = []
    for path, data in files:
        if path.lower().endswith(".md") and not any(part.startswith(".") for part in path.split("/")):
            found.append(PlainNote(path, data, found))
    return found


# Searches


class Text(NamedTuple):
    text: str
    is_name: bool = False


T = TypeVar("T", Text, list[Value], PlainNote)


@dataclass(frozen=True)
class Ask(Generic[T]):
    """A question to a text, a property's values or a note.

    `names` are the tests of paths in it: files that the vault excludes are found if one passes. `words` are bare.
    """

    query: str
    finds: Callable[[T], bool] = field(repr=False, compare=False)
    names: tuple[Ask[Text], ...] = field(default=(), repr=False, compare=False)
    words: tuple[str, ...] = field(default=(), repr=False, compare=False)


def no(ask: Ask[T]) -> Ask[T]:
    return Ask(f"-{ask.query}", lambda it: not ask.finds(it))


def group(ask: Ask[T]) -> Ask[T]:
    return Ask(f"({ask.query})", ask.finds, ask.names, ask.words)


def every(asks: Sequence[Ask[T]]) -> Ask[T]:
    return _joined(" ", asks, lambda it: all(ask.finds(it) for ask in asks))


def either(asks: Sequence[Ask[T]]) -> Ask[T]:
    """Binds weaker than `every`, which therefore needs no parentheses in it."""
    return _joined(" OR ", asks, lambda it: any(ask.finds(it) for ask in asks))


def _joined(between: str, asks: Sequence[Ask[T]], finds: Callable[[T], bool]) -> Ask[T]:
    names = tuple(name for ask in asks for name in ask.names)
    return Ask(between.join(ask.query for ask in asks), finds, names, tuple(word for ask in asks for word in ask.words))


# … of a text


def contains(word: str) -> Ask[Text]:
    return Ask(word, lambda it: fold(word) in fold(it.text))


def phrase(words: str) -> Ask[Text]:
    wanted, escaped = fold(words), words.replace("\\", "\\\\").replace('"', '\\"')
    return Ask(
        f'"{escaped}"', lambda it: wanted in fold(it.text) if it.is_name else has_whole_words(fold(it.text), wanted)
    )


# … of a property's values, or of tags: one of them has to pass


def has_value(part: str) -> Ask[list[Value]]:
    return Ask(part, lambda values: any(value is not None and fold(part) in fold(_written(value)) for value in values))


def is_value(whole: str) -> Ask[list[Value]]:
    return Ask(f'"{whole}"', lambda values: any(v is not None and fold(whole) == fold(_written(v)) for v in values))


def is_constant(name: str) -> Ask[list[Value]]:
    wanted = {"TRUE": True, "FALSE": False}.get(name)
    return Ask(name, lambda values: any(value is wanted for value in values))


def compares(sign: str, than: str) -> Ask[list[Value]]:
    """Numbers with numbers, texts with texts; a date may be compared with a year."""

    def passes(value: Value) -> bool:
        text = _written(value)
        if isinstance(value, bool) or not text:
            return False
        if _NUMBER.fullmatch(text) and _NUMBER.fullmatch(than):
            return float(text) < float(than) if sign == "<" else float(text) > float(than)
        if _NUMBER.fullmatch(text) or (_NUMBER.fullmatch(than) and not re.match(r"\d{4}-\d\d", text)):
            return False
        return fold(text) < fold(than) if sign == "<" else fold(text) > fold(than)

    return Ask(f"{sign}{than}", lambda values: any(map(passes, values)))


def _written(value: Value) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


# … of a note


def bare(words: Sequence[str]) -> Ask[PlainNote]:
    """Any of them. Of what is written together (`a-b`) and stands together nowhere, the parts."""

    def finds(note: PlainNote) -> bool:
        parts = (
            part for word in words if "-" in word and not is_somewhere(word, note.vault) for part in word.split("-")
        )
        return any(has_word(note, word) for word in (*words, *parts))

    return Ask(" ".join(words), finds, words=tuple(words))


def has_word(note: PlainNote, word: str) -> bool:
    return any(stand_together(word, text) for text in (*note.names, note.text))


def is_somewhere(word: str, notes: Iterable[PlainNote]) -> bool:
    return any(has_word(note, word) for note in notes)


def anywhere(test: Ask[Text]) -> Ask[PlainNote]:
    return Ask(test.query, lambda note: test.finds(Text(note.text)) or test.finds(Text(note.name, True)))


PARTS: dict[str, Callable[[PlainNote], Iterator[str]]] = {
    "content": lambda note: iter([note.text]),
    "line": lambda note: iter(note.lines),
    "section": lambda note: iter(note.sections),
    "task": lambda note: (text for _, text in note.tasks),
    "task-todo": lambda note: (text for mark, text in note.tasks if mark == " "),
    "task-done": lambda note: (text for mark, text in note.tasks if mark != " "),
}


def within(part: str, test: Ask[Text]) -> Ask[PlainNote]:
    return Ask(f"{part}:{test.query}", lambda note: any(test.finds(Text(text)) for text in PARTS[part](note)))


def file(test: Ask[Text]) -> Ask[PlainNote]:
    return Ask(f"file:{test.query}", lambda note: test.finds(Text(note.file, True)))


def path(test: Ask[Text]) -> Ask[PlainNote]:
    return Ask(f"path:{test.query}", lambda note: test.finds(Text(note.path, True)), names=(test,))


def is_tag(name: str) -> Ask[list[Value]]:
    return Ask(f"#{name}", lambda tags: any(f"{tag}/".startswith(f"{fold(name)}/") for tag in tags))


def tag(test: Ask[list[Value]]) -> Ask[PlainNote]:
    return Ask(f"tag:{test.query}", lambda note: test.finds(list(note.tags)))


def matches(pattern: str) -> Ask[PlainNote]:
    """`^` and `$` are the ends of lines, however those are written."""
    compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    return Ask(
        f"/{pattern}/",
        lambda note: any(compiled.search(text) for text in (note.text.replace("\r\n", "\n"), note.name)),
    )


def has_property(name: str, test: Ask[list[Value]] | None = None) -> Ask[PlainNote]:
    def finds(note: PlainNote) -> bool:
        values = note.values(name)
        return values is not None and (test is None or test.finds(values))

    return Ask(f"[{name}]" if test is None else f"[{name}:{test.query}]", finds)


def found(ask: Ask[PlainNote], notes: Iterable[PlainNote], excluded: str) -> list[str]:
    """The paths of the notes that a search finds. `excluded` is how those paths begin that the vault leaves out."""
    seen = (n for n in notes if not n.path.startswith(excluded) or any(t.finds(Text(n.path, True)) for t in ask.names))
    return sorted(note.path for note in seen if ask.finds(note))
