from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.vault.sections import NoSection, Section, find, flat, outline, section_at
from obsidian_mcp.vault.structure import Structure
from tests.support.growth import require_linear

LONGER = int(os.environ.get("OBSIDIAN_MCP_LONGER", "1"))

NOTE = """---
a: 1
---
Before.

# Project
Intro.

## Log
One.

### Details
Two.

## Tasks
- [ ] a ^first
  - b

# Private
## Log
Three.

## **Bold**, `code` & [[Link]]
Four.

## A > B
Five.

## Same
## Same

| t |
|---|
| u |

^Table-1
"""


def sections_of(text: str) -> list[Section]:
    return outline(Structure(text), text)


def names_in(text: str) -> list[str]:
    return [section.name for section in sections_of(text)]


def section(text: str, wanted: str) -> Section:
    return find(Structure(text), text, wanted)


def failure(text: str, wanted: str) -> NoSection:
    with pytest.raises(NoSection) as raised:
        section(text, wanted)
    return raised.value


def test_an_outline_names_each_section_as_shortly_as_it_can() -> None:
    assert names_in(NOTE) == [
        "Project",
        "Project > Log",
        "Details",
        "Tasks",
        "Private",
        "Private > Log",
        "**Bold**, `code` & [[Link]]",
        "A > B",
        "Private > Same (1)",
        "Private > Same (2)",
    ]


NAMES = {
    "a parent and a child alike": ("# A\n## A", ["A (1)", "A > A"]),
    "one that is also another's child": ("# B\n## A\n# A", ["B", "B > A", "A (2)"]),
    "several levels": ("# A\n## B\n### C\n# D\n## B\n### C", ["A", "A > B", "A > B > C", "D", "D > B", "D > B > C"]),
    "a number that a heading really has": ("# A\n# A\n# A (2)", ["A (1)", "A (2) (2)", "A (2)"]),
    "a text that looks like a path": ("# A\n## B\n# A > B", ["A", "B", "A > B"]),
    "a text that looks like a block's id": ("# ^a\n## b", ["# ^a", "b"]),
    "no text": ("#\n# a\n##", ["(no text) (1)", "a", "a > (no text)"]),
    "another case is another name": ("# Log\n# log", ["Log", "log"]),
    "levels that are left out": ("### A\n# B\n### A", ["A (1)", "B", "B > A"]),
}


@pytest.mark.parametrize(("text", "expected"), NAMES.values(), ids=NAMES)
def test_sections_are_told_apart(text: str, expected: list[str]) -> None:
    assert names_in(text) == expected


def test_a_section_ends_at_the_next_heading_that_is_not_below_it() -> None:
    project, log = sections_of(NOTE)[:2]
    assert (project.line, project.lines, NOTE[project.start : project.body]) == (6, 13, "# Project\n")
    assert NOTE[project.body : project.end].endswith("  - b\n\n")
    assert NOTE[log.body : log.end] == "One.\n\n### Details\nTwo.\n\n"
    assert sections_of("# a\n\nb")[0].lines == sections_of("# a\n\nb\n")[0].lines == 3


WANTED = {
    "its text": ("Details", "Details"),
    "any case and white space": ("  dEtails ", "Details"),
    "with its mark": ("### Details", "Details"),
    "with a mark alone": ("#Details", "Details"),
    "a path": ("Private > Log", "Private > Log"),
    "a path in other letters": ("private>LOG", "Private > Log"),
    "a path as in a link": ("#Private#Log", "Private > Log"),
    "a path as in a link without its mark": ("private#log", "Private > Log"),
    "a path with its mark": ("## Private > Log", "Private > Log"),
    "a path that leaves one out": ("Project > Details", "Details"),
    "without markup": ("bold code link", "**Bold**, `code` & [[Link]]"),
    "a text with an arrow in it": ("A > B", "A > B"),
    "a text with an arrow in it, in other letters": ("a > b", "A > B"),
    "the second of its name": ("Log (2)", "Private > Log"),
    "the first of its name": ("log (1)", "Project > Log"),
    "the second of its path": ("private > same (2)", "Private > Same (2)"),
}


