from __future__ import annotations

import pytest

from obsidian_mcp.call import CallContext
from obsidian_mcp.protocol import clients, results
from obsidian_mcp.tools.notes import LEAST_TEXT, obsidian_read_note
from tests.support.memory import Files, context

DEEP = "/".join("f" * 200 for _ in range(20)) + "/Note.md"  # longer than the smallest page


@pytest.mark.parametrize("text", ["", "x", "é\n" * 400])
def test_a_note_with_a_very_long_path_is_read_all_the_same(text: str) -> None:
    it = context(Files({DEEP: text.encode()}))("Memory", CallContext(), min(clients.PAGES.values()))
    parts: list[str] = []
    onwards: dict[str, int] = {}
    while True:
        data = obsidian_read_note.run(obsidian_read_note.parse({"name": DEEP, **onwards}), it)
        parts.append(data["content"])
        assert results.size(data) <= results.size({**data, "content": ""}) + LEAST_TEXT
        if "next_line" not in data:
            break
        onwards = {"start_line": data["next_line"], "start_char": data.get("next_char", 1)}
    assert "".join(parts) == text
