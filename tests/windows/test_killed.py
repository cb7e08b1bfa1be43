"""A server that is killed in the middle of a rename, and the one that comes after it."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.client import PATIENCE, Server
from tests.support.world import World

NOTES = 12
# At the wanted call of the system's the process is gone, as if it had been ended from outside.
DIES = """
import os
left = [{step}]
def before(name):
    real = getattr(os, name)
    def call(*arguments, **named):
        left[0] -= 1
        if not left[0]:
            os._exit(99)
        return real(*arguments, **named)
    setattr(os, name, call)
for name in ("rename", "replace", "link", "ftruncate", "fsync", "unlink", "mkdir"):
    before(name)
"""


@pytest.mark.parametrize("step", [2, 4, 6, 10])
def test_a_rename_is_finished_or_not_begun(world: World, server: Server, step: int) -> None:
    """By the next call of a server that was running meanwhile."""
    world.put("Old.md", "own [[Old]]")
    for number in range(NOTES):
        world.put(f"Sub/Note {number}.md", f"before [[Old]] and [x](../Old.md) {number}\n")
    options = ("--vault", str(world.vault), "--backend", "embedded")
    with Server(world.environment(), *options, first=DIES.format(step=step)) as doomed:
        doomed.initialize().begin_call("rename_note", name="Old", new_name="A longer name")
        try:
            doomed.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pytest.fail("it was not killed")
    server.call("read_note", name="Sub/Note 0")
    name = "A longer name" if world.has("A longer name.md") else "Old"
    assert world.has(f"{name}.md") != world.has("Old.md" if name != "Old" else "A longer name.md")
    for number in range(NOTES):
        link = name.replace(" ", "%20")
        assert world.get(f"Sub/Note {number}.md").decode() == f"before [[{name}]] and [x](../{link}.md) {number}\n"
    left = [file.name for file in world.vault.rglob(".obsidian-mcp-*")]
    assert left == []
