"""Keeping links where they lead when a file gets another path.

The law: for every link, the file it led to before is the file it leads to
after, the moved one under its new path; and nothing else changes by a byte.
So each link that the change can concern is looked up twice, before and after,
and rewritten only where the two differ, as short as the vault's link format
allows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.vault.links.link import Form, Link
from obsidian_mcp.vault.links.link_names import key_of_path
from obsidian_mcp.vault.links.reader import in_canvas, in_note
from obsidian_mcp.vault.links.resolver import Resolver, joined, relative_to


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One link's target, from and to, as written."""

    start: int
    end: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Move:
    """A file on its way, and the vault before and after. A new file has no old path."""

    old: str | None
    new: str
    before: Resolver
    after: Resolver
    link_format: str
    keys: frozenset[str]  # of the names that are going and coming; a link with any other means what it meant

    @classmethod
    def plan(cls, old: str | None, new: str, vault: Resolver, link_format: str) -> Move:
        keys = frozenset(key_of_path(path) for path in (old, new) if path is not None)
        return cls(old, new, vault, vault.moved(old, new), link_format, keys)

    def rewrites(self, path: str, text: str) -> list[Rewrite]:
        """What must be rewritten in one file, by the path it had before."""
        links = in_canvas(text) if path.lower().endswith(".canvas") else in_note(text)
        is_moved = path == self.old
        found = (self._rewrite(link, path, text) for link in links if is_moved or key_of_path(link.target) in self.keys)
        return [rewrite for rewrite in found if rewrite is not None]

    def _rewrite(self, link: Link, source: str, text: str) -> Rewrite | None:
        written = text[link.start : link.end]
        if link.form is Form.CANVAS:
            return (
                Rewrite(link.start, link.end, written, _json(self.new))
                if self.before.exact(link.target) == self.old
                else None
            )
        led_to = self.before.resolve(link.target, source)
        if led_to is None:
            return None
        should = self.new if led_to == self.old else led_to
        now_in = self.new if source == self.old else source
        if self.after.resolve(link.target, now_in) == should and not self._breaks_path(
            link, source, now_in, led_to, should
        ):
            return None
        spelled = self._spelled(link, should, now_in)
        return Rewrite(link.start, link.end, written, _escaped(spelled, link.form))

    def _breaks_path(self, link: Link, source: str, now_in: str, led_to: str, should: str) -> bool:
        """In a plain folder: whether a link that other programs could follow would lose that."""
        if self.link_format != "plain" or link.form in (Form.WIKI, Form.SINGLE_QUOTED):
            return False
        before, now = (joined(note.rpartition("/")[0], link.target) for note in (source, now_in))
        return before == led_to and now != should

    def _spelled(self, link: Link, path: str, source: str) -> str:
        """The first spelling in the vault's format that leads there."""
        has_md = link.target.lower().endswith(".md")
        full = path if has_md or not path.lower().endswith(".md") else path[:-3]
        relative = relative_to(source.rpartition("/")[0], full)
        here = relative if relative.startswith("../") else f"./{relative}"
        name = full.rpartition("/")[2]
        short: tuple[str, ...] = (name,) if self.after.is_unique(name) else ()
        in_format = {
            "shortest": short,
            "relative": (relative, here),
            "absolute": (full,),
            # No Obsidian here: other programs follow Markdown links by path, and know no others.
            "plain": short if link.form in (Form.WIKI, Form.SINGLE_QUOTED) else (relative, here),
        }.get(self.link_format, ())
        for spelling in (*in_format, full, f"/{full}", here, f"/{path}"):
            if self.after.resolve(spelling, source) == path and _can_carry(spelling, link.form):
                return spelling
        raise InvalidArguments(
            f"A link in {source} must go on leading to {path}, and no wikilink can be written for that path.",
            "Rename that file or its folder first.",
        )


def apply(text: str, rewrites: Iterable[Rewrite]) -> str:
    """The text with the targets replaced."""
    parts, at = [], 0
    for rewrite in rewrites:
        parts += [text[at : rewrite.start], rewrite.after]
        at = rewrite.end
    return "".join([*parts, text[at:]])


def _can_carry(spelling: str, form: Form) -> bool:
    return form not in (Form.WIKI, Form.SINGLE_QUOTED) or not re.search(r"[#|]|\[\[|\]\]", spelling)


def _escaped(spelling: str, form: Form) -> str:
    if form is Form.SINGLE_QUOTED:
        return spelling.replace("'", "''")
    if form is Form.MARKDOWN:
        return re.sub(r"[\x00- \"#%():<>?\\\[\]^`{|}\x7f]", lambda found: f"%{ord(found[0]):02X}", spelling)
    if form is Form.ANGLE:
        return re.sub(r"[#%:<>\\]", lambda found: f"%{ord(found[0]):02X}", spelling)
    return spelling


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
