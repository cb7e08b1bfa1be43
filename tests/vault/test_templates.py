from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.frontmatter import read
from obsidian_mcp.vault.property_edits import Uneditable
from obsidian_mcp.vault.templates import filled, merged
from tests.support.growth import require_linear

NOW = datetime(2026, 11, 18, 9, 5, 7, tzinfo=UTC)  # a Wednesday
DAY = date(2026, 1, 31)

# Variables

OF_THE_APP = {
    "{{title}}": "Plan",
    "{{Title}} {{TITLE}}": "Plan Plan",
    "{{date}}": "2026-11-18",
    "{{time}}": "09:05",
    "{{date:dddd, D MMMM}}": "Wednesday, 18 November",
    "{{TIME:HH:mm:ss}}": "09:05:07",
    "{{time:YYYY}}": "2026",
    "{{date:[{x}] D}}": "{x} 18",
    "date: {{date}}\n# {{title}}\r\n": "date: 2026-11-18\n# Plan\r\n",
    "[[{{date}}|{{title}}]]": "[[2026-11-18|Plan]]",
    "{{{date}}}": "{2026-11-18}",
}


@pytest.mark.parametrize(("template", "text"), OF_THE_APP.items(), ids=OF_THE_APP)
def test_a_variable_is_filled_in(template: str, text: str) -> None:
    assert filled(template, "Plan", NOW) == text


UNKNOWN = ["{{x}}", "{{date:}}", "{{date", "{date}", "{{dates}}", "{{title:x}}", "{{yesterday}}", "{{date+1d}}"]
UNKNOWN += ["{{date:YYYY\nMM}}", "<% tp.date.now() %>", "{{ date }}", "{{monday:DD}}"]


@pytest.mark.parametrize("template", UNKNOWN)
def test_what_is_not_a_variable_stays(template: str) -> None:
    assert filled(template, "Plan", NOW) == template


def test_an_empty_format_does_not_reach_for_the_next_braces() -> None:
    assert filled("{{date:}} {{title}}", "Plan", NOW) == "{{date:}} Plan"


def test_the_vaults_own_formats_are_used() -> None:
    assert filled("{{date}} {{time}}", "Plan", NOW, "DD.MM.YYYY", "H[h]") == "18.11.2026 9h"


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    assert filled("{{title}}", "{{date}}", NOW) == "{{date}}"


OF_A_PERIOD = {
    "{{title}} {{ title }}": "Plan Plan",
    "{{date}} {{ Date }}": "2026-01-31 2026-01-31",
    "{{time}}": "09:05",
    "{{date: DD/MM HH:mm }}": "31/01 09:05",
    "{{yesterday}} {{ Tomorrow }}": "2026-01-30 2026-02-01",
    "{{date+1d}}": "2026-02-01",
    "{{ date -1w : YYYY-MM-DD }}": "2026-01-24",
    "{{date+1M:YYYY-MM-DD}}": "2026-02-28",
    "{{date+1Q:YYYY-MM-DD}}": "2026-04-30",
    "{{date-2y:YYYY-MM-DD}}": "2024-01-31",
    "{{time+90m:HH:mm}}": "10:35",
    "{{time+1h}}": "10:05",
    "{{date+1q:YYYY-MM-DD}}": "2026-01-31",
    "{{sunday:YYYY-MM-DD}} {{saturday:DD}}": "2026-02-01 31",
    "{{date+9999y}} {{date-999999999d}}": "{{date+9999y}} {{date-999999999d}}",
    "{{x}} {{date:}} {{monday}}": "{{x}} {{date:}} {{monday}}",
}


@pytest.mark.parametrize(("template", "text"), OF_A_PERIOD.items(), ids=OF_A_PERIOD)
def test_a_periods_note_has_the_variables_of_periodic_notes(template: str, text: str) -> None:
    assert filled(template, "Plan", NOW, day=DAY) == text


@given(st.text("{}date:+-1d \n" + "title"), st.none() | st.dates())
def test_any_text_is_a_template(template: str, day: date | None) -> None:
    assert isinstance(filled(template, "Plan", NOW, day=day), str)


@pytest.mark.parametrize("day", [None, DAY], ids=["the app", "a period"])
@pytest.mark.parametrize("part", ["{{date:", "{{ ", "{{date +1d :", "{{sunday:"])
def test_a_template_is_read_in_linear_time(part: str, day: date | None) -> None:
    require_linear(lambda size: filled(part * size, "Plan", NOW, day=day))


# Merging

