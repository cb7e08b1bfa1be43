"""A folder that becomes a symbolic link to elsewhere, and back, again and again while calls run."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.client import Server
from tests.support.world import World

ROUNDS = 400


def exchange(one: Path, other: Path) -> None:
    """In one step: at no time is there neither."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, bytes(one), -100, bytes(other), 2):
        raise OSError(ctypes.get_errno(), "renameat2")


@contextmanager
def swapping(world: World) -> Iterator[None]:
    """`Vault/Folder` is now the folder, now a link to the one outside that holds files of the same names."""
    folder, link = world.vault / "Folder", world.folder / "link"
    link.symlink_to(world.outside)
    stop = threading.Event()

    def swap() -> None:
        times = 0
        while not stop.is_set() or times % 2:
            exchange(folder, link)
            times += 1
        assert times > 100

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def prepared(own_world: World) -> World:
    for number in range(3):
        own_world.put(f"Folder/Note {number}.md", "inside [[Target]]\n")
        (own_world.outside / f"Note {number}.md").write_text("SECRET [[Target]]\n")
    own_world.put("Target.md", "target\n")
    return own_world


def outside(world: World) -> dict[str, bytes]:
    return {name: data for name, data in world.tree().items() if name.startswith("outside")}


@pytest.mark.parametrize("tool", ["read", "append", "overwrite", "create", "delete", "rename", "move in", "info"])
def test_nothing_outside_is_read_written_or_made(prepared: World, tool: str) -> None:
    before = outside(prepared)
    options = ("--backend", "embedded", "--vault", str(prepared.vault), "--log-level", "error")
    said = []
    with Server(prepared.environment(), *options) as server, swapping(prepared):
        server.initialize()
        for number in range(ROUNDS):
            note = f"Folder/Note {number % 3}.md"
            call = {
                "read": ("read_note", {"name": note}),
                "append": ("append_note", {"name": note, "content": "more"}),
                "overwrite": ("create_note", {"name": note, "content": "new", "overwrite": True}),
                "create": ("create_note", {"name": f"Folder/New {number}.md", "content": "new"}),
                "delete": ("delete_note", {"name": note, "permanent": True}),
                "rename": ("rename_note", {"name": "Target", "new_name": "Other"} if number % 2 == 0 else
                           {"name": "Other", "new_name": "Target"}),
                "move in": ("move_note", {"name": "Target.md", "to": "Folder"} if number % 2 == 0 else
                            {"name": "Folder/Target.md", "to": "/"}),
                "info": ("file_info", {"name": note}),
            }[tool]  # fmt: skip
            said.append(server.request("tools/call", {"name": f"obsidian_{call[0]}", "arguments": call[1]}))
    assert outside(prepared) == before
    assert not [reply for reply in said if "SECRET" in str(reply)]
    assert len([reply for reply in said if "result" in reply]) > (2 if tool == "delete" else 10)
