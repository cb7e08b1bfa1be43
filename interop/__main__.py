"""Clients that are not ours, on Node: `make clients`.

Each is installed from its registry and works on a vault in a temporary folder:
it lists every tool, creates, reads and deletes a note, and gets a readable
error for a missing one. A package that can't be installed is skipped; a client
that fails is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import evaluation, everything, scripted
from interop import agent, host, ide, over_http
from obsidian_mcp.features import builtin_prompts
from obsidian_mcp.tools import catalogue

ROOT = Path(__file__).parents[1]
INSTALLED = ROOT / "build" / "clients"
SERVER = str(Path(sys.executable).with_name("obsidian-mcp"))
LIMIT = 300
TOOLS = len(catalogue.load(sets=("default",)).names)
PROMPTS = len(list(builtin_prompts.offered(catalogue.load(sets=("default",)).names)))
TEXT = "$\\nabla$ \\times é"


class Skipped(Exception):
    """Why it could not be tried."""


class Failed(Exception):
    """What the client said."""


@dataclass(frozen=True)
class Place:
    """A vault and an empty home, for one client."""

    vault: Path
    home: Path
    package: Path

    @property
    def server(self) -> list[str]:
        return [SERVER, "--vault", str(self.vault), "--log-level", "error"]

    def run(self, *words: str, codes: Sequence[int] = (0,)) -> str:
        environment = {**os.environ, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config")}
        done = subprocess.run(
            words, cwd=self.package, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        if done.returncode not in codes:
            raise Failed(f"{' '.join(words)}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def bin(self, name: str) -> str:
        return str(self.package / "node_modules" / ".bin" / name)


def inspector(era: str) -> Callable[[Place], None]:
    def session(place: Place) -> None:
        def say(method: str, *words: str, codes: Sequence[int] = (0,)) -> str:
            return place.run(
                place.bin("inspector"), "--cli", "--protocol-era", era, "--format", "json", "--quiet",
                *place.server, "--method", method, *words, codes=codes,
            )  # fmt: skip

        def call(tool: str, *pairs: str) -> Any:
            given = [word for pair in pairs for word in ("--tool-arg", pair)]
            return json.loads(say("tools/call", "--tool-name", f"obsidian_{tool}", *given))

        _same(len(json.loads(say("tools/list", "--strict"))["result"]["tools"]), TOOLS)
        call("create_note", "name=New", f"content={TEXT}")
        _same(call("read_note", "name=New")["result"]["structuredContent"]["data"]["content"], TEXT)
        (resource,) = json.loads(say("resources/list"))["result"]["resources"]
        _same(resource["name"], "New.md")
        (read,) = json.loads(say("resources/read", "--uri", resource["uri"]))["result"]["contents"]
        _same((read["uri"], read["text"]), (resource["uri"], TEXT))
        (template,) = json.loads(say("resources/templates/list"))["result"]["resourceTemplates"]
        _has(template["uriTemplate"], "{+path}")
        prompts = [each["name"] for each in json.loads(say("prompts/list"))["result"]["prompts"]]
        _same(len(prompts), PROMPTS)
        (message,) = json.loads(say("prompts/get", "--prompt-name", prompts[0]))["result"]["messages"]
        _has(message["content"]["text"], "obsidian_read_note")
        call("delete_note", "name=New", "permanent=true")
        missing = say("tools/call", "--tool-name", "obsidian_read_note", "--tool-arg", "name=New", codes=(1, 5))
        _has(missing, "There is no note 'New'")

    return session


def sdk(line: str, era: str) -> Callable[[Place], None]:
    def session(place: Place) -> None:
        script = place.package / "sdk.mjs"
        shutil.copyfile(Path(__file__).with_name("sdk.mjs"), script)
        _has(place.run("node", str(script), line, era, *place.server), f"{TOOLS} tools; a missing note:")

    return session


def claude_added(place: Place) -> None:
    place.run(place.bin("claude"), "mcp", "add", "obsidian", "--", *place.server)
    _has(place.run(place.bin("claude"), "mcp", "list"), "Connected")


def claude_installed(place: Place) -> None:
    """The same by our own `install`."""
    place.run(SERVER, "install", "claude-code", "--vault", str(place.vault))
    _has(place.run(place.bin("claude"), "mcp", "list"), "Connected")
    place.run(SERVER, "uninstall", "claude-code")
    _has(place.run(place.bin("claude"), "mcp", "list"), "No MCP servers")


def claude_beside_obsidian(place: Place) -> None:
    """Through the IDE door."""
    ide.trial(SERVER, place.bin("claude"), place.vault, place.home)


def claude_attaching(place: Place) -> None:
    """By @, by a command, and with a question."""
    print(host.trial(place.server, place.bin("claude"), place.vault, place.home.resolve()), end=" ... ")


def claude_evaluated(place: Place) -> None:
    """`make eval`, with scripts for models: one that follows the plans, and one that only says hello."""
    tasks = [task for task in everything.TASKS if task.name in ("a fact", "a log line", "undo a rename")]
    for script, right in ((scripted.Follower, len(tasks)), (ide.Model, 0)):
        with ide.model(script) as (address, _):
            environ = {**os.environ, "ANTHROPIC_API_KEY": ide.KEY, "ANTHROPIC_BASE_URL": address}
            asked = evaluation.Asked(place.bin("claude"), "a-script", environ)
            folder = place.home.resolve() / script.__name__
            folder.mkdir()
            trials = evaluation.evaluate(asked, tasks, 1, folder)
        _same(sum(trial.passed for found in trials.values() for trial in found), right)


def gemini(place: Place) -> None:
    """A long note read by an agent, with a script for a model."""
    print(agent.gemini(place.bin("gemini"), place.server, place.vault, place.home, TOOLS), end=" ... ")


INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
CLAUDE_CODE = "@anthropic-ai/claude-code@2.1.325"
GEMINI = "@google/gemini-cli@0.61.0"
SDK_1 = "@modelcontextprotocol/sdk@1.32.2"
SDK_2 = "@modelcontextprotocol/client@2.4.0"
CLIENTS: tuple[tuple[str, str, Callable[[Place], None]], ...] = (
    ("Inspector, legacy era", INSPECTOR, inspector("legacy")),
    ("Inspector, modern era", INSPECTOR, inspector("modern")),
    ("TypeScript SDK 1.x", SDK_1, sdk("1", "legacy")),
    ("TypeScript SDK 2.x, legacy era", SDK_2, sdk("2", "legacy")),
    ("TypeScript SDK 2.x, modern era", SDK_2, sdk("2", "auto")),
    ("Claude Code, mcp add", CLAUDE_CODE, claude_added),
    ("Claude Code, our install", CLAUDE_CODE, claude_installed),
    ("Claude Code, the IDE door", CLAUDE_CODE, claude_beside_obsidian),
    ("Claude Code, a note by @", CLAUDE_CODE, claude_attaching),
    ("Claude Code, the evaluation", CLAUDE_CODE, claude_evaluated),
    ("Gemini CLI, a long note", GEMINI, gemini),
)


CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"


def conformance(place: Place) -> None:
    node = over_http.newer_node(INSTALLED)
    if node is None:
        raise Skipped("Node 22 could not be installed")
    suite = place.package / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    for line in over_http.conformance(suite, node, place.home):
        print(f"\n    {line}", end="")
    print("\n    ", end="")


def browser(place: Place) -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise Skipped("there is no Chromium here; Debian has it as the package chromium")
    over_http.browser(program, place.home)


def install(package: str) -> Path | None:
    """Its folder; None if it can't be had."""
    folder = INSTALLED / package.replace("/", "+")
    if not (folder / ".done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
        words = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", package]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=LIMIT, check=False)
        if done.returncode:
            print(done.stderr.strip())
            return None
        (folder / ".done").touch()
    return folder


def _same(found: object, wanted: object) -> None:
    if found != wanted:
        raise Failed(f"{found!r} instead of {wanted!r}")


def _has(text: str, part: str) -> None:
    if part not in text:
        raise Failed(f"{part!r} is not in: {text}")


OTHERS: tuple[tuple[str, str, Callable[[Place], None]], ...] = (
    ("Conformance suite, both revisions", CONFORMANCE, conformance),
    ("Chromium with a page from elsewhere", "", browser),
)


def main() -> None:
    if shutil.which("npm") is None:
        sys.exit("make clients needs Node and npm.")
    passed = failed = skipped = 0
    for title, package, session in (*CLIENTS, *OTHERS):
        print(f"{title} ({package or 'as it is installed'}) ... ", end="", flush=True)
        folder = install(package) if package else INSTALLED
        if folder is None:
            print("skipped: it could not be installed")
            skipped += 1
            continue
        with tempfile.TemporaryDirectory(prefix="obsidian-mcp-clients-") as made:
            place = Place(Path(made, "vault"), Path(made, "home"), folder)
            place.vault.mkdir()
            place.home.mkdir()
            try:
                session(place)
                print("ok")
                passed += 1
            except Skipped as skip:
                print(f"skipped: {skip}")
                skipped += 1
            except (
                Failed,
                agent.Wrong,
                over_http.Wrong,
                ide.Wrong,
                ValueError,
                KeyError,
                subprocess.TimeoutExpired,
            ) as failure:
                print(f"FAILED\n{failure}")
                failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
