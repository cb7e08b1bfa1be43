"""What a value must look like, to the last field: strict clients take nothing that the specs don't name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Shape = Any  # a type, a value, a test, a list of one shape, or the fields of an object ("name?" may be absent)


def fits(value: Any, shape: Shape, at: str = "reply") -> Any:
    """The value, if it is of that shape; what is missing, unknown or of another kind fails the test."""
    if isinstance(shape, dict):
        _fields(value, shape, at)
    elif isinstance(shape, list):
        assert isinstance(value, list), f"{at} is not a list: {value!r}"
        for number, one in enumerate(value):
            fits(one, shape[0], f"{at}[{number}]")
    elif isinstance(shape, type):
        assert type(value) is shape, f"{at} is not of the type {shape.__name__}: {value!r}"
    elif isinstance(shape, Callable):  # type: ignore[arg-type]  # an abstract class will do here
        assert shape(value), f"{at} is refused: {value!r}"
    else:
        assert value == shape, f"{at} is not {shape!r}: {value!r}"
        assert type(value) is type(shape), f"{at} is not {shape!r}: {value!r}"
    return value


def _fields(value: Any, shape: dict[str, Shape], at: str) -> None:
    assert isinstance(value, dict), f"{at} is not an object: {value!r}"
    known = {name.rstrip("?"): inner for name, inner in shape.items()}
    missing = {name for name in shape if not name.endswith("?")} - set(value)
    assert not missing, f"{at} lacks {sorted(missing)}: {value!r}"
    assert not set(value) - set(known), f"{at} has fields that the specs don't name: {sorted(set(value) - set(known))}"
    for name, inner in value.items():
        fits(inner, known[name], f"{at}.{name}")


def one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: any(value == each and type(value) is type(each) for each in values)


def text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def count(value: Any) -> bool:
    return type(value) is int and value >= 0


TEXT_CONTENT = {"type": "text", "text": str}


def schema(value: Any) -> bool:
    """Of a tool's arguments."""
    return isinstance(value, dict) and value["type"] == "object" and isinstance(value["properties"], dict)
