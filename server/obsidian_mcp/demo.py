"""A scripted session on a sample vault, as it goes over the wire but readable on a terminal."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from obsidian_mcp import settings
from obsidian_mcp.app import App
from obsidian_mcp.protocol import jsonrpc

SAMPLE = {
    ".obsidian/app.json": '{"trashOption": "local"}',
    "Welcome.md": "# Welcome\n\nBegin with [[Ideas]], or look at ![[Roses#Care]].\n",
    "Ideas.md": "# Ideas\n\n- Plant a garden: [[Roses|some roses]]\n- `[[Roses]]` in code is not a link\n",
    "Garden/Roses.md": "# Roses\n\nPruned in March. See also [[Welcome#Garden]].\n",
    "Garden/Herbs.md": "# Herbs\n\nSage.\n",
    "Kitchen/Herbs.md": "# Herbs\n\nBasil, thyme.\n",
    "Map.canvas": '{"nodes":[{"id":"1","type":"file","file":"Garden/Roses.md"}],"edges":[]}',
}
VARYING = ("change", "id")  # made up anew each time, and nothing to a reader
LINKING = ("Welcome.md", "Ideas.md", "Map.canvas")
STEPS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "Create a note, with LaTeX",
        "create_note",
        {"name": "Physics", "content": "# Physics\n\n$\\nabla \\times B = \\mu_0 J$"},
    ),
    ("Append to it", "append_note", {"name": "Physics", "content": "- read chapter 3"}),
    ("Read it back, byte for byte", "read_note", {"name": "physics"}),
    ("Find a note by what it says", "search_notes", {"query": "pruning roses"}),
    (
        "Change one sentence, and nothing else",
        "edit_note",
        {"name": "Roses", "old_text": "Pruned in March.", "new_text": "Pruned in early March."},
    ),
    ("Add a tag", "set_properties", {"name": "Roses", "add": {"tags": ["garden"]}}),
    ("Rename a note: every link to it follows", "rename_note", {"name": "Roses", "new_name": "Old roses"}),
    ("A name that two notes have", "read_note", {"name": "Herbs"}),
    ("A note that is not there", "read_note", {"name": "Herb"}),
    ("A path out of the vault", "read_note", {"name": "../../etc/passwd"}),
    ("Create over an existing note", "create_note", {"name": "Ideas", "content": "gone"}),
    ("Move a note to the trash", "delete_note", {"name": "Physics"}),
    ("Take that back", "undo_change", {}),
)


def play(environ: Mapping[str, str], show: Callable[[str], None]) -> None:
    """In a temporary folder, without the app, touching nothing else."""
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-demo-") as folder:
        vault = Path(folder, "Sample")
        for path, text in SAMPLE.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_text(text, encoding="utf-8", newline="")
        given = {"vault": [str(vault)], "backend": ["embedded"], "log-level": ["error"]}
        own = {**environ, "HOME": folder, "XDG_STATE_HOME": folder, "LOCALAPPDATA": folder}
        session = _Session(App(settings.load(given, own)))
        session.ask("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "demo"}})
        show(f"A sample vault with {len(SAMPLE) - 1} files, served from disk.\n")
        for title, tool, arguments in STEPS:
            before = _texts(vault)
            reply = session.ask("tools/call", {"name": f"obsidian_{tool}", "arguments": arguments})
            show(f"{title}\n  → {tool} {json.dumps(arguments, ensure_ascii=False)}\n{_told(reply)}")
            for line in _changed(before, _texts(vault)):
                show(line)
            show("")
        show("What the vault holds now:")
        for file in sorted(vault.rglob("*")):
            if file.is_file() and ".obsidian" not in file.parts:
                show(f"  {file.relative_to(vault).as_posix()}")


class _Session:
    """A client in the same process."""

    def __init__(self, app: App) -> None:
        self._connection = app.connect(self._receive)
        self._arrived = threading.Event()
        self._reply: dict[str, Any] = {}
        self._next = 0

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._next += 1
        self._arrived.clear()
        request = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        self._connection.receive(json.dumps(request).encode())
        self._arrived.wait()
        return self._reply

    def _receive(self, message: jsonrpc.Message) -> None:
        self._reply = json.loads(jsonrpc.encode_message(message))
        self._arrived.set()


def _texts(vault: Path) -> dict[str, list[str]]:
    """The files with links to the note that is renamed."""
    return {name: (vault / name).read_text(encoding="utf-8").split("\n") for name in LINKING}


def _changed(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> list[str]:
    """Each changed line, before and after."""
    shown = []
    for name, lines in before.items():
        for old, new in zip(lines, after[name], strict=False):
            if old != new:
                shown += [f"    {name}", f"      - {old}", f"      + {new}"]
    return shown


def _told(reply: Mapping[str, Any]) -> str:
    if "error" in reply:
        error = reply["error"]
        return f"  ✗ {error['code']} {error['data']['errorCode']}: {error['message']}"
    data = reply["result"]["structuredContent"]["data"]
    shown = {key: value for key, value in data.items() if key not in VARYING}
    return "  ✓ " + ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in shown.items())