MERGED = {
    "nothing given": ("---\na: 1 # one\n---\n# T\n", "", "---\na: 1 # one\n---\n# T\n"),
    "no template": ("", "---\na: 1\n---\nText", "---\na: 1\n---\nText"),
    "text after text": ("# T\n", "Text", "# T\nText"),
    "on a line of its own": ("# T", "Text\n", "# T\nText\n"),
    "on a line that ends as the others": ("# T\r\nx", "Text", "# T\r\nx\r\nText"),
    "a byte order mark only at the head": ("# T\n", "\ufeffText", "# T\nText"),
    "properties of the content alone": (
        "# T\n",
        "---\na: 1 # one\nb:\n---\nText\n",
        "---\na: 1 # one\nb:\n---\n# T\nText\n",
    ),
    "properties of the template alone": ("---\na:   1\n---\n# T\n", "Text\n", "---\na:   1\n---\n# T\nText\n"),
    "an empty block given": ("---\na: 1\n---\n", "---\n---\nText", "---\na: 1\n---\nText"),
    "a block that ends the content": ("# T\n", "---\na: 1\n---", "---\na: 1\n---\n# T\n"),
    "other properties": (
        "---\na: 'x'  # one\n---\n# T\n",
        "---\n# two\nb: [1,  2]\nc:\n---\nText\n",
        "---\na: 'x'  # one\n# two\nb: [1,  2]\nc:\n---\n# T\nText\n",
    ),
    "other properties, other line ends": (
        "---\r\na: 1\r\n---\r\n# T\r\n",
        "---\nb: 2\n---\n",
        "---\r\na: 1\r\nb: 2\r\n---\r\n# T\r\n",
    ),
}


@pytest.mark.parametrize(("template", "content", "text"), MERGED.values(), ids=MERGED)
def test_a_note_is_the_template_and_then_the_content(template: str, content: str, text: str) -> None:
    assert merged(template, content, {}) == text


VALUES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a value: the given one wins": ("a: 1", "a: 2", {"a": 2}),
    "an empty one given: the template's stays": ("a: 1", "a:", {"a": 1}),
    "an empty one in the template is filled": ("a:", "a: x", {"a": "x"}),
    "lists are united": ("a: [x, y]", "a: [y, z]", {"a": ["x", "y", "z"]}),
    "a list and a value": ("a: [x]", "a: y", {"a": ["x", "y"]}),
    "a value and a list": ("a: x", "a: [x, y]", {"a": ["x", "y"]}),
    "tags that are single": ("tags: x", "tags: y", {"tags": ["x", "y"]}),
    "the same name in another case": ("Status: open", "status: done", {"Status": "done"}),
    "one shared, others not": ("a: 1\nb: 2", "c:\na: 3\nd: {e: f}", {"a": 3, "b": 2, "c": None, "d": {"e": "f"}}),
    "the same": ("a: [x]\nb: 1", "a: [x]\nb: 1", {"a": ["x"], "b": 1}),
    "a template in braces": ("{a: 1}", "b: 2", {"a": 1, "b": 2}),
    "a content in braces": ("a: 1", "{b: 2, a: 3}", {"a": 3, "b": 2}),
}


@pytest.mark.parametrize(("own", "given", "values"), VALUES.values(), ids=VALUES)
def test_properties_are_merged_as_the_app_does(own: str, given: str, values: dict[str, Any]) -> None:
    text = merged(f"---\n{own}\n---\n# T\n", f"---\n{given}\n---\nText\n", {})
    assert read(text).values == values
    assert text.endswith("---\n# T\nText\n")


def test_a_list_by_the_vaults_types_is_one() -> None:
    text = merged("---\na: x\n---\n", "---\na: y\n---\n", {"a": "multitext"})
    assert read(text).values == {"a": ["x", "y"]}


def test_what_the_content_does_not_name_keeps_every_byte() -> None:
    template = "---\n# about\nid:  007 # agent\nlist:\n    - 'x'   # first\nstate: open\n---\n# T\n"
    text = merged(template, "---\nstate: done\n---\n", {})
    assert text == template.replace("open", "done")


@pytest.mark.parametrize(
    ("own", "given"), [("a: [", "b: 1"), ("a: 1", "b: ["), ("a: 1\na: 2", "b: 1")], ids=["own", "given", "twice"]
)
def test_properties_that_cannot_be_read_are_not_merged(own: str, given: str) -> None:
    with pytest.raises(Uneditable):
        merged(f"---\n{own}\n---\n", f"---\n{given}\n---\n", {})


NAMES = st.sampled_from(["a", "b", "c", "d"])
SINGLE = st.none() | st.integers() | st.booleans() | st.sampled_from(["x", "y", "'12:30'", "[[Link]]"])


def block(properties: dict[str, Any]) -> str:
    return "".join(f"{name}: {_written(value)}\n" for name, value in properties.items())


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else f'"{value}"' if str(value).startswith("[") else str(value)


@given(st.dictionaries(NAMES, SINGLE), st.dictionaries(NAMES, SINGLE))
def test_no_property_of_either_is_lost(own: dict[str, Any], given: dict[str, Any]) -> None:
    text = merged(f"---\n{block(own)}---\n# T\n", f"---\n{block(given)}---\nText\n", {})
    values = read(text).values
    assert values.keys() == own.keys() | given.keys()
    expected = read(f"---\n{block(given)}---\n").values
    assert all(values[name] == value for name, value in expected.items() if value is not None)


@pytest.mark.parametrize("content", ["a\nb\n", "a\r\nb\n", "---\nx: 1\n---\na\nb\n"])
def test_a_note_from_a_template_has_one_kind_of_line_end(content: str) -> None:
    made = merged("# T\r\n\r\n", content, {})
    assert len(set(re.findall("\r?\n", made))) == 1
