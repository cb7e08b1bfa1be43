"""What the trials have shown: figures, bars, and what is written down of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agents.trial import Result
from bench import drawing
from bench.report import Bar, table

OURS, CAREFUL = "ours", "careful"
MOST_COMMON_BYTES, LEAST_MENDED = 5_000, 24
BARS_HEAD = ("what", "found", "bar", "")
HEAD = ("server", "policy", "done", "calls", "bytes", "tokens", "mended", "by the message", "harm")


@dataclass
class Run:
    """All results of one policy through one server."""

    server: str
    policy: str
    tasks: list[Result] = field(default_factory=list)
    mistakes: list[Result] = field(default_factory=list)
    tokens: int | None = None

    @property
    def done(self) -> list[Result]:
        return [result for result in self.tasks if result.done]

    @property
    def mended(self) -> list[Result]:
        return [result for result in self.mistakes if result.done]

    @property
    def harmed(self) -> list[Result]:
        return [result for result in (*self.tasks, *self.mistakes) if result.harmed]

    @property
    def row(self) -> tuple[str, ...]:
        by_message = sum(result.errors_mended > 0 for result in self.mended)
        return (
            self.server,
            self.policy,
            f"{len(self.done)} of {len(self.tasks)}",
            f"{sum(result.calls for result in self.done):,}",
            f"{sum(result.bytes for result in self.done):,}",
            "" if self.tokens is None else f"{self.tokens:,}",
            f"{len(self.mended)} of {len(self.mistakes)}",
            str(by_message),
            str(len(self.harmed)),
        )


def bars(runs: Sequence[Run]) -> list[Bar]:
    ours = [run for run in runs if run.server == OURS]
    careful = next(run for run in ours if run.policy == CAREFUL)
    common = sum(result.bytes for result in careful.tasks if result.common)
    found = [
        Bar("tasks done", len(careful.done), "", len(careful.tasks), True),
        Bar("bytes for the eight common tasks", common, "", MOST_COMMON_BYTES),
        Bar("mistakes mended", len(careful.mended), "", LEAST_MENDED, True),
        *(Bar(f"harm, {run.policy}", len(run.harmed), "", 0) for run in ours),
    ]
    for rival in runs:
        if rival.server != OURS and rival.policy == CAREFUL:
            mine, theirs = shared_bytes(careful, rival)
            found.append(Bar(f"bytes of {rival.server} over ours, tasks that both did", theirs / mine, "×", 1, True))
    return found


def shared_bytes(ours: Run, rival: Run) -> tuple[int, int]:
    """Over the tasks that both did; 1 and 1 where there are none."""
    theirs = {result.task: result.bytes for result in rival.done}
    mine = {result.task: result.bytes for result in ours.done if result.task in theirs}
    return (sum(mine.values()), sum(theirs[task] for task in mine)) if mine else (1, 1)


def summary(runs: Sequence[Run]) -> str:
    return table(HEAD, [run.row for run in runs])


def by_task(runs: Sequence[Run]) -> str:
    """Bytes of each task, of careful agents; what was not done is marked."""
    careful = [run for run in runs if run.policy == CAREFUL]
    results = [{result.task: result for result in run.tasks} for run in careful]
    names = list(results[0])
    rows = [(name, *(_cell(found.get(name)) for found in results)) for name in names]
    return table(("task", *(run.server for run in careful)), rows)


def by_mistake(runs: Sequence[Run]) -> str:
    careful = [run for run in runs if run.policy == CAREFUL]
    results = [{result.task: result for result in run.mistakes} for run in careful]
    rows = [(name, *(_mark(found.get(name)) for found in results)) for name in results[0]]
    return table(("mistake", *(run.server for run in careful)), rows)


def _cell(result: Result | None) -> str:
    if result is None or not result.able:
        return "no tool"
    return f"{result.bytes:,}" if result.done else "harm" if result.harmed else "not done"


def _mark(result: Result | None) -> str:
    if result is None or not result.able:
        return "not tried"
    if not result.done:
        return "harm" if result.harmed else "no"
    return "by the message" if result.errors_mended else "stopped" if result.reason else "at once"


def failures(runs: Sequence[Run]) -> list[str]:
    """What went wrong with ours, for whoever has to mend it."""
    told = []
    for run in runs:
        for result in (*run.tasks, *run.mistakes) if run.server == OURS else ():
            if result.harmed or (run.policy == CAREFUL and not result.done):
                what = (
                    f"harmed {', '.join(result.harmed)}"
                    if result.harmed
                    else result.reason or "the end was not reached"
                )
                told.append(f"{run.policy}, {result.task}: {what}")
    return told


def write(
    folder: Path, day: str, versions: Mapping[str, str], left_out: Mapping[str, str], runs: Sequence[Run]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {
        "day": day,
        "versions": versions,
        "left_out": left_out,
        "runs": [_plain(run) for run in runs],
    }
    (folder / "agents.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "agents.md").write_text(page(day, versions, left_out, runs), encoding="utf-8")
    (folder / "tokens.svg").write_text(plot(found), encoding="utf-8")


def plot(found: Mapping[str, Any]) -> str:
    """Tokens for a task that was done, of a recorded run; the list of tools is not counted."""
    careful = [run for run in found["runs"] if run["policy"] == CAREFUL and run["tokens"]]
    return drawing.bars(
        "Tokens a task that was done, without the list of tools",
        "tokens",
        [(run["server"], run["tokens"] / sum(task["done"] for task in run["tasks"])) for run in careful],
    )


def page(day: str, versions: Mapping[str, str], left_out: Mapping[str, str], runs: Sequence[Run]) -> str:
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    missing = "".join(f"\nLeft out: {name} ({why}).\n" for name, why in left_out.items())
    met = table(BARS_HEAD, [bar.row for bar in bars(runs)])
    return (
        f"# Agents, {day}\n\n`make agents RIVALS=yes`. {named}.\n{missing}\n## All\n\n{summary(runs)}\n\n"
        f"## Bars\n\n{met}\n\n## Bytes for each task, careful\n\n{by_task(runs)}\n\n"
        f"## Each mistake, careful\n\n{by_mistake(runs)}\n"
    )


def _plain(run: Run) -> dict[str, Any]:
    def told(result: Result) -> dict[str, Any]:
        return {**{key: value for key, value in asdict(result).items() if key != "said"}, "bytes": result.bytes}

    return {
        "server": run.server, "policy": run.policy, "tokens": run.tokens,
        "tasks": [told(each) for each in run.tasks], "mistakes": [told(each) for each in run.mistakes],
    }  # fmt: skip
