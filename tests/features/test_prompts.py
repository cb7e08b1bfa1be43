"""Prompts over MCP: those that everyone has, the person's own, and their arguments as they are typed."""

from __future__ import annotations

import re
from datetime import date
from itertools import combinations
from typing import Any

import pytest

from obsidian_mcp.call import CallContext
from obsidian_mcp.features import builtin_prompts
from obsidian_mcp.tools import catalogue, toolsets
from tests.support.client import MODERN_META, ToolFailed
from tests.support.memory import Files, Session, features, session

NAMES = ["daily_review", "weekly_review", "capture", "ask_vault", "connect", "meeting_note", "tidy"]
TOOL = re.compile(r"obsidian_[a-z_]+")


def got(client: Session, name: str, **arguments: str) -> str:
    result = client.result("prompts/get", name=name, arguments=arguments)
    (message,) = result["messages"]
    assert (message["role"], message["content"]["type"]) == ("user", "text")
    text: str = message["content"]["text"]
    return text


def completed(client: Session, prompt: str, argument: str, typed: str) -> list[str]:
    ref = {"type": "ref/prompt", "name": prompt}
    result = client.result("completion/complete", ref=ref, argument={"name": argument, "value": typed})
    values: list[str] = result["completion"]["values"]
    return values


def test_these_prompts_everyone_has() -> None:
    found = session(Files()).result("prompts/list")["prompts"]
    assert [each["name"] for each in found] == NAMES
    for each in found:
        assert each["title"]
        assert each["description"]
        arguments = each.get("arguments", [])
        assert len(arguments) <= 1
        assert not any(argument["required"] for argument in arguments)


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_names_tools_and_needs_no_argument(name: str) -> None:
    text = got(session(Files()), name)
    assert TOOL.findall(text)
    assert "data" in text
    assert "{" not in text
    assert len(text) < 1500


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("weekly_review", "daily_review")])
def test_what_a_person_says_gets_into_the_prompt_as_it_is(name: str) -> None:
    client = session(Files())
    (argument,) = next(each for each in client.result("prompts/list")["prompts"] if each["name"] == name)["arguments"]
    assert "{said} {x} Kyoto" in got(client, name, **{argument["name"]: "{said} {x} Kyoto"})


def test_a_prompt_fits_the_tools_that_are_on() -> None:
    """Whatever sets are chosen, no prompt names a tool that is off."""
    for count in range(1, len(toolsets.TOOLSETS) + 1):
        for sets in combinations(toolsets.TOOLSETS, count):
            for read_only in (False, True):
                tools = catalogue.load(read_only, sets=sets).names
                for prompt in builtin_prompts.offered(tools):
                    text = prompt.text("", tools, date(2026, 11, 18))
                    assert set(TOOL.findall(text)) <= set(tools), (prompt.name, sets)


def test_what_only_changes_is_not_there_where_nothing_may_be_changed() -> None:
    tools = catalogue.load(read_only=True).names
    assert [each.name for each in builtin_prompts.offered(tools)] == [
        "daily_review",
        "weekly_review",
        "ask_vault",
        "connect",
    ]


DAYS = {"": "@daily.", "today": "@daily.", "yesterday": "@daily:yesterday.", "2026-01-02": "@daily:2026-01-02."}


@pytest.mark.parametrize(("given", "note"), DAYS.items())
def test_a_review_is_of_the_day_that_is_named(given: str, note: str) -> None:
    assert f"name {note}" in got(session(Files()), "daily_review", **({"date": given} if given else {}))


def test_a_day_in_other_words_is_left_to_the_model() -> None:
    text = got(session(Files()), "daily_review", date="letzten Freitag")
    assert "'letzten freitag'" in text
    assert "@daily:YYYY-MM-DD" in text


OWN = {
    "Prompts/Book review.md": b"---\ndescription: Reviews.\n---\nReview {{book}}.",
    "Prompts/More/Tidy.md": "Räum {{note}} auf.".encode(),
    "Prompts/Empty.md": b"",
    "Prompts/picture.png": b"\x89PNG",
    "Prompts/bad.md": b"\xff",
    "Elsewhere/Not a prompt.md": b"{{x}}",
    "Notes/Kyoto trip.md": b"",
}


def test_notes_of_the_prompts_folder_are_prompts() -> None:
    client = session(Files(OWN))
    found = {each["name"]: each for each in client.result("prompts/list")["prompts"]}
    assert set(found) == {*NAMES, "book_review"}
    assert found["book_review"] == {
        "name": "book_review",
        "title": "Book review",
        "description": "Reviews.",
        "arguments": [{"name": "book", "required": False}],
    }
    assert got(client, "book_review", book="Walden") == "Review Walden."
    assert got(client, "tidy", note="Kyoto") == "Räum Kyoto auf."  # the person's own comes instead of ours


def test_two_of_one_name_are_numbered() -> None:
    client = session(Files({"Prompts/A b.md": b"1", "Prompts/a-b.md": b"2"}))
    assert [got(client, "a_b"), got(client, "a_b_2")] == ["1", "2"]


def test_nothing_but_the_folder_is_read() -> None:
    opened: list[str] = []

    class Watched(Files):
        def __getitem__(self, path: str) -> bytes:
            opened.append(path)
            return super().__getitem__(path)

    features(Watched(OWN)).prompts.listed(CallContext())
    assert "Prompts/Book review.md" in opened
    assert [path for path in opened if not path.startswith("Prompts/")] == []


REFUSED: dict[str, dict[str, Any]] = {
    "no such prompt": {"name": "nope"},
    "no name": {},
    "arguments that are no object": {"name": "capture", "arguments": ["x"]},
    "an argument that is no text": {"name": "capture", "arguments": {"text": 7}},
    "a required one is missing": {"name": "strict", "arguments": {}},
    "a required one is empty": {"name": "strict", "arguments": {"a": " "}},
}


@pytest.mark.parametrize("params", REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_said_is_refused(params: dict[str, Any]) -> None:
    files = Files({"Prompts/strict.md": b"---\narguments: {a: {required: true}}\n---\n{{a}}"})
    with pytest.raises(ToolFailed) as caught:
        session(files).result("prompts/get", **params)
    assert caught.value.code == -32602


def test_arguments_complete() -> None:
    client = session(Files({**OWN, "Prompts/f.md": b"{{folder}}"}))
    assert completed(client, "connect", "note", "kyo") == ["Notes/Kyoto trip"]
    assert completed(client, "book_review", "book", "kyo") == ["Notes/Kyoto trip"]
    assert completed(client, "f", "folder", "m") == ["Prompts/More", "Prompts"]
    assert completed(client, "daily_review", "date", "2026-11-1")[:2] == ["2026-11-18", "2026-11-17"]
    assert completed(client, "daily_review", "date", "")[:3] == ["today", "yesterday", "2026-11-18"]
    for prompt, argument in (("connect", "x"), ("nope", "note"), ("weekly_review", "note")):
        with pytest.raises(ToolFailed) as caught:
            completed(client, prompt, argument, "")
        assert caught.value.code == -32602


def test_in_the_stateless_era_the_list_is_private_and_a_prompt_is_complete() -> None:
    client = session(Files())
    listed = client.result("prompts/list", _meta=MODERN_META)
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "private")
    assert client.result("prompts/get", name="capture", _meta=MODERN_META)["resultType"] == "complete"
