"""Reading, creating, appending and renaming in vaults of 1,000, 10,000 and 100,000 notes, beside others."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench import scale
from bench.peer import Peer
from bench.report import Report
from bench.rivals import Ask, Rival, filled
from bench.serving import environment

READ = "Folder 0/Note 7.md"
NAMES = ("Target zq", "Other zq")
DURABLE = ("obsidian-mcp (npm)",)  # which syncs each file that it writes, by its source


ROUNDS, RENAMES = 15, 3  # in the largest vaults one rename: there are servers that take a minute for it


@dataclass
class Runner:
    """One server on its own vault of that size."""

    rival: Rival
    root: Path
    peer: Peer
    times: dict[str, list[float]] = field(default_factory=dict)

    def call(self, act: str, ask: Ask | None, **values: str) -> None:
        """Timed; nothing is done by a server that doesn't offer it."""
        if ask is None:
            return
        tool, arguments = ask
        params = {"name": tool, "arguments": filled(arguments, vault=str(self.root), **values)}
        began = time.perf_counter()
        reply = self.peer.ask("tools/call", params)
        self.times.setdefault(act, []).append(time.perf_counter() - began)
        assert "result" in reply, reply
        assert not reply["result"].get("isError"), reply

    def linking_to(self, name: str) -> int:
        """How many notes do; there are servers that leave copies elsewhere."""
        return sum(f"[[{name}]]".encode() in path.read_bytes() for path in self.root.glob("Folder */Note *.md"))


def measure(report: Report, everybody: Sequence[Rival], folder: Path) -> None:
    for notes in (1_000, 10_000, 100_000):
        chosen = [rival for rival in everybody if rival.create]
        print(f"{', '.join(rival.name for rival in chosen)} on {notes:,} notes each ...", flush=True)
        runners = [_started(rival, folder / f"{rival.name} {notes}", notes, folder / "home") for rival in chosen]
        _take_turns(runners, RENAMES if notes <= 10_000 else 1)
        for runner in runners:
            runner.peer.end()
            for act, found in runner.times.items():
                median = statistics.median(found) * 1000
                report.growth.setdefault(act, {}).setdefault(runner.rival.name, {})[notes] = median
            shutil.rmtree(runner.root)
    for act in ("create", "append"):
        _beside_durable(report, act)


def _beside_durable(report: Report, act: str) -> None:
    """Ahead of those that write durably too: of the others a loss of power takes what they called done."""
    times = report.growth.get(act, {})
    durable = [by_notes[1_000] for name, by_notes in times.items() if name in DURABLE]
    if durable:
        ratio = min(durable) / times["ours"][1_000]
        report.bar(f"{act}, over the best other that writes durably", ratio, "×", 1, at_least=True)


def _started(rival: Rival, root: Path, notes: int, home: Path) -> Runner:
    scale.build(root, notes)
    (root / ".obsidian").mkdir()
    runner = Runner(rival, root, Peer(rival.command(root), environment(rival, home, root)))
    runner.peer.initialize()
    runner.call("first", rival.read, note=READ)
    runner.times.clear()
    return runner


def _take_turns(runners: Sequence[Runner], renames: int) -> None:
    for number in range(ROUNDS):
        made = f"Folder 1/Made {number}.md"
        for runner in runners:
            runner.call("read", runner.rival.read, note=READ)
            runner.call("create", runner.rival.create, note=made, text="text")
            runner.call("append", runner.rival.append, note=made, text="\nmore")
    for number in range(renames):
        old, new = NAMES if number % 2 == 0 else reversed(NAMES)
        for runner in runners:
            runner.call("rename, 500 links", runner.rival.rename, note=f"{old}.md", new=f"{new}.md")
            assert not runner.rival.rename or runner.linking_to(new) == scale.LINKING, runner.rival.name
