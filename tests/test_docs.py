"""README and docs/: short, complete, generated where they can be. Their commands are run in test_docs_commands.py."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bundle import readme
from obsidian_mcp import settings
from obsidian_mcp.hosts.known import HOSTS
from tests.support.pages import PAGES, README, ROOT, before_more, blocks, prose

MOST_WORDS = 900
# Words of ours that a reader would have to learn first, and English that one would stumble over.
STUMBLED_OVER = re.compile(
    r"\bdoors?\b|\bas one act\b|\bis no (?:folder|vault|note)\b|\bways? in\b|\bnobody\b|\bwhoever\b|\bone a vault\b",
    re.I,
)
NEEDED = (
    "Set it up",
    "Claude Desktop: open one file",
    "Any assistant: two lines, with uv or pipx",
    "For developers: make",
    "Three things to ask first",
    "What it can and can't do to your notes",
    "Undo and history",
    "Privacy",
    "When it doesn't work",
    "Upgrade",
    "Remove it completely",
)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_the_generated_parts_are_the_generated_ones() -> None:
    for page, text in readme.generated().items():
        assert page.read_text(encoding="utf-8") == text, "run make readme"


def test_readme_has_at_most_900_words_before_more() -> None:
    assert len(before_more().split()) <= MOST_WORDS


def test_readme_has_everything_for_the_first_hour_in_order() -> None:
    headings = re.findall(r"^#{2,3} (.+)$", before_more(), re.MULTILINE)
    assert headings == list(NEEDED)


def test_readme_shows_the_conversation_and_the_page() -> None:
    head = before_more()
    assert "(bundle/session.svg)" in head
    assert "(bundle/page.png)" in head


def test_readme_lists_every_page_of_the_docs() -> None:
    more = README.read_text(encoding="utf-8").partition("\n## More\n")[2]
    assert [name(page) for page in PAGES[1:] if f"({name(page)})" not in more] == []


def test_the_hosts_have_their_lines() -> None:
    text = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
    assert [host.name for host in HOSTS if f"obsidian-mcp install {host.name} " not in text] == []
    assert [host.title for host in HOSTS if host.title not in before_more()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_its_language_so_that_it_can_be_tested(page: Path) -> None:
    assert {each.language for each in blocks(page)} <= {"sh", "powershell", "json"}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_page_is_in_plain_english(page: Path) -> None:
    assert STUMBLED_OVER.findall(prose(page)) == []


def test_every_option_that_a_page_names_exists() -> None:
    known = {f"--{option.name}" for option in (*settings.OPTIONS, *settings.HTTP_OPTIONS, *settings.REMOTE_OPTIONS)}
    known |= {"--list", "--dry-run", "--json", "--yes"}  # of single commands
    for page in PAGES:
        alone = re.findall(r"`(--[a-z-]+)[^`\n]*`", page.read_text(encoding="utf-8"))
        assert set(alone) <= known, name(page)


def test_the_port_in_the_pages_is_the_default() -> None:
    assert {option.default for option in settings.HTTP_OPTIONS if option.name == "port"} == {"3000"}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_json_can_be_read(page: Path) -> None:
    for each in blocks(page):
        if each.language == "json":
            json.loads("\n".join(each.lines))
