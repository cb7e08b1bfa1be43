from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest

from tests.promises.ground import Ground

INVALID, NOT_FOUND, AMBIGUOUS, CHANGED = -32602, -32003, -32004, -32000
SETTINGS = ".obsidian/plugins/obsidian-tasks-plugin/data.json"
NOTES = {
    "Garden/Plan.md": "# Plan\n- [ ] order seeds 📅 2031-05-01\n- [x] dig\n\n## Later\n- [ ] paint [due:: 2031-03-01]",
    "Garden/Board.md": "---\nkanban-plugin: board\n---\n## Now\n\n- [ ] sand @{2031-04-01}\n",
    "Home.md": "> - [/] sweep\n\n```\n- [ ] code\n```\n- [-] wash\n",
}


@pytest.fixture
def vault(readable: Ground) -> Ground:
    for path, content in NOTES.items():
        readable.put(path, content)
    return readable


def listed(ground: Ground, **asked: Any) -> list[str]:
    answer = ground.call("list_tasks", **asked)
    assert answer["total"] == len(answer["tasks"])
    return [task["text"].partition(" ")[0] for task in answer["tasks"]]


LISTED: dict[str, tuple[dict[str, str], list[str]]] = {
    "what is to do": ({}, ["sand", "order", "paint", "sweep"]),
    "what is done": ({"status": "done"}, ["dig", "wash"]),
    "every task of a folder": ({"status": "any", "within": "Garden"}, ["sand", "order", "dig", "paint"]),
    "those of a note": ({"within": "Home"}, ["sweep"]),
    "by words": ({"words": "SEEDS"}, ["order"]),
    "what is due": ({"due_before": "2031-05-01"}, ["paint", "sand"]),
}


@pytest.mark.parametrize(("asked", "expected"), LISTED.values(), ids=LISTED)
def test_tasks_are_listed(vault: Ground, asked: dict[str, str], expected: list[str]) -> None:
    assert listed(vault, **asked) == expected


def test_a_task_has_its_place_and_its_section_can_be_read(vault: Ground) -> None:
    (task,) = vault.call("list_tasks", words="paint")["tasks"]
    assert task == {
        "path": "Garden/Plan.md",
        "line": 6,
        "mark": " ",
        "text": "paint [due:: 2031-03-01]",
        "due": "2031-03-01",
        "section": "Later",
    }
    assert task["text"] in vault.call("read_note", name=task["path"], section=task["section"])["content"]


def test_a_long_list_goes_on(vault: Ground) -> None:
    vault.put("Many.md", "".join(f"- [ ] chore {number}\n" for number in range(60)))
    seen: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        answer = vault.call("list_tasks", words="chore", **cursor)
        assert answer["total"] == 60
        seen += [task["line"] for task in answer["tasks"]]
        if "next_cursor" not in answer:
            break
        cursor = {"cursor": answer["next_cursor"]}
    assert seen == list(range(1, 61))
    assert vault.fails("list_tasks", words="dig", **cursor).code == INVALID


def test_the_app_alone_can_be_asked_for_the_tasks_of_one_note(app_alone: Ground) -> None:
    app_alone.put("Home.md", NOTES["Home.md"])
    assert listed(app_alone, within="Home") == ["sweep"]
    assert app_alone.fails("list_tasks").code == INVALID


UGLY = {
    "with an id": b"# A\n- [ ] one\n- [ ] two ^id\n",
    "in a quote, below ugly properties": b"---\n a:   'b'  # c\n---\n> - [ ] two\n>\n> 1) [ ] one\n",
    "without a last line end": b"- [ ] one  \n\t- [ ] two",
}


@pytest.mark.parametrize("before", UGLY.values(), ids=UGLY)
def test_a_task_is_ticked_by_one_character_and_opened_again(ground: Ground, before: bytes) -> None:
    tick_and_open(ground, before)


def test_line_ends_and_a_byte_order_mark_stay(near: Ground) -> None:
    tick_and_open(near, b"\xef\xbb\xbfa\r\n- [ ] one  \r\n\t- [ ] two\n\r\n")


