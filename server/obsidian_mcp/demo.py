"""A scripted session, as it goes over the wire but readable on a terminal.

It runs in a temporary folder with a vault and a list of vaults of its own. This
version needs a command that works without the app; it says which one it uses.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from obsidian_mcp import settings
from obsidian_mcp.app import App

SAMPLE = {
    "Welcome.md": "---\ntags: [start]\n---\n# Welcome\n\nThis vault is a sample. See [[Ideas]].\n",
    "Ideas.md": "# Ideas\n\n- Plant a garden\n",
    "Garden/Roses.md": "# Roses\n\nPruned in March.\n",
    "Garden/Herbs.md": "# Herbs\n",
    "Kitchen/Herbs.md": "# Herbs\n\nBasil, thyme.\n",
}
STEPS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "Create a note, with LaTeX",
        "create_note",
        {"name": "Physics", "content": "# Physics\n\n$\\nabla \\times B = \\mu_0 J$"},
    ),
    ("Append to it", "append_note", {"name": "Physics", "content": "- read chapter 3"}),
    ("Read it back, byte for byte", "read_note", {"name": "physics"}),
    ("Add below the properties", "prepend_note", {"name": "Welcome", "content": "Hello!"}),
    ("Move it to a folder that does not exist yet", "move_note", {"name": "Physics", "to": "Study/Term 1"}),
    ("Rename it", "rename_note", {"name": "Study/Term 1/Physics", "new_name": "Physics 101"}),
    ("Describe it", "file_info", {"name": "Physics 101"}),
    ("A name that two notes have", "read_note", {"name": "Herbs"}),
    ("A note that is not there", "read_note", {"name": "Rose"}),
    ("A path out of the vault", "read_note", {"name": "../../etc/passwd"}),
    ("Create over an existing note", "create_note", {"name": "Ideas", "content": "gone"}),
    ("Move it to the trash", "delete_note", {"name": "Physics 101"}),
)


def play(given: settings.Settings, show: Callable[[str], None]) -> None:
    if not given.obsidian_bin:
        raise settings.UsageError(
            "the demo needs --obsidian-bin with a stand-in for the Obsidian command; see make demo"
        )
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-demo-") as folder:
        vault = Path(folder, "Sample")
        for path, text in SAMPLE.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_text(text, encoding="utf-8", newline="")
        show(f"A sample vault with {len(SAMPLE)} notes; the app is played by {given.obsidian_bin}, a stand-in.\n")
        session = _Session(App(_with_own_list(given, Path(folder), vault)))
        session.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        for title, tool, arguments in STEPS:
            reply = session.ask("tools/call", {"name": f"obsidian_{tool}", "arguments": arguments})
            show(f"{title}\n  → {tool} {json.dumps(arguments, ensure_ascii=False)}\n{_told(reply)}\n")
        show("What the vault holds now:")
        for file in sorted(vault.rglob("*.md")):
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

    def _receive(self, message: bytes) -> None:
        self._reply = json.loads(message)
        self._arrived.set()


def _with_own_list(given: settings.Settings, folder: Path, vault: Path) -> settings.Settings:
    """The same settings, where the only vault in the world is the sample."""
    registry = folder / "config" / "obsidian" / "obsidian.json"
    registry.parent.mkdir(parents=True)
    registry.write_text(json.dumps({"vaults": {"0" * 16: {"path": str(vault), "open": True}}}), encoding="utf-8")
    chosen = {"vault": ["Sample"], "obsidian-bin": [str(Path(given.obsidian_bin).resolve())], "log-level": ["error"]}
    return settings.load(chosen, {**given.environ, "XDG_CONFIG_HOME": str(folder / "config"), "HOME": str(folder)})


def _told(reply: Mapping[str, Any]) -> str:
    if "error" in reply:
        error = reply["error"]
        return f"  ✗ {error['code']} {error['data']['errorCode']}: {error['message']}"
    data = reply["result"]["structuredContent"]["data"]
    return "  ✓ " + ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in data.items())
