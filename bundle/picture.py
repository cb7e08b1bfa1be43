"""Draws README's conversation, from a session that is really played (`conversation.py`), and a host's own screen, from
lines that Claude Code 2.1.325 has shown (`host.txt`).

make picture

The drawing is laid out without measuring a font, because readers have different ones: text that must fit is wrapped
early, and lines of notes are stretched to a given width, so that marks stand where the words are.
"""

from __future__ import annotations

import difflib
import html
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from bundle import conversation
from bundle.conversation import Conversation, Step

FILE = Path(__file__).with_name("session.svg")
HOST, SHOWN = Path(__file__).with_name("host.svg"), Path(__file__).with_name("host.txt")
HOST_WIDTH = 100
TITLE = "A conversation: a question, what the assistant did, and the notes before and after"
ATTACHED = "Notes offered after @kyo, prompts after /obsidian"
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

WIDTH, MARGIN, GAP = 880, 28, 36
CHAT = 400  # the left column; the notes have the rest
CHARACTER, LINE, NOTE_LINE = 8.4, 23, 25
ACROSS = 39  # characters of a sentence in a line
STYLE = """
.page { fill: #f6f7f9 } .card { fill: #fff; stroke: #d8dbe2 } .mine { fill: #6b46c1 } .rule { stroke: #e6e8ed }
.less { fill: #fdebea } .more { fill: #e3f5ea } .was { fill: #f6bdb8 } .is { fill: #9adbb4 } .done { fill: #1f8a4c }
text { font: 15px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1f2329 }
.label { font-size: 12.5px; font-weight: 600; fill: #6a7180 } .said { fill: #fff } .name { font-weight: 600 }
.mono, .tool { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
.mono { font-size: 14px; white-space: pre } .tool { font-size: 12.5px; fill: #6a7180 }
.tick { fill: none; stroke: #fff; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round }
""".strip()


class Column:
    """What is drawn, from the top down."""

    def __init__(self, left: float, width: float) -> None:
        self.left, self.width, self.y = left, width, float(MARGIN)
        self.shapes: list[str] = []

    def label(self, words: str, right: bool = False) -> None:
        x, anchor = (self.left + self.width - 4, ' text-anchor="end"') if right else (self.left + 4, "")
        self.shapes.append(f'<text class="label" x="{x:g}" y="{self.y + 12:g}"{anchor}>{html.escape(words)}</text>')
        self.y += 22

    def bubble(self, words: str, mine: bool = False) -> None:
        lines = wrapped(words)
        height = len(lines) * LINE + 22
        left = self.left + (28 if mine else 0)
        look = "mine" if mine else "card"
        self.shapes.append(box(left, self.y, self.width - 28, height, look, 14))
        self.y += 11
        for line in lines:
            self.text(line, left + 16, "said" if mine else "")
        self.y += 11 + (32 if mine else 20)

    def text(self, line: str, x: float, look: str = "") -> None:
        """One line, in which what stands between asterisks is a note's name."""
        parts = line.split("*")
        spans = [f'<tspan class="name {look}">{part}</tspan>' if at % 2 else part for at, part in enumerate(parts)]
        self.shapes.append(f'<text class="{look}" x="{x:g}" y="{self.y + 16:g}">{"".join(spans)}</text>')
        self.y += LINE

    def step(self, step: Step) -> None:
        x, y = self.left + 12, self.y + 11
        self.shapes.append(f'<circle class="done" cx="{x:g}" cy="{y:g}" r="8.5"/>')
        self.shapes.append(f'<path class="tick" d="M{x - 3.6:g} {y + 0.4:g}l2.6 2.8 4.8-6"/>')
        for line in wrapped(step.words):
            self.text(line, self.left + 32)
        tool = html.escape(step.tool)
        self.shapes.append(f'<text class="tool" x="{self.left + 32:g}" y="{self.y + 12:g}">{tool}</text>')
        self.y += 43

    def notes(self, texts: Mapping[str, str], others: Mapping[str, str], mark: str) -> None:
        """One card for all, with the lines tinted in which the others differ."""
        top, self.y = self.y, self.y + 6
        inside: list[str] = []
        shapes, self.shapes = self.shapes, inside
        for number, (path, text) in enumerate(texts.items()):
            if number:
                ends = f'x1="{self.left:g}" x2="{self.left + self.width:g}" y1="{self.y + 5:g}" y2="{self.y + 5:g}"'
                inside.append(f'<line class="rule" {ends}/>')
                self.y += 10
            inside.append(f'<text class="label" x="{self.left + 16:g}" y="{self.y + 20:g}">{html.escape(path)}</text>')
            self.y += 30
            for line, other in zip(text.splitlines(), others[path].splitlines(), strict=True):
                self.note_line(line, other, mark)
        self.shapes = [*shapes, box(self.left, top, self.width, self.y - top + 10, "card", 10), *inside]
        self.y += 10 + 20

    def note_line(self, line: str, other: str, mark: str) -> None:
        x = self.left + 16
        if line != other:
            look, strong = ("less", "was") if mark == "-" else ("more", "is")
            self.shapes.append(box(self.left + 1, self.y, self.width - 2, NOTE_LINE, look, 0))
            for start, end in differing(line, other):
                width = (end - start) * CHARACTER
                self.shapes.append(box(x + start * CHARACTER, self.y + 3, width, NOTE_LINE - 6, strong, 3))
        if line:
            fit = f'textLength="{len(line) * CHARACTER:.1f}"'
            words = html.escape(line, quote=False)
            self.shapes.append(f'<text class="mono" x="{x:g}" y="{self.y + 17:g}" {fit}>{words}</text>')
        self.y += NOTE_LINE