def tick_and_open(ground: Ground, before: bytes) -> None:
    path = ground.put("Note.md", before)
    done = ground.call("set_task", name=path, task="two")
    after = before.replace(b"[ ] two", b"[x] two")
    assert ground.get(path) == after
    assert done["etag"] == hashlib.sha256(after).hexdigest()[:16]
    assert done["line"] == before[: before.index(b"two")].count(b"\n") + 1
    assert "[x] two" in done["diff"]
    ground.call("set_task", name=path, task="- [x] two", mark=" ", if_match=done["etag"])
    assert ground.get(path) == before


def test_what_is_listed_can_be_ticked(vault: Ground) -> None:
    vault.put("Long.md", f"- [ ] {'very ' * 100}long\n- [ ] short\n")
    for task in vault.call("list_tasks")["tasks"]:
        vault.call("set_task", name=task["path"], task=task["text"])
    assert listed(vault) == []


def test_a_dry_run_changes_nothing_and_shows_what_would_be(ground: Ground) -> None:
    path = ground.put("Note.md", "- [ ] one\n")
    done = ground.call("set_task", name=path, task="one", mark="/", dry_run=True)
    assert "+- [/] one" in done["diff"]
    assert done["etag"] == hashlib.sha256(b"- [ ] one\n").hexdigest()[:16]
    assert ground.get(path) == b"- [ ] one\n"


def test_a_task_that_has_the_mark_is_left_alone(ground: Ground) -> None:
    path = ground.put("Note.md", "- [x] one\n")
    done = ground.call("set_task", name=path, task="one")
    assert "already" in done["note"]
    assert done["diff"] == ""
    assert ground.get(path) == b"- [x] one\n"


def test_the_done_date_comes_and_goes_as_the_vault_says(without_app: Ground) -> None:
    without_app.put(SETTINGS, '{"setDoneDate": true, "taskFormat": "tasksPluginEmoji", "globalFilter": "#t"}')
    before = b"- [ ] one #t ^id\n- [ ] two\n"
    path = without_app.put("Note.md", before)
    for task in ("one", "two"):
        without_app.call("set_task", name=path, task=task)
    after = without_app.get(path).decode()
    assert re.fullmatch(r"- \[x\] one #t ✅ \d{4}-\d\d-\d\d \^id\n- \[x\] two\n", after)
    for task in ("one", "two"):
        without_app.call("set_task", name=path, task=task, mark=" ")
    assert without_app.get(path) == before


WORDS = {"done": "x", "[x]": "x", "Completed": "x", "todo": " ", "[ ]": " ", "to do": " ", "cancelled": "-", "/": "/"}


@pytest.mark.parametrize(("word", "mark"), WORDS.items(), ids=WORDS)
def test_a_mark_may_be_said_in_words(ground: Ground, word: str, mark: str) -> None:
    path = ground.put("Note.md", "- [?] a\n")
    ground.call("set_task", name=path, task="a", mark=word)
    assert ground.get(path) == f"- [{mark}] a\n".encode()


REFUSED: dict[str, tuple[dict[str, str], int, str]] = {
    "another text": ({"task": "buy mlk"}, NOT_FOUND, "buy milk (line 1)"),
    "a part of two": ({"task": "buy"}, AMBIGUOUS, "line 3, section Shop"),
    "two characters": ({"task": "buy milk", "mark": "xx"}, INVALID, "mark"),
    "a word that is no mark": ({"task": "buy milk", "mark": "later"}, INVALID, "x is done"),
    "no mark": ({"task": "buy milk", "mark": ""}, INVALID, "x is done"),
    "a line end": ({"task": "buy milk", "mark": "\n"}, INVALID, "mark"),
    "an older note": ({"task": "buy milk", "if_match": "0" * 16}, CHANGED, "etag"),
}


@pytest.mark.parametrize(("asked", "code", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_clear_changes_nothing_and_the_repair_is_told(
    ground: Ground, asked: dict[str, str], code: int, said: str
) -> None:
    path = ground.put("Note.md", "- [ ] buy milk\n# Shop\n- [ ] buy rice\n")
    failure = ground.fails("set_task", name=path, **asked)
    assert failure.code == code
    assert said in failure.message
