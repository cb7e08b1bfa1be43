"""Claude Code in a terminal, with a model that is a script: a note attached by `@`, a prompt run as a command, and the
question before a note is deleted for good.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interop.ide import KEY, QUIET, Model, Screen, Wrong, model

NOTE, TEXT = "Kyoto.md", "The cherries bloom in the first week of April."
DELETE = "mcp__obsidian__obsidian_delete_note"
WORDS = "Delete it for good"
ENTER, TAB, ESCAPE = b"\r", b"\t", b"\x1b"


class Script(Model):
    """Deletes the note for good when it is told to."""

    def call(self, request: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        content = request["messages"][-1]["content"] if request.get("messages") else ""
        last = content[-1] if isinstance(content, list) and content else {"text": content}
        is_told = last.get("text") == WORDS and request.get("tools")
        return (DELETE, {"name": NOTE, "permanent": True}) if is_told else None


def prepare(server: Sequence[str], vault: Path, home: Path) -> None:
    """A Claude Code that has the server, and asks nothing at its first start."""
    (vault / NOTE).write_text(TEXT, encoding="utf-8")
    (vault / "Prompts").mkdir()
    (vault / "Prompts" / "Pack.md").write_text("Pack the bags for {{trip}}.", encoding="utf-8")
    answers = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(_project(home)): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        "mcpServers": {"obsidian": {"type": "stdio", "command": server[0], "args": list(server[1:]), "env": {}}},
    }
    (home / ".claude.json").write_text(json.dumps(answers), encoding="utf-8")
    allowed = {"permissions": {"allow": ["mcp__obsidian"], "defaultMode": "default"}}
    for folder in (home, _project(home)):
        (folder / ".claude").mkdir(parents=True)
        (folder / ".claude" / "settings.json").write_text(json.dumps(allowed), encoding="utf-8")


def _project(home: Path) -> Path:
    """An empty folder to work in: Claude Code keeps files of its own in the home, and would suggest them too."""
    return home / "project"


def trial(server: Sequence[str], claude: str, vault: Path, home: Path) -> str:
    """What was seen, in a line. Raises Wrong."""
    prepare(server, vault, home)
    with model(Script) as (address, asked):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": address,
            **dict.fromkeys(QUIET, "1"),
        }
        screen = Screen([claude], _project(home), environment)
        try:
            _attach(screen, asked)
            _run_prompt(screen, asked)
            _meet_question(screen, asked, vault)
        finally:
            screen.end()
    return "a note by @, a prompt as a command, the question before a deletion"


def _attach(screen: Screen, asked: list[str]) -> None:
    screen.until(lambda: "shortcuts" in screen.text or "Try" in screen.text, "the prompt")
    screen.type("@kyo")
    again = lambda: screen.type("\x7fo")  # noqa: E731  # the server may still be starting
    screen.until(lambda: "obsidian:obsidian://vault/" in screen.text, "the note among the suggestions", again)
    screen.press(TAB)
    screen.until(lambda: f"obsidian://vault/vault/{NOTE}" in screen.text, "the note in the prompt")
    screen.type(" when?")
    screen.until(lambda: any(TEXT in body for body in asked), "the note's text", lambda: screen.press(ENTER))


def _run_prompt(screen: Screen, asked: list[str]) -> None:
    screen.type("/mcp__obsidian__pack Kyoto")
    wanted = "Pack the bags for Kyoto."
    screen.until(lambda: any(wanted in body for body in asked), repr(wanted), lambda: screen.press(ENTER))


def _meet_question(screen: Screen, asked: list[str], vault: Path) -> None:
    """To leave it is a no; to tick the box and accept is a yes."""
    _until_asked(screen)
    if not (vault / NOTE).exists():
        raise Wrong("the note was deleted before the question was answered")
    screen.until(lambda: any("The person was asked" in body for body in asked), "the no", lambda: screen.press(ESCAPE))
    if not (vault / NOTE).exists():
        raise Wrong("the note was deleted after a no")
    _until_asked(screen)
    for key in (b" ", b"\x1b[B", ENTER):  # the box, down to "Accept", and there
        screen.key(key, 0.5)
    screen.until(lambda: not (vault / NOTE).exists(), "the deletion after a yes")


def _until_asked(screen: Screen) -> None:
    before = len(screen.text)
    screen.type(WORDS)
    question = "forgood,nottothetrash?"
    screen.until(lambda: question in screen.text[before:], "the question", lambda: screen.press(b"\r"))