def box(x: float, y: float, width: float, height: float, look: str, radius: float) -> str:
    size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{look}" {size} rx="{radius:g}"/>'


def wrapped(words: str) -> list[str]:
    """Lines of escaped text. A name in asterisks that goes over two lines is closed and opened again."""
    lines, open_ = [""], False
    for word in words.split(" "):
        if len(re.sub(r"\*", "", f"{lines[-1]} {word}")) > ACROSS:
            lines[-1] += "*" if open_ else ""
            lines.append("*" if open_ else "")
        space = " " if lines[-1].strip("*") else ""
        lines[-1] += space + html.escape(word, quote=False)
        open_ ^= word.count("*") % 2 == 1
    return lines


def differing(line: str, other: str) -> Iterator[tuple[int, int]]:
    """The words of a line that the other doesn't have there, from and to which character."""
    words, others = ([*re.findall(r"\w+|\W", text)] for text in (line, other))
    at = [0]
    for word in words:
        at.append(at[-1] + len(word))
    for kind, start, end, _, _ in difflib.SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        if kind != "equal" and end > start:
            yield at[start], at[end]


def draw(played: Conversation | None = None) -> str:
    talk = played or conversation.play()
    chat = Column(MARGIN, CHAT)
    notes = Column(MARGIN + CHAT + GAP, WIDTH - CHAT - GAP - 2 * MARGIN)
    chat.label("You", right=True)
    chat.bubble(talk.asked, mine=True)
    chat.label("What the assistant did")
    for step in talk.steps:
        chat.step(step)
    chat.y += 12
    chat.label("Assistant")
    chat.bubble(talk.answer)
    for label, texts, others, mark in (
        ("Before", talk.before, talk.after, "-"),
        ("After", talk.after, talk.before, "+"),
    ):
        notes.label(label)
        notes.notes(texts, others, mark)
    return _page(max(chat.y, notes.y) - 20 + MARGIN, [*chat.shapes, *notes.shapes])


def _page(height: float, shapes: Iterable[str]) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height:g}" xmlns="http://www.w3.org/2000/svg">\n<title>{TITLE}</title>'
    return "\n".join([head, f"<style>\n{STYLE}\n</style>", box(0, 0, WIDTH, height, "page", 14), *shapes, "</svg>\n"])


def draw_host() -> str:
    console = Console(record=True, width=HOST_WIDTH, file=io.StringIO(), highlight=False, markup=False)
    for line in SHOWN.read_text(encoding="utf-8").splitlines():
        console.print(Text(line, "bold" if line.startswith("❯") else "cyan" if "obsidian:" in line else "dim"))
    template = TEMPLATE.replace("TITLE", ATTACHED)
    return console.export_svg(title="Claude Code", theme=THEME, code_format=template, unique_id="host")


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
    HOST.write_text(draw_host(), encoding="utf-8")
