"""How soon notes can be attached: the list of resources and the completion of a name, beside a bare walk through the
same folder (os.scandir, and one stat of each file). Rounds alternate, and the best of each counts.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.peer import Peer
from bench.report import Report
from tests.support.world import World

NOTES, FOLDERS = 10_000, 100
TEMPLATE = "obsidian://vault/Vault/{+path}"


def walked(folder: Path) -> int:
    found, todo = 0, [str(folder)]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                else:
                    found += entry.stat(follow_symlinks=False).st_size >= 0
    return found


def took(act: Callable[[], Any]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def measure(report: Report, folder: Path) -> None:
    print(f"Resources of {NOTES:,} notes ...", flush=True)
    world = World(folder)
    for number in range(NOTES):
        world.put(f"Folder {number % FOLDERS}/Note number {number}.md")
    words = [sys.executable, "-m", "obsidian_mcp", "--vault", str(world.vault), "--backend", "embedded"]
    peer = Peer(words, world.environment())
    peer.initialize()

    def complete() -> None:
        ref = {"type": "ref/resource", "uri": TEMPLATE}
        peer.ask("completion/complete", {"ref": ref, "argument": {"name": "path", "value": "number 77"}})

    times: dict[str, list[float]] = {"walk": [], "list": [], "complete": []}
    for _ in range(10 if report.quick else 30):
        times["walk"].append(took(lambda: walked(world.vault)))
        times["list"].append(took(lambda: peer.ask("resources/list", {})))
        complete()  # which may have to look at the names again
        times["complete"].append(took(complete))
    peer.end()
    best = {what: min(found) for what, found in times.items()}
    report.bar("resources/list, as a multiple of a bare walk", best["list"] / best["walk"], "×", 3)
    report.bar("completing a name, as a multiple of that walk", best["complete"] / best["walk"], "×", 0.5)
