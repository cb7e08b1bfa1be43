"""That what is sent arrives: the size of pages for each client, over a real process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from obsidian_mcp.protocol import clients
from tests.support.client import MODERN_META, Server
from tests.support.world import World

CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
READ = "obsidian_read_note"
ALPHABETS = {
    "Latin": "Ein Satz, wie er im Buche steht. ",
    "Greek": "Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία. ",
    "Cyrillic": "Съешь же ещё этих мягких французских булок. ",
    "Hebrew": "דג סקרן שט בים מאוכזב ",
    "Arabic": "نص حكيم له سر قاطع ",
    "Devanagari": "ऋषियों को सताने वाले ",
    "Thai": "เป็นมนุษย์สุดประเสริฐ",
    "Chinese": "天地玄黃宇宙洪荒",
    "Hangul": "키스의 고유조건은 ",
    "emoji": "👩‍🔬🇯🇵🏳️‍🌈",
    "combining marks": "e\u0301\u0323o\u0308",
    "quotes": '"',
    "backslashes": "\\",
    "control characters": "\x01\x1f\x7f\u2028\ufeff",
    "line ends": "\r\n\n",
    "tabs": "\t",
}


@pytest.fixture(scope="module")
def arrival(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    world = World(tmp_path_factory.mktemp("arrival"))
    for name, letters in ALPHABETS.items():
        world.put(f"{name}.md", _note(letters))
    with Server(world.environment(), "--vault", str(world.vault), "--backend", "embedded") as server:
        yield server


def _note(letters: str) -> str:
    """Some 60 KB: many lines, and one that is longer than the small page."""
    half = letters * (30_000 // len(letters.encode()))
    lines = [half[at : at + 211] for at in range(0, len(half), 211)]
    return "\n".join([*lines, half, "the end"])


def pages(server: Server, client: str, name: str) -> Iterator[dict[str, Any]]:
    meta = {**MODERN_META, CLIENT_INFO: {"name": client, "version": "1"}}
    if not client:
        del meta[CLIENT_INFO]
    onwards: dict[str, int] | None = {}
    while onwards is not None:
        call = {"name": READ, "arguments": {"name": name, **onwards}, "_meta": meta}
        result = server.request("tools/call", call)["result"]
        yield result
        data = result["structuredContent"]["data"]
        onwards = {f"start_{unit}": data[f"next_{unit}"] for unit in ("line", "char") if f"next_{unit}" in data} or None


@pytest.mark.parametrize("name", ALPHABETS)
def test_each_page_is_measured_as_it_travels_and_the_pages_are_the_note(arrival: Server, name: str) -> None:
    for client in (*clients.PAGES, "someone-else", ""):
        most, contents, sizes = clients.page_of(client), [], []
        for result in pages(arrival, client, name):
            structure = json.dumps(result["structuredContent"], ensure_ascii=False, separators=(",", ":"))
            assert result["content"][0]["text"] == structure
            sizes.append(len(structure.encode()))
            contents.append(result["structuredContent"]["data"]["content"])
        assert max(sizes) <= most
        assert "".join(contents) == _note(ALPHABETS[name])
        if most < 25_000:
            assert max(sizes) > most * 0.8  # no smaller than they need be


def call(server: Server, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": f"obsidian_{tool}", "arguments": arguments, "_meta": MODERN_META}
    result: dict[str, Any] = server.request("tools/call", params)["result"]
    return result


def test_every_optional_argument_may_be_null_and_models_own_words_are_taken(arrival: Server) -> None:
    """As CrewAI sends them, and models that have not read the schema."""
    steps: list[tuple[str, dict[str, Any]]] = [
        ("create_note", {"path": "Log.md", "body": "one"}),
        ("append_note", {"file": "Log.md", "text": "two"}),
        ("prepend_note", {"filename": "Log.md", "text": "zero"}),
        ("move_note", {"note": "Log.md", "folder": "Logs"}),
        ("move_note", {"path": "Logs/Log.md", "destination": "/"}),
        ("rename_note", {"path": "Log.md", "new_name": "Diary"}),
        ("file_info", {"file": "Diary.md"}),
        ("read_note", {"note": "Diary"}),
    ]
    listed = arrival.request("tools/list", {"_meta": MODERN_META})["result"]["tools"]
    schemas = {tool["name"]: tool["inputSchema"] for tool in listed}
    for tool, arguments in steps:
        schema = schemas[f"obsidian_{tool}"]
        nulls = dict.fromkeys(key for key in schema["properties"] if key not in schema["required"])
        result = call(arrival, tool, **{**nulls, **arguments})
        assert result["isError"] is False, result
    assert result["structuredContent"]["data"]["content"] == "zero\none\ntwo"
    for twice in ({"name": "Diary", "path": "Diary"}, {"path": "Diary", "file": "Diary"}):
        refused = call(arrival, "read_note", **twice)
        assert refused["_meta"]["obsidian-mcp/error"]["errorCode"] == "INVALID_ARGUMENTS"
    assert call(arrival, "delete_note", name="Diary", path=None)["isError"] is False
    assert call(arrival, "read_note", name=None)["_meta"]["obsidian-mcp/error"]["missing"] == ["name"]


def test_an_older_client_is_known_by_what_it_said_at_the_start(arrival: Server) -> None:
    for client, least, most in (("claude-code", 25_000, 48_000), ("@cline/core", 2_500, 3_500), (None, 10_000, 11_500)):
        info = {"clientInfo": {"name": client, "version": "1"}} if client else {}
        arrival.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, **info})
        result = arrival.request("tools/call", {"name": READ, "arguments": {"name": "Latin"}})["result"]
        assert least < len(result["content"][0]["text"].encode()) <= most
