"""The place in a note that is most like a text which isn't there.

Every three characters in a row of the text that stand in the note too are a vote for where the text would begin, had
it been there; the place with the most votes is the nearest. That takes no notice of lines, so a slip in the middle of
a long paragraph is found like any other, and it is a plain search for a few short strings, which is quick in a long
note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from obsidian_mcp.vault.line_ends import LF, typed

MOST_GRAMS, MOST_HITS = 80, 1_000  # of the text that are looked for, and places of each
LEAST_SHARE = 0.35  # of them that must be at the place: unrelated prose has less
_GRAM, _FEW = 3, 4

_Hits = list[tuple[int, int]]  # where three characters stand in the text, and in the note


def nearest(text: str, wanted: str, begin: int, end: int) -> tuple[int, int] | None:
    """Where most of it is, between the two places, and which of its lines that is; None if nothing is like it."""
    note, sought = _lower(text), _lower(typed(wanted).strip())
    found = [[(offset, at) for at in _hits(note, gram, begin, end)] for gram, offset in _grams(sought)]
    rare = [hits for hits in found if len(hits) < MOST_HITS]
    probes = rare if len(rare) >= _FEW else found  # what is everywhere says nothing of the place
    hits = _most(probes, max(16, len(sought) // 4))
    if not hits or len(hits) < LEAST_SHARE * len(probes):
        return None
    line = Counter(text.rfind(LF, 0, at) for _, at in hits).most_common(1)[0][0]
    offset, at = min(hit for hit in hits if text.rfind(LF, 0, hit[1]) == line)
    return at, sought.count(LF, 0, offset)


def _most(probes: list[_Hits], width: int) -> _Hits:
    """The hits that agree on a place best. It has some width: words may have been left out or put in."""
    places: dict[int, _Hits] = {}
    for hits in probes:
        for place, hit in {(at - offset) // width: (offset, at) for offset, at in reversed(hits)}.items():
            places.setdefault(place, []).append(hit)
    votes = {place: len(hits) + len(places.get(place + 1, ())) for place, hits in places.items()}
    best = max(votes, key=lambda place: (votes[place], -place), default=None)
    return [] if best is None else [*places[best], *places.get(best + 1, [])]


def _lower(text: str) -> str:
    """Without case, unless that would move a place."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text


def _grams(sought: str) -> list[tuple[str, int]]:
    """Each three characters with where they stand, within lines; of a long text some, from all over it."""
    first = {sought[at : at + _GRAM]: at for at in range(len(sought) - _GRAM, -1, -1)}
    within = sorted((at, gram) for gram, at in first.items() if LF not in gram and gram.strip())
    step = -(-len(within) // MOST_GRAMS) or 1
    return [(gram, at) for at, gram in within[::step]]


def _hits(note: str, gram: str, begin: int, end: int) -> Iterator[int]:
    at = note.find(gram, begin, end)
    for _ in range(MOST_HITS):
        if at < 0:
            return
        yield at
        at = note.find(gram, at + 1, end)
