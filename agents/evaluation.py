"""The same tasks for a real model, in words, through Claude Code: `make eval MODEL=…`.

Each task is tried five times on a vault that is as new. What counts is what is left of the vault, and for a question
what the model says; so a model may go about it as it likes. It has this server's tools and no others. The key is the
one that Claude Code finds: ANTHROPIC_API_KEY, and ANTHROPIC_BASE_URL for another endpoint.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.calls import Unable
from agents.everything import TASKS
from agents.oracles import judge
from agents.ours import Ours
from agents.policies import stage
from agents.tasks import Task
from agents.trial import Ground, environment
from agents.vault import files, snapshot
from bench.report import table

TRIALS, LIMIT = 5, 600
CLIENT = "claude-code"  # as it names itself; what was done before is done in its name
PREFIX = "mcp__obsidian__"
BUILT_IN = "Bash,Edit,Write,Read,Glob,Grep,NotebookEdit,WebFetch,WebSearch,Task,TodoWrite"
QUIET = ("DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER")
KEPT = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "LANG", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS")


@dataclass(frozen=True)
class Told:
    """What a session of Claude Code has told of itself."""

    answer: str
    tools: Sequence[str]  # of this server, in order
    tokens: int  # in and out, those from a cache too


@dataclass(frozen=True)
class Trial:
    task: str
    passed: bool
    first_is_right: bool
    told: Told


def read_stream(lines: str) -> Told:
    """Of `--output-format stream-json`."""
    answer, tools, usage = "", list[str](), dict[str, Any]()
    for line in lines.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("type") == "assistant":
            parts = event["message"].get("content", ())
            called = [part["name"] for part in parts if part.get("type") == "tool_use"]
            tools += [name.removeprefix(PREFIX) for name in called if name.startswith(PREFIX)]
        elif event.get("type") == "result":
            answer, usage = str(event.get("result", "")), event.get("usage") or {}
    return Told(answer, tools, sum(value for key, value in usage.items() if key.endswith("tokens") and value))


@dataclass(frozen=True)
class Asked:
    """Whom the tasks are given to: a program, the model that it uses, and the environment with the key."""

    claude: str
    model: str
    environ: Mapping[str, str]


def tried(asked: Asked, ground: Ground, task: Task) -> Trial:
    ground.reset()
    server = Ours()
    befores = [ground.files]
    with ground.home(server) as home:
        if task.staged is not None:
            with ground.session(server, home, client=CLIENT) as session:
                stage(session, task.staged(server))
            befores.append(snapshot(ground.vault))
        if task.meddle is not None:
            task.meddle(ground.vault)
            befores.append(snapshot(ground.vault))
        told = session_of(asked, server, ground.vault, home, task.words)
    verdict = judge(snapshot(ground.vault), task.after(ground.files), befores, task.form)
    passed = verdict.right and not verdict.harmed and task.answered(told.answer)
    return Trial(task.name, passed, bool(told.tools) and told.tools[0] in task.first, told)


def session_of(asked: Asked, server: Ours, vault: Path, home: Path, words: str) -> Told:
    """One session, with an empty home and this server alone."""
    places = environment(home)
    command = [sys.executable, "-m", "obsidian_mcp", *server.words(vault)]
    config = {"obsidian": {"command": command[0], "args": command[1:], "env": places}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": config}), encoding="utf-8")
    options = ("--strict-mcp-config", "--mcp-config", "mcp.json", "--model", asked.model, "--verbose")
    allowed = ("--allowedTools", "mcp__obsidian", "--disallowedTools", BUILT_IN, "--output-format", "stream-json")
    kept = {name: asked.environ[name] for name in KEPT if name in asked.environ}
    env = {**places, "PATH": asked.environ["PATH"], **kept, **dict.fromkeys(QUIET, "1")}
    done = subprocess.run(
        [asked.claude, "-p", words, *options, *allowed],
        cwd=home, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    return read_stream(done.stdout)


def rows(trials: Mapping[str, Sequence[Trial]]) -> list[tuple[str, ...]]:
    """One for each task: passed, all passed, first tool right, tokens a trial."""
    return [
        (
            name,
            f"{sum(trial.passed for trial in found)} of {len(found)}",
            f"{sum(trial.first_is_right for trial in found)} of {len(found)}",
            f"{sum(trial.told.tokens for trial in found) / len(found):,.0f}",
        )
        for name, found in trials.items()
    ]


def figures(trials: Mapping[str, Sequence[Trial]]) -> dict[str, float]:
    """pass@1 is the share of trials that passed, pass^k the share of tasks of which every trial did."""
    every = [trial for found in trials.values() for trial in found]
    most = max(len(found) for found in trials.values())
    return {
        "pass@1": sum(trial.passed for trial in every) / len(every),
        f"pass^{most}": sum(all(trial.passed for trial in found) for found in trials.values()) / len(trials),
        "first tool right": sum(trial.first_is_right for trial in every) / len(every),
        "tokens a trial": sum(trial.told.tokens for trial in every) / len(every),
    }


def evaluate(asked: Asked, tasks: Sequence[Task], count: int, folder: Path) -> dict[str, list[Trial]]:
    ground = Ground(folder, files())
    ground.prepare(Ours())
    found: dict[str, list[Trial]] = {}
    for task in tasks:
        print(f"{task.name} ... ", end="", flush=True, file=sys.stderr)
        try:
            found[task.name] = [tried(asked, ground, task) for _ in range(count)]
        except (Unable, subprocess.TimeoutExpired) as problem:
            print(problem, file=sys.stderr)
            continue
        print(f"{sum(trial.passed for trial in found[task.name])} of {count}", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m agents.evaluation", description=__doc__.partition("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--claude", default="", help="the program; without it, it is installed from npm")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--tasks", default="", help="only those whose name has this in it")
    chosen = parser.parse_args()
    claude = chosen.claude or installed()
    if not claude:
        sys.exit("make eval needs Node and npm, to install Claude Code.")
    tasks = [task for task in TASKS if chosen.tasks in task.name]
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-eval-") as folder:
        trials = evaluate(Asked(claude, chosen.model, os.environ), tasks, chosen.trials, Path(folder).resolve())
    if not trials:
        return 1
    print(table(("task", "passed", "first tool right", "tokens"), rows(trials)))
    print("\n" + ", ".join(f"{name} {value:,.2f}" for name, value in figures(trials).items()))
    return 0


def installed() -> str:
    from interop.__main__ import CLAUDE_CODE, install

    folder = install(CLAUDE_CODE)
    return str(folder / "node_modules" / ".bin" / "claude") if folder else ""


if __name__ == "__main__":
    sys.exit(main())
