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
    if path is not None and kind != "backlinks":
        there = contents.resolver(call)
        found = [link for _, data in contents.read_all([path], call) for link in links_of(path, data, there)]
        return Listing.of([link for link in found if kind == "outgoing" or link.target is None])
    places, unread = broken(contents, call) if path is None else backlinks(path, contents, call)

    def page(first: int, most: int) -> list[Found]:
        """Only the files of one page are read, for the lines."""
        kept: list[Found] = []
        for other, links in places:
            if first < len(links):
                kept += _lines_of(other, links, path, contents, call)[first:]
            first = max(0, first - len(links))
            if len(kept) >= most:
                break
        return kept[:most]

    return Listing(sum(len(links) for _, links in places), page, unread=unread)


Places = list[tuple[str, list[Link]]]  # files, and the links in each


def _lines_of(path: str, links: list[Link], target: str | None, contents: Contents, call: CallContext) -> list[Found]:
    """The links of a file where they stand, which may have changed since they were looked for."""
    for _, data in contents.read_all([path], call):
        text = data.decode("utf-8", "replace")
        if any(text[link.start : link.end] != link.target for link in links):
            wanted = {(link.form, link.target) for link in links}
            links = [link for link in links_in(path, text) if (link.form, link.target) in wanted]
        return list(_shown(path, text, links, lambda link: target))
    return []


def links_of(path: str, data: bytes, there: Resolver) -> Iterator[Found]:
    """Every link in a file, in its order."""
    text = data.decode("utf-8", "replace")
    return _shown(path, text, links_in(path, text), lambda link: leads_to(there, link, path))


def _shown(path: str, text: str, links: Iterable[Link], target: Callable[[Link], str | None]) -> Iterator[Found]:
    line, counted = 1, 0
    for link in links:
        line += text.count("\n", counted, link.start)
        counted = link.start
        yield Found(path, line, written(text, link), target(link), _line_at(text, link.start))


def backlinks(path: str, contents: Contents, call: CallContext) -> tuple[Places, Unread]:
    """The other files with links to it."""
    there = contents.resolver(call)
    found, unread = contents.links(call, key_of_path(path))
    chosen = ((other, [link for link in links if leads_to(there, link, other) == path]) for other, links in found)
    return sorted((other, links) for other, links in chosen if links and other != path), unread


def broken(contents: Contents, call: CallContext) -> tuple[Places, Unread]:
    """The files with links that lead nowhere."""
    there = contents.resolver(call)
    found, unread = contents.links(
        call, choose=lambda path, links: [link for link in links if leads_to(there, link, path) is None]
    )
    return sorted(found), unread


def orphans(contents: Contents, call: CallContext) -> tuple[list[str], Unread]:
    """The notes that no other file links to."""
    there = contents.resolver(call)
    linked: set[str] = set()

    def follow(path: str, links: list[Link]) -> list[Link]:
        linked.update(goal for link in links if (goal := leads_to(there, link, path)) and goal != path)
        return []

    _, unread = contents.links(call, choose=follow)
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
