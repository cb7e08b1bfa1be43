from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.structure import Structure, Task
from obsidian_mcp.vault.tasks import NoTask, TaskSettings, due, find, marked, recurs

TODAY = datetime.date(2031, 4, 9)
EMOJI = {"setDoneDate": True, "taskFormat": "tasksPluginEmoji"}
DATAVIEW = {"setDoneDate": True, "taskFormat": "dataview"}
STATUSES = {
    "coreStatuses": [{"symbol": " ", "type": "TODO"}, {"symbol": "x", "type": "TODO"}],
    "customStatuses": [
        {"symbol": "/", "type": "IN_PROGRESS"},
        {"symbol": "c", "type": "CANCELLED"},
        {"symbol": "d", "type": "DONE"},
        {"symbol": "i", "type": "NON_TASK"},
        "rubbish",
        {"symbol": 7},
    ],
}


def tasks_of(text: str) -> list[Task]:
    return Structure(text).tasks


def set_mark(text: str, wanted: str, mark: str = "x", settings: Any = None) -> str:
    return marked(text, find(tasks_of(text), wanted), mark, TaskSettings.read(settings), TODAY)


# What a mark means

CLOSED: dict[str, tuple[Any, str, bool]] = {
    "a blank": (None, " ", False),
    "a cross": (None, "x", True),
    "a large cross": (None, "X", True),
    "a dash, which is cancelled": (None, "-", True),
    "in progress": (None, "/", False),
    "a mark of its own": (None, "d", False),
    "a status that is done": ({"statusSettings": STATUSES}, "d", True),
    "a status that is cancelled": ({"statusSettings": STATUSES}, "c", True),
    "a status that is no task": ({"statusSettings": STATUSES}, "i", True),
    "a status that is in progress": ({"statusSettings": STATUSES}, "/", False),
    "a cross, whatever the settings say": ({"statusSettings": STATUSES}, "x", True),
    "a dash that the vault uses for something else": (
        {"statusSettings": {"customStatuses": [{"symbol": "-", "type": "IN_PROGRESS"}]}},
        "-",
        False,
    ),
    "settings that are a list": ([], "x", True),
    "settings of other kinds": ({"statusSettings": 3, "globalFilter": 4, "taskFormat": []}, "-", True),
}


@pytest.mark.parametrize(("settings", "mark", "is_closed"), CLOSED.values(), ids=CLOSED)
def test_a_mark_is_closed_or_still_to_do(settings: Any, mark: str, is_closed: bool) -> None:
    assert TaskSettings.read(settings).is_closed(mark) is is_closed


# When it is due

DUE = {
    "nothing": ("call 2031-05-01", False, None),
    "Tasks": ("call 📅 2031-05-01", False, "2031-05-01"),
    "another calendar": ("call 📆2031-05-01 #x", False, "2031-05-01"),
    "a calendar with its look chosen": ("call 🗓️ 2031-05-01", False, "2031-05-01"),
    "a field in brackets": ("call [due:: 2031-05-01]", False, "2031-05-01"),
    "a field in parentheses": ("call (Due::2031-05-01) soon", False, "2031-05-01"),
    "a field with a link": ("call [due:: [[2031-05-01]]]", False, "2031-05-01"),
    "a field of another name": ("call [overdue:: 2031-05-01]", False, None),
    "another date": ("call ⏳ 2031-05-01 ✅ 2031-05-02", False, None),
    "the last of several": ("call 📅 2031-05-01 📅 2031-05-03 ^id", False, "2031-05-03"),
    "a day that is none": ("call 📅 2031-02-31", False, None),
    "a day that is none after one that is": ("call 📅 2031-05-01 📅 2031-13-01", False, "2031-05-01"),
    "a card": ("call @{2031-05-01}", True, "2031-05-01"),
    "a card that links to the day": ("call @[[2031-05-01]] @@{10:00}", True, "2031-05-01"),
    "a card's date in any other note": ("call @{2031-05-01}", False, None),
    "Tasks on a card": ("call 📅 2031-05-01", True, "2031-05-01"),
}