@pytest.mark.parametrize(("wanted", "expected"), WANTED.values(), ids=WANTED)
def test_a_section_is_found_by(wanted: str, expected: str) -> None:
    assert section(NOTE, wanted).name == expected


def test_the_exact_spelling_comes_first() -> None:
    text = "# Log\na\n# log\nb\n# Log (2)\nc\n# C++\n# C#\n"
    assert [section(text, name).line for name in ("Log", "log", "Log (2)", "C++", "C#")] == [1, 3, 5, 7, 8]
    assert [it.line for it in failure(text, "LOG").several] == [1, 3]
    assert [it.line for it in failure(text, "c").several] == [7, 8]


@pytest.mark.parametrize("wanted", ["Log", "log", "# Log", "#log"])
def test_a_name_that_two_headings_have_is_never_guessed(wanted: str) -> None:
    assert [it.name for it in failure(NOTE, wanted).several] == ["Project > Log", "Private > Log"]


LEVELS = {
    "the higher one": ("# A\n## A\n", "# A", 1),
    "the lower one": ("# A\n## A\n", "## A", 2),
    "the exact spelling, before any level": ("# Log\n## LOG\n### log\n", "##   Log", 1),
    "one of another level, if it is alone": ("# A\n", "### A", 1),
    "a number and a level": ("# A\n## A\n# A\n", "# A (3)", 3),
}


@pytest.mark.parametrize(("text", "wanted", "line"), LEVELS.values(), ids=LEVELS)
def test_marks_before_a_heading_choose_its_level(text: str, wanted: str, line: int) -> None:
    assert section(text, wanted).line == line


def test_marks_before_a_path_are_those_of_its_first_heading() -> None:
    text = "## A\n### B\n# A\n## B\n"
    assert len(failure(text, "## A > B").several) == 2
    assert len(failure("# A\n## B\n# A\n", "## A").several) == 2


def test_a_path_and_a_text_that_look_alike_are_not_guessed_either() -> None:
    assert len(failure("# A\n## B\n# A B\n", "a > b").several) == 2


@pytest.mark.parametrize(
    "wanted", ["", " ", "#", ">", "Nothing", "Log (3)", "Tasks > Log", "Log (0)", "!", "^", "^none"]
)
def test_what_is_not_there_is_not_found(wanted: str) -> None:
    error = failure(NOTE, wanted)
    assert (error.wanted, error.several) == (wanted, [])
    assert error.nearest == (["^first", "^Table-1"] if "^" in wanted else names_in(NOTE))


def test_of_many_names_the_nearest_are_told() -> None:
    text = "".join(f"# Chapter {number}\na ^id-{number}\n\n" for number in range(30)) + "# Appendix\n"
    assert failure(text, "apendix").nearest[0] == "Appendix"
    assert failure(text, "^id17").nearest[0] == "^id-17"
    assert len(failure(text, "apendix").nearest) == len(failure(text, "^x").nearest) == 5


def test_a_note_without_headings_has_no_names() -> None:
    assert failure("a\n", "b").nearest == failure("", "^b").nearest == []


@pytest.mark.parametrize("wanted", ["^first", "^FIRST", "#^first", " ^first "])
def test_a_block_is_found_by_its_id(wanted: str) -> None:
    found = section(NOTE, wanted)
    assert (found.name, found.level, found.line, found.lines, found.body) == ("^first", 0, 16, 2, found.start)
    assert NOTE[found.start : found.end] == "- [ ] a ^first\n  - b"


def test_an_id_on_its_own_line_gives_what_is_before_it() -> None:
    found = section(NOTE, "^table-1")
    assert NOTE[found.start : found.end] == "| t |\n|---|\n| u |"


def test_an_id_that_two_blocks_have_is_never_guessed() -> None:
    assert [it.line for it in failure("a ^b\n\nc ^B\n", "^b").several] == [1, 3]


def test_a_line_lies_in_its_innermost_section() -> None:
    text = "a\n# b\nc\n## d\ne\n# f\n"
    sections = sections_of(text)
    found = [section_at(sections, line) for line in range(8)]
    assert [it and it.name for it in found] == [None, None, "b", "b", "d", "d", "f", None]


