"""Start-up, latency and memory, as ratios and medians of one run: `make bench`.

Rounds of every measured thing alternate, so that a busy machine slows them all.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench import scale, web
from tests.bench.peer import Peer, ms
from tests.support.world import World

ROUNDS = 25
PINGS = 2000
CALLS = 150
SCRIPT = Path(sys.executable).with_name("obsidian-mcp")


def bare_start() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.perf_counter() - began


def start(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Seconds from process start to the replies to initialize and to tools/list."""
    began = time.perf_counter()
    peer = Peer(command, environment)
    peer.initialize()
    first = time.perf_counter() - began
    peer.ask("tools/list")
    second = time.perf_counter() - began
    peer.process.kill()
    peer.process.wait(30)
    return first, second


def pings(peer: Peer, count: int) -> list[float]:
    took = []
    for _ in range(count):
        began = time.perf_counter()
        peer.ask("ping")
        took.append(time.perf_counter() - began)
    return took


def measure_start(world: World) -> None:
    ways = {
        "console script": [str(SCRIPT), "--vault", "Vault"],
        "python -m": [sys.executable, "-m", "obsidian_mcp", "--vault", "Vault"],
    }
    bare: list[float] = []
    took: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        bare.append(bare_start())
        for way, command in ways.items():
            took[way].append(start(command, world.environment()))
    base = statistics.median(bare)
    print(f"python -c pass                         {ms(base)}")
    for way, pairs in took.items():
        first = statistics.median(pair[0] for pair in pairs) / base
        second = statistics.median(pair[1] for pair in pairs) / base
        print(f"start to initialize, {way:<16}  {first:.2f} ×   bar 2.0 ×")
        print(f"start to tools/list, {way:<16}  {second:.2f} ×   bar 2.2 ×")


def measure_ping(world: World) -> None:
    ours = Peer([sys.executable, "-m", "obsidian_mcp", "--vault", "Vault"], world.environment())
    ours.initialize()
    theirs = Peer([sys.executable, str(Path(__file__).with_name("sdk_server.py"))], world.environment())
    theirs.initialize()
    mine: list[float] = []
    other: list[float] = []
    for _ in range(10):
        mine += pings(ours, PINGS // 10)
        other += pings(theirs, PINGS // 20)
    p50 = statistics.median(mine)
    print(f"ping p50                               {p50 * 1e6:.0f} µs   bar 150 µs")
    print(f"ping rate over the mcp SDK's           {statistics.mean(other) / statistics.mean(mine):.1f} ×   bar 8 ×")
    for peer in (ours, theirs):
        peer.end()


def direct(world: World, *commands: Sequence[str]) -> float:
    """What the same commands take when nobody stands between."""
    began = time.perf_counter()
    for command in commands:
        words = [str(world.command), "vault=Vault", *command]
        subprocess.run(words, env=world.environment(), stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.perf_counter() - began


def measure_calls(world: World) -> None:
    """Our own time in a call: what the client waited, less what its commands take without us."""
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
    own: dict[str, list[float]] = {tool: [] for tool in steps}
    total: dict[str, list[float]] = {tool: [] for tool in steps}
    for _ in range(CALLS):
        for tool, (arguments, commands) in steps.items():
            began = time.perf_counter()
            reply = peer.call(tool, **arguments)
            took = time.perf_counter() - began
            assert "result" in reply, reply
            total[tool].append(took)
            own[tool].append(took - direct(world, *commands))
    for _ in range(1000 - CALLS * len(steps)):
        peer.call("obsidian_open_note", name="Note.md")
    memory = peer.resident_mb()
    peer.end()
    for tool in steps:
        mine, all_of_it = statistics.median(own[tool]), statistics.median(total[tool])
        print(f"own time, {tool:<27}  {ms(mine)} of {ms(all_of_it)}   bar 5 ms")
    print(f"memory after 1,000 calls               {memory:.0f} MB   bar 60 MB")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-bench-") as folder:
        world = World(Path(folder, "world"))
        print(f"Python {sys.version.split()[0]}, medians of {ROUNDS} alternating rounds; the CLI is the stand-in\n")
        measure_start(world)
        measure_ping(world)
        measure_calls(world)
    web.measure()
    for notes in (1_000, 10_000, 100_000):
        print()
        scale.measure(notes)


if __name__ == "__main__":
    main()
