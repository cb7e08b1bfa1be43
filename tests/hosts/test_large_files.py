"""A host's file may be large: Claude Code keeps whole histories in the one that names its servers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from obsidian_mcp.hosts import jsonc
from obsidian_mcp.hosts.configure import Change
from tests.support.growth import require_linear

ENTRY = {"type": "stdio", "command": "obsidian-mcp", "args": ["--vault", "/v"]}
SECTION = "mcpServers"


def numbered(size: int) -> dict[str, int]:
    return {f"k{number}": number for number in range(size)}


def after_much(size: int, rest: str) -> str:
    """What is done again for each member costs little in itself: the file has to be long for it to be seen."""
    return f'{{"history": "{"x" * size * 400}", {rest[1:]}'


FILES: dict[str, Callable[[int], str]] = {
    "members in one line, the bracket in another": lambda n: after_much(n, json.dumps(numbered(n))[:-1] + "\n}"),
    "servers in one line": lambda n: after_much(n, f'{{"{SECTION}": {json.dumps(numbered(n))[:-1]}\n}}}}'),
    "objects in a list": lambda n: after_much(n, json.dumps({"a": [{"b": {"c": {"d": []}}}] * n})),
    "escapes": lambda n: json.dumps({"a": '\\"' * n * 40}),
    "empty lines": lambda n: "{" + "\n" * n * 40 + "}",
}


@pytest.mark.parametrize("comments", [False, True])
@pytest.mark.parametrize("what", FILES)
def test_a_file_is_looked_at_and_changed_in_time_that_its_length_allows(what: str, comments: bool) -> None:
    def visit(size: int) -> None:
        text = FILES[what](size)
        jsonc.section(text, SECTION, comments)
        after = jsonc.with_entry(text, SECTION, "obsidian", ENTRY, comments)
        Change("", text.encode(), after.encode()).difference()
        assert "obsidian" not in jsonc.section(jsonc.without_entry(after, SECTION, "obsidian", comments), SECTION)

    require_linear(visit)
