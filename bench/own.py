"""Our own time in a call that the Obsidian CLI answers: what the client waited, less what its commands take alone."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peer import Peer
from bench.report import Report
from tests.support.world import World


def direct(world: World, *commands: Sequence[str]) -> float:
    """What the same commands take when nobody stands between."""
    began = time.perf_counter()
    for command in commands:
        words = [str(world.command), "vault=Vault", *command]
        subprocess.run(words, env=world.environment(), stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.perf_counter() - began


def measure(report: Report, folder: Path) -> None:
    print("Calls through the stand-in for the Obsidian command ...", flush=True)
    world = World(folder)
    for name in ("Note", "Other"):
        world.put(f"{name}.md", "text\n")
    peer = Peer([sys.executable, "-m", "obsidian_mcp", "--vault", "Vault"], world.environment())
    peer.initialize()
    append = {"name": "Note.md", "content": "x"}
    steps: dict[str, tuple[dict[str, Any], list[list[str]]]] = {
        "obsidian_read_note": ({"name": "Note.md"}, [["read", "path=Other.md"]]),
        "obsidian_append_note": (append, [["append", "path=Other.md", "content=\nx", "inline"]]),
        "obsidian_file_info": ({"name": "Note"}, [["files"], ["file", "path=Other.md"]]),
    }
    times: dict[str, list[float]] = {tool: [] for tool in steps}
    for _ in range(30 if report.quick else 100):
        for tool, (arguments, commands) in steps.items():
            began = time.perf_counter()
            reply = peer.call(tool, **arguments)
            took = time.perf_counter() - began
            assert "result" in reply, reply
            times[tool].append(took - direct(world, *commands))
    memory = peer.resident_mb()
    peer.end()
    for tool, found in times.items():
        report.bar(f"own time in {tool}", statistics.median(found) * 1000, "ms", 5)
    report.bar("memory after these calls", memory, "MB", 60)