def test_a_line_that_the_innermost_of_some_sections_leaves_out_lies_in_one_before_it() -> None:
    outer, inner, _ = sections_of("# a\n## b\n## c\nd\n")
    assert section_at([outer, inner], 4) == outer


def test_for_the_search_a_section_ends_at_any_heading() -> None:
    text = "---\nx: y\n---\na\n# b\nc\n## d\ne\n"
    assert [text[start:end] for start, end in flat(Structure(text), text)] == ["a\n", "# b\nc\n", "## d\ne\n"]
    assert flat(Structure(""), "") == []
    assert flat(Structure("a"), "a") == [(0, 1)]
    assert flat(Structure("# a"), "# a") == [(0, 3)]


WORDS = "A · a · B · A > B · A (1) · A (2) · ^a · # A · ** · (no text) · > · A#B · é · e\u0301 · B > · > B".split(" · ")


def lines() -> st.SearchStrategy[str]:
    title = st.one_of(st.sampled_from([*WORDS, ""]), st.text("AB>#()12 ^", max_size=6))
    heading = st.builds("{} {}".format, st.sampled_from(["#", "##", "###", "######"]), title)
    others = st.sampled_from(["text", "text ^a", "- b ^B", "===", "---", "", "```", "> # A", "^c"])
    return st.one_of(heading, heading, others)


notes = st.builds(
    "{}{}".format, st.sampled_from(["", "---\nx: y\n---\n"]), st.lists(lines(), max_size=12).map("\n".join)
)


@settings(max_examples=300 * LONGER, deadline=None)
@given(notes)
def test_every_name_is_the_name_of_its_section_alone(text: str) -> None:
    sections = sections_of(text)
    assert len({it.name for it in sections}) == len(sections)
    assert [section(text, it.name) for it in sections] == sections


@settings(max_examples=300 * LONGER, deadline=None)
@given(notes, st.one_of(st.text(max_size=8), st.sampled_from(WORDS), st.text("AB>#()12 ^", max_size=8)))
def test_whatever_is_asked_for_is_found_or_told_with_what_could_be(text: str, wanted: str) -> None:
    try:
        found, told = [section(text, wanted)], list[str]()
    except NoSection as error:
        found, told = error.several, [it.name for it in error.several if it.level] + error.nearest
        told = [name for name in told if not name.startswith("^")]
    assert all(it in sections_of(text) or it.level == 0 for it in found)
    assert all(section(text, name) for name in told)


@settings(max_examples=200 * LONGER, deadline=None)
@given(notes)
def test_sections_divide_a_note_and_lie_in_one_another(text: str) -> None:
    structure = Structure(text)
    sections = outline(structure, text)
    spans = flat(structure, text)
    assert "".join(text[start:end] for start, end in spans) == text[structure.body :]
    assert [it.start for it in sections] == [start for start, _ in spans][-len(sections) or len(spans) :]
    for it in sections:
        inside = [other for other in sections if it.start < other.start < it.end]
        assert all(other.level > it.level and other.end <= it.end for other in inside)
        assert it.lines == len(text[it.start : it.end].splitlines())
        following = next((other for other in sections if other.start == it.end), None)
        assert it.end == len(text) or (following is not None and following.level <= it.level)


HOSTILE: dict[str, Callable[[int], str]] = {
    "headings that are alike": lambda n: "# a\n## a\n" * n,
    "a long heading with many under it": lambda n: f"# {'a' * n}\n" + "## b\n" * n,
    "numbers in numbers": lambda n: "# a\n# a\n" + "".join(f"# a{' (2)' * (at % 60)}\n" for at in range(n // 10)),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_note_costs_more_than_its_length(what: str) -> None:
    def read(size: int) -> None:
        text = HOSTILE[what](size)
        structure = Structure(text)
        assert outline(structure, text)
        assert flat(structure, text)
        with pytest.raises(NoSection):
            find(structure, text, "x > b#y")

    require_linear(read)
