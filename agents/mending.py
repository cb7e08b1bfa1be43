"""What an agent makes of an error: the arguments to try next, out of the message alone.

The rules are general. They know a tool's schema, as a model does, and the words of the request; they know nothing of
a task's answer, nor of any one server's way to put things. Names and texts that a message shows are candidates for
what was wrong, and the one is taken that the request speaks of, else the one that is most like what was sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Any

from agents.seen import Seen

Arguments = Mapping[str, Any]
Rule = Callable[[Arguments, Mapping[str, Any], str, str], dict[str, Any] | None]
LIKE = 0.75
QUOTED = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"|`([^`\n]+)`|“([^”\n]+)”|\(([^()\n]+)\)")
BETWEEN = re.compile(r"[:;,\n]\s+|\.\s+|\s(?:are|is)\s|\s-\s|[\[\]]")
GUARD = re.compile(r"match|etag|hash|revision|version", re.IGNORECASE)
ETAG = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,64}\b")


def mend(arguments: Arguments, schema: Mapping[str, Any], message: str, request: str) -> dict[str, Any] | None:
    """None where the message has nothing to go by."""
    message = "\n".join(Seen(message).strings())
    for rule in RULES:
        better = rule(arguments, schema, message, request)
        if better is not None and better != arguments:
            return better
    return None


def other_name(arguments: Arguments, schema: Mapping[str, Any], message: str, _: str) -> dict[str, Any] | None:
    """An argument that the tool doesn't have becomes the one that is missing."""
    unknown = [key for key in arguments if key not in schema.get("properties", {})]
    missing = [key for key in schema.get("required", ()) if key not in arguments and key in message]
    if len(unknown) != 1 or len(missing) != 1:
        return None
    return {missing[0] if key == unknown[0] else key: value for key, value in arguments.items()}


def as_list(arguments: Arguments, schema: Mapping[str, Any], message: str, _: str) -> dict[str, Any] | None:
    """One text where several are wanted."""
    for key, value in arguments.items():
        if isinstance(value, str) and key in message and re.search(r"\b(list|array)\b", message):
            return {**arguments, key: [value]}
    return None


def without_nulls(arguments: Arguments, schema: Mapping[str, Any], message: str, _: str) -> dict[str, Any] | None:
    given = {key: value for key, value in arguments.items() if value is not None}
    return given if any(key in message for key in arguments.keys() - given.keys()) else None


def within_bound(arguments: Arguments, schema: Mapping[str, Any], message: str, _: str) -> dict[str, Any] | None:
    """The largest number that the message allows."""
    for key, value in arguments.items():
        numbers = [int(found.replace(",", "")) for found in re.findall(r"\b\d[\d,]*\b", message)]
        allowed = [number for number in numbers if 0 < number < value] if type(value) is int else []
        if allowed and key in message:
            return {**arguments, key: max(allowed)}
    return None


def newer_etag(arguments: Arguments, schema: Mapping[str, Any], message: str, _: str) -> dict[str, Any] | None:
    for key, value in arguments.items():
        tokens = [token for token in ETAG.findall(message) if token != value]
        if GUARD.search(key) and isinstance(value, str) and tokens:
            return {**arguments, key: tokens[0]}
    return None


def other_operator(arguments: Arguments, schema: Mapping[str, Any], message: str, _: str) -> dict[str, Any] | None:
    """A word before a colon that is no operator: written as the message says a property is, or left out."""
    for key, value in arguments.items():
        for word in quoted(message):
            term = re.search(rf"\b{re.escape(word)}:(\S+)", value) if isinstance(value, str) else None
            if term:
                better = f"[{term[0]}]" if f"[{word}:" in message else ""
                return {**arguments, key: " ".join(value.replace(term[0], better).split())}
    return None


def other_value(arguments: Arguments, schema: Mapping[str, Any], message: str, request: str) -> dict[str, Any] | None:
    """A name or a text that isn't there, or is not the only one, becomes one that the message shows."""
    texts = {key: value for key, value in arguments.items() if isinstance(value, str)}
    named = [key for key, value in texts.items() if value in quoted(message)]
    spoken_of = named or [key for key, value in texts.items() if value in message or key in message]
    others = [piece for piece in pieces(message) if piece not in texts.values() and piece not in schema["properties"]]
    found = {key: chosen(texts[key], others, _left(request, arguments)) for key in spoken_of}
    likely = {key: best for key, best in found.items() if best is not None}
    shown = {piece for piece in others if piece.endswith(".md")}
    if named and not likely and len(shown) == 1:
        return {**arguments, named[0]: shown.pop()}  # it is another name of the one note that is shown
    wrong = max(likely, key=lambda key: likeness(texts[key], likely[key]), default=None)
    return None if wrong is None else {**arguments, wrong: likely[wrong]}


def narrower(arguments: Arguments, schema: Mapping[str, Any], message: str, request: str) -> dict[str, Any] | None:
    """What stands in several places is looked for in the section that the request speaks of."""
    free = [key for key in ("section", "heading") if key in schema.get("properties", {}) and key not in arguments]
    wanted = _left(request, arguments)
    found = max(quoted(message), key=lambda piece: len(_words(piece) & wanted), default="")
    return {**arguments, free[0]: found} if free and _words(found) & wanted else None


RULES: tuple[Rule, ...] = (
    other_name, without_nulls, as_list, within_bound, newer_etag, other_operator, narrower, other_value,
)  # fmt: skip


def quoted(message: str) -> list[str]:
    return [next(filter(None, groups)) for groups in QUOTED.findall(message)]


def pieces(message: str) -> Iterator[str]:
    """Whatever in a message may be a name: what is quoted, and what stands in a list."""
    yield from quoted(message)
    for piece in BETWEEN.split(message):
        yield piece.lstrip(" \t*•'\"`").rstrip(" \t.'\"`")


def chosen(value: str, candidates: list[str], wanted: set[str]) -> str | None:
    """The candidate that has most of the words, then the one that is most like the value."""

    def rank(candidate: str) -> tuple[int, float]:
        return len(_words(candidate) & wanted), likeness(value, candidate)

    others = [each for each in candidates if each and each.removesuffix(".md") != value.removesuffix(".md")]
    best = max(others, key=rank, default=None)
    if best is None:
        return None
    by_words = rank(best)[0] > 0 and value.lower() in best.lower()
    return best if by_words or likeness(value, best) >= LIKE else None


def likeness(one: str, other: str) -> float:
    ends = [(one, other), (_stem(one), _stem(other))]
    return max(SequenceMatcher(None, left.lower(), right.lower()).ratio() for left, right in ends)


def _stem(path: str) -> str:
    return PurePosixPath(path).name.removesuffix(".md")


def _left(request: str, arguments: Arguments) -> set[str]:
    """The words of the request that no argument has said yet."""
    return _words(request) - _words(" ".join(value for value in arguments.values() if isinstance(value, str)))


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3 or word.isdigit()}
