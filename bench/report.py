"""What a run has found: figures, bars, and how they are shown."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import drawing


@dataclass(frozen=True)
class Bar:
    """A figure and what we have promised of it."""

    what: str
    found: float
    unit: str
    promised: float
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        return self.found >= self.promised if self.at_least else self.found <= self.promised

    @property
    def row(self) -> tuple[str, str, str, str]:
        sign = "≥" if self.at_least else "≤"
        return (
            self.what,
            f"{self.found:.3g} {self.unit}",
            f"{sign} {self.promised:g} {self.unit}",
            "✓" if self.is_met else "✗",
        )


@dataclass
class Report:
    day: str
    machine: dict[str, str]
    quick: bool = False
    seconds: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    bars: list[Bar] = field(default_factory=list)
    rows: dict[str, dict[str, float]] = field(default_factory=dict)  # by server, then by figure
    growth: dict[str, dict[str, dict[int, float]]] = field(default_factory=dict)  # by act, then server, then notes

    def bar(self, what: str, found: float, unit: str, promised: float, at_least: bool = False) -> None:
        self.bars.append(Bar(what, found, unit, promised, at_least))

    def note(self, server: str, **figures: float) -> None:
        self.rows.setdefault(server, {}).update(figures)

    @property
    def missed(self) -> list[str]:
        return [bar.what for bar in self.bars if not bar.is_met]

    def bars_table(self) -> str:
        return table(("what", "found", "bar", ""), [bar.row for bar in self.bars])

    def servers_table(self) -> str:
        names = list(dict.fromkeys(figure for row in self.rows.values() for figure in row))
        rows = []
        for server, row in self.rows.items():
            version = f" {self.versions[server]}" if server in self.versions else ""
            rows.append((server + version, *(_shown(row.get(name)) for name in names)))
        return table(("server", *names), rows)

    def growth_table(self) -> str:
        rows = []
        for act, servers in self.growth.items():
            for server, times in servers.items():
                shown = (_shown(times.get(notes)) for notes in (1_000, 10_000, 100_000))
                rows.append((act, server, *shown, exponent(times)))
        return table(("ms", "server", "1,000 notes", "10,000", "100,000", "growth exponent"), rows)


def exponent(times: dict[int, float]) -> str:
    """The power by which it grows: 1 is proportional to the notes, 0 not at all."""
    small, large = min(times), max(times)
    if small == large:
        return ""
    return f"{math.log(times[large] / times[small]) / math.log(large / small):.1f}".replace("-0.0", "0.0")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown, with its columns aligned."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)]
    lines.insert(1, " | ".join("-" * max(3, width) for width in widths))
    return "\n".join(f"| {line} |" for line in lines)


def write(report: Report, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {**dataclasses.asdict(report), "missed": report.missed}
    (folder / "results.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    machine = ", ".join(f"{key} {value}" for key, value in report.machine.items())
    left_out = "".join(f"\nLeft out: {name} ({why}).\n" for name, why in report.left_out.items())
    text = (
        f"# Benchmark, {report.day}\n\n`make bench`, {report.seconds} s. {machine}. Medians of one run; only ratios "
        "mean something on another machine. The CLI-driven calls use the stand-in for Obsidian's command.\n"
        f"{left_out}\n## Our own bars\n\n{report.bars_table()}\n\n## Beside others\n\n{report.servers_table()}\n\n"
        f"## Growth\n\n{report.growth_table()}\n"
    )
    (folder / "table.md").write_text(text, encoding="utf-8")
    starts = [(name, row["start, ms"]) for name, row in report.rows.items() if "start, ms" in row]
    (folder / "start.svg").write_text(drawing.bars("From process start to the first reply", "ms", starts), "utf-8")
    rates = [(name, row["reads/s"]) for name, row in report.rows.items() if "reads/s" in row and "HTTP" not in name]
    (folder / "rate.svg").write_text(drawing.bars("Notes read in a second, one at a time", "/s", rates), "utf-8")
    series = {
        f"{act}, {server}": sorted(times.items())
        for act in ("rename, 500 links", "append")
        for server, times in report.growth.get(act, {}).items()
        if len(times) > 1
    }
    if series:
        (folder / "growth.svg").write_text(
            drawing.lines("How long a call takes in a growing vault", "ms", series), "utf-8"
        )
    searches = {name: sorted(times.items()) for name, times in report.growth.get("search", {}).items()}
    if searches:
        picture = drawing.lines("How long a search takes in a growing vault", "ms", searches)
        (folder / "search.svg").write_text(picture, "utf-8")


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
