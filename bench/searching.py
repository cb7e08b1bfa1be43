"""How quick the search is, beside `rg -il` over the same folder and beside other servers. Part of `make bench`.

Rounds alternate between rg and the server, the best of each counts, and the median over several queries is told: a
rare word, a common one, two words. The text is real: of the vaults that are given, else of Python's own manual.
"""

from __future__ import annotations

import argparse
import functools
import os
import pydoc_data.topics
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peer import Peer
from bench.quality import OTHERS, OURS, US, Searcher, install, stop
from bench.report import Report
from bench.scale import took

FOLDER_SIZE = 200
LINKING = 500
CHANGED = 100
RARE = "zyzzogeton"
TARGET = "Target zq"
LIMIT = 300  # seconds for one of the others, its index included
SIZES = {1_000: 4_096, 10_000: 4_096, 100_000: 2_048}  # notes, and bytes of each
QUICK = 10_000  # notes


@dataclass(frozen=True)
class Sample:
    """A vault made for this, and what to ask of it."""

    root: Path
    notes: int
    queries: Sequence[str]

    @property
    def at(self) -> str:
        return f"at {self.notes:,} notes"

    def note(self, number: int) -> Path:
        return self.root / f"Folder {number // FOLDER_SIZE}" / f"Note {number}.md"

    def bytes_of_notes(self) -> int:
        return sum(path.stat().st_size for path in self.root.rglob("*.md"))


def paragraphs(sources: Sequence[Path]) -> list[str]:
    """Of real prose, in its own order."""
    texts: Iterator[str] = iter(pydoc_data.topics.topics.values())
    if sources:
        files = sorted(path for source in sources for path in source.rglob("*.md"))
        texts = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    return [part for text in texts for part in text.split("\n\n") if len(part) > 40 and not part.startswith("---")]