@pytest.mark.parametrize(("text", "on_board", "day"), DUE.values(), ids=DUE)
def test_a_task_is_due_on_the_day_that_it_says(text: str, on_board: bool, day: str | None) -> None:
    found = due(text, on_board)
    assert (None if found is None else found.isoformat()) == day


def test_recurring_tasks_are_known_by_either_form() -> None:
    assert [
        recurs(text) for text in ("a 🔁 every day", "a [repeat:: every day]", "a (repeat::daily)", "repeat: a")
    ] == [
        True,
        True,
        True,
        False,
    ]


# Which task is meant

NOTE = """# Plan
- [ ] order seeds 📅 2031-05-01
- [x] Order pots
> - [ ] order
1. [/] dig
- [ ] wash
- [x] wash
"""
MEANT = {
    "the whole text": ("order seeds 📅 2031-05-01", 2),
    "the whole text before a part of another": ("order", 4),
    "a part": ("seeds", 2),
    "a part in another case": ("SEEDS", 2),
    "the whole text in another case": ("order POTS", 3),
    "with what stands before it": ("- [ ] order seeds 📅 2031-05-01", 2),
    "with another bullet and mark": ("* [ ] Order pots", 3),
    "in a quote": ("> - [ ] order", 4),
    "with a number": ("1. [/] dig\n", 5),
    "two that differ in their marks": ("- [x] wash", 7),
    "as a list has cut it": ("order se…", 2),
    "with what comes below it": ("dig\n   deep", 5),
}


@pytest.mark.parametrize(("wanted", "line"), MEANT.values(), ids=MEANT)
def test_a_task_is_found_by_its_text(wanted: str, line: int) -> None:
    assert find(tasks_of(NOTE), wanted).line == line


UNCLEAR = {
    "two are the same": ("wash", [6, 7]),
    "a part of several": ("s", [2, 3, 6, 7]),
    "several in another case": ("ORD", [2, 3, 4]),
    "nothing": ("", []),
    "a mark alone": ("- [ ]", []),
    "another text": ("order seed pots", []),
}


@pytest.mark.parametrize(("wanted", "lines"), UNCLEAR.values(), ids=UNCLEAR)
def test_what_could_mean_several_tasks_or_none_is_not_guessed(wanted: str, lines: list[int]) -> None:
    with pytest.raises(NoTask) as caught:
        find(tasks_of(NOTE), wanted)
    assert [task.line for task in caught.value.several] == lines
    assert bool(caught.value.nearest) is not bool(lines)


def test_the_nearest_come_first_and_are_few() -> None:
    text = "".join(f"- [ ] {word}\n" for word in ("apples", "pears", "order the seeds", "x", "plums", "figs", "nuts"))
    with pytest.raises(NoTask) as caught:
        find(tasks_of(text), "order seeds")
    assert caught.value.nearest[0].text == "order the seeds"
    assert len(caught.value.nearest) == 5


# The change

