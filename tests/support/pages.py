"""The pages for users, as their readers see them: blocks of commands, commands in a sentence, words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = (README, *sorted((ROOT / "docs").glob("*.md")))
PROGRAMS = ("obsidian-mcp", "uv", "pipx", "make", "claude", ".venv/bin/obsidian-mcp")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines between two fences, and the language that they are said to be in."""

    language: str
    heading: str  # the one that they are under
    lines: tuple[str, ...]


def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def blocks(page: Path) -> list[Block]:
    found, heading = [], ""
    read = tokens(page)
    for number, token in enumerate(read):
        if token.type == "heading_open":
            heading = read[number + 1].content
        elif token.type in ("fence", "code_block"):
            found.append(Block(token.info.strip(), heading, tuple(token.content.splitlines())))
    return found


def block(page: Path, heading: str, language: str = "sh") -> tuple[str, ...]:
    """The lines of the one block of that language under a heading."""
    (found,) = [each for each in blocks(page) if (each.heading, each.language) == (heading, language)]
    return found.lines


def commands(page: Path) -> Iterator[str]:
    """Every command for macOS and Linux, in the order of the page: lines of blocks, and those in sentences."""
    for token in tokens(page):
        if token.type == "fence" and token.info.strip() == "sh":
            yield from token.content.splitlines()
        for inner in token.children or ():
            if inner.type == "code_inline" and _is_command(inner.content):
                yield inner.content


def _is_command(code: str) -> bool:
    return code.split(" ")[0] in PROGRAMS and " " in code


def before_more(page: Path = README) -> str:
    text = page.read_text(encoding="utf-8")
    head, more, _ = text.partition("\n## More\n")
    assert more, "there is no heading More"
    return head


def prose(page: Path) -> str:
    """The page without code and addresses."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]+`|\]\([^)]*\)", "", text)