def build(root: Path, notes: int, sources: Sequence[Path]) -> Sample:
    """Notes of one size with properties, tags and links, each a stretch of the text from some place on."""
    text, chance = paragraphs(sources), random.Random(7)
    sample = Sample(root, notes, ())
    common: Counter[str] = Counter()
    for number in range(notes):
        path = sample.note(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        body = _note(number, notes, text, chance)
        path.write_text(body, encoding="utf-8")
        if number % max(1, notes // 500) == 0:
            common.update(set(re.findall(r"\b[a-z]{4,12}\b", body.lower())))
    (root / f"{TARGET}.md").write_text("The note that many link to.\n", encoding="utf-8")
    (root / ".obsidian").mkdir()
    often, seldom, other = (_nearest(common, share) for share in (100, 15, 8))
    return Sample(root, notes, (RARE, often, f"{seldom} {other}"))


def _nearest(common: Counter[str], wanted: int) -> str:
    """A word that so many of 500 notes have, or about as many."""
    return min(common, key=lambda word: (abs(common[word] - wanted), word))


def _note(number: int, notes: int, text: Sequence[str], chance: random.Random) -> str:
    parts = [
        f"---\nstatus: {chance.choice(('draft', 'done'))}\ntags:\n  - topic{number % 40}\n---\n# Note {number}",
        f"See [[Note {number * 7 % notes}]] and [this](Note%20{number * 13 % notes}.md). #in/text{number % 9}",
    ]
    if number % (notes // LINKING) == 0:
        parts.append(f"More in [[{TARGET}]].")
    if number % (notes // 5) == 3:
        parts.append(f"Here is the {RARE}.")
    at, size = chance.randrange(len(text)), 0
    while size < SIZES[notes] - 200:
        part = text[at % len(text)][: SIZES[notes] - size]
        parts.append(part)
        at, size = at + 1, size + len(part.encode())
    return "\n\n".join(parts) + "\n"


# What is timed


class Timing:
    """Ours and rg in turns, the best of each."""

    def __init__(self, sample: Sample) -> None:
        self.rg = str(shutil.which("rg"))
        self.sample = sample

    def grep(self, query: str) -> float:
        words = [self.rg, "-il", query.split()[0], str(self.sample.root)]
        return took(lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=False))

    def ratio(self, rounds: int, query: str, act: Callable[[], float]) -> float:
        greps, acts = [], []
        for _ in range(rounds):
            greps.append(self.grep(query))
            acts.append(act())
        return min(acts) / min(greps)

    def median(self, rounds: int, act: Callable[[str], float]) -> float:
        return statistics.median(
            self.ratio(rounds, query, functools.partial(act, query)) for query in self.sample.queries
        )


def fresh(sample: Sample, home: Path) -> Peer:
    """A server that has loaded what it loads by itself, and has answered a ping."""
    peer = Peer(OURS.rival.command(sample.root), environment(home))
    peer.initialize()
    peer.ask("ping")
    settle(peer, 0.2)
    return peer


def environment(home: Path) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}


def settle(peer: Peer, quiet: float, limit: float = 900) -> None:
    """Until it has used no processor for so long: its warm-up, or the index that it builds, is done."""
    before, until = _ticks(peer), time.monotonic() + limit
    while time.monotonic() < until:
        time.sleep(quiet)
        now = _ticks(peer)
        if now <= before + 1:
            return
        before = now


def _ticks(peer: Peer) -> int:
    fields = Path(f"/proc/{peer.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def most_memory(peer: Peer) -> float:
    """In MB, the most it ever had."""
    status = Path(f"/proc/{peer.process.pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def data(reply: Any) -> dict[str, Any]:
    assert "result" in reply, reply
    found: dict[str, Any] = reply["result"]["structuredContent"]["data"]
    return found


def search(peer: Peer, query: str) -> float:
    began = time.perf_counter()
    reply = peer.call("obsidian_search_notes", query=query)
    elapsed = time.perf_counter() - began
    assert data(reply)["total"] > 0, reply
    return elapsed


# The bars


def measure_cold(report: Report, timing: Timing, folder: Path, rounds: int) -> float:
    """Without an index, each time from nothing; a server that begins to build one is ended before the next round.

    Gives back the seconds of the quickest.
    """
    homes = (folder / f"none {number}" for number in range(1_000))
    found: list[float] = []

    def first(query: str) -> float:
        home = next(homes)
        peer = fresh(timing.sample, home)
        found.append(search(peer, query))
        stop(peer)
        shutil.rmtree(home)
        return found[-1]

    ratio = timing.median(rounds, first)
    if timing.sample.notes > 1_000:
        report.bar(f"search without an index over rg, {timing.sample.at}", ratio, "×", 4)
    return min(found)


def measure_index(report: Report, timing: Timing, home: Path) -> None:
    sample = timing.sample
    words = [*US, "index", "--vault", str(sample.root)]
    grep = min(timing.grep(RARE) for _ in range(5))
    built = took(lambda: subprocess.run(words, env=environment(home), stdout=subprocess.DEVNULL, check=True))
    size = sum(path.stat().st_size for path in (home / "state").rglob("*") if path.is_file())
    report.bar(f"index built over one rg, {sample.at}", built / grep, "×", 40)
    report.bar(f"index on disk over the notes, {sample.at}", size / sample.bytes_of_notes(), "×", 1)
    print(f"  rg {grep * 1000:.0f} ms, index {built:.1f} s and {size / 1e6:.0f} MB", flush=True)


def measure_first(report: Report, timing: Timing, home: Path, rounds: int) -> None:
    """In a new process with an index at hand: the call alone, and from the process's start."""

    def call(query: str) -> float:
        peer = fresh(timing.sample, home)
        elapsed = search(peer, query)
        stop(peer)
        return elapsed

    def whole(query: str) -> float:
        began = time.perf_counter()
        peer = Peer(OURS.rival.command(timing.sample.root), environment(home))
        peer.initialize()
        search(peer, query)
        elapsed = time.perf_counter() - began
        stop(peer)
        return elapsed

    report.bar(f"first search over rg, {timing.sample.at}", timing.median(rounds, call), "×", 1.2)
    report.note("ours", **{f"first search with the start over rg, {timing.sample.at}": timing.median(rounds, whole)})


def measure_growth(report: Report, timing: Timing, peer: Peer, cold: float) -> None:
    """How a search grows with the vault, in milliseconds, beside rg: for the plot."""
    warm = statistics.median(min(search(peer, query) for _ in range(3)) for query in timing.sample.queries)
    grep = min(timing.grep(RARE) for _ in range(3))
    for act, took_so_long in {"ours, no index yet": cold, "ours": warm, "rg -il": grep}.items():
        report.growth.setdefault("search", {}).setdefault(act, {})[timing.sample.notes] = took_so_long * 1000


def measure_warm(report: Report, timing: Timing, peer: Peer, rounds: int) -> None:
    sample = timing.sample
    asks = {
        "backlinks": {"tool": "obsidian_list_links", "kind": "backlinks", "name": TARGET},
        "tags": {"tool": "obsidian_list_properties", "property": "tags"},
    }
    for query in sample.queries:
        search(peer, query)
    report.bar(f"second search over rg, {sample.at}", timing.median(rounds, lambda q: search(peer, q)), "×", 0.7)
    for what, ask in asks.items():

        def call(ask: dict[str, str] = ask) -> float:
            began = time.perf_counter()
            assert data(peer.call(**ask))["total"] > 0
            return time.perf_counter() - began

        call()
        report.bar(f"{what} over rg, {sample.at}", timing.ratio(rounds, RARE, call), "×", 0.7)


def measure_changed(report: Report, timing: Timing, peer: Peer, rounds: int) -> None:
    """What has just been written has to be found, all of it."""
    sample, marks = timing.sample, (f"quuxified{number}" for number in range(1_000))

    def after() -> float:
        mark = next(marks)
        for number in range(0, sample.notes, sample.notes // CHANGED):
            with sample.note(number).open("a", encoding="utf-8") as note:
                note.write(f"\nNow {mark} as well.\n")
        os.sync()
        began = time.perf_counter()
        reply = peer.call("obsidian_search_notes", query=mark)
        elapsed = time.perf_counter() - began
        assert data(reply)["total"] == CHANGED, reply
        return elapsed

    ratio = timing.ratio(rounds, RARE, after)
    report.bar(f"search after {CHANGED} changed notes over rg, {sample.at}", ratio, "×", 1.5)


def measure_memory(report: Report, sample: Sample, peer: Peer, home: Path) -> None:
    report.bar(f"memory of a server that searches, {sample.at}", most_memory(peer), "MB", 150)
    builder = fresh(sample, home)
    search(builder, RARE)
    settle(builder, 2)
    search(builder, RARE)
    report.bar(f"memory of a server that builds the index, {sample.at}", most_memory(builder), "MB", 150)
    stop(builder)


def measure_others(report: Report, sample: Sample, others: Sequence[Searcher], peer: Peer, folder: Path) -> None:
    """Warm, in turns with ours. Whether a search finds what was written a moment before it is told with it."""
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for other in others:
        try:
            rival = other.start(sample.root, folder / other.name, LIMIT)
            ratio = statistics.median(_beside(other, rival, peer, query) for query in sample.queries)
            is_fresh = _sees_changes(other, rival, sample)
        except (EOFError, OSError, subprocess.SubprocessError):
            report.left_out[f"search by {other.name}"] = f"it ended, or was ended after {LIMIT} s"
            continue
        stop(rival)
        ratios[is_fresh].append(ratio)
        figures = {"search over ours": ratio, "finds what was just written": float(is_fresh)}
        report.note(other.name, **figures)
        print(f"  {other.name}: {ratio:.2f} × ours{'' if is_fresh else ', and stale'}", flush=True)
    for which, found in {"that looks at the files": ratios[True], "at all": ratios[True] + ratios[False]}.items():
        if found:
            what = f"search by the fastest other {which} over ours, {sample.at}"
            report.bar(what, min(found), "×", 5, at_least=True)


def _beside(other: Searcher, rival: Peer, ours: Peer, query: str, rounds: int = 3) -> float:
    other.search(rival, query)
    theirs, mine = [], []
    for _ in range(rounds):
        theirs.append(took(lambda: other.search(rival, query)))
        mine.append(search(ours, query))
    return min(theirs) / min(mine)


def _sees_changes(other: Searcher, rival: Peer, sample: Sample) -> bool:
    name = f"Vorpal{other.name.encode().hex()}"
    (sample.root / f"{name}.md").write_text(f"# {name}\n\nThe word {name}.\n", encoding="utf-8")
    return f"{name}.md" in str(other.search(rival, name))


def measure(report: Report, folder: Path, sources: Sequence[Path] = (), others: Sequence[Searcher] = ()) -> None:
    if shutil.which("rg") is None:
        report.left_out["search over rg"] = "rg is not installed"
        return
    for notes in [QUICK] if report.quick else list(SIZES):
        rounds = 3 if report.quick or notes > 10_000 else 5
        print(f"Searching {notes:,} notes ...", flush=True)
        place, home = folder / str(notes), folder / str(notes) / "home"
        timing = Timing(build(place / "vault", notes, sources))
        timing.grep(RARE)  # once before, so that everybody finds warm caches
        cold = measure_cold(report, timing, place, 1 if notes > 10_000 else rounds)
        if notes == 1_000:  # rg takes as long as its own start there, so that only the times tell something
            subprocess.run([*US, "index", "--vault", str(timing.sample.root)], env=environment(home), check=True)
        else:
            measure_index(report, timing, home)
            measure_first(report, timing, home, rounds)
        peer = fresh(timing.sample, home)
        measure_growth(report, timing, peer, cold)
        if notes > 1_000:
            measure_warm(report, timing, peer, rounds)
            measure_changed(report, timing, peer, rounds)
        if notes == max(SIZES):
            measure_memory(report, timing.sample, peer, place / "builder")
        elif others and notes == QUICK:
            measure_others(report, timing.sample, others, peer, place)
        stop(peer)
        shutil.rmtree(place)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.searching", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="10,000 notes alone, in fewer rounds")
    parser.add_argument("--rivals", action="store_true", help="other servers too, installed from their registries")
    parser.add_argument(
        "--text", type=Path, action="append", default=[], metavar="FOLDER", help="notes to take text of"
    )
    chosen = parser.parse_args()
    report = Report("", {}, quick=chosen.quick)
    others = install(OTHERS, report) if chosen.rivals else []
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-searching-") as folder:
        measure(report, Path(folder), chosen.text, others)
    print("\n" + report.servers_table() + "\n\n" + report.bars_table())
    print("".join(f"\nLeft out: {name} ({why})." for name, why in report.left_out.items()))
    return 1 if report.missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
