from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.protocol import quickjson

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
TEXTS = st.text(alphabet='{}[]",:\\u0041nulltrefas 0123456789.eE+-\n\t\x00', max_size=30) | VALUES.map(json.dumps)
PACKAGE_DECODE, PACKAGE_ENCODE = quickjson.packaged()


def outcome(decode: Any, text: str) -> tuple[str, Any]:
    try:
        return "value", repr(decode(text))
    except (ValueError, RecursionError) as problem:
        return type(problem).__name__, str(problem)


def test_the_accelerator_of_this_interpreter_is_the_one_that_is_known() -> None:
    assert quickjson.decode is not PACKAGE_DECODE
    assert quickjson.accelerated()


@given(VALUES)
def test_values_are_written_as_the_package_writes_them(value: Any) -> None:
    assert quickjson.encode(value) == PACKAGE_ENCODE(value)
    assert quickjson.decode(quickjson.encode(value)) == value


@given(TEXTS)
def test_texts_are_read_as_the_package_reads_them_right_or_wrong(text: str) -> None:
    assert outcome(quickjson.decode, text) == outcome(PACKAGE_DECODE, text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "1 2", "NaN", "-Infinity", "1e999", '"\ud800"', "[" * 100_000, "9" * 5000, '"\x01"', "\ufeff{}", "{} \n"],
)
def test_odd_texts_are_read_as_the_package_reads_them(text: str) -> None:
    assert outcome(quickjson.decode, text) == outcome(PACKAGE_DECODE, text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x", object()])
def test_what_is_no_json_is_not_written(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        quickjson.encode({"a": [value]})


def test_without_the_accelerator_the_package_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise ImportError

    monkeypatch.setattr(quickjson, "accelerated", missing)
    decode, encode = quickjson._chosen()
    assert encode({"é": [1.5]}) == '{"é":[1.5]}'
    assert decode(' {"a":1} ') == {"a": 1}
