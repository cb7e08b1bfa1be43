"""Who is measured: ourselves, other servers for Obsidian, and servers that do next to nothing on the usual SDKs.

Each is installed on demand into `build/bench`, and started directly, without npx or uvx in between.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
INSTALLED = ROOT / "build" / "bench"
SERVERS = Path(__file__).with_name("servers")
UV = str(Path(sys.executable).with_name("uv"))
LIMIT = 300
Ask = tuple[str, dict[str, Any]]


class NotInstalled(Exception):
    """Why it is left out."""


@dataclass(frozen=True)
class Rival:
    """{home} is its own folder, {vault} the vault, {note}, {new} and {text} what a call is about."""

    name: str
    packages: Sequence[str]
    words: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    read: Ask | None = None
    create: Ask | None = None
    append: Ask | None = None
    rename: Ask | None = None  # with the links to the note
    is_node: bool = False

    @property
    def home(self) -> Path:
        return INSTALLED / re.sub(r"[^a-z]+", "-", self.name.lower()).strip(
            "-"
        )  # no space: scripts name their interpreter

    @property
    def version(self) -> str:
        """Of the package that it is about."""
        return (self.home / ".done").read_text(encoding="utf-8").strip()

    @property
    def is_bare(self) -> bool:
        """Whether it knows no vault, and shows what the protocol alone costs."""
        return self.name.startswith("bare")

    @property
    def is_installed(self) -> bool:
        return (self.home / ".done").exists()

    def command(self, vault: Path) -> list[str]:
        return [str(filled(word, home=str(self.home), vault=str(vault))) for word in self.words]

    def node_version(self) -> str:
        """Of the Node that it runs on, which is not the machine's."""
        return _run(str(filled(NODE, home=str(self.home))), "--version").strip()

    def install(self) -> None:
        """Raises NotInstalled."""
        if self.is_installed:
            return
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        if self.is_node:
            quiet = ("--no-audit", "--no-fund", "--loglevel=error")
            _run("npm", "install", "--prefix", str(self.home), *quiet, "node@24", *self.packages)
            for script in SERVERS.glob("*.mjs"):
                shutil.copy(script, self.home)
            name = self.packages[0].rpartition("@")[0]
            show = "console.log(JSON.parse(require('fs').readFileSync(process.argv[1])).version)"
            version = _run("node", "-e", show, str(self.home / "node_modules" / name / "package.json"))
        else:
            python = str(self.home / "bin" / "python")
            _run(UV, "venv", "--quiet", "--clear", "--python", sys.executable, str(self.home))
            _run(UV, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *self.packages)
            name = self.packages[-1] if self.packages[-1] != str(ROOT) else "obsidian-notekeeper"
            version = _run(python, "-c", f"from importlib.metadata import version; print(version({name!r}))")
        (self.home / ".done").write_text(version, encoding="utf-8")


def _run(*words: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NotInstalled(f"{words[0]}: {problem}") from None
    if done.returncode:
        raise NotInstalled(f"{' '.join(words[:3])}: {done.stderr.strip()[-300:]}")
    return done.stdout


def filled(template: Any, **values: str) -> Any:
    if isinstance(template, str):
        for name, value in values.items():
            template = template.replace("{" + name + "}", value)
        return template
    if isinstance(template, dict):
        return {key: filled(value, **values) for key, value in template.items()}
    return template


NODE = "{home}/node_modules/node/bin/node"
READ_FILE: Ask = ("read", {"path": "{vault}/{note}"})
OURS = Rival(
    name="ours",
    packages=("-c", str(ROOT / "requirements.txt"), str(ROOT)),
    words=("{home}/bin/obsidian-mcp", "--backend", "embedded", "--vault", "{vault}", "--timeout", "600"),
    read=("obsidian_read_note", {"name": "{note}"}),
    create=("obsidian_create_note", {"name": "{note}", "content": "{text}"}),
    append=("obsidian_append_note", {"name": "{note}", "content": "{text}"}),
    rename=("obsidian_move_note", {"name": "{note}", "to": "{new}"}),
)
RIVALS = (
    Rival(
        name="mcpvault",
        packages=("@bitbonsai/mcpvault@latest",),
        words=(NODE, "{home}/node_modules/@bitbonsai/mcpvault/dist/server.js", "{vault}"),
        read=("read_note", {"path": "{note}"}),
        create=("write_note", {"path": "{note}", "content": "{text}"}),
        append=("write_note", {"path": "{note}", "content": "{text}", "mode": "append"}),
        is_node=True,
    ),
    Rival(
        name="obsidian-mcp (npm)",
        packages=("obsidian-mcp@latest",),
        words=(NODE, "{home}/node_modules/obsidian-mcp/dist/main.js", "serve", "--vault", "notes={vault}"),
        read=("obsidian_read_note", {"vault": "notes", "path": "{note}"}),
        create=("obsidian_create_note", {"vault": "notes", "path": "{note}", "content": "{text}"}),
        append=("obsidian_edit_note", {"vault": "notes", "path": "{note}", "operation": "append", "content": "{text}"}),
        rename=("obsidian_move_note", {"vault": "notes", "source": "{note}", "destination": "{new}"}),
        is_node=True,
    ),
    Rival(
        name="markdown-vault-mcp",
        packages=("markdown-vault-mcp",),
        words=("{home}/bin/markdown-vault-mcp", "serve"),
        env={"MARKDOWN_VAULT_MCP_SOURCE_DIR": "{vault}", "MARKDOWN_VAULT_MCP_READ_ONLY": "true"},
        read=("read", {"path": "{note}"}),
    ),
    Rival(
        name="obsidian-mcp (PyPI)",
        packages=("fastmcp<2.9", "pydantic<2.12", "obsidian-mcp"),  # it doesn't start with the libraries of today
        words=("{home}/bin/obsidian-mcp",),
        env={"OBSIDIAN_VAULT_PATH": "{vault}"},
        read=("read_note_tool", {"path": "{note}"}),
    ),
    Rival(
        name="mcp-obsidian (PyPI)",
        packages=("mcp-obsidian",),
        words=("{home}/bin/mcp-obsidian",),
        env={"OBSIDIAN_API_KEY": "none"},
    ),
    Rival(
        name="bare, mcp SDK",
        packages=("mcp",),
        words=("{home}/bin/python", str(SERVERS.parent / "sdk_server.py")),
        read=READ_FILE,
    ),
    Rival(
        name="bare, fastmcp",
        packages=("fastmcp",),
        words=("{home}/bin/python", str(SERVERS / "bare_fastmcp.py")),
        env={"FASTMCP_CHECK_FOR_UPDATES": "off"},
        read=READ_FILE,
    ),
    Rival(
        name="bare, TypeScript SDK",
        packages=("@modelcontextprotocol/sdk@latest", "zod"),
        words=(NODE, "{home}/bare_sdk.mjs"),
        read=READ_FILE,
        is_node=True,
    ),
)
