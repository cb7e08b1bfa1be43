"""The pages for people: their tables are the generated ones, their links lead somewhere, decisions have one form."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bundle import tables

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "specs").rglob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
DECISIONS = sorted((ROOT / "specs" / "decisions").glob("*.md"))
DECISION = re.compile(
    r"# [^\n]+\n\nDate: \d{4}-\d\d-\d\d\n\nStatus: (?:accepted|superseded by \[[^\n]+\)|rejected)\n\n"
    r"## Context\n\n.+\n\n## Decision\n\n.+\n\n## Rejected ways\n\n.+\n\n## Consequences\n\n.+\n",
    re.DOTALL,
)
CODE = re.compile(r"^```.*?^```$|^(?: {4}|\t).*?$|``.+?``|`[^`\n]+`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(<?([^)>\s]+)>?(?: \"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
UPWARD = re.compile(r"(?:\.\./)+[\w.-][\w./-]*")
ELSEWHERE = re.compile(r"\bshared/")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """As GitHub makes them from headings: lower case, without punctuation, hyphens for spaces."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return False
    return not anchor or anchor in anchors(target)


def test_the_tables_are_the_generated_ones() -> None:
    for page, text in tables.generated().items():
        assert page.read_text(encoding="utf-8") == text, "run make specs"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    links = LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    assert [link for link in links if "://" not in link and not leads_somewhere(page, link)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_names_a_file_outside_the_repository(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [path for path in UPWARD.findall(text) if not leads_somewhere(page, path)] == []
    assert ELSEWHERE.findall(text) == []


@pytest.mark.parametrize("decision", DECISIONS, ids=name)
def test_every_decision_has_the_same_form(decision: Path) -> None:
    assert DECISION.fullmatch(decision.read_text(encoding="utf-8"))


TYPES: dict[str, tuple[dict[str, Any], str]] = {
    "a plain type": ({"type": "string"}, "string"),
    "a limit": ({"type": "integer", "minimum": 1}, "integer, ≥ 1"),
    "a choice": ({"type": "string", "enum": ["a", "b"]}, "`a` or `b`"),
    "either of two": ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "string or integer"),
    "a list": ({"type": "array", "items": {"type": "string"}, "maxItems": 9}, "array of string, items ≤ 9"),
    "a record": ({"type": "object", "properties": {"a": {"type": "boolean"}}}, "object of `a` (boolean)"),
    "a mapping": ({"type": "object", "additionalProperties": {"type": "string"}}, "object of string"),
    "a reference": ({"$ref": "#/$defs/Match"}, "Match"),
    "nothing said": ({}, "anything"),
}


@pytest.mark.parametrize(("schema", "words"), TYPES.values(), ids=TYPES)
def test_a_type_is_shown_in_a_few_words(schema: dict[str, Any], words: str) -> None:
    assert tables.type_of(schema) == words


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert tables.table(["x"], [["a|b"]]) == "| x |\n| --- |\n| a\\|b |"
