"""Files that aren't notes, and whose text is only of use in its syntax: a canvas is JSON, a base is YAML."""

from __future__ import annotations

import json

from obsidian_mcp.vault import frontmatter

SYNTAX = {"canvas": "JSON", "json": "JSON", "base": "YAML"}


def problem(extension: str, text: str) -> str | None:
    """Why the app could not read such a file; an empty one it can."""
    kind = SYNTAX.get(extension.lower())
    if kind is None or not text.strip():
        return None
    return _of_json(text, extension.lower() == "canvas") if kind == "JSON" else frontmatter.problem_of(text)


def _of_json(text: str, is_object: bool) -> str | None:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as invalid:
        return f"Line {invalid.lineno}: {invalid.msg}."
    except (ValueError, RecursionError):
        return "It is too deep, or has a number that is too long."
    return "It is not an object." if is_object and not isinstance(value, dict) else None
