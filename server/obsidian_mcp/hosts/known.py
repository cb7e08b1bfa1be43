"""The hosts we know: where each keeps its servers, and in which form. Pure."""

from __future__ import annotations

import ntpath
import posixpath
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ENTRY = "obsidian"
# A program may end its run at a JSON-RPC error, or start the server again and repeat the call; a model that is told
# in a result what went wrong can do something about it.
ERRORS_AS_RESULTS = ("--errors", "result")
MODULE = ["-m", "obsidian_mcp"]
Environ = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Host:
    name: str
    title: str
    section: str
    place: Callable[[Environ, str], str | None]
    next_step: str
    where: str  # where a person types the first question
    comments: bool = False  # whether its file may hold comments and trailing commas
    extra: tuple[tuple[str, Any], ...] = ()

    def file(self, environ: Environ, platform: str = sys.platform) -> str | None:
        """Its configuration file; None where the environment does not tell."""
        return self.place(environ, platform)

    def entry(self, command: Sequence[str], options: Sequence[str]) -> dict[str, Any]:
        told = any(word.partition("=")[0] == ERRORS_AS_RESULTS[0] for word in options)
        words = options if told else [*ERRORS_AS_RESULTS, *options]
        return {**dict(self.extra), "command": command[0], "args": [*command[1:], *words]}


def _home(environ: Environ, platform: str) -> str:
    if platform == "win32":
        return environ.get("USERPROFILE", "")
    return environ.get("HOME", "").rstrip("/")


def _joined(platform: str, *parts: str) -> str | None:
    """None if the first part is not known."""
    return (ntpath if platform == "win32" else posixpath).join(*parts) if parts[0] else None


def _in_home(*parts: str) -> Callable[[Environ, str], str | None]:
    return lambda environ, platform: _joined(platform, _home(environ, platform), *parts)


def _in_settings(*parts: str) -> Callable[[Environ, str], str | None]:
    """Where programs with a window keep their settings."""

    def place(environ: Environ, platform: str) -> str | None:
        home = _home(environ, platform)
        if platform == "win32":
            return _joined(platform, environ.get("APPDATA", ""), *parts)
        if platform == "darwin":
            return _joined(platform, home, "Library/Application Support", *parts)
        return _joined(platform, _linux_settings(environ), *parts)

    return place


def _linux_settings(environ: Environ) -> str:
    """A relative XDG_CONFIG_HOME means nothing, by its own specification."""
    home, named = _home(environ, "linux"), environ.get("XDG_CONFIG_HOME", "")
    return named if named.startswith("/") else posixpath.join(home, ".config") if home else ""


def _claude_code(environ: Environ, platform: str) -> str | None:
    return _joined(platform, environ.get("CLAUDE_CONFIG_DIR") or _home(environ, platform), ".claude.json")


def _zed(environ: Environ, platform: str) -> str | None:
    if platform == "win32":
        return _joined(platform, environ.get("APPDATA", ""), "Zed", "settings.json")
    if platform == "darwin":
        return _joined(platform, _home(environ, platform), ".config/zed/settings.json")
    return _joined(platform, _linux_settings(environ), "zed", "settings.json")


HOSTS = (
    Host(
        "claude-desktop",
        "Claude Desktop",
        "mcpServers",
        _in_settings("Claude", "claude_desktop_config.json"),
        "Quit Claude Desktop completely and start it again.",
        "in a new chat",
    ),
    Host(
        "claude-code",
        "Claude Code",
        "mcpServers",
        _claude_code,
        "Start a new session; /mcp shows the connection.",
        "in that session",
        extra=(("type", "stdio"),),
    ),
    Host(
        "cursor",
        "Cursor",
        "mcpServers",
        _in_home(".cursor", "mcp.json"),
        "Switch {name} on in Cursor's settings, under MCP.",
        "in a new chat, in Agent mode",
        comments=True,
    ),
    Host(
        "vscode",
        "VS Code",
        "servers",
        _in_settings("Code", "User", "mcp.json"),
        "Run the command MCP: List Servers and start {name}.",
        "in the Chat view, in Agent mode",
        comments=True,
        extra=(("type", "stdio"),),
    ),
    Host(
        "windsurf",
        "Windsurf",
        "mcpServers",
        _in_home(".codeium", "windsurf", "mcp_config.json"),
        "Refresh the servers in Windsurf's settings, under Cascade.",
        "in Cascade",
    ),
    Host(
        "zed",
        "Zed",
        "context_servers",
        _zed,
        "Open the agent's settings in Zed; {name} should have a green dot.",
        "in the agent panel",
        comments=True,
        extra=(("source", "custom"),),
    ),
)
BY_NAME = {host.name: host for host in HOSTS}


def is_ours(entry: object) -> bool:
    """Whether an entry starts this program. Others are called obsidian-mcp too; those come with Node."""
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str):
        return False
    args = entry.get("args")
    words = args if isinstance(args, list) else []
    path = entry["command"].replace("\\", "/")
    command = path.rpartition("/")[2].lower()
    if "/node_modules/" in path:
        return False
    return command in ("obsidian-mcp", "obsidian-mcp.exe") or words[:2] == MODULE


def own_words(args: list[str]) -> list[str]:
    """The options among an entry's arguments."""
    return args[2:] if args[:2] == MODULE else args
