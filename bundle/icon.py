"""Draws the icon: a note with a folded corner, and a link from it to another.

make icon
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

SIZE = 512
FINER = 4  # drawn larger, then made smaller, so that edges are smooth
FILE = Path(__file__).with_name("icon.png")
GROUND, PAPER, FOLD, INK, LINK = "#1f3a4d", "#f7f4ec", "#d8cfba", "#9fb0b8", "#e8894a"


def draw() -> Image.Image:
    image = Image.new("RGBA", (SIZE * FINER, SIZE * FINER), (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)

    def at(*numbers: float) -> list[float]:
        return [number * FINER for number in numbers]

    pen.rounded_rectangle(at(0, 0, 512, 512), 112 * FINER, fill=GROUND)
    pen.polygon(at(120, 96, 304, 96, 376, 168, 376, 416, 120, 416), fill=PAPER)
    pen.polygon(at(304, 96, 376, 168, 304, 168), fill=FOLD)
    for top, end in ((208, 320), (248, 336), (288, 272)):
        pen.rounded_rectangle(at(160, top, end, top + 16), 8 * FINER, fill=INK)
    pen.line(at(232, 352, 400, 352), fill=LINK, width=20 * FINER)
    for centre in (232, 400):
        pen.ellipse(at(centre - 36, 316, centre + 36, 388), fill=LINK)
        pen.ellipse(at(centre - 15, 337, centre + 15, 367), fill=PAPER)
    smooth = image.resize((SIZE, SIZE), Image.Resampling.LANCZOS)
    return smooth.quantize(64, Image.Quantize.FASTOCTREE)  # a bundle should be small


if __name__ == "__main__":
    draw().save(FILE, optimize=True)
