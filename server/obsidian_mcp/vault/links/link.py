"""One link: where its target stands in a text, and what it says."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

from obsidian_mcp.vault.links.coding import Coding


class Form(enum.Enum):
    WIKI = "wiki"
    MARKDOWN = "markdown"
    ANGLE = "angle"
    CANVAS = "a path from the root"


@dataclass(frozen=True, slots=True)
class Link:
    """`start` and `end` enclose the target as written, without heading, alias or title.

    One to a heading of the same note has no target; most readers of links leave it out.
    """

    start: int
    end: int
    form: Form
    target: str
    coding: Coding = Coding.PLAIN


WIKI = re.compile(r"\[\[(?!\[)(?P<inside>(?>(?:[^\n\[\]]+|\](?!\])|\[(?!\[))+))\]\]")


def wiki(found: re.Match[str]) -> Iterator[Link]:
    inside = found["inside"]
    ends = [at for at in (inside.find("|"), inside.find("#")) if at >= 0]
    path = inside[: min(ends)] if ends else inside
    if ends and inside[min(ends)] == "|" and path.endswith("\\"):
        path = path[:-1]  # in a table the bar is escaped
    target = path.strip()
    if target:
        start = found.start("inside") + path.index(target)
        yield Link(start, start + len(target), Form.WIKI, target)
    elif ends and inside[min(ends)] == "#":
        start = found.start("inside") + min(ends)
        yield Link(start, start, Form.WIKI, "")
