"""What a declaration yields."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import pytest
from pydantic import Field

from obsidian_mcp.errors import BadArguments
from obsidian_mcp.tools.tool import Context, Effect, NamesNote, Params, plain, tool
from obsidian_mcp.tools.toolsets import NOTES

Note = Annotated[str, NamesNote()]


class Joined(Params):
    first: Note
    others: Annotated[list[str], NamesNote()] = Field(default_factory=list)
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Part:
    path: str
    line: int | None = None


@dataclasses.dataclass(frozen=True)
class Whole:
    parts: list[Part]
    best: Part | None = None


@tool("Join notes", Effect.CHANGES, NOTES)
def obsidian_join(params: Joined, it: Context) -> Whole:
    """Join several notes."""
    return Whole([Part(params.first), *(Part(other, 1) for other in params.others)])


def test_touched_notes_follow_from_the_types_of_fields_not_from_their_names() -> None:
    assert obsidian_join.touches == ["first", "others"]


def test_results_may_nest_and_what_is_not_known_is_left_out() -> None:
    it: Any = None
    done = obsidian_join.run(obsidian_join.parse({"first": "A", "others": ["B"]}), it)
    assert done == {"parts": [{"path": "A"}, {"path": "B", "line": 1}]}


def test_a_nested_result_is_listed_without_references() -> None:
    data = obsidian_join.listing()["outputSchema"]["properties"]["data"]
    assert data["properties"]["parts"]["items"]["properties"]["line"] == {"type": "integer"}
    assert "$ref" not in str(data)


def test_wrong_arguments_name_what_is_wrong_and_what_there_is() -> None:
    with pytest.raises(BadArguments) as caught:
        obsidian_join.parse({"others": "B"})
    assert caught.value.data["missing"] == ["first"]
    assert caught.value.message.endswith("Its arguments are first, others, name.")


def test_a_declaration_is_a_value_and_registers_nothing() -> None:
    from obsidian_mcp.tools import catalogue

    assert obsidian_join.name not in catalogue.declared()
    with pytest.raises(dataclasses.FrozenInstanceError):
        obsidian_join.title = "Other"  # type: ignore[misc]  # that is what is tested


def test_plain_values_stay_as_they_are() -> None:
    assert plain({"a": [1, "x", None]}) == {"a": [1, "x", None]}


@pytest.mark.parametrize(("given", "meant"), [('["A", "B"]', ["A", "B"]), ("A", ["A"]), ("[A", ["[A"])])
def test_a_text_for_a_list_is_what_it_says(given: str, meant: list[str]) -> None:
    parsed = obsidian_join.parse({"first": "N", "others": given, "name": "[1]"})
    assert isinstance(parsed, Joined)
    assert (parsed.others, parsed.name) == (meant, "[1]")
