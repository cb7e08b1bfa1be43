"""Plots as SVG: bars, and lines on two logarithmic axes. Readable on light and dark pages."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

COLOURS = ("#7c3aed", "#d97706", "#0d9488", "#64748b", "#be123c", "#2563eb", "#65a30d")
FONT = 'font-family="sans-serif" font-size="13" fill="#888"'


def bars(title: str, unit: str, values: Sequence[tuple[str, float]]) -> str:
    """The lengths are logarithmic: on a plain axis the short ones could not be seen."""
    left, width, height = 190, 420, 26
    low = min(value for _, value in values) / 2
    high = max(value for _, value in values)
    rows = []
    for number, (name, value) in enumerate(values):
        y = 34 + number * height
        long = width * math.log(value / low) / math.log(high / low)
        colour = COLOURS[0] if name == "ours" else COLOURS[3]
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        rows.append(
            f'<text x="{left - 8}" y="{y + 14}" text-anchor="end" {FONT}>{html.escape(name)}</text>'
            f'<rect x="{left}" y="{y}" width="{long:.1f}" height="{height - 8}" rx="3" fill="{colour}"/>'
            f'<text x="{left + long + 6:.1f}" y="{y + 14}" {FONT}>{shown} {unit}</text>'
        )
    return _page(left + width + 100, 40 + len(values) * height, f"{title} (lengths logarithmic)", rows)


def lines(title: str, unit: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Both axes logarithmic: a straight line is a power."""
    left, top, width, height = 70, 34, 420, 240
    points = [point for line in series.values() for point in line]
    x_low, x_high = (f(math.log10(x) for x, _ in points) for f in (min, max))
    y_low, y_high = (f(math.log10(y) for _, y in points) for f in (min, max))

    def at(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x_low) / (x_high - x_low or 1)
        up = (math.log10(y) - y_low) / (y_high - y_low or 1)
        return left + width * across, top + height * (1 - up)

    rows = []
    for power in range(math.ceil(y_low), math.floor(y_high) + 1):
        y = at(10**x_low, 10.0**power)[1]
        rows.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884"/>')
        rows.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" {FONT}>{10.0**power:g}</text>')
    for x in sorted({x for x, _ in points}):
        rows.append(
            f'<text x="{at(x, 10**y_low)[0]:.1f}" y="{top + height + 20}" text-anchor="middle" {FONT}>{x:,.0f}</text>'
        )
    for number, (name, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in line))
        rows.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        rows.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in (at(*p) for p in line))
        y = top + 6 + number * 20
        rows.append(f'<rect x="{left + width + 20}" y="{y}" width="12" height="12" fill="{colour}"/>')
        rows.append(f'<text x="{left + width + 38}" y="{y + 11}" {FONT}>{html.escape(name)}</text>')
    rows.append(f'<text x="{left}" y="{top + height + 40}" {FONT}>notes in the vault; {unit}, both logarithmic</text>')
    legend = 50 + 8 * max(len(name) for name in series)
    return _page(left + width + legend, top + height + 54, title, rows)


def _page(width: float, height: float, title: str, rows: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    name = (
        f'<title>{html.escape(title)}</title><text x="8" y="20" font-weight="bold" {FONT}>{html.escape(title)}</text>'
    )
    return "\n".join([head, name, *rows, "</svg>", ""])
