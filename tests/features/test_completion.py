"""Names that complete: which files are suggested, and in which order."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.call import CallContext
from obsidian_mcp.features.completion import Completion, Names
from obsidian_mcp.features.resources import Served
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.seen import Seen
from tests.support.client import MODERN_META, ToolFailed
from tests.support.memory import Files, Session, session

TEMPLATE = "obsidian://vault/Memory/{+path}"


def complete(client: Session, typed: str, **more: Any) -> dict[str, Any]:
    ref = {"type": "ref/resource", "uri": TEMPLATE}
    result = client.result("completion/complete", ref=ref, argument={"name": "path", "value": typed}, **more)
    found: dict[str, Any] = result["completion"]
    return found


def test_the_order_is_exact_then_base_name_then_path_then_part_and_of_each_the_latest() -> None:
    latest_first = [
        "Tokyo.md",
        "kyo/Temples.md",
        "Food in Kyoto/Ramen.md",
        "Trips/Kyoto.md",
        "Trips/Kyo.md",
        "Other.md",
    ]
    found = Names(latest_first, 0).completing("KYO")
    assert found == ["Trips/Kyo.md", "Trips/Kyoto.md", "kyo/Temples.md", "Tokyo.md", "Food in Kyoto/Ramen.md"]


def test_nothing_typed_means_the_latest() -> None:
    client = session(Files({f"{number:03}.md": b"" for number in range(150)}))
    found = complete(client, "")
    assert found["values"] == [f"{number:03}.md" for number in range(149, 49, -1)]
    assert (found["total"], found["hasMore"]) == (150, True)


@pytest.mark.parametrize("typed", ["café", "CAFÉ", unicodedata.normalize("NFD", "café"), "bar/caf"])
def test_case_and_unicode_form_do_not_count(typed: str) -> None:
    client = session(Files({"Bar/Café.png": b"", "Other.md": b""}))
    assert complete(client, typed) == {"values": ["Bar/Café.png"], "total": 1, "hasMore": False}


def test_values_are_as_they_can_be_typed_and_not_encoded() -> None:
    client = session(Files({"A folder/100% sure.md": b""}))
    assert complete(client, "sure")["values"] == ["A folder/100% sure.md"]


REFUSED: dict[str, tuple[Any, Any]] = {
    "a template of another vault": ({"type": "ref/resource", "uri": "obsidian://vault/X/{+path}"}, None),
    "another kind": ({"type": "ref/other", "uri": TEMPLATE}, None),
    "no uri": ({"type": "ref/resource"}, None),
    "no ref": (None, None),
    "another variable": ({"type": "ref/resource", "uri": TEMPLATE}, {"name": "x", "value": ""}),
    "no value": ({"type": "ref/resource", "uri": TEMPLATE}, {"name": "path"}),
    "no object": ({"type": "ref/resource", "uri": TEMPLATE}, "path"),
}


@pytest.mark.parametrize(("ref", "argument"), REFUSED.values(), ids=REFUSED)
def test_what_there_is_not_can_not_be_completed(ref: Any, argument: Any) -> None:
    with pytest.raises(ToolFailed) as caught:
        session(Files()).result("completion/complete", ref=ref, argument=argument or {"name": "path", "value": ""})
    assert caught.value.code == -32602


def test_in_the_stateless_era_it_is_complete_and_not_cached() -> None:
    ref = {"type": "ref/resource", "uri": TEMPLATE}
    params = {"ref": ref, "argument": {"name": "path", "value": ""}, "context": {"arguments": {}}, "_meta": MODERN_META}
    result = session(Files()).result("completion/complete", **params)
    assert result["resultType"] == "complete"
    assert "ttlMs" not in result


def test_names_are_looked_at_again_after_two_seconds() -> None:
    now, walks = [0.0], [0]

    def files(label: str, call: CallContext) -> list[Seen]:
        walks[0] += 1
        return [Seen(0, 0, f"{walks[0]}.md")]

    completion = Completion(lambda: [Served("V", "V")], files, lambda: now[0])
    for at, seen in ((0.0, ["1.md"]), (2.0, ["1.md"]), (2.1, ["2.md"])):
        now[0] = at
        found = completion.of_template("obsidian://vault/V/{+path}", "path", "", CallContext())
        assert found.values == seen


def test_a_walk_that_takes_long_is_not_taken_again_at_every_key() -> None:
    now, walks = [0.0], [0]

    def files(label: str, call: CallContext) -> list[Seen]:
        walks[0] += 1
        now[0] += 5
        return [Seen(0, 0, "Note.md")]

    completion = Completion(lambda: [Served("V", "V")], files, lambda: now[0])
    for _ in range(3):
        completion.of_template("obsidian://vault/V/{+path}", "path", "", CallContext())
        now[0] += 0.5
    assert walks == [1]


@given(st.lists(st.text("aAbé/.md", max_size=8), max_size=12, unique=True), st.text("aAbé/.md", min_size=1, max_size=3))
def test_the_order_is_that_of_the_ranks(paths: list[str], typed: str) -> None:
    wanted = fold(typed)

    def rank(path: str) -> int:
        path = fold(path)
        base = path.rpartition("/")[2]
        if wanted in (path, base, path.removesuffix(".md"), base.removesuffix(".md")):
            return 0
        return 1 if base.startswith(wanted) else 2 if path.startswith(wanted) else 3

    assert Names(paths, 0).completing(typed) == sorted((each for each in paths if wanted in fold(each)), key=rank)
