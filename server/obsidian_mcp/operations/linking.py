"""The links of a vault: to a note, from it, those that lead nowhere, and the notes that none leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from obsidian_mcp.call import CallContext, NotBegun
from obsidian_mcp.operations.passages import cut
from obsidian_mcp.vault.contents import Contents, Unread
from obsidian_mcp.vault.links.link import Form, Link
from obsidian_mcp.vault.links.link_names import key_of_path
from obsidian_mcp.vault.links.link_rewrites import leads_to
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.links.resolver import Resolver

LONGEST_TEXT = 160  # characters of a line that are shown
LONGEST_LINK = 200
NEAR = 1000  # characters from a link's target in which the rest of it is looked for
LONGEST = 5.0  # seconds that counting links may take where nothing hangs on the number


@dataclass(frozen=True, slots=True)
class Found:
    """A link where it stands; `target` is None if it leads nowhere."""

    path: str
    line: int | None = None
    link: str | None = None
    target: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """So many links, of which `page` gives some: from which on, and how many."""

    total: int
    page: Callable[[int, int], list[Found]]
    note: str | None = None
    unread: Unread = field(default_factory=list)

    @classmethod
    def of(cls, found: list[Found], note: str | None = None, unread: Unread | None = None) -> Listing:
        return cls(len(found), lambda first, most: found[first : first + most], note, unread or [])


def listed(kind: str, path: str | None, contents: Contents, call: CallContext) -> Listing:
    """By kind; `path` is the note that is meant."""
    if kind == "orphans":
        alone, unread = orphans(contents, call)
        return Listing.of([Found(each) for each in alone], unread=unread)
    if path is not None and kind == "backlinks":
        counts, unread = backlinks(path, contents, call)
        return _lines(counts, unread, lambda found: found.target == path, contents, call)
    if path is not None:
        there = contents.resolver(call)
        found = [link for _, data in contents.read_all([path], call) for link in links_of(path, data, there)]
        return Listing.of([link for link in found if kind == "outgoing" or link.target is None])
    counts, unread = broken(contents, call)
    return _lines(counts, unread, lambda found: found.target is None, contents, call)


def _lines(
    counts: list[tuple[str, int]],
    unread: Unread,
    wanted: Callable[[Found], bool],
    contents: Contents,
    call: CallContext,
) -> Listing:
    """The links of files of which it is known how many each has. Only those of one page are read, for the lines."""
    there = contents.resolver(call)

    def page(first: int, most: int) -> list[Found]:
        kept: list[Found] = []
        for path, count in counts:
            if first >= count:
                first -= count
                continue
            found = [link for _, data in contents.read_all([path], call) for link in links_of(path, data, there)]
            kept += [link for link in found if wanted(link)][first:]
            first = 0
            if len(kept) >= most:
                break
        return kept[:most]

    return Listing(sum(count for _, count in counts), page, unread=unread)


def links_of(path: str, data: bytes, there: Resolver) -> Iterator[Found]:
    """Every link in a file, in its order."""
    text = data.decode("utf-8", "replace")
    line, counted = 1, 0
    for link in links_in(path, text):
        line += text.count("\n", counted, link.start)
        counted = link.start
        yield Found(path, line, written(text, link), leads_to(there, link, path), _line_at(text, link.start))


def backlinks(path: str, contents: Contents, call: CallContext) -> tuple[list[tuple[str, int]], Unread]:
    """The other files with links to it, and how many each has."""
    there = contents.resolver(call)
    found, unread = contents.links(call, key_of_path(path))
    return _counts(found, lambda other, link: other != path and leads_to(there, link, other) == path), unread


def broken(contents: Contents, call: CallContext) -> tuple[list[tuple[str, int]], Unread]:
    """The files with links that lead nowhere, and how many each has."""
    there = contents.resolver(call)
    found, unread = contents.links(call)
    return _counts(found, lambda path, link: leads_to(there, link, path) is None), unread


def _counts(found: Iterable[tuple[str, list[Link]]], wanted: Callable[[str, Link], bool]) -> list[tuple[str, int]]:
    counted = ((path, sum(wanted(path, link) for link in links)) for path, links in found)
    return sorted((path, count) for path, count in counted if count)


def orphans(contents: Contents, call: CallContext) -> tuple[list[str], Unread]:
    """The notes that no other file links to."""
    there = contents.resolver(call)
    linked: set[str] = set()
    found, unread = contents.links(call)
    for path, links in found:
        linked.update(goal for link in links if (goal := leads_to(there, link, path)) and goal != path)
    return sorted(path for path in there.paths() if path[-3:].lower() == ".md" and path not in linked), unread


def counted(path: str, contents: Contents, call: CallContext) -> int | None:
    """How many notes and canvases link to it; None where that can't be told soon enough."""
    try:
        return len(backlinks(path, contents, call.part(min(LONGEST, call.remaining / 2)))[0])
    except NotBegun:
        return None


def written(text: str, link: Link) -> str:
    """The whole link as it stands there, as far as that is plain to see."""
    if link.form is Form.WIKI:
        start, end = text.rfind("[[", max(0, link.start - NEAR), link.start), text.find("]]", link.end, link.end + NEAR)
        start -= text[start - 1 : start] == "!"
        if start >= 0 and end >= 0 and "\n" not in text[start:end]:
            return cut(text[start : end + 2], LONGEST_LINK)
    elif link.form is not Form.CANVAS:
        middle, end = text.rfind("](", max(0, link.start - NEAR), link.start), text.find(")", link.end, link.end + NEAR)
        start = _opening_bracket(text, middle)
        if start >= 0 and end >= 0 and "\n" not in text[start:end]:
            return cut(text[start : end + 1], LONGEST_LINK)
    return cut(text[link.start : link.end], LONGEST_LINK)


def _opening_bracket(text: str, closing: int) -> int:
    """The bracket that is closed there, on the same line."""
    depth = 0
    for at in range(closing, max(-1, closing - 1000), -1):
        depth += (text[at] == "]") - (text[at] == "[")
        if not depth:
            return at - (text[at - 1 : at] == "!")
        if text[at] == "\n":
            break
    return -1


def _line_at(text: str, at: int) -> str:
    """What stands around a place on its line. Looks no further than it shows: a line may be as long as a note."""
    first, last = max(0, at - LONGEST_TEXT // 2), at + LONGEST_TEXT
    start, end = text.rfind("\n", first, at) + 1, text.find("\n", at, last)
    line = text[start or first : last if end < 0 else end].strip()
    return cut(f"…{line}" if not start and first else line, LONGEST_TEXT)
