"""The vault that the tasks are about: a thousand notes, the same ones each time."""

from __future__ import annotations

import os
import random
from pathlib import Path

from agents.notes import special

SEED, NOTES = 22, 1_000
FOLDERS = ("Areas", "Books", "Ideas", "Meetings", "People", "Places", "Reading", "Research")
WORDS = (
    "amber anchor basin beacon birch bridge candle canyon carpet cedar chalk cinder cobalt copper coral cotton "
    "crater delta ember fabric falcon fennel ferry flint forest garnet glacier granite harbour harvest hazel heron "
    "indigo island ivory jasmine juniper kettle lagoon lantern lattice lemon lichen linen magnet maple marble meadow "
    "mineral mirror mosaic nectar nickel oasis olive opal orchard oyster paper parcel pebble pepper pillar plume "
    "prairie quarry quartz raven reef ribbon saddle saffron sandal shadow shelter silver sparrow spruce summit "
    "tangent thistle timber tunnel valley velvet violet walnut willow winter yarrow zenith"
).split()
Files = dict[str, bytes]


def files() -> Files:
    """Every file of the vault by its path."""
    chance = random.Random(SEED)
    made = special(chance, WORDS)
    for number in range(NOTES - len(made)):
        folder, title = chance.choice(FOLDERS), " ".join(chance.sample(WORDS, 2)).title()
        made[f"{folder}/{title} {number}.md"] = filler(chance).encode()
    return made


def filler(chance: random.Random) -> str:
    """A note like any other, about nothing that a task asks for."""
    head = f"---\ntags: [{chance.choice(WORDS)}]\nrating: {chance.randrange(1, 6)}\n---\n\n"
    parts = [f"## {chance.choice(WORDS).title()}\n\n{paragraph(chance)}\n" for _ in range(chance.randrange(1, 5))]
    return head + "\n".join(parts)


def paragraph(chance: random.Random) -> str:
    sentences = (" ".join(chance.choices(WORDS, k=chance.randrange(6, 14))) for _ in range(chance.randrange(2, 6)))
    return " ".join(f"{sentence.capitalize()}." for sentence in sentences)


def put(root: Path, wanted: Files) -> None:
    """The vault as it should be; what is so already is not touched."""
    (root / ".obsidian").mkdir(parents=True, exist_ok=True)
    there = snapshot(root)
    for path in there.keys() - wanted.keys():
        (root / path).unlink()
    for path, content in wanted.items():
        if there.get(path) != content:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)


def snapshot(root: Path) -> Files:
    """Every file but what hidden folders hold: a trash and a server's own files are nobody's notes."""
    found: Files = {}
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in names:
            file = Path(folder, name)
            found[file.relative_to(root).as_posix()] = file.read_bytes()
    return found
