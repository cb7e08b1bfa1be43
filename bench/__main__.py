"""Everything measured in one run, beside others: `make bench`. `make bench-quick` compares with our own bars alone.

Rounds alternate between all that is measured, so that a busy machine slows everybody; what counts are the ratios.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from datetime import date
from pathlib import Path

from bench import RESULTS, editing, growing, listing, own, recording, scale, searching, web
from bench.quality import OTHERS, install
from bench.report import Report, write
from bench.rivals import OURS, RIVALS, NotInstalled, Rival
from bench.serving import measure_calls, measure_start


def installed(report: Report, wanted: tuple[Rival, ...]) -> list[Rival]:
    """Those that could be; why another could not is told and recorded."""
    found = []
    for rival in wanted:
        print(f"Installing {rival.name} ... ", end="", flush=True)
        try:
            rival.install()
        except NotInstalled as problem:
            print(f"left out: {problem}")
            report.left_out[rival.name] = str(problem)
            continue
        print(rival.version)
        report.versions[rival.name] = rival.version
        found.append(rival)
    return found


def machine() -> dict[str, str]:
    cpu = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), ""
    )
    cores = str(len([line for line in _lines("/proc/cpuinfo") if line.startswith("processor")]))
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": cpu or "unknown",
        "cores": cores,
        "Python": platform.python_version(),
    }


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text(encoding="utf-8").split("\n")
    except OSError:
        return []


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--quick", action="store_true", help="a minute, and our own bars alone")
    parser.add_argument("--into", type=Path, default=RESULTS, help="where the results are written")
    chosen = parser.parse_args()
    began = time.monotonic()
    report = Report(date.today().isoformat(), machine(), quick=chosen.quick)
    # The quick run installs nobody but ourselves; rivals that are there already are compared with.
    rivals = [rival for rival in RIVALS if rival.is_installed] if chosen.quick else list(RIVALS)
    OURS.home.joinpath(".done").unlink(missing_ok=True)  # what is measured is this checkout
    everybody = installed(report, (OURS, *rivals))
    for rival in everybody:
        if rival.is_node:
            report.machine["Node"] = rival.node_version()
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-bench-") as folder:
        measure_start(report, everybody, Path(folder, "start"))
        measure_calls(report, everybody, Path(folder, "calls"))
        own.measure(report, Path(folder, "own"))
        listing.measure(report, Path(folder, "listing"))
        web.measure(report, 2 if chosen.quick else web.ROUNDS)
        if not chosen.quick:
            growing.measure(report, everybody, Path(folder, "growing"))
            for notes in (1_000, 10_000, 100_000):
                print(f"Growing, {notes:,} notes ...", flush=True)
                scale.measure(report, notes)
            editing.measure(report, Path(folder, "editing"))
            recording.measure(report, Path(folder, "recording"))
            searching.measure(report, Path(folder, "searching"), (), install(OTHERS, report))
    report.seconds = round(time.monotonic() - began)
    print()
    print(report.bars_table())
    if not chosen.quick:
        write(report, chosen.into)
        print(f"\nWritten to {chosen.into}: table.md, results.json, start.svg, rate.svg, growth.svg, search.svg")
    print(f"{report.seconds} s")
    if report.missed:
        print("Not met: " + "; ".join(report.missed) + ". Something else may keep this machine busy.")


if __name__ == "__main__":
    main()