CHANGES: dict[str, tuple[Any, str, str, str]] = {
    "one character": (None, "- [ ] a b", "x", "- [x] a b"),
    "any other mark": (None, "- [ ] c\n\t* [x] a b", "/", "- [ ] c\n\t* [/] a b"),
    "the settings are off": ({"setDoneDate": False}, "- [ ] a b", "x", "- [x] a b"),
    "a date": (EMOJI, "- [ ] a b", "x", "- [x] a b ✅ 2031-04-09"),
    "a date before the id": (EMOJI, "- [ ] a b 📅 2031-05-01 ^id", "X", "- [X] a b 📅 2031-05-01 ✅ 2031-04-09 ^id"),
    "a date before blanks": (EMOJI, "- [ ] a b  ", "x", "- [x] a b ✅ 2031-04-09  "),
    "a hat that is no id": (EMOJI, "- [ ] a b^id", "x", "- [x] a b^id ✅ 2031-04-09"),
    "no date for one that says nothing": (EMOJI, "- [ ] ^id\n- [ ] a b", "x", "- [ ] ^id\n- [x] a b ✅ 2031-04-09"),
    "no date for one that is in progress": (EMOJI, "- [ ] a b", "/", "- [/] a b"),
    "no date for one that is cancelled": (EMOJI, "- [ ] a b", "-", "- [-] a b"),
    "the date stays from done to done": (EMOJI, "- [x] a b ✅ 2030-01-01", "X", "- [X] a b ✅ 2030-01-01"),
    "the date goes with the mark": (EMOJI, "- [x] a b ✅ 2030-01-01 ^id", " ", "- [ ] a b ^id"),
    "the date goes when it is cancelled": (EMOJI, "- [x] a b ✅ 2030-01-01", "-", "- [-] a b"),
    "an old date is not left beside a new one": (EMOJI, "- [ ] a b ✅ 2030-01-01", "x", "- [x] a b ✅ 2031-04-09"),
    "a field": (DATAVIEW, "- [ ] a b ^id", "x", "- [x] a b  [completion:: 2031-04-09] ^id"),
    "a field goes with the mark": (DATAVIEW, "- [x] a b (completion:: 2030-01-01) c", " ", "- [ ] a b c"),
    "another format's date is left alone": (DATAVIEW, "- [x] a b ✅ 2030-01-01", " ", "- [ ] a b ✅ 2030-01-01"),
    "a task that passes the filter": (
        {**EMOJI, "globalFilter": "#todo"},
        "- [ ] a b #todo",
        "x",
        "- [x] a b #todo ✅ 2031-04-09",
    ),
    "a task that doesn't": ({**EMOJI, "globalFilter": "#todo"}, "- [ ] a b", "x", "- [x] a b"),
    "a status of its own": ({**EMOJI, "statusSettings": STATUSES}, "- [ ] a b", "d", "- [d] a b ✅ 2031-04-09"),
    "a mark outside the first plane": (None, "- [🙂] a b", "x", "- [x] a b"),
}


@pytest.mark.parametrize(("settings", "before", "mark", "after"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_mark_changes_what_the_plugin_would_change(
    settings: Any, before: str, mark: str, after: str, end: str
) -> None:
    assert set_mark(f"\ufeff# A\r\n\n{before}{end}", "a b", mark, settings) == f"\ufeff# A\r\n\n{after}{end}"


PIECES = st.sampled_from(
    [
        "- ",
        "1. ",
        "\t",
        "> ",
        "[ ] ",
        "[x] ",
        "[-]\t",
        "a b",
        "^id",
        " ",
        "📅 2031-05-01",
        "#t",
        "```",
        "%%",
        "\n",
        "\r\n",
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
SETTINGS = st.sampled_from([None, EMOJI, DATAVIEW, {**EMOJI, "globalFilter": "#t"}])
MARKS = st.sampled_from(" xX/-?`[]%<🙂")


@given(TEXTS, MARKS, SETTINGS)
def test_every_other_line_stays_and_every_task_is_one_still(text: str, mark: str, settings: Any) -> None:
    before = tasks_of(text)
    for number, task in enumerate(before):
        changed = marked(text, task, mark, TaskSettings.read(settings), TODAY)
        assert (changed.startswith(text[: task.start]), changed.endswith(text[task.end :])) == (True, True)
        after = tasks_of(changed)
        assert [one.mark for one in after] == [
            mark if other == number else one.mark for other, one in enumerate(before)
        ]
        if settings is None:
            assert len(changed) == len(text)


@given(TEXTS, SETTINGS)
def test_a_task_that_is_ticked_and_opened_again_is_as_it_was(text: str, settings: Any) -> None:
    settings = TaskSettings.read(settings)
    for number, task in enumerate(tasks_of(text)):
        if task.mark == " ":
            ticked = marked(text, task, "x", settings, TODAY)
            assert marked(ticked, tasks_of(ticked)[number], " ", settings, TODAY) == text
