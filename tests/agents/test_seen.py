"""An agent sees what a model sees."""

from __future__ import annotations

import inspect

from agents import mending, policies
from agents.seen import seen

TEXT = [{"type": "text", "text": "in words"}]


def test_the_structured_content_is_seen_and_the_text_beside_it_is_not() -> None:
    found = seen({"result": {"content": TEXT, "structuredContent": {"a": 1}}})
    assert (found.text, found.data) == ('{"a":1}', {"a": 1})


def test_without_structured_content_the_text_is_seen() -> None:
    assert seen({"result": {"content": TEXT}}).text == "in words"


def test_of_an_error_the_message_alone_is_seen() -> None:
    error = {"code": -32003, "message": "There is no such note.", "data": {"nearest": ["A.md"]}}
    found = seen({"error": error})
    assert (found.text, found.is_error) == ("There is no such note.", True)
    assert "A.md" not in repr(found)


def test_of_a_tools_own_error_the_text_alone_is_seen() -> None:
    found = seen({"result": {"isError": True, "content": TEXT, "structuredContent": {"nearest": ["A.md"]}}})
    assert (found.text, found.is_error) == ("in words", True)


def test_what_is_not_text_is_not_seen() -> None:
    assert seen({"result": {"content": [{"type": "image", "data": "AAAA"}], "_meta": {"secret": 1}}}).text == ""


def test_a_value_is_found_by_its_name() -> None:
    assert seen({"result": {"structuredContent": {"data": [{"etag": "ab"}]}}}).value("etag") == "ab"


def test_what_mends_a_call_knows_no_task() -> None:
    for module in (mending, policies):
        imported = {line for line in inspect.getsource(module).splitlines() if line.startswith(("from ", "import "))}
        assert not [line for line in imported if any(word in line for word in ("notes", "tasks", "mistakes", "vault"))]
