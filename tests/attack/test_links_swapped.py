"""A folder that becomes a symbolic link to elsewhere, and back, again and again while calls run."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import Server
from tests.support.world import World

ROUNDS, CALLS = 40, 10


def exchange(one: Path, other: Path) -> None:
    """In one step: at no time is there neither."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, bytes(one), -100, bytes(other), 2):
        raise OSError(ctypes.get_errno(), "renameat2")


@contextmanager
def swapping(world: World) -> Iterator[None]:
    """`Vault/Folder` is now the folder, now a link to the one outside that holds files of the same names.

    At the end it is the folder.
    """
    folder, link = world.vault / "Folder", world.folder / "link"
    if not link.is_symlink():
        link.symlink_to(world.outside)
    begun, stop = threading.Event(), threading.Event()

    def swap() -> None:
        times = 0
        while not stop.is_set() or times % 2:
            exchange(folder, link)
            times += 1
            begun.set()

    thread = threading.Thread(target=swap)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def prepared(own_world: World) -> World:
    put_inside(own_world)
    for number in range(3):
        (own_world.outside / f"Note {number}.md").write_text("SECRET [[Target]]\n")
    own_world.put("Target.md", "target\n")
    return own_world


def put_inside(world: World) -> None:
    for number in range(3):
        world.put(f"Folder/Note {number}.md", "inside [[Target]]\n")


def outside(world: World) -> dict[str, bytes]:
    return {name: data for name, data in world.tree().items() if name.startswith("outside")}


def call(world: World, tool: str, number: int) -> tuple[str, dict[str, Any]]:
    note = f"Folder/Note {number % 3}.md"
    at_the_top = (world.vault / "Target.md").exists()
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "read": ("read_note", {"name": note}),
        "append": ("append_note", {"name": note, "content": "more"}),
        "overwrite": ("create_note", {"name": note, "content": "new", "overwrite": True}),
        "create": ("create_note", {"name": f"Folder/New {number}.md", "content": "new"}),
        "delete": ("delete_note", {"name": note, "permanent": True}),
        "rename": ("rename_note", {"name": "Target", "new_name": "Other"} if at_the_top else
                   {"name": "Other", "new_name": "Target"}),
        "move": ("move_note", {"name": "Target.md", "to": "Folder"} if at_the_top else
                 {"name": "Folder/Target.md", "to": "/"}),
        "info": ("file_info", {"name": note}),
    }  # fmt: skip
    return calls[tool]


@pytest.mark.parametrize("tool", ["read", "append", "overwrite", "create", "delete", "rename", "move", "info"])
def test_nothing_outside_is_read_written_or_made(prepared: World, tool: str) -> None:
    before = outside(prepared)
    options = ("--backend", "embedded", "--vault", str(prepared.vault), "--log-level", "error")
    said = []
    with Server(prepared.environment(), *options) as server:
        server.initialize()
        for number in range(ROUNDS):
            with swapping(prepared):
                for step in range(number * CALLS, (number + 1) * CALLS):
                    name, arguments = call(prepared, tool, step)
                    said.append(server.request("tools/call", {"name": f"obsidian_{name}", "arguments": arguments}))
            if tool == "delete":
                put_inside(prepared)
            # Nobody swaps now: what was refused before is done.
            name, arguments = call(prepared, tool, -1 - number)
            server.call(name, **arguments)
    assert outside(prepared) == before
    assert not [reply for reply in said if "SECRET" in str(reply)]
