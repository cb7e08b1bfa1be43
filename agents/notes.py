"""The notes that the tasks and the mistakes are about."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence

TRIP = "Travel/Kyoto Trip.md"
LOG_END = "- 12 Nov: the visas have come\n"
TRIP_TEXT = f"""---
aliases:
  - Nihon Journey
status: planned
---

# Kyoto Trip

The cherries bloom in the first week of April, says the gardener of the temple.

## Log

- 3 Nov: flights booked
{LOG_END}
## Hotels

The ryokan by the river, telephone +81 75 555 0142.
"""
LINKS = ("[[Kyoto Trip]]", "[[Kyoto Trip|the journey]]", "[[Kyoto Trip#Log]]", "![[Kyoto Trip#Hotels]]",
         "[the trip](../Travel/Kyoto%20Trip.md)", "[[Travel/Kyoto Trip]]")  # fmt: skip
FRIENDS = "Ana Ben Cleo Dan Eva Finn Gus Hana Ivo Jana Karl Lena".split()

TRAINING = """# Training

## Week 1

- Run 5 km
- Swim

## Week 2

- Run 5 km
- Rest
"""
GARDEN = """# Garden

## Spring

### Log

- sowed peas

## Autumn

### Log

- raked leaves
"""
LIGHTHOUSE = """---
# kept by hand
title: "Lighthouse"
num: 007
tags: [build, coast]   # two
status: active
due: 2026-11-28
team:
    - Ana
    - Ben
---

# Lighthouse

A lamp for the harbour.
"""
SHOPPING = """# Shopping

- [ ] Buy rice
- [ ] Buy green tea
- [x] Buy salt
- [ ] Buy rice paper
"""
ESSAY = """# Essay

“The sea,” she wrote, “isn’t calm.” Nobody answered.

It was a long winter — the longest of all.
"""
CONTRACT = """# Contract

## Terms

The first party pays.
The second party delivers.

## Plan

Old plan, line one.
Old plan, line two.

## Signatures

None yet.
""".replace("\n", "\r\n")
SNIPPETS = """# Snippets

```markdown
## Log

- an example
```

## Log

- a real entry
"""
TIMETABLE = """# Timetable

The bus leaves at 8:05 from the church.
The train leaves at 9:40 from platform 3.
The ferry leaves at 11:15 from the pier.
"""
DAILY = "Daily/2026-11-16.md"
DAILY_TEXT = "# 2026-11-16\n\n- rain all morning\n"
INDEX = "# Index of {0}\n\n- see the notes of {0}\n"
PROJECTS = {  # name: (status, due)
    "Aqueduct": ("active", "2026-11-20"),
    "Bandstand": ("done", "2026-11-21"),
    "Cableway": ("active", "2026-12-15"),
    "Drydock": ("active", "2026-11-30"),
    "Embankment": ("waiting", "2026-11-19"),
    "Fountain": ("active", "2027-01-10"),
    "Greenhouse": ("done", "2026-12-01"),
}
DUE_BEFORE = "2026-12-01"
CHORES = {  # task: due
    "Call the plumber": "2026-11-18",
    "Renew the passport": "2026-11-19",
    "Order firewood": "2026-11-24",
    "Paint the fence": "2027-04-02",
    "Clean the gutter": "2026-12-20",
}
BROKEN = {
    "Ideas/Loose End 1.md": "Lost Page",
    "Ideas/Loose End 2.md": "Gone Note",
    "Ideas/Loose End 3.md": "No Such Thing",
}
COMPANY_NOTES = 7
HANDBOOK_SENTENCE = "Visitors must sign the blue book at gate seven."
BUDGET = "The yearly budget is 48,200 crowns, of which a third is for repairs."
LAST_LINE = "The last page was written on a train to Oslo."


def special(chance: random.Random, words: Sequence[str]) -> dict[str, bytes]:
    texts = {
        TRIP: TRIP_TEXT, "Training.md": TRAINING, "Garden.md": GARDEN, "Projects/Lighthouse.md": LIGHTHOUSE,
        "Shopping.md": SHOPPING, "Essay.md": ESSAY, "Contract.md": CONTRACT, "Snippets.md": SNIPPETS,
        "Timetable.md": TIMETABLE, DAILY: DAILY_TEXT, "Handbook.md": handbook(chance, words),
        unicodedata.normalize("NFC", "Café Notes.md"): "# Café\n\nOpen from nine.\n",
        "Chores.md": chores(),
    }  # fmt: skip
    texts |= {f"{place}/Index.md": INDEX.format(place.lower()) for place in ("Work", "Home", "Attic")}
    texts |= {f"Projects/{name}.md": project(name, *facts) for name, facts in PROJECTS.items()}
    texts |= {f"Friends/{name}.md": friend(name, place) for place, name in enumerate(FRIENDS)}
    texts |= {path: f"# A loose end\n\nSee [[{link}]] for more.\n" for path, link in BROKEN.items()}
    texts |= {f"Customers/Letter {n}.md": letter(n) for n in range(1, COMPANY_NOTES + 1)}
    texts |= {f"Workshop/Bench {n}.md": bench(n) for n in range(1, 9)}
    texts["Visits.md"] = "# Visits\n\nWe saw [[Workshop/Bench 3]] and [[Bench 5|the fifth]].\n"
    return {path: text.encode() for path, text in texts.items()}


def handbook(chance: random.Random, words: Sequence[str]) -> str:
    """Some 50 KB in forty sections."""
    parts = ["# Handbook\n"]
    for number in range(1, 41):
        lines = [" ".join(chance.choices(words, k=12)).capitalize() + "." for _ in range(14)]
        if number == 23:
            lines[6] = HANDBOOK_SENTENCE
        parts.append(f"## Chapter {number}\n\n" + "\n".join(lines) + "\n")
        if number == 31:
            parts.append(f"## Budget\n\n{BUDGET}\n")
    return "\n".join(parts) + f"\n{LAST_LINE}\n"


def project(name: str, status: str, due: str) -> str:
    return f"---\nstatus: {status}\ndue: {due}\n---\n\n# {name}\n\nA project of the town. #projekt/{status}\n"


def friend(name: str, place: int) -> str:
    return f"# {name}\n\n{name} comes along: {LINKS[place % len(LINKS)]}.\n"


def letter(number: int) -> str:
    twice = " Acme GmbH has moved." if number in (2, 5) else ""
    return f"# Letter {number}\n\nDear Acme GmbH, this is letter {number}.{twice}\n"


def bench(number: int) -> str:
    return f"# Bench {number}\n\nNext to [[Bench {number % 8 + 1}]]. #projekt\n"


def chores() -> str:
    return "# Chores\n\n" + "".join(f"- [ ] {task} 📅 {due}\n" for task, due in CHORES.items())
