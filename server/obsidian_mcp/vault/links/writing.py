"""How a link's new target is written, so that it is read as it is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from obsidian_mcp.vault.links.coding import Coding
from obsidian_mcp.vault.links.link import Form, Link

_NOT_IN_WIKI = re.compile(r"[#|]|\[\[|\]\]|^\[|\]$|^\s|\s$")
_NOT_BARE = re.compile(r"[\x00- \"#$%()*:<>?\\\[\]^`{|}\x7f]")
_NOT_IN_ANGLES = re.compile(r"[#$%:<>\\`\[\]]")
_MARKS = re.compile(r"[\\`*_\[\]<$~|]")
_WIKI_END = re.compile(r"(?P<sub>#[^|\n]*?)?\s*(?:\\?\|(?P<alias>[^\n]*?))?\]\]")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One link's target, or all of the link, from and to, as written."""

    start: int
    end: int
    before: str
    after: str


def apply(text: str, rewrites: Iterable[Rewrite]) -> str:
    """The text with the targets replaced."""
    parts, at = [], 0
    for rewrite in rewrites:
        parts += [text[at : rewrite.start], rewrite.after]
        at = rewrite.end
    return "".join([*parts, text[at:]])


def can_carry(target: str, link: Link) -> bool:
    return link.coding.can_carry(target) and (link.form is not Form.WIKI or not _NOT_IN_WIKI.search(target))


def in_its_form(text: str, link: Link, target: str) -> Rewrite:
    """The same kind of link, with another target."""
    after = link.coding.encode(_escaped(target, link.form))
    return Rewrite(link.start, link.end, text[link.start : link.end], after)


def as_markdown(text: str, link: Link, target: str) -> Rewrite:
    """A wikilink of the body as a Markdown link, which can carry every name; other links in their own form."""
    start = text.rfind("[[", 0, link.start)
    rest = _WIKI_END.match(text, link.end)
    if link.form is not Form.WIKI or link.coding is not Coding.PLAIN or start < 0 or not rest:
        return in_its_form(text, link, target)
    sub, alias = rest["sub"] or "", rest["alias"]
    shown = alias if alias is not None else _MARKS.sub(_shown, f"{target}{sub}".replace("#", " > "))
    goal = _escaped(_with_extension(target), Form.MARKDOWN)
    heading = f"#{_NOT_BARE.sub(_percent, sub[1:])}" if sub else ""
    after = f"[{shown}]({goal}{heading})"
    return Rewrite(start, rest.end(), text[start : rest.end()], after)


def _with_extension(target: str) -> str:
    return target if "." in target.rpartition("/")[2] else f"{target}.md"


def _shown(found: re.Match[str]) -> str:
    """A backslash before it doesn't keep a backtick from closing a code span; a character reference does."""
    return f"&#{ord(found[0])};" if found[0] in "`$" else f"\\{found[0]}"


def _percent(found: re.Match[str]) -> str:
    return f"%{ord(found[0]):02X}"


def _escaped(target: str, form: Form) -> str:
    if form is Form.MARKDOWN:
        return _NOT_BARE.sub(_percent, target)
    return _NOT_IN_ANGLES.sub(_percent, target) if form is Form.ANGLE else target
