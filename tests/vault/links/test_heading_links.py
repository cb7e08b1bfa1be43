from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.vault.links.heading_links import HeadingRename, Headings, NotReadBack, renamed
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.links.writing import apply
from obsidian_mcp.vault.structure import Structure

NOTE = "# Top\n## Old: **part**\n### Child\n# Last\n"
PATHS = Resolver(["Note.md", "Other.md", "Sub/Note.md", "Sub/Else.md", "B.canvas"])


def followed(text: str, new: str = "New", at: str = "Other.md", note: str = NOTE, number: int = 1) -> str:
    rename = HeadingRename("Note.md", Headings.of(Structure(note).headings), number, new)
    return apply(text, rename.rewrites(at, text, PATHS))


LINKS = {
    "a link": ("[[Note#Old: **part**]]", "[[Note#New]]"),
    "as Obsidian spells it": ("[[Note#Old part]]", "[[Note#New]]"),
    "in another case": ("[[note#OLD PART|x]]", "[[note#New|x]]"),
    "with the heading above it": ("[[Note#Top#Old part]]", "[[Note#Top#New]]"),
    "on the way to another": ("[[Note#Old part#Child]]", "[[Note#New#Child]]"),
    "an embed": ("![[Note#Old part|x]]", "![[Note#New|x]]"),
    "in a table": ("| a |\n|---|\n| [[Note#Old part\\|x]] |", "| a |\n|---|\n| [[Note#New\\|x]] |"),
    "blanks around it": ("[[Note # Old part ]]", "[[Note # New ]]"),
    "a Markdown link": ("[x](Note.md#Old%20part 't')", "[x](Note.md#New 't')"),
    "a Markdown link with escapes": (r"[x](Note.md#Old%20\*\*part\*\*)", "[x](Note.md#New)"),
    "in angle brackets": ("[x](<Note.md#Old part>)", "[x](<Note.md#New>)"),
    "a definition": ("[l]: Note.md#Old%20part", "[l]: Note.md#New"),
    "a property": ('---\na: "[[Note#Old part]]"\n---\n', '---\na: "[[Note#New]]"\n---\n'),
    "a property with escapes": ('---\na: "[[Note#Old\\x20part]]"\n---\n', '---\na: "[[Note#New]]"\n---\n'),
    "another heading": ("[[Note#Child]] [[Note#Last]]", "[[Note#Child]] [[Note#Last]]"),
    "a heading that isn't there": ("[[Note#Last#Old part]]", "[[Note#Last#Old part]]"),
    "a block": ("[[Note#^old-part]]", "[[Note#^old-part]]"),
    "an alias that looks like one": ("[[Note|Note#Old part]]", "[[Note|Note#Old part]]"),
    "another note": ("[[Other#Old part]] [[Sub/Note#Old part]]", "[[Other#Old part]] [[Sub/Note#Old part]]"),
    "code": ("`[[Note#Old part]]`\n\n    [[Note#Old part]]", "`[[Note#Old part]]`\n\n    [[Note#Old part]]"),
    "every other byte": ("\ufeffa\r\n[[Note#Old part]]  \r\n\tb", "\ufeffa\r\n[[Note#New]]  \r\n\tb"),
}


@pytest.mark.parametrize(("before", "after"), LINKS.values(), ids=LINKS)
def test_links_to_a_renamed_heading_follow_it(before: str, after: str) -> None:
    assert followed(before) == after


OWN = {
    "a link": ("[[#Old part]]", "[[#New]]"),
    "with an alias": ("![[#Top#Old part|x]]", "![[#Top#New|x]]"),
    "a Markdown link": ("[x](#Old%20part)", "[x](#New)"),
    "in angle brackets": ("[x](<#Old part>)", "[x](<#New>)"),
    "by name": ("[[Note#Old part]]", "[[Note#New]]"),
    "a property": ("---\na: '[[#Old part]]'\n---\n", "---\na: '[[#New]]'\n---\n"),
    "a tag is none": ("#Old", "#Old"),
}


@pytest.mark.parametrize(("before", "after"), OWN.values(), ids=OWN)
def test_links_within_the_note_follow_it(before: str, after: str) -> None:
    assert followed(before, at="Note.md") == after
    assert ("[[#" not in before and "(#" not in before) or followed(before) == before


NAMES = {
    "what a link cannot hold is left out": ("A: b #c [[d]] | e", "[[Note#A b c d e]]"),
    "punctuation stays": ("Why, then?", "[[Note#Why, then?]]"),
    "a tick stays where it can": ("The `x` flag", "[[Note#The `x` flag]]"),
}


@pytest.mark.parametrize(("new", "after"), NAMES.values(), ids=NAMES)
def test_the_new_name_is_written_as_a_link_can_hold_it(new: str, after: str) -> None:
    assert followed("[[Note#Old part]]", new) == after


