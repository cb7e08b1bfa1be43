"""Draws the page for the README: invented notes, changed by two invented assistants, in a real Chromium.

make page

Times are of the moment, so two drawings differ; it is drawn anew when the page's look changes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.support.browser import Browser
from tests.support.page import link
from tests.support.web import Web, WebSession
from tests.support.world import World

FILE = Path(__file__).with_name("page.png")
WIDTH, HEIGHT = 1100, 960
NOTES = {
    "Compost.md": "# Compost\n\nTurn it once a month.\n",
    "Garden.md": "# Garden\n\nSow the beans in May.\nWater every evening.\n\nFeed the beds from the [[Compost]].\n",
    "Journal/Monday.md": "The [[Compost|heap]] is warm, the beans are up.\n",
}


def change(web: Web) -> None:
    cursor, desktop = WebSession(web, "cursor"), WebSession(web, "claude-ai")
    cursor.call("create_note", name="Herbs", content="# Herbs\n\n- Basil\n- Thyme\n")
    cursor.call("undo_change")
    desktop.call("edit_note", name="Garden", old_text="in May", new_text="in late May, after the frost")
    desktop.call("rename_note", name="Compost", new_name="Compost heap")


def draw(into: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-picture-") as folder:
        world = World(Path(folder, "world"))
        world.vault = world.vault.rename(world.folder / "Allotment")
        for name, text in NOTES.items():
            world.put(name, text)
        options = ("--vault", str(world.vault), "--backend", "embedded")
        with Web(world.environment(), *options) as web, Browser(Path(folder, "profile")) as browser:
            change(web)
            tab = browser.tab(link(web), WIDTH, HEIGHT)
            tab.click("article .open")
            tab.wait_for("document.querySelector('td.plus')")
            tab.evaluate("scrollTo(0, 0)")
            tab.screenshot(into)


if __name__ == "__main__":
    draw(FILE)
