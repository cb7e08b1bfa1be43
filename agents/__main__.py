"""Agents on a thousand notes: `make agents`, and with the rivals `make agents RIVALS=yes`."""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

from agents import report, tokens
from agents.everything import TASKS
from agents.mistakes import MISTAKES
from agents.ours import Ours
from agents.policies import CAREFUL, POLICIES, Policy
from agents.report import Run
from agents.rivals import SERVERS
from agents.server import Server
from agents.trial import Ground, Result, tried
from agents.vault import files
from bench import RESULTS
from bench.report import table
from bench.rivals import NotInstalled
from obsidian_mcp import __version__

UNTRIED = {
    "obsidian-mcp-pro": "in no registry on that day",
    "seekstone": "in no registry; its bundle is on GitHub alone",
    "mcp-obsidian (PyPI)": "needs the app with a plugin",
}
AT_ONCE = 2  # trials, each on a vault of its own
Make = Callable[[], Server]


def run(make: Make, policies: Sequence[Policy], folder: Path) -> list[Run]:
    """Every task and every mistake by every policy."""
    grounds: queue.Queue[Ground] = queue.Queue()
    for number in range(AT_ONCE):
        place = folder / f"{make().name} {number}"
        place.mkdir()
        ground = Ground(place, files())
        ground.prepare(make())
        grounds.put(ground)

    def trial(job: tuple[Policy, int]) -> Result:
        policy, number = job
        ground = grounds.get()
        try:
            if number < len(TASKS):
                return tried(ground, make, TASKS[number], policy)
            mistake = MISTAKES[number - len(TASKS)]
            return tried(ground, make, mistake.task, policy, mistake)
        finally:
            grounds.put(ground)

    jobs = [(policy, number) for policy in policies for number in range(len(TASKS) + len(MISTAKES))]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(jobs, pool.map(trial, jobs), strict=True))
    return [_run(make().name, policy, found) for policy in policies]


def _run(name: str, policy: Policy, found: dict[tuple[Policy, int], Result]) -> Run:
    results = [found[policy, number] for number in range(len(TASKS) + len(MISTAKES))]
    done = Run(name, policy.name, results[: len(TASKS)], results[len(TASKS) :])
    counted = tokens.count([text for result in done.done for text in result.said])
    done.tokens = sum(counted) if counted is not None else None
    return done


def against(folder: Path, left_out: dict[str, str], versions: dict[str, str]) -> list[Run]:
    """Careful agents with every other server that can be installed."""
    found = []
    for rival in SERVERS:
        print(f"{rival.name} ...", file=sys.stderr, flush=True)
        try:
            rival.rival.install()
        except NotInstalled as problem:
            left_out[rival.name] = str(problem).partition("\n")[0]
            continue
        versions[rival.name] = rival.rival.version
        found += run(rival, (CAREFUL,), folder)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m agents", description=__doc__)
    parser.add_argument("--rivals", action="store_true", help="other servers too, installed from their registries")
    parser.add_argument("--into", type=Path, default=RESULTS, help="where the results with the rivals are written")
    chosen = parser.parse_args()
    began = time.monotonic()
    versions, left_out = {"ours": __version__}, dict[str, str]()
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-agents-") as folder:
        runs = run(Ours, POLICIES, Path(folder))
        runs += against(Path(folder), left_out, versions) if chosen.rivals else []
    met = report.bars(runs)
    print(report.summary(runs))
    print("\n" + table(report.BARS_HEAD, [bar.row for bar in met]))
    for line in report.failures(runs):
        print(f"  {line}")
    if chosen.rivals:
        report.write(chosen.into, date.today().isoformat(), versions, {**left_out, **UNTRIED}, runs)
    print(f"{time.monotonic() - began:.0f} s")
    return 0 if all(bar.is_met for bar in met) else 1


if __name__ == "__main__":
    sys.exit(main())