def test_a_tick_that_would_make_code_of_the_link_is_left_out() -> None:
    assert followed("a ` b [[Note#Old part]] c", "x`y") == "a ` b [[Note#x y]] c"
    assert followed("[x](Note.md#Old%20part)", "a (b) c") == "[x](Note.md#a%20%28b%29%20c)"


def test_a_canvas_follows() -> None:
    card = '{"nodes":[{"type":"text","text":"see [[Note#Old part]]\\n"},'
    node = '{"type":"file","file":"Note.md","subpath":"#Old part"},{"type":"file","file":"Other.md","subpath":"#Old"}]}'
    after = followed(card + node, 'New "1"', at="B.canvas")
    assert after == (card + node).replace("#Old part", '#New \\"1\\"')


def test_a_link_that_led_nowhere_may_lead_somewhere_and_holds_up_no_other() -> None:
    note = "## A\n# A\n## A\n"
    assert followed("[[Note#A#A]] [[Note#A]]", note=note, number=0) == "[[Note#A#A]] [[Note#New]]"


def test_of_two_headings_of_one_name_links_mean_the_first() -> None:
    note = "# A\n## Part\n# B\n## Part\n"
    text = "[[Note#Part]] [[Note#A#Part]] [[Note#B#Part]]"
    assert followed(text, note=note, number=1) == "[[Note#New]] [[Note#A#New]] [[Note#B#Part]]"
    assert followed(text, note=note, number=3) == "[[Note#Part]] [[Note#A#Part]] [[Note#B#New]]"


HEADINGS = {
    "its level stays": ("x\n### Old\ny", "x\n### New\ny"),
    "closing marks stay": ("##  Old  ## \r\ny", "##  New  ## \r\ny"),
    "indented": ("  # Old\n", "  # New\n"),
    "after a byte order mark": ("\ufeff# Old\r\n", "\ufeff# New\r\n"),
    "underlined": ("Old\n===\n", "New\n===\n"),
    "underlined, with CR": ("  Old  \r\n---\r\nx", "  New  \r\n---\r\nx"),
    "underlined, over two lines": ("Old\nand more\n---\nx", "New\n---\nx"),
    "after properties": ("---\nOld: 1\n---\n# Old", "---\nOld: 1\n---\n# New"),
}


@pytest.mark.parametrize(("before", "after"), HEADINGS.values(), ids=HEADINGS)
def test_a_heading_gets_another_text_and_nothing_else_changes(before: str, after: str) -> None:
    assert renamed(before, 0, "New") == after


@pytest.mark.parametrize(("text", "new"), [("# Old", "New #"), ("Old\n===", "- New"), ("Old\n---", "# New")])
def test_a_text_that_would_not_be_that_heading_is_refused(text: str, new: str) -> None:
    with pytest.raises(NotReadBack):
        renamed(text, 0, new)


# The law

TITLES = ["A", "a!", "B", "C d", "c, D", "**B**", "E-f"]
headings = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(TITLES)), min_size=1, max_size=7)
paths = st.lists(st.lists(st.sampled_from([*TITLES, "nope"]), min_size=1, max_size=3), min_size=1, max_size=6)
FORMS = ["[[Note#{}]]", "![[Note#{}|x]]", "[x](Note.md#{})", "[x](<Note.md#{}>)"]


@settings(max_examples=300)
@given(headings, paths, st.data())
def test_every_link_leads_to_the_heading_it_led_to(
    titles: list[tuple[int, str]], wanted: list[list[str]], data: st.DataObject
) -> None:
    note = "".join(f"{'#' * level} {title}\n" for level, title in titles)
    number = data.draw(st.integers(0, len(titles) - 1))
    lines = [_written(data.draw(st.sampled_from(FORMS)), path) for path in wanted]
    after = followed("\n".join(lines), "New one", note=note, number=number).split("\n")
    now = [(level, "New one" if at == number else title) for at, (level, title) in enumerate(titles)]
    for line, changed, path in zip(lines, after, wanted, strict=True):
        led = _walk(titles, path)
        assert led is None or _walk(now, _path_of(changed)) == led
        assert changed == line or (led and number in led)


def _written(form: str, path: list[str]) -> str:
    blank = "%20" if form.startswith("[x](N") else " "
    return form.format("#".join(path).replace(" ", blank))


def _path_of(line: str) -> list[str]:
    found = re.search(r"#(.*?)(?:\||\]\]|>|\))", line)
    assert found, line
    return unquote(found[1]).split("#")


def _walk(titles: list[tuple[int, str]], path: list[str]) -> list[int] | None:
    """Told apart from the code under test: a plain reading of the rule."""
    steps: list[int] = []
    for number, (level, title) in enumerate(titles):
        is_deeper = not steps or level > titles[steps[-1]][0]
        if is_deeper and len(steps) < len(path) and _plain(title) == _plain(path[len(steps)]):
            steps.append(number)
    return steps if len(steps) == len(path) else None


def _plain(title: str) -> str:
    return " ".join("".join(char if char.isalnum() or char == "-" else " " for char in title).lower().split())
