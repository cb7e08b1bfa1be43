"""The tags in a note's text.

Where a tag may begin is the surprising part: not "after white space", as the help has it, but wherever the app begins
to read a piece of inline text. That is after white space, at the start of a line or a cell, and directly after anything
that is more than text: an escape, another tag, a mark of emphasis, a code span, a link. So `\\[#a`, `#a#b` and `**#a**`
hold tags, and `(#a)` doesn't. The text of a link may hold tags, a wikilink or an image may not, and a `%%` comment may:
it hides text from the reader, not from the search.
"""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from obsidian_mcp.vault.blocks import Kind, Leaf, leaves
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.links.inline import Inline

_HAS_TAGS = frozenset({Kind.PARAGRAPH, Kind.HEADING, Kind.ROW, Kind.COMMENT})
_SPACE = "\\t-\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"  # as JavaScript has it
_NAME = rf"[^{_SPACE}\u2000-\u206f\u2e00-\u2e7f!-,.:-@\[-^`{{-~]+"
_TAG = re.compile(rf"#({_NAME})")
_IS_SPACE = re.compile(f"[{_SPACE}]")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_RUN = re.compile(r"\*+|_+|~~+|==+")
_OPENS = re.compile(r"(?<!\w)_+(?=[^\s_])")
# In a whole note: what may be a tag, because of the character before it. A footnote's text begins after its colon.
_CANDIDATE = re.compile(rf"#(?:(?<![^{_SPACE}|>*_=~`)\]$%]#)|(?<=\\{_PUNCTUATION.pattern}#)|(?<=\]:#))({_NAME})(#?)")
# What can hide what comes after a blank line, and what can hide what comes after it in its paragraph.
_RAW = ("```", "~~~", "$$", "%%")
_RAW_HTML = re.compile(r"<(?:[!?]|script|pre|style|textarea)", re.IGNORECASE)
_PLAIN_LINK = re.compile(r"\[[^\[\]`$<\\\n]*\]\([^()\s`$<\\]*\)")  # hides nothing after it
_HIDES = re.compile(r"[`$<\\]|\][(:]|!\[(?!\[)")


def tags_in(text: str, body: int) -> list[str]:
    """What `Structure.tags` tells, for a whole vault's notes.

    Most tags stand where nothing before them could hide them, and are known by a look around. For the others the
    blocks are read from a line that begins a paragraph whatever stands before it, to the next such line.
    """
    return distinct(name for _, name in places_in(text, body))


def places_in(text: str, body: int) -> list[tuple[int, str]]:
    """The same tags, each wherever it stands: where its name begins, and the name as written. One that is read twice
    is there twice.
    """
    candidates = list(_CANDIDATE.finditer(text, body))
    if not candidates:
        return []
    found: list[tuple[int, str]] = []
    raw, since = _first_raw(text, body, candidates[-1].start()), body
    for candidate in candidates:
        start = candidate.start()
        if start < since:
            continue
        if start < raw and _is_plain(text, candidate, since, body):
            found += ((start + 1, name) for name in _names(candidate[1]))
            since = candidate.end(1)
        else:
            since = _next_paragraph(text, start, raw)
            stop = min(since, candidates[-1].end())
            for leaf in leaves(text, _paragraph_before(text, min(start, raw), body)):
                if leaf.spans[0][0] >= stop:
                    break
                found += places_of(text, leaf)
    return found


def _first_raw(text: str, body: int, last: int) -> int:
    """Where something stands that can go on over blank lines; the end of the text if nothing does before the last
    tag there may be, for what comes after that hides none.
    """
    places = [at for mark in _RAW if (at := text.find(mark, body, last)) >= 0]
    html = _RAW_HTML.search(text, body, last)
    return min([*places, html.start() if html else len(text)])


def _is_plain(text: str, candidate: re.Match[str], since: int, body: int) -> bool:
    """Whether it is surely text; what stands before `since` is known to leave it alone."""
    start = candidate.start()
    if candidate[2] or text[candidate.end(1) - 1] == "_" or (start > body and not _IS_SPACE.match(text, start - 1)):
        return False
    newline = text.rfind("\n", since, start)
    if newline >= 0 or since == body:
        indent = text[max(newline + 1, body) : start]
        if "\t" in indent or "    " in indent:
            return False
    before = text[max(text.rfind("\n\n", since, start), since) : start]
    if "](" in before:
        before = _PLAIN_LINK.sub("", before)
    return not _HIDES.search(before) and before.rfind("[") <= before.rfind("]")


