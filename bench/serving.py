"""Start, size and speed of every server that could be installed, in alternating rounds."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.peer import Peer
from bench.report import Report
from bench.rivals import OURS, Rival, filled

NOTE = "Folder 0/Note 7.md"
TEXT = "some words of a note\n" * 100
AT_ONCE, BURSTS = 64, 5


def vault(folder: Path) -> Path:
    """A small one, as every server wants it."""
    (folder / "Folder 0").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / NOTE).write_text(TEXT, encoding="utf-8")
    return folder


def environment(rival: Rival, home: Path, root: Path) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    own = filled(dict(rival.env), vault=str(root), home=str(rival.home))
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), **own}


def bare() -> float:
    began = time.perf_counter()
    subprocess.run([str(OURS.home / "bin" / "python"), "-c", "pass"], check=True)
    return time.perf_counter() - began


def measure_start(report: Report, everybody: Sequence[Rival], folder: Path) -> None:
    rounds = 9 if report.quick else 15
    root = vault(folder / "vault")
    starts: dict[str, list[float]] = {rival.name: [] for rival in everybody}
    lists: dict[str, list[float]] = {rival.name: [] for rival in everybody}
    calls: dict[str, list[float]] = {}
    sizes: dict[str, int] = {}
    floors = []
    for number in range(rounds):
        print(f"\rStarting everybody, round {number + 1} of {rounds} ...", end="", flush=True)
        for rival in everybody:
            floors.append(bare())
            began = time.perf_counter()
            peer = Peer(rival.command(root), environment(rival, folder / rival.name, root))
            peer.initialize()
            starts[rival.name].append(time.perf_counter() - began)
            peer.ask("tools/list")
            lists[rival.name].append(time.perf_counter() - began)
            sizes[rival.name] = peer.last_size
            _kill(peer)
            if rival.read is not None:
                calls.setdefault(rival.name, []).append(_first_call(rival, root, folder))
    print()
    floor = statistics.median(floors)
    median = {name: statistics.median(times) for name, times in starts.items()}
    report.note("python -c pass", **{"start, ms": floor * 1000})
    for rival in everybody:
        figures = {
            "start, ms": median[rival.name] * 1000,
            "to tools/list, ms": statistics.median(lists[rival.name]) * 1000,
            "tools/list, bytes": float(sizes[rival.name]),
            "about tokens": sizes[rival.name] / 4,
        }
        if rival.name in calls:
            figures["to the first call's reply, ms"] = statistics.median(calls[rival.name]) * 1000
        report.note(rival.name, **figures)
    report.bar("start to the first reply, over python -c pass", median["ours"] / floor, "×", 1.45)
    others = [value for name, value in median.items() if name != "ours"]
    if others:
        report.bar("start, over the fastest other", min(others) / median["ours"], "×", 6, at_least=True)
    _ahead(report, everybody, "to the first call's reply, ms", lower=True)


def _first_call(rival: Rival, root: Path, folder: Path) -> float:
    """From the start of the process to a note's text, by a client that asks as soon as it may."""
    assert rival.read is not None
    tool, arguments = rival.read
    began = time.perf_counter()
    peer = Peer(rival.command(root), environment(rival, folder / rival.name, root))
    peer.initialize()
    params = {"name": tool, "arguments": filled(arguments, vault=str(root), note=NOTE)}
    assert succeeded(peer.ask("tools/call", params))
    took = time.perf_counter() - began
    _kill(peer)
    return took


def _kill(peer: Peer) -> None:
    peer.process.kill()
    peer.process.wait(30)
    for pipe in (peer.process.stdin, peer.process.stdout):
        if pipe:
            pipe.close()


def _ahead(report: Report, everybody: Sequence[Rival], figure: str, lower: bool = False) -> None:
    """Of those that serve the notes of a vault."""
    rows = {rival.name: report.rows[rival.name] for rival in everybody if not rival.is_bare}
    ours = rows.pop("ours")[figure]
    others = [row[figure] for row in rows.values() if figure in row]
    if others:
        ratio = min(others) / ours if lower else ours / max(others)
        report.bar(f"{figure.removesuffix(', ms')}, over the best other for notes", ratio, "×", 1, at_least=True)


def measure_calls(report: Report, everybody: Sequence[Rival], folder: Path) -> None:
    root = vault(folder / "vault")
    peers: dict[str, Peer] = {}
    for rival in everybody:
        peers[rival.name] = Peer(rival.command(root), environment(rival, folder / rival.name, root))
        peers[rival.name].initialize()
    print("Asking everybody ...", flush=True)
    acts = _acts(everybody, root)
    for act in acts.values():  # once before: what is loaded late is loaded now
        for name, work in act.items():
            work(peers[name], 20)
    rounds, each = (3, 100) if report.quick else (6, 150)
    for what, act in acts.items():
        took: dict[str, list[float]] = {}
        for _ in range(rounds):
            for name, work in act.items():
                began = time.perf_counter()
                count = work(peers[name], each)
                took.setdefault(name, []).append((time.perf_counter() - began) / count)
        for name, times in took.items():
            report.note(name, **{what: 1 / statistics.median(times)})
    for rival in everybody:
        report.note(rival.name, **{"memory, MB": peers[rival.name].resident_mb()})
        peers[rival.name].end()
    ours, sdk = report.rows["ours"], report.rows.get("bare, mcp SDK")
    if sdk:
        report.bar("ping rate over the mcp SDK's", ours["pings/s"] / sdk["pings/s"], "×", 8, at_least=True)
    report.bar("ping", 1e6 / ours["pings/s"], "µs", 150)
    _ahead(report, everybody, f"reads/s, {AT_ONCE} at once")


def succeeded(reply: dict[str, Any]) -> bool:
    """An error is soon sent."""
    return "result" in reply and not reply["result"].get("isError")


Work = Callable[[Peer, int], int]


def _acts(everybody: Sequence[Rival], root: Path) -> dict[str, dict[str, Work]]:
    def one_by_one(method: str, params: dict[str, object] | None) -> Work:
        def work(peer: Peer, count: int) -> int:
            for _ in range(count):
                assert succeeded(peer.ask(method, params))
            return count

        return work

    def at_once(method: str, params: dict[str, object] | None) -> Work:
        def work(peer: Peer, count: int) -> int:
            for _ in range(BURSTS):
                assert all(map(succeeded, peer.ask_at_once(method, params, AT_ONCE)))
            return BURSTS * AT_ONCE

        return work

    reads = {}
    for rival in everybody:
        if rival.read is not None:
            tool, arguments = rival.read
            reads[rival.name] = {"name": tool, "arguments": filled(arguments, vault=str(root), note=NOTE)}
    names = [rival.name for rival in everybody]
    return {
        "pings/s": {name: one_by_one("ping", None) for name in names},
        f"pings/s, {AT_ONCE} at once": {name: at_once("ping", None) for name in names},
        "lists/s": {name: one_by_one("tools/list", None) for name in names},
        "reads/s": {name: one_by_one("tools/call", params) for name, params in reads.items()},
        f"reads/s, {AT_ONCE} at once": {name: at_once("tools/call", params) for name, params in reads.items()},
    }
