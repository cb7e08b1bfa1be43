"""Which files a link that leads nowhere may mean: those of its name in another folder or of another kind, those with it
as an alias; else those that differ in blanks, dashes and accents alone; else those with one slip of the pen.

A slip is one letter too much, too few, wrong or swapped with the next, within a word of four letters or more and never
a digit: `Meeting 3` is not `Meeting 4`, and `Plan A` not `Plan B`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.path import has_known_extension

SHORTEST_NAME, SHORTEST_WORD = 5, 4  # letters, for a slip
_FIRST_OTHER = 0x590  # from here on scripts in which one letter is more than a slip


class LikelyTargets:
    """`aliases` are those of each file that has some."""

    def __init__(self, paths: Iterable[str], aliases: Iterable[tuple[str, Sequence[str]]] = ()) -> None:
        self._named: dict[str, list[str]] = {}
        for path in sorted(paths, key=lambda path: (path.count("/"), path)):
            self._named.setdefault(_name(path), []).append(path)
        self._aliased: dict[str, list[str]] = {}
        for path, names in aliases:
            for name in names:
                self._aliased.setdefault(fold(name).strip(), []).append(path)

    def of(self, target: str) -> list[str]:
        """The most likely ones, none of them less so than another."""
        name = _name(target)
        if not name or "://" in target:
            return []
        found = [*self._named.get(name, ()), *self._aliased.get(fold(target).strip(), ())]
        if not found:
            found = [path for other in self._squashed.get(squashed(name), ()) for path in self._named[other]]
        if not found:
            found = [path for other in self._slips(name) for path in self._named[other]]
        alike = [path for path in found if _is_note(path) == _is_note(target)]
        return list(dict.fromkeys(alike or found))

    @cached_property
    def _squashed(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self._named:
            found.setdefault(squashed(name), []).append(name)
        return found

    @cached_property
    def _letters(self) -> str:
        letters = {char for name in self._squashed for char in name}
        return "".join(sorted(char for char in letters if char.isalpha() and ord(char) < _FIRST_OTHER))

    def _slips(self, name: str) -> Iterator[str]:
        short = squashed(name)
        if len(short) < SHORTEST_NAME:
            return
        for spelling in dict.fromkeys(_spellings(short, self._letters)):
            for other in self._squashed.get(spelling, ()):
                if _differ_in_a_word(name, other):
                    yield other


def squashed(name: str) -> str:
    """Letters and digits alone, without accents."""
    return "".join(char for char in unicodedata.normalize("NFKD", name) if char.isalnum())


def _name(path: str) -> str:
    """A file's name, or a link's: without folder and known extension, in one case."""
    last = path.strip().rpartition("/")[2]
    return fold(last.rpartition(".")[0] if has_known_extension(last) else last).strip()


def _is_note(path: str) -> bool:
    return not has_known_extension(path) or path.lower().endswith(".md")


def _spellings(name: str, letters: str) -> Iterator[str]:
    """Everything that is one slip away."""
    for at in range(len(name) + 1):
        before, after = name[:at], name[at:]
        if after[:1].isalpha():
            yield before + after[1:]
            if after[1:2].isalpha():
                yield before + after[1] + after[0] + after[2:]
            for letter in letters:
                yield before + letter + after[1:]
        for letter in letters:
            yield before + letter + after


def _differ_in_a_word(one: str, other: str) -> bool:
    pairs = list(zip(_words(one), _words(other), strict=False))
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    return (
        len(_words(one)) == len(_words(other)) and len(differing) == 1 and min(map(len, differing[0])) >= SHORTEST_WORD
    )


def _words(name: str) -> list[str]:
    spaced = "".join(
        char if char.isalnum() else " " for char in unicodedata.normalize("NFKD", name) if not _marks(char)
    )
    return spaced.split()


def _marks(char: str) -> bool:
    return unicodedata.combining(char) > 0