def _paragraph_before(text: str, at: int, body: int) -> int:
    """The last line, at the latest the one here, that begins a paragraph at the root or is a heading."""
    blank = text.rfind("\n\n", body, at)
    while blank >= 0 and not _begins_paragraph(text[blank + 2]):
        blank = text.rfind("\n\n", body, blank + 1)
    return body if blank < 0 else blank + 2


def _next_paragraph(text: str, at: int, raw: int) -> int:
    blank = text.find("\n\n", at)
    while 0 <= blank < raw - 2 and not _begins_paragraph(text[blank + 2]):
        blank = text.find("\n\n", blank + 1)
    return blank + 2 if 0 <= blank < raw - 2 else len(text)


def _begins_paragraph(char: str) -> bool:
    return char == "#" or char.isalpha()


def tags_of(text: str, leaf: Leaf) -> Iterator[str]:
    return (name for _, name in places_of(text, leaf))


def places_of(text: str, leaf: Leaf) -> Iterator[tuple[int, str]]:
    """The tags of a block: where the name of each begins in the note, and the name."""
    if leaf.kind not in _HAS_TAGS or not any(text.find("#", begin, end) >= 0 for begin, end in leaf.spans):
        return
    written = "\n".join(text[begin:end] for begin, end in leaf.spans)
    if _TAG.search(written):
        is_row = leaf.kind is Kind.ROW
        has_definitions = leaf.kind is Kind.PARAGRAPH or leaf.is_underlined
        spans = Inline(written, [(0, 0)], is_row).spans(has_definitions)
        begins = _line_places(leaf)
        for at, name in _tags_between(written, sorted(spans), is_row):
            here, there = begins[bisect.bisect_right(begins, (at, 1 << 62)) - 1]
            yield at + there - here, name


def _line_places(leaf: Leaf) -> list[tuple[int, int]]:
    """Where each line of a block begins: in its text, and in the note."""
    begins, at = [], 0
    for begin, end in leaf.spans:
        begins.append((at, begin))
        at += end - begin + 1
    return begins


def _tags_between(text: str, spans: list[tuple[int, int]], is_row: bool) -> Iterator[tuple[int, str]]:
    """The tags in a block's text that don't stand in those spans, and where their names begin."""
    ends, emphasis = {end for _, end in spans}, _Emphasis(text)
    number = hidden = after = 0
    for found in _TAG.finditer(text):
        at = found.start()
        while number < len(spans) and spans[number][0] <= at:
            hidden = max(hidden, spans[number][1])
            number += 1
        if at < hidden or not (at == after or at in ends or _begins(text, at, is_row) or emphasis.ends_at(at)):
            continue
        for name in _names(emphasis.without_end(found[1], at)):
            after = found.end()
            yield at + 1, name


def _begins(text: str, at: int, is_row: bool) -> bool:
    """Whether a tag may begin here, by what stands directly before it."""
    before = text[at - 1]
    if _IS_SPACE.match(before) or (before == "|" and is_row) or (before == "%" and text.startswith("%%", at - 2)):
        return True
    slashes = at - 1
    while slashes and text[slashes - 1] == "\\":
        slashes -= 1
    return (at - 1 - slashes) % 2 == 1 and _PUNCTUATION.match(before) is not None


class _Emphasis:
    """Marks of emphasis in a block, which count if there is another such mark in it."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _runs(self) -> Counter[str]:
        return Counter(_RUN.findall(self._text))

    @cached_property
    def _opened(self) -> dict[str, int]:
        return {run[0]: run.start() for run in reversed([*_OPENS.finditer(self._text)])}

    def ends_at(self, at: int) -> bool:
        mark = self._text[at - 1]
        if mark not in "*_~=":
            return False
        begin = at - 1
        while begin and self._text[begin - 1] == mark:
            begin -= 1
        return self._runs[self._text[begin:at]] > 1

    def without_end(self, name: str, at: int) -> str:
        """`_see #a_` holds the tag a; `#a_` alone holds a_."""
        bare = name.rstrip("_")
        run = name[len(bare) :]
        return bare if run and self._opened.get(run, at) < at else name


def _names(written: str) -> list[str]:
    """The tag that this is, if it is one: with a character that is not a digit, and without slashes at its end."""
    name = written.rstrip("/")
    return [name] if name.strip("0123456789") else []


def distinct(tags: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for tag in tags:
        found.setdefault(fold(tag), tag)
    return list(found.values())
