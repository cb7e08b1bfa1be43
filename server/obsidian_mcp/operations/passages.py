"""What of a note is shown for a search: the best line of its best sections, with a little of what stands around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from obsidian_mcp.vault.query import tree
from obsidian_mcp.vault.query.matching import Note
from obsidian_mcp.vault.query.ranking import Word, ranking_words
from obsidian_mcp.vault.query.tree import Filter, Part, Query
from obsidian_mcp.vault.sections import Section, outline, section_at
from obsidian_mcp.vault.words import folded, searchable

LENGTH = 220  # characters of one passage
IN_PROPERTIES = 0.2  # what a line is worth there: what the text says is worth more
LONGEST_LINE = 20_000  # characters of one line that are looked at
MOST_LINES = 200_000
_TOKEN = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Passage:
    line: int
    section: str | None
    text: str


def passages(note: Note, query: Query, words: Sequence[tuple[Word, float]], most: int) -> tuple[list[Passage], int]:
    """The best of them, in the order of the note, and how many more sections have a match."""
    lines = note.text.split("\n", MOST_LINES)
    sections = outline(note.structure, note.text)
    first = note.text.count("\n", 0, note.front.body)
    scores = _scores(note, query, words)
    for number in scores.keys() & set(range(first)):
        scores[number] *= IN_PROPERTIES
    best: dict[int, tuple[float, int]] = {}
    for number, score in scores.items():
        at = _section_number(sections, number + 1)
        if at not in best or score > best[at][0]:
            best[at] = (score, number)
    if not best:
        return [_passage(lines, _opening(lines, first), sections)] if note.text.strip() else [], 0
    ranked = sorted(best.values(), key=lambda found: (-found[0], found[1]))
    chosen = sorted(number for _, number in ranked[:most])
    return [_passage(lines, number, sections) for number in chosen], len(ranked) - len(chosen)


def marks(text: str, query: Query) -> list[tuple[int, int]]:
    """Where a text has what was asked for."""
    words = ranking_words(query.words)
    found = [
        (token.start(), token.end())
        for token in _TOKEN.finditer(text)
        if any(word.count(searchable(token[0])) for word in words)
    ]
    for wanted in (*_wanted_texts(query.filter), *(folded(word.written) for word in words if not word.forms)):
        found += [(place.start(), place.end()) for place in re.finditer(re.escape(wanted), text, re.IGNORECASE)]
    return sorted(found)


def _section_number(sections: list[Section], line: int) -> int:
    found = section_at(sections, line)
    return found.line if found else 0


def _scores(note: Note, query: Query, words: Sequence[tuple[Word, float]]) -> dict[int, float]:
    """What each line is worth that has something of what was asked for."""
    found: dict[int, float] = {}
    plain = searchable(note.text).split("\n", MOST_LINES)
    for word, worth in words:
        for number, line in enumerate(plain):
            forms = word.count(line[:LONGEST_LINE])
            if forms:
                found[number] = found.get(number, 0.0) + worth * max(map(word.worth_of, forms))
    for text in _wanted_texts(query.filter):
        for number, line in enumerate(folded(note.text).split("\n", MOST_LINES)):
            if text in line[:LONGEST_LINE]:
                found[number] = found.get(number, 0.0) + 1.0
    if not found:
        found.update((task.line - 1, 1.0) for task in note.structure.tasks if _asks_for_tasks(query.filter, task.mark))
    return found


def _wanted_texts(part: Filter) -> list[str]:
    """The texts that filters ask for, folded; what is behind a minus is not shown."""
    if isinstance(part, tree.And | tree.Or):
        return [text for inner in part.parts for text in _wanted_texts(inner)]
    if isinstance(part, tree.In) and part.part is Part.TAG:
        return [f"#{text.removeprefix('#')}" for text in _texts(part.test)]
    if isinstance(part, tree.Text) or (isinstance(part, tree.In) and part.part not in (Part.FILE, Part.PATH)):
        return _texts(part.test)
    return []


def _texts(test: tree.Test) -> list[str]:
    if isinstance(test, tree.All | tree.Any):
        return [text for part in test.parts for text in _texts(part)]
    return [folded(test.text)] if isinstance(test, tree.Contains) and test.text else []


def _asks_for_tasks(part: Filter, mark: str) -> bool:
    if isinstance(part, tree.And | tree.Or):
        return any(_asks_for_tasks(inner, mark) for inner in part.parts)
    wanted = {Part.TASK: True, Part.TODO: mark == " ", Part.DONE: mark != " "}
    return isinstance(part, tree.In) and wanted.get(part.part, False)


def _opening(lines: list[str], first: int) -> int:
    """The first line of the text that says something."""
    for number in range(first, len(lines)):
        line = lines[number].strip()
        if line and not line.startswith(("#", "---", "```", "![", "%%", "<!--")):
            return number
    return min(first, len(lines) - 1)


def _passage(lines: list[str], number: int, sections: list[Section]) -> Passage:
    section = section_at(sections, number + 1)
    return Passage(number + 1, section.name if section else None, _around(lines, number))


def _around(lines: list[str], number: int) -> str:
    """The line, cut at words; if it is short, the lines after it and before it as far as there is room."""
    text = lines[number].strip()
    if len(text) > LENGTH:
        return cut(text, LENGTH)
    after, before = number + 1, number - 1
    while after < len(lines) and lines[after].strip() and not _begins_section(lines[after]):
        room = LENGTH - len(text) - 1
        text = f"{text}\n{cut(lines[after].strip(), room)}" if room > 20 else text
        if room <= 20 or len(lines[after].strip()) > room:
            break
        after += 1
    if before >= 0 and lines[before].strip() and not _begins_section(lines[before]):
        room = LENGTH - len(text) - 1
        if len(lines[before].strip()) <= room:
            text = f"{lines[before].strip()}\n{text}"
    return text


def _begins_section(line: str) -> bool:
    return line.startswith(("#", "---", "```"))


def cut(text: str, room: int) -> str:
    """The beginning, up to the end of a word."""
    if len(text) <= room:
        return text
    end = text.rfind(" ", room // 2, room)
    return f"{text[: end if end > 0 else room - 1].rstrip()}…"
