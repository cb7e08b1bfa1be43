"""The conversation that README shows: a person's question, the calls that an assistant makes for it, two notes before
and after. The sentences are ours; the calls are made over stdio to a server on real files, and what is told of them is
taken from its replies.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.client import Server
from tests.support.process import SEARCHED

NOTES = {
    "Garden plan.md": (
        "# Garden plan\n\n- April: order seed potatoes\n- Early May: sow the [[Beans]]\n- June: plant out the leeks\n"
    ),
    "Journal/2 May.md": "Frost. The [[Beans|beans]] can wait.\n",
    "Beans.md": "# Beans\n\nScarlet Emperor. Frost kills them.\n",
}
SHOWN = ("Garden plan.md", "Journal/2 May.md")
ASKED = "Frost again last night! Sow the beans in late May instead, and call their note *Runner beans* from now on."
Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One call: what it did, in words, and the tool's name."""

    words: str
    tool: str


@dataclass(frozen=True, slots=True)
class Conversation:
    asked: str
    steps: tuple[Step, ...]
    answer: str
    before: Mapping[str, str]
    after: Mapping[str, str]


def _found(data: Data) -> str:
    return f"Found *{title(data['notes'][0]['path'])}* and {data['total'] - 1} other notes"


def _edited(data: Data) -> str:
    return f"Changed {_counted(data['replaced'], 'place')} in *{title(data['path'])}*"


def _renamed(data: Data) -> str:
    links, notes = _counted(data["links_updated"], "link"), _counted(len(data["notes_changed"]), "note")
    return f"Renamed *{title(data['old_path'])}* to *{title(data['path'])}*, and updated {links} in {notes}"


CALLS: tuple[tuple[str, dict[str, str], Callable[[Data], str]], ...] = (
    ("search_notes", {"query": "sow the beans"}, _found),
    ("edit_note", {"name": "Garden plan", "old_text": "Early May", "new_text": "Late May"}, _edited),
    ("rename_note", {"name": "Beans", "new_name": "Runner beans"}, _renamed),
)


def play() -> Conversation:
    """In a temporary folder, without the app."""
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-picture-") as folder:
        vault = Path(folder, "Allotment")
        write(vault)
        before = texts(vault)
        environment = {"PATH": os.defpath, "HOME": folder, "PYTHONPATH": SEARCHED}
        with Server(environment, "--vault", str(vault), "--backend", "embedded") as server:
            server.initialize()
            replies = [server.call(tool, **arguments) for tool, arguments, _ in CALLS]
        after = texts(vault)
    steps = tuple(Step(told(data), tool) for (tool, _, told), data in zip(CALLS, replies, strict=True))
    return Conversation(ASKED, steps, _answer(replies[-1]), before, after)


def _answer(renamed: Data) -> str:
    notes = " and ".join(f"*{title(path)}*" for path in renamed["notes_changed"])
    undo = "Say “undo both” if it was better before."
    return f"Done. The beans are down for late May, and {notes} link to the new name. {undo}"


def write(vault: Path) -> None:
    for path, text in NOTES.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8", newline="")


def texts(vault: Path) -> dict[str, str]:
    """The notes that are shown, as they are on disk."""
    return {path: (vault / path).read_text(encoding="utf-8") for path in SHOWN}


def title(path: str) -> str:
    """A note as a person calls it."""
    return path.rpartition("/")[2].removesuffix(".md")


def _counted(number: int, noun: str) -> str:
    return f"{'one' if number == 1 else number} {noun}{'' if number == 1 else 's'}"
