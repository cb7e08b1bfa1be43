"""What the evaluation makes of a session, and the script that it is tried with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.calls import Call
from agents.evaluation import Told, Trial, figures, read_stream, rows
from agents.everything import TASKS
from agents.scripted import next_of
from agents.tasks import Task

TOOL = {"name": "mcp__obsidian__obsidian_read_note"}


def said(*parts: dict[str, Any]) -> str:
    return json.dumps({"type": "assistant", "message": {"content": list(parts)}})


def test_a_session_is_read_from_its_stream() -> None:
    use = {"type": "tool_use", "name": "mcp__obsidian__obsidian_read_note"}
    usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2, "service_tier": "standard"}
    lines = [
        '{"type":"system","subtype":"init"}',
        said({"type": "text", "text": "Let me look."}, use, {"type": "tool_use", "name": "ToolSearch"}),
        "not JSON",
        json.dumps({"type": "result", "result": "In April.", "usage": usage}),
    ]
    assert read_stream("\n".join(lines)) == Told("In April.", ["obsidian_read_note"], 17)


def test_a_session_that_told_nothing_has_no_answer() -> None:
    assert read_stream("") == Told("", [], 0)


def trial(task: str, passed: bool) -> Trial:
    return Trial(task, passed, passed, Told("", [], 100))


def test_a_task_counts_for_all_trials_only_if_each_has_passed() -> None:
    trials = {"a": [trial("a", True)] * 5, "b": [*[trial("b", True)] * 4, trial("b", False)]}
    assert figures(trials) == {"pass@1": 0.9, "pass^5": 0.5, "first tool right": 0.9, "tokens a trial": 100}
    assert rows(trials)[1] == ("b", "4 of 5", "4 of 5", "100")


def test_the_script_follows_a_plan_by_what_it_was_shown() -> None:
    (task,) = [task for task in TASKS if task.name == "a fact"]
    request: dict[str, Any] = {"tools": [TOOL], "messages": [{"role": "user", "content": task.words}]}
    first = next_of(request)
    assert isinstance(first, Call)
    assert first.tool in task.first
    shown = "The cherries bloom in the first week of April, they say."
    request["messages"].append({"role": "user", "content": [{"type": "tool_result", "content": shown}]})
    assert next_of(request) == "the first week of April"


def test_the_script_does_nothing_without_the_tools() -> None:
    assert next_of({"messages": [{"role": "user", "content": TASKS[0].words}]}) == "Hello."


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_task_says_which_tools_are_right_to_begin_with(task: Task) -> None:
    request = {"tools": [TOOL], "messages": [{"role": "user", "content": task.words}]}
    first = next_of(request)
    assert isinstance(first, Call)
    assert first.tool in task.first
