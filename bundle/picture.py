"""Draws a session for the README, from what `obsidian-mcp demo` really prints, and a host's own screen, from lines that
Claude Code 2.1.325 has shown (`host.txt`).

make picture
"""

from __future__ import annotations

import io
import os
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from obsidian_mcp import demo

FILE = Path(__file__).with_name("session.svg")
HOST, SHOWN = Path(__file__).with_name("host.svg"), Path(__file__).with_name("host.txt")
WIDTH = 104
HOST_WIDTH = 100
TITLES = (
    "Create a note, with LaTeX",
    "Append to it",
    "Read it back, byte for byte",
    "Rename a note: every link to it follows",
    "A name that two notes have",
)
SESSION = "A session: a note is created and read, another renamed, an ambiguous name refused"
ATTACHED = "Notes offered after @kyo, prompts after /obsidian"
STYLES = {"→": "cyan", "✓": "green", "✗": "yellow", "-": "red", "+": "green"}
INK, PAPER = (31, 35, 41), (222, 226, 230)
THEME = TerminalTheme(
    INK,
    PAPER,
    [INK, (240, 128, 128), (152, 200, 130), (229, 192, 123), (97, 160, 220), (190, 140, 210), (110, 190, 200), PAPER],
)
# Rich's own template loads a font from the network; this one uses what the reader has.
TEMPLATE = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<title>TITLE</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g>
</svg>
"""


def session() -> list[str]:
    """The demo's steps that are shown, line by line."""
    told: list[str] = []
    demo.play({"PATH": os.defpath}, told.append)
    blocks = "\n".join(told).split("\n\n")
    return "\n\n".join(block for block in blocks if block.startswith(TITLES)).split("\n")


def draw() -> str:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False, markup=False)
    for line in session():
        mark = line.strip()[:1]
        console.print(Text(line, STYLES.get(mark, "") if line.startswith(" ") else "bold"))
    template = TEMPLATE.replace("TITLE", SESSION)
    return console.export_svg(title="obsidian-mcp demo", theme=THEME, code_format=template, unique_id="session")


def draw_host() -> str:
    console = Console(record=True, width=HOST_WIDTH, file=io.StringIO(), highlight=False, markup=False)
    for line in SHOWN.read_text(encoding="utf-8").splitlines():
        console.print(Text(line, "bold" if line.startswith("❯") else "cyan" if "obsidian:" in line else "dim"))
    template = TEMPLATE.replace("TITLE", ATTACHED)
    return console.export_svg(title="Claude Code", theme=THEME, code_format=template, unique_id="host")


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
    HOST.write_text(draw_host(), encoding="utf-8")
