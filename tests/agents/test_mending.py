"""What an agent makes of a message, whoever has written it."""

from __future__ import annotations

from typing import Any

import pytest

from agents.mending import mend


def schema(*names: str, required: tuple[str, ...]) -> dict[str, Any]:
    return {"properties": {name: {} for name in names}, "required": list(required)}


EDIT = schema("name", "old_text", "new_text", "section", "if_match", required=("name", "new_text"))
SEARCH = schema("query", "limit", "show", required=("query",))
ADD = schema("name", "section", required=("name",))

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str, str, dict[str, Any]]] = {
    "a name that is meant": (
        {"name": "Kyto"}, ADD, "There is no note 'Kyto'. The nearest are Trips/Kyoto.md, Tokyo.md.", "",
        {"name": "Trips/Kyoto.md"},
    ),
    "a name that is meant, in other words": (
        {"name": "Kyto"}, ADD, 'File not found: Kyto. Did you mean "Kyoto"?', "", {"name": "Kyoto"},
    ),
    "one of several, as the request says": (
        {"name": "Index"}, ADD, "2 notes are called 'Index': Home/Index.md, Work/Index.md.", "the index of work",
        {"name": "Work/Index.md"},
    ),
    "the one note that is shown": (
        {"name": "Nihon"}, ADD, "There is no note 'Nihon'. Notes with that alias: Trips/Kyoto.md.", "",
        {"name": "Trips/Kyoto.md"},
    ),
    "a section that is meant": (
        {"name": "A", "section": "Logs"}, ADD, "A.md has no section 'Logs'. It has: Kyoto; Log; Plan.", "",
        {"name": "A", "section": "Log"},
    ),
    "the section of the one that is meant": (
        {"name": "A", "old_text": "run", "new_text": "swim"}, EDIT,
        "old_text stands 2 times: line 3 (Week 1): run; line 7 (Week 2): run.", "swim in week 2",
        {"name": "A", "old_text": "run", "new_text": "swim", "section": "Week 2"},
    ),
    "the text as it stands there": (
        {"name": "A.md", "old_text": "leaves at 9:30 from here", "new_text": "x"}, EDIT,
        'A.md does not have old_text. The nearest is in line 4: "leaves at 9:40 from here".', "",
        {"name": "A.md", "old_text": "leaves at 9:40 from here", "new_text": "x"},
    ),
    "the etag of now": (
        {"name": "A", "new_text": "x", "if_match": "0123456789abcdef"}, EDIT,
        "A.md has changed: its etag is fedcba9876543210, not 0123456789abcdef.", "",
        {"name": "A", "new_text": "x", "if_match": "fedcba9876543210"},
    ),
    "the argument that is missing": (
        {"name": "A", "replacement": "x"}, EDIT, "new_text is missing; there is no argument 'replacement'.", "",
        {"name": "A", "new_text": "x"},
    ),
    "a list": ({"query": "a", "show": "b"}, SEARCH, "show: input should be a list", "", {"query": "a", "show": ["b"]}),
    "a bound": ({"query": "a", "limit": 50}, SEARCH, "limit must be at most 20", "", {"query": "a", "limit": 20}),
    "a property instead of an operator": (
        {"query": "status:done a"}, SEARCH, 'operator "status" is not recognized; a property is [status:value]', "",
        {"query": "[status:done] a"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("sent", "its_schema", "message", "request_", "better"), CASES.values(), ids=CASES)
def test_the_message_is_followed(
    sent: dict[str, Any], its_schema: dict[str, Any], message: str, request_: str, better: dict[str, Any]
) -> None:
    assert mend(sent, its_schema, message, request_) == better


@pytest.mark.parametrize(
    "message",
    ["Not found.", "There is no note 'Kyto'.", "There is no note 'Kyto'. The nearest are Accounts.md, Zebra.md.", ""],
)
def test_a_message_without_the_repair_mends_nothing(message: str) -> None:
    assert mend({"name": "Kyto"}, ADD, message, "write to Kyto") is None
