"""What a model sees of a reply, and nothing else.

The structured content if there is any, else the text; of an error the message alone. The agents get this and never
the reply itself, so nothing that a host would drop can help them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench.quality import strings


@dataclass(frozen=True)
class Seen:
    text: str
    is_error: bool = False

    @property
    def data(self) -> Any:
        """What the text says, where it is JSON."""
        try:
            return json.loads(self.text)
        except ValueError:
            return None

    def strings(self) -> Iterator[str]:
        """Every text in it: the values of JSON, else its lines."""
        data = self.data
        yield from self.text.splitlines() if data is None else strings(data)

    def value(self, *names: str) -> Any:
        """The first value that has one of these names, wherever it is."""
        return next(_values(self.data, names), None)


NOTHING = Seen("")


def seen(reply: Mapping[str, Any]) -> Seen:
    if "error" in reply:
        return Seen(str(reply["error"].get("message", "")), is_error=True)
    result = reply.get("result") or {}
    text = "\n".join(part["text"] for part in result.get("content") or () if isinstance(part.get("text"), str))
    if result.get("isError"):
        return Seen(text, is_error=True)
    structured = result.get("structuredContent")
    return Seen(text if structured is None else compact(structured))


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _values(value: Any, names: tuple[str, ...]) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (value[name] for name in names if value.get(name) is not None)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _values(inner, names)
