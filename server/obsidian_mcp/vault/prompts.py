"""A person's own prompt: a note whose text is what they would say, with `{{placeholders}}` for what they say each time.

Its properties may give it a `name`, a `description` and `arguments`; without them it is called like the note, and its
placeholders are its arguments. `{{date}}` and `{{time}}` are now, unless they are given; with a format, as in
templates, they are no arguments.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.moment import formatted

LONGEST_NAME = 40
LONGEST_DESCRIPTION = 200
MOST_ARGUMENTS = 20
_PLACEHOLDER = re.compile(r"\{\{[ \t]{0,9}([^\W\d][\w -]{0,39}?)[ \t]{0,9}(?::([^{}\r\n]{1,200}?))?[ \t]{0,9}\}\}")
_NOW = {"date": "YYYY-MM-DD", "time": "HH:mm"}
_NOT_A_LETTER = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: str = ""


def read(stem: str, note: str) -> Prompt | None:
    """None if the note says nothing."""
    properties = frontmatter.read(note)
    body = note[properties.body :].removeprefix("\ufeff").strip()
    if not body:
        return None
    given = {key.lower(): value for key, value in properties.values.items()}
    name = slug(_text(given.get("name"))) or slug(stem) or "prompt"
    description = _text(given.get("description")) or body.splitlines()[0].lstrip("#> ")
    return Prompt(name, stem, _line(description, LONGEST_DESCRIPTION), _arguments(given.get("arguments"), body), body)


def filled(prompt: Prompt, values: Mapping[str, str], now: datetime) -> str:
    """What is filled in is not read again. What is given for an argument without a placeholder comes after the text."""
    places = {found[1] for found in _PLACEHOLDER.finditer(prompt.text) if found[2] is None}

    def value(found: re.Match[str]) -> str:
        name, pattern = found[1], found[2]
        if pattern is not None:
            return formatted(now, pattern) if name.lower() in _NOW else found[0]
        if values.get(name, "").strip():
            return values[name]
        if name.lower() in _NOW:
            return formatted(now, _NOW[name.lower()])
        return f"({name}: not given; see the words after the command, or ask)"

    more = [each.name for each in prompt.arguments if each.name not in places and values.get(each.name, "").strip()]
    return "\n\n".join([_PLACEHOLDER.sub(value, prompt.text), *(f"{name}: {values[name]}" for name in more)])


def slug(text: str) -> str:
    """A name that can be typed as a command: lower case, `_` for whatever is not a letter or a digit."""
    plain = unicodedata.normalize("NFC", text).lower()
    return _NOT_A_LETTER.sub("_", plain).strip("_")[:LONGEST_NAME].rstrip("_")


def _arguments(declared: Any, body: str) -> tuple[Argument, ...]:
    """Those that the properties name, then the other placeholders in the order in which they come."""
    found = {argument.name: argument for argument in _declared(declared)}
    for placeholder in _PLACEHOLDER.finditer(body):
        if placeholder[2] is None:
            found.setdefault(placeholder[1], Argument(placeholder[1]))
    return tuple(found.values())[:MOST_ARGUMENTS]


def _declared(value: Any) -> list[Argument]:
    if isinstance(value, str):
        value = value.split(",")
    if isinstance(value, Mapping):
        value = [
            {**about, "name": name} if isinstance(about, Mapping) else {"name": name, "description": about}
            for name, about in value.items()
        ]
    return [argument for each in value if (argument := _one(each))] if isinstance(value, list) else []


def _one(value: Any) -> Argument | None:
    about = value if isinstance(value, Mapping) else {"name": value}
    name = _line(_text(about.get("name")), LONGEST_NAME)
    described = _line(_text(about.get("description")), LONGEST_DESCRIPTION)
    return Argument(name, described, about.get("required") is True) if name else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
