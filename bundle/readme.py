"""Fills in what the pages in docs/ take from elsewhere: the tables of tools and options, the figures
of the recorded benchmark.

make readme
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from obsidian_mcp import settings
from obsidian_mcp.tools import catalogue, toolsets

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RECORDED = ROOT / "bench" / "results" / "results.json"
AGENTS = RECORDED.with_name("agents.json")
AT_ONCE = "reads/s, 64 at once"


def tools() -> str:
    rows = ["| tool | arguments | what it does |", "|---|---|---|"]
    for tool in catalogue.load().listing():
        schema = tool["inputSchema"]
        required = schema.get("required", [])
        given = ", ".join(f"`{name}`" if name in required else f"[`{name}`]" for name in schema["properties"])
        rows.append(f"| `{tool['name']}` | {given} | {tool['description']} |")
    return "\n".join(rows)


def sets() -> str:
    rows = ["| set | on by default | what it is for |", "|---|---|---|"]
    for toolset in toolsets.TOOLSETS.values():
        rows.append(f"| `{toolset.name}` | {'yes' if toolset.on_by_default else 'no'} | {toolset.description} |")
    return "\n".join(rows)


def options(declared: Sequence[settings.Option] = settings.OPTIONS) -> str:
    rows = ["| option | environment | |", "|---|---|---|"]
    for option in declared:
        value = f" {option.metavar}".replace("|", "\\|") if option.metavar else ""
        default = f" Default: {option.default}." if option.default else ""
        rows.append(f"| `--{option.name}{value}` | `{option.variable}` | {option.help}{default} |")
    return "\n".join(rows)


def benchmark() -> str:
    """From the recorded run: `python -m bench --into bench/results`."""
    found = json.loads(RECORDED.read_text(encoding="utf-8"))
    bars = {bar["what"]: bar for bar in found["bars"]}
    rename, machine, rows = found["growth"]["rename, 500 links"], found["machine"], found["rows"]
    other = next(server for server in rename if server != "ours")
    sentences = (
        f"Recorded on {found['day']} with `make bench` on a shared machine with {machine['cores']} cores "
        f"(Python {machine['Python']}, Node {machine['Node'].removeprefix('v')}). The first reply comes after "
        f"{bars['start to the first reply, over python -c pass']['found']:.1f} times what `python -c pass` takes, "
        f"{bars['start, over the fastest other']['found']:.1f} times sooner than that of the fastest other, a bare "
        f"server on the TypeScript SDK, and {rows['mcpvault']['start, ms'] / rows['ours']['start, ms']:.1f} times "
        "sooner than mcpvault's. "
        f"A rename with 500 links to mend takes {rename['ours']['10000']:.0f} ms among 10,000 notes, where {other}, "
        f"the one other server here that mends links, takes {rename[other]['10000'] / 1000:.1f} s. With 64 reads in "
        f"flight it answers {rows['ours'][AT_ONCE]:,.0f} a second, {other} {rows[other][AT_ONCE]:,.0f}.",
        _searches(bars, rows),
        f"Of {len(bars)} bars that we set ourselves {len(bars) - len(found['missed'])} were met; the others are marked "
        "in the [table](../bench/results/table.md)."
        if found["missed"]
        else "Every bar of our own was met.",
    )
    return " ".join(sentences)


def _searches(bars: dict[str, Any], rows: dict[str, Any]) -> str:
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for row in rows.values():
        if "search over ours" in row:
            ratios[bool(row["finds what was just written"])].append(row["search over ours"])
    return (
        f"A search among 10,000 notes takes {bars['second search over rg, at 10,000 notes']['found']:.1f} times what "
        f"`rg` takes to read them, among 100,000 {bars['second search over rg, at 100,000 notes']['found']:.1f} times. "
        f"Of the other servers that find what was written a moment before, the fastest takes {min(ratios[True]):.0f} "
        f"times as long as ours; of those that don't look at the files, {min(ratios[False]):.1f} times."
    )


def measured() -> str:
    """The one line in README, from the run that `make agents RIVALS=yes` recorded."""
    found = json.loads(AGENTS.read_text(encoding="utf-8"))
    done = {
        run["server"]: {task["task"]: task["bytes"] for task in run["tasks"] if task["done"]}
        for run in found["runs"]
        if run["policy"] == "careful"
    }
    ours = done.pop("ours")
    over = sorted(sum(theirs.values()) / sum(ours[task] for task in theirs if task in ours) for theirs in done.values())
    count = len(found["runs"][0]["tasks"])
    return (
        f"A scripted agent did {len(ours)} of {count} tasks through it, with {sum(ours.values()):,} bytes; through "
        f"{len(done)} other servers {min(map(len, done.values()))} to {max(map(len, done.values()))}, with "
        f"{over[0]:.1f} to {over[-1]:.0f} times as many for the same tasks ({found['day']})."
    )


PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "tools.md": {"tools": tools, "sets": sets},
    "options.md": {"options": options},
    "http.md": {"http": lambda: options(settings.HTTP_OPTIONS)},
    "bridge.md": {"bridge": lambda: options(settings.REMOTE_OPTIONS)},
    "benchmark.md": {"benchmark": benchmark},
    "../README.md": {"measured": measured},
}


def filled(text: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """The text with each part made anew, between `<!-- its name -->` and `<!-- end -->`."""
    for name, made in parts.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        escaped = made().replace("\\", "\\\\")
        text, count = pattern.subn(rf"\g<1>{escaped}\n\g<2>", text)
        if count != 1:
            raise ValueError(f"<!-- {name} --> is needed once, and is there {count} times")
    return text


def generated() -> dict[Path, str]:
    """Every page with generated parts, as it should be."""
    return {
        (DOCS / name).resolve(): filled((DOCS / name).read_text(encoding="utf-8"), parts)
        for name, parts in PAGES.items()
    }


if __name__ == "__main__":
    for page, text in generated().items():
        page.write_text(text, encoding="utf-8")
