"""Six tasks that ask for something."""

from __future__ import annotations

import re

from agents.calls import Plan
from agents.notes import BROKEN, BUDGET, CHORES, DUE_BEFORE, FRIENDS, PROJECTS, TRIP
from agents.ours import paths_in
from agents.seen import Seen
from agents.server import Properties, Server
from agents.tasks import Task


def fact(server: Server) -> Plan[str]:
    found = yield from server.search("cherries bloom week")
    return (yield from told_of_cherries(server, found))


def told_of_cherries(server: Server, found: Seen) -> Plan[str]:
    """Where a passage ends too soon, the first note that was found is read."""
    fact = re.compile(r"cherries bloom in ([^,.]+),")
    if fact.search(found.text) is None and (paths := paths_in(found)):
        found = yield from server.read(paths[0])
    told = fact.search(found.text)
    return told[1] if told else ""


def active_and_due(properties: Properties) -> bool:
    return properties.get("status") == "active" and str(properties.get("due", "9")) < DUE_BEFORE


def by_property(server: Server) -> Plan[str]:
    found = yield from server.with_properties("Projects", active_and_due, f"[status:active] [due:<{DUE_BEFORE}]")
    return "\n".join(found)


def who_links(server: Server) -> Plan[str]:
    found = yield from server.backlinks(TRIP)
    return "\n".join(paths_in(found))


def section(server: Server) -> Plan[str]:
    found = yield from server.section("Handbook.md", "Budget")
    return "\n".join(found.strings())


def due(server: Server) -> Plan[str]:
    found = yield from server.due_tasks("Chores.md", "2026-11-25")
    return "\n".join(text for text in found.strings() if "Handbook" not in text)


def broken(server: Server) -> Plan[str]:
    found = yield from server.broken_links()
    return "\n".join(found.strings())


ACTIVE = [
    f"Projects/{name}.md"
    for name, facts in PROJECTS.items()
    if active_and_due(dict(zip(("status", "due"), facts, strict=True)))
]
INACTIVE = [f"Projects/{name}.md" for name in PROJECTS if f"Projects/{name}.md" not in ACTIVE]
LATE = [task for task, day in CHORES.items() if day < "2026-11-25"]
FINDING = (
    Task("a fact", "find", "In which week do the cherries bloom, according to my notes?", fact,
         answer=("first week of April",), common=True, first=("obsidian_search_notes",)),
    Task("by property", "find",
         f"Which notes in Projects have status active and are due before {DUE_BEFORE}? Give their paths.",
         by_property, answer=[*ACTIVE, "Projects/Lighthouse.md"], no_answer=INACTIVE,
         first=("obsidian_search_notes",)),
    Task("backlinks", "find", f"Which notes link to {TRIP}? Give all of their paths.", who_links,
         answer=[f"Friends/{name}.md" for name in FRIENDS], first=("obsidian_list_links",)),
    Task("a section", "find", "What does the section Budget of Handbook.md say, word for word?", section,
         answer=(BUDGET,), first=("obsidian_read_note",)),
    Task("due tasks", "find", "Which open tasks in Chores.md are due before 2026-11-25?", due,
         answer=LATE, no_answer=[task for task in CHORES if task not in LATE],
         first=("obsidian_list_tasks", "obsidian_read_note")),
    Task("broken links", "find", "Which links in my vault lead nowhere? Name their targets.", broken,
         answer=list(BROKEN.values()), first=("obsidian_list_links", "obsidian_repair_links")),
)  # fmt: skip
