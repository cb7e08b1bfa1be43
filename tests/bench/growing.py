"""Reading, creating, appending and renaming in vaults of 1,000 and 10,000 notes (ours 100,000 too), beside others."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench import scale
from tests.bench.peer import Peer
from tests.bench.report import Report
from tests.bench.rivals import Rival, filled
from tests.bench.serving import environment

READ = "Folder 0/Note 7.md"
TARGET, ELSEWHERE = "Target zq.md", "Folder 0/Target zq.md"


def measure(report: Report, everybody: Sequence[Rival], folder: Path) -> None:
    for notes in (1_000, 10_000, 100_000):
        for rival in everybody:
            if rival.create is None or (notes > 10_000 and rival.name != "ours"):
                continue
            print(f"{rival.name} on {notes:,} notes ...", flush=True)
            root = folder / f"{rival.name} {notes}"
            scale.build(root, notes)
            (root / ".obsidian").mkdir()
            _measure(report, rival, root, notes, folder / "home")


def _measure(report: Report, rival: Rival, root: Path, notes: int, home: Path) -> None:
    peer = Peer(rival.command(root), environment(rival, home))
    peer.initialize()

    def call(ask: tuple[str, dict[str, Any]], **values: str) -> float:
        tool, arguments = ask
        params = {"name": tool, "arguments": filled(arguments, vault=str(root), **values)}
        began = time.perf_counter()
        reply = peer.ask("tools/call", params)
        took = time.perf_counter() - began
        assert "result" in reply, reply
        assert not reply["result"].get("isError"), reply
        return took

    times: dict[str, list[float]] = {"read": [], "create": [], "append": [], "rename, 500 links": []}
    assert rival.read
    assert rival.create
    assert rival.append
    call(rival.read, note=READ)
    for number in range(15):
        times["read"].append(call(rival.read, note=READ))
        times["create"].append(call(rival.create, note=f"Folder 1/Made {number}.md", text="text"))
        times["append"].append(call(rival.append, note=f"Folder 1/Made {number}.md", text="\nmore"))
    if rival.rename is not None:
        there, back = (TARGET, ELSEWHERE), (ELSEWHERE, TARGET)
        for old, new in (there, back, there):
            times["rename, 500 links"].append(call(rival.rename, note=old, new=new))
    peer.end()
    for act, found in times.items():
        if found:
            report.growth.setdefault(act, {}).setdefault(rival.name, {})[notes] = statistics.median(found) * 1000
