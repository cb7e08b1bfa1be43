"""JSON by the interpreter's own accelerator, without the package around it.

`json` loads `re` and `enum`, which takes as long as everything else before our
first reply. Values and texts come out as the package makes them. Whatever is
wrong with a text, the package says; and where the accelerator is not the one
known here, the package does all of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SPACE = " \t\n\r"


def _number(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:20]} is out of range")
    return number


def _constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON value")


def _unknown(value: Any) -> Any:
    raise TypeError(f"a {type(value).__name__} is not a JSON value")


class _Context:
    """What the accelerator asks for."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = staticmethod(_number)
    parse_int = int
    parse_constant = staticmethod(_constant)


def accelerated() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    """Raises where it is not as expected."""
    from _json import encode_basestring, make_encoder, make_scanner  # type: ignore[import-not-found, unused-ignore]  # private

    scan = make_scanner(_Context())  # type: ignore[arg-type, unused-ignore]  # its stubs differ
    chunks = make_encoder(None, _unknown, encode_basestring, None, ":", ",", False, False, False)

    def decode(text: str) -> Any:
        try:
            value, end = scan(text, len(text) - len(text.lstrip(SPACE)))
        except (StopIteration, ValueError, SystemError):  # the last where it has no error to raise: that is json's
            return packaged()[0](text)  # which says what is wrong
        return value if end == len(text) or not text[end:].strip(SPACE) else packaged()[0](text)

    def encode(value: Any) -> str:
        return "".join(chunks(value, 0))

    sample = {"a": [1, "é\n", None, True, 1.5, {}]}
    if decode(encode(sample)) != sample or encode(sample) != '{"a":[1,"é\\n",null,true,1.5,{}]}':
        raise ValueError("the accelerator is another one")
    return decode, encode


def packaged() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    import json

    decoder = json.JSONDecoder(parse_float=_number, parse_constant=_constant)
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_unknown)
    return decoder.decode, encoder.encode


def _chosen() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    try:
        return accelerated()
    except (ImportError, TypeError, ValueError, AttributeError):
        return packaged()


decode, encode = _chosen()
