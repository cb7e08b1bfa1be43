"""Keeping links where they lead when files get other paths.

The law: for every link, the file it led to before is the file it leads to
after, a moved one under its new path; and nothing else changes by a byte.
So each link that the change can concern is looked up twice, before and after,
and rewritten only where the two differ, as short as the vault's link format
allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.vault.links.bases import named_in
from obsidian_mcp.vault.links.link import Form, Link
from obsidian_mcp.vault.links.link_names import key_of_path
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.links.resolver import Resolver, joined, relative_to
from obsidian_mcp.vault.links.writing import Rewrite, apply, as_markdown, can_carry, in_its_form


def leads_to(vault: Resolver, link: Link, source: str) -> str | None:
    """The file that a link in a file means; None if it leads nowhere."""
    return vault.exact(link.target) if link.form is Form.CANVAS else vault.resolve(link.target, source)


@dataclass(frozen=True, slots=True)
class Move:
    """Files on their way, from and to, and the vault before and after."""

    moved: Mapping[str, str]
    before: Resolver
    after: Resolver
    link_format: str
    keys: frozenset[str]  # of the names that are going and coming; a link with any other means what it meant

    @classmethod
    def plan(cls, old: str | None, new: str, vault: Resolver, link_format: str) -> Move:
        """Of one file. A new one has no old path."""
        keys = frozenset(key_of_path(path) for path in (old, new) if path is not None)
        return cls({} if old is None else {old: new}, vault, vault.moved(old, new), link_format, keys)

    @classmethod
    def of_all(cls, moved: Mapping[str, str], vault: Resolver, link_format: str) -> Move:
        """Of several files at once."""
        after = vault.copy()
        for old in moved:
            after.remove(old)
        after.add_all("", moved.values())
        keys = frozenset(key_of_path(path) for paths in moved.items() for path in paths)
        return cls(moved, vault, after, link_format, keys)

    def rewrites(self, path: str, text: str) -> list[Rewrite]:
        """What must be rewritten in one file, by the path it had before."""
        links = links_in(path, text)
        goals = {number: goal for number, link in enumerate(links) if (goal := self._goal(link, path)) is not None}
        if not goals:
            return []
        return led(path, text, links, goals, self._now(path), self.after, self.link_format)

    def is_named_in(self, path: str, text: str) -> bool:
        """Whether a base names a file that is moved."""
        return any(self.before.resolve(target, path) in self.moved for target in named_in(text))

    def _now(self, path: str) -> str:
        return self.moved.get(path, path)

    def _goal(self, link: Link, source: str) -> str | None:
        """Where a link must lead that would not lead there as it is."""
        if source not in self.moved and key_of_path(link.target) not in self.keys:
            return None
        led_to = leads_to(self.before, link, source)
        if led_to is None:
            return None
        goal, now_in = self._now(led_to), self._now(source)
        if leads_to(self.after, link, now_in) != goal or self._breaks_path(link, source, now_in, led_to, goal):
            return goal
        return None

    def _breaks_path(self, link: Link, source: str, now_in: str, led_to: str, should: str) -> bool:
        """In a plain folder: whether a link that other programs could follow would lose that."""
        if self.link_format != "plain" or link.form in (Form.WIKI, Form.CANVAS):
            return False
        before, now = (joined(note.rpartition("/")[0], link.target) for note in (source, now_in))
        return before == led_to and now != should


def led(
    path: str, text: str, links: Sequence[Link], goals: Mapping[int, str], now_in: str, vault: Resolver, style: str
) -> list[Rewrite]:
    """What makes some of a file's links, by their numbers, lead to these files, in the vault's link format.

    `now_in` is the path that the file itself will have in that vault.
    """
    targets = {number: _spelled(links[number], goal, now_in, vault, style) for number, goal in goals.items()}
    for write in (in_its_form, as_markdown):
        found = [write(text, links[number], target) for number, target in targets.items()]
        if _is_read_back(links, links_in(path, apply(text, found)), goals, now_in, vault):
            return found
    goal = next(iter(goals.values()))
    raise InvalidArguments(
        f"A link in {path} must lead to {goal}, and with that name it would not be read as a link.",
        "Choose a name without the characters ` $ [ ] in it.",
    )


def _is_read_back(
    links: Sequence[Link], after: Sequence[Link], goals: Mapping[int, str], now_in: str, vault: Resolver
) -> bool:
    """Whether every link is still one and leads where it should. A name can turn it, or the next, into code."""
    if len(links) != len(after):
        return False
    for number, (link, now) in enumerate(zip(links, after, strict=True)):
        goal = goals.get(number)
        if link.target != now.target if goal is None else leads_to(vault, now, now_in) != goal:
            return False
    return True


def _spelled(link: Link, path: str, source: str, vault: Resolver, style: str) -> str:
    """The first spelling in the vault's format that leads there."""
    if link.form is Form.CANVAS:
        return path
    has_md = link.target.lower().endswith(".md")
    full = path if has_md or not path.lower().endswith(".md") else path[:-3]
    relative = relative_to(source.rpartition("/")[0], full)
    here = relative if relative.startswith("../") else f"./{relative}"
    name = full.rpartition("/")[2]
    short: tuple[str, ...] = (name,) if vault.is_unique(name) else ()
    in_format = {
        "shortest": short,
        "relative": (relative, here),
        "absolute": (full,),
        # No Obsidian here: other programs follow Markdown links by path, and know no others.
        "plain": short if link.form is Form.WIKI else (relative, here),
    }.get(style, ())
    for spelling in (*in_format, full, f"/{full}", here, f"/{path}"):
        if vault.resolve(spelling, source) == path and can_carry(spelling, link):
            return spelling
    raise InvalidArguments(
        f"A link in {source} must lead to {path}, and no such link can be written for that path.",
        "Rename that file or its folder first.",
    )
